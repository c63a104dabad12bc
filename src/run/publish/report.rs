//! What is said of a run on its thread: the one comment, and the reaction on what started it.
//!
//! In: an outcome, and where its changes are. Out: postings; what cannot be said becomes a note.

use crate::run::checks::CHECKS_LIMIT;
use crate::run::plan::RunSubject;
use crate::run::publish::follow_up::{FollowUp, RunEnd};
use crate::run::publish::unpublished::{self, NotPosted};
use crate::run::publish::{Landed, Publication, PublishResult, Publisher};
use locum_agent::report::comment::{self, CommentFacts};
use locum_agent::report::figures;
use locum_agent::report::waiting::{DecisionChannel, KeptLine, KeptWork};
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_agent::session::word::OutcomeReaction;
use locum_forge::posts::{Posting, ReactionTarget};
use locum_forge::sanitise;
use locum_policy::intent::TriggerKind;

/// Most parts of a job summary about a pull request: its checks, that of its policy, and the run
/// beside them.
const CHECKS_AND_RUN: usize = CHECKS_LIMIT + 2;

/// What says that a comment decided, where the run it was about waits for the next one.
const TAKEN: &str = "+1";

impl Publisher<'_> {
    /// Says in the comment and by the reaction how the run ended and where its changes are.
    pub async fn publish_report(
        &self,
        outcome: &mut Outcome,
        ending: &RunEnd<'_>,
        FollowUp { retry, kept }: FollowUp<'_>,
        landed: Landed,
    ) -> Publication {
        let Landed { mut published, mut hindrance, is_cancelled } = landed;
        if let Some(check) = &self.destination.check {
            self.publish_verdict((check, outcome), &mut published).await;
        } else if let Some(number) = ending.thread {
            let repair = self.repair_line(&published.result);
            let repair = repair.as_deref();
            published.remarks.extend(self.about_fork(outcome));
            let known = &self.destination.remarks;
            let new = published.remarks.iter().filter(|remark| !known.contains(remark));
            let new: Vec<String> = new
                .chain(&self.run.plan.for_asker)
                .map(|remark| format!("Note: {}.", remark.trim_end_matches('.')))
                .collect();
            let remarks = [&**known, &new, &published.about_findings].concat();
            let remarks = &remarks;
            let known = self.comment_facts(ending.decide);
            let facts = CommentFacts { retry, kept, repair, remarks, ..known };
            let body = comment::ended(&facts, outcome, published.result.landing());
            let posting = self.comment(number, (&body, facts.mention()), &facts);
            match self.attempt(posting, &mut published).await {
                Ok(receipt) => {
                    let is_decided = matches!(ending.decide, DecisionChannel::Comment { .. });
                    published.decide_on = Some(number).filter(|_| is_decided);
                    published.comment = Some(receipt);
                }
                Err(not) => {
                    published.notes.push(not.to_string());
                    // What the policy does not let it say is meant to be said nowhere.
                    if !matches!(not, NotPosted::Policy(_)) {
                        let why = format!("the comment on #{number} could not be written: {not}");
                        hindrance.get_or_insert_with(|| unpublished::hindrance(why));
                        self.settle(outcome, &hindrance, is_cancelled);
                    }
                }
            }
            self.publish_check(outcome, &body, &mut published).await;
        } else if let PublishResult::Diff(why) | PublishResult::Nowhere(why) = &published.result
            && !why.is_empty()
        {
            // No comment says it.
            published.notes.push(why.clone());
        }
        self.react(outcome, ending, &mut published).await;
        published
    }

    /// Says why a run about a fork's pull request could change nothing, and what a maintainer can
    /// do.
    fn about_fork(&self, outcome: &Outcome) -> Option<String> {
        let plan = &self.run.plan;
        let is_fork = matches!(plan.subject, RunSubject::PullRequest { is_fork: true, .. });
        let is_kept = is_fork && plan.facts.restriction.read_only;
        (is_kept && outcome.word == OutcomeWord::Refused).then(|| {
            "the pull request comes from a fork, where a run may only read; a maintainer can push \
             its branch to this repository and ask there, or say `triggers: { forks: allow }` in \
             the policy, by which the comment shows the change as a diff"
                .to_owned()
        })
    }

    /// Returns the hidden line by which the checks of what a repair pushed are waited for.
    fn repair_line(&self, result: &PublishResult) -> Option<String> {
        let checks = self.destination.repairs.as_ref()?;
        result.head().map(|head| comment::repair_line(head, checks))
    }

    /// Says on what started the run how it ended.
    async fn react(&self, outcome: &Outcome, ending: &RunEnd<'_>, published: &mut Publication) {
        let reaction = outcome.word.reaction();
        let waits = reaction == OutcomeReaction::Eyes;
        let poster = self.poster();
        let mut gone = Vec::new();
        if let Some(target) = self.reaction {
            let content = if waits && ending.decided.is_some() { TAKEN } else { reaction.as_str() };
            self.post(Posting::Reaction { target, content: content.to_owned() }, published).await;
            if !self.is_late() {
                gone = poster.withdraw_others(target, content).await;
            }
        }
        // What asked first says the same, where another comment decided since.
        let mut first: Vec<ReactionTarget> = Vec::new();
        for seen in ending.seen {
            if Some(seen.target) != self.reaction && !first.contains(&seen.target) {
                first.push(seen.target);
            }
        }
        for target in first.into_iter().filter(|_| !self.is_late()) {
            poster.react(target, reaction.as_str()).await;
            gone.extend(poster.withdraw_others(target, reaction.as_str()).await);
        }
        let seen = if waits { &[] } else { ending.seen };
        for reaction in seen.iter().copied().chain(ending.decided) {
            if !gone.contains(&reaction) {
                poster.withdraw(reaction).await;
            }
        }
    }

    /// Returns the posting of a comment whose body is sanitised, with a mention below it where
    /// there is room for one.
    pub fn comment(
        &self,
        number: u64,
        (body, mention): (&str, Option<String>),
        facts: &CommentFacts<'_>,
    ) -> Posting {
        let mut rules = self.text_rules(&self.destination.marker);
        rules.markers = facts.hidden_lines().map(str::to_owned).collect();
        let mut body = sanitise::markdown(body, &rules, &self.run.redactor);
        let mention = mention.map(|line| format!("\n\n{line}")).unwrap_or_default();
        if figures::width(&body) + figures::width(&mention) <= sanitise::BODY_LIMIT_CHARS {
            body.push_str(&mention);
        }
        let marker = self.destination.marker.clone();
        match self.destination.reply_to {
            Some(comment) if self.destination.in_discussion => {
                Posting::DiscussionReply { number, comment, marker, body }
            }
            Some(comment) => Posting::Reply { number, comment, marker, body },
            None => {
                let replaces = self.destination.replaces.clone();
                Posting::Comment { number, marker, body, replaces }
            }
        }
    }

    /// Returns what is kept as long as nothing has come of the run.
    fn kept_line(&self) -> Option<KeptLine<'_>> {
        let waited = self.resumed.map(|resumed| (resumed.waited, KeptWork::Decided));
        let before = self.kept_before.map(|line| (line, KeptWork::Earlier));
        waited.or(before).map(|(line, work)| KeptLine { line, work, mode: None })
    }

    /// Returns how many runs share the job summary at most: jobs of a schedule, checks of a pull
    /// request.
    pub(super) fn runs_of_step(&self) -> usize {
        let triggers = &self.run.policy.settings().triggers;
        let trigger = self.run.plan.facts.trigger;
        let has_checks = || triggers.events.iter().any(|rule| !rule.checks.is_empty());
        if trigger == TriggerKind::Schedule {
            triggers.schedule_jobs.len().max(1)
        } else if trigger == TriggerKind::PullRequest && has_checks() {
            CHECKS_AND_RUN
        } else {
            1
        }
    }

    /// Returns what the comment needs to know.
    pub fn comment_facts<'f>(&'f self, decide: DecisionChannel<'f>) -> CommentFacts<'f> {
        let plan = &self.run.plan;
        CommentFacts {
            marker: &self.destination.marker,
            mode: &plan.mode,
            requested_by: self.destination.requested_by.as_deref(),
            retry: None,
            kept: self.kept_line(),
            resumed: self.resumed.map(|resumed| resumed.by),
            repair: None,
            notify: self.run.policy.settings().publish.notify,
            run_url: self.run_url,
            runs: self.runs_of_step(),
            remarks: &self.destination.remarks,
            budget: &plan.budget,
            decide,
        }
    }
}
