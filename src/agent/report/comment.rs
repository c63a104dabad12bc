//! The one comment of a run on an issue or pull request: progress while it works, then how it
//! ended. The program writes it, never the model, and finds it again by its hidden first line.
//!
//! In: facts of the run. Out: a body below the forge's limit, whatever the model wrote; the diff is
//! shortened first, and the body says so.

use jiff::Timestamp;

use crate::report::activity::Activities;
use crate::report::figures;
use crate::report::markdown::{address, code, inline, marker};
use crate::report::sections::{self, ReportParts, ReportView, StateLine, changed, cost, tasks};
use crate::report::surface::{Surface, join};
use crate::report::waiting::{DecisionChannel, KeptLine, TryAgain};
use crate::report::whole;
use crate::session::outcome::{Outcome, TaskReport};
use crate::session::state::SessionState;
use crate::tools::Todo;
use locum_forge::sanitise::BODY_LIMIT_CHARS;
use locum_policy::budget::{Budget, Spent};
use locum_policy::schema::Notify;

/// Room for the line that says what was left out for length, in characters.
const LEFT_OUT_CHARS: usize = 100;

/// Characters of a body: the forge's limit, less what sanitising may add.
pub(crate) const ROOM_CHARS: usize = BODY_LIMIT_CHARS - 5_536;
/// Characters of it that a long result leaves to what is folded.
pub(crate) const FOLDS_CHARS: usize = 8_000;

/// What both forms of the comment need.
#[derive(Clone, Copy, Debug)]
pub struct CommentFacts<'a> {
    /// The hidden first line ([`crate::report::markdown::marker`]).
    pub marker: &'a str,
    /// Mode of the root task.
    pub mode: &'a str,
    /// Login of who asked.
    pub requested_by: Option<&'a str>,
    /// Who is mentioned when the run is over.
    pub notify: Notify,
    /// Page of the workflow run.
    pub run_url: Option<&'a str>,
    /// How many runs share the job summary at most, this one included.
    pub runs: usize,
    /// The word that commands start with, where a comment can start the run again.
    pub retry: Option<&'a str>,
    /// What is said beside the result, each in a paragraph of its own.
    pub remarks: &'a [String],
    /// What may be spent.
    pub budget: &'a Budget,
    /// How maintainers decide on what a run stopped for.
    pub decide: DecisionChannel<'a>,
    /// The hidden line that says where a session that ended is kept, or waited before the decision
    /// that it goes on by.
    pub kept: Option<KeptLine<'a>>,
    /// The hidden line that says which decision the run goes on by, and in which workflow run.
    pub resumed: Option<&'a str>,
    /// The hidden line that says which commit is to mend which checks.
    pub repair: Option<&'a str>,
}

impl CommentFacts<'_> {
    /// Returns the line that mentions who asked, which stands below everything else and is the
    /// only mention there is; `None` where nobody is to be notified.
    ///
    /// It is put under the comment when the rest is sanitised, which takes every mention out.
    pub fn mention(&self) -> Option<String> {
        let login = self.requested_by.filter(|login| is_login(login))?;
        (self.notify == Notify::Asker).then(|| format!("Asked by @{login}."))
    }

    /// Returns the hidden second line: where the session waits for a decision, waited, or is kept.
    pub fn session_line(&self) -> Option<&str> {
        match self.decide {
            DecisionChannel::Comment { marker, .. } => Some(marker),
            DecisionChannel::CommandLine
            | DecisionChannel::Nowhere(_)
            | DecisionChannel::Unneeded => self.kept.map(|kept| kept.line),
        }
    }

    /// Returns the hidden lines, the first of which names the comment.
    pub fn hidden_lines(&self) -> impl Iterator<Item = &str> {
        let lines = [Some(self.marker), self.session_line(), self.resumed, self.repair];
        lines.into_iter().flatten()
    }

    /// Says who asked, where no mention does.
    fn asked_at_end(&self) -> String {
        if self.mention().is_some() { String::new() } else { asked(self) }
    }
}

/// Whether a login can be mentioned, which those of Apps cannot.
///
/// GitHub: letters, digits and single hyphens, 39 at most; those of managed users end with `_` and
/// a short code.
fn is_login(login: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    (1..=60).contains(&login.len()) && login.chars().all(is_plain)
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Every task, in order of creation.
    pub tasks: Vec<TaskReport>,
    /// The root task's checklist.
    pub todos: Vec<Todo>,
    /// What was spent so far.
    pub spent: Spent,
    /// True when some of it is an estimate.
    pub spent_is_estimate: bool,
    /// What is under way.
    pub now: Activities,
    /// When all of this was so.
    pub at: Timestamp,
}

impl Progress {
    /// Returns how far a session is by its state.
    pub fn of(state: &SessionState, now: Timestamp) -> Self {
        let asked = state.start.as_ref().map_or("", |start| start.task.as_str());
        let root = state.root();
        Self {
            tasks: state.tasks.iter().map(|task| TaskReport::of(task, asked)).collect(),
            todos: root.map(|root| root.todos.clone()).unwrap_or_default(),
            spent: Spent {
                seconds: state.wall_until(now).as_secs(),
                ..root.map(|root| root.budgeting.spent).unwrap_or_default()
            },
            spent_is_estimate: state.spent_is_estimate(),
            now: Activities::default(),
            at: now,
        }
    }
}

/// What a run did to its pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullRequestEffect {
    /// It opened it.
    Opened,
    /// It pushed to the branch of one that was open.
    Updated,
    /// Nothing: one that was open holds all there is to publish.
    Unchanged,
}

/// Where the changes of a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeDestination<'a> {
    /// Nowhere: nothing changed, or nothing may be published. Says why where there are changes.
    Nowhere(&'a str),
    /// Into a pull request.
    PullRequest {
        /// Number on the forge.
        number: u64,
        /// URL of its page.
        url: &'a str,
        /// Branch it was opened from.
        branch: &'a str,
        /// True when it is a draft.
        draft: bool,
        /// What the run did to it.
        effect: PullRequestEffect,
    },
    /// As a commit onto a branch that was there.
    Commit {
        /// Commit hash.
        id: &'a str,
        /// Branch the commit is on.
        branch: &'a str,
    },
    /// Into a review of the pull request: suggestions and comments on its lines.
    Review {
        /// URL of the review.
        url: &'a str,
        /// How many comments on lines it has.
        comments: usize,
    },
    /// Into this comment, as a diff. Says why it is not published otherwise; may be empty.
    Diff(&'a str),
}

/// Returns the comment while the run works, as it is at a time.
pub fn progress(facts: &CommentFacts<'_>, progress: &Progress, now: Timestamp) -> String {
    let since = match progress.spent.seconds {
        // Before it began.
        0 => 0,
        seconds => {
            let more = now.duration_since(progress.at).as_secs();
            seconds.saturating_add(u64::try_from(more).unwrap_or_default())
        }
    };
    let state = StateLine {
        state: "working",
        refused: &[],
        mode: facts.mode,
        spent: &Spent { seconds: since, ..progress.spent },
        is_estimate: progress.spent_is_estimate,
        budget: Some(facts.budget),
        run_url: facts.run_url,
    };
    let hidden: Vec<&str> = facts.hidden_lines().collect();
    join(&[
        format!("{}\n{}", hidden.join("\n"), state.render()),
        progress.now.render(now, Surface::Markdown),
        tasks::tasks_at_work(&progress.tasks, Surface::Markdown),
        tasks::checklist(&progress.todos, Surface::Markdown),
        asked(facts),
    ])
}

/// Returns the commit that the run of a comment began with; the first digits of it.
pub fn begun_at(comment: &str) -> Option<&str> {
    cost::commit_of(comment)
}

/// How the comment of a run at work begins, after its hidden lines.
pub const WORKING: &str = "**locum: working**";

/// Returns the hidden lines that a comment of a run begins with.
pub fn hidden_lines_of(comment: &str) -> impl Iterator<Item = &str> {
    let is_hidden = |line: &&str| line.starts_with("<!-- locum:v1 ") && line.ends_with(" -->");
    comment.lines().map(str::trim_end).take_while(is_hidden)
}

/// A run that ended without a result, as another run reports it.
#[derive(Clone, Copy, Debug)]
pub struct AbandonedRun<'a> {
    /// Hidden lines of its comment.
    pub hidden: &'a str,
    /// Page of its workflow run.
    pub run_url: Option<&'a str>,
    /// How it is known.
    pub why: &'a str,
    /// Number and page of the pull request that it opened or pushed to.
    pub pull_request: Option<(u64, &'a str)>,
    /// How its work is done all the same.
    pub cure: &'a str,
}

/// Returns the comment of a run that ended without a result.
pub fn abandoned(run: &AbandonedRun<'_>) -> String {
    let AbandonedRun { hidden, run_url, why, pull_request, cure } = *run;
    let log = run_url.map_or_else(String::new, |url| format!(" · [log]({url})"));
    let lost = match pull_request {
        Some((number, url)) => format!(
            "What it published is in pull request [#{number}]({}); anything else is lost.",
            address(url)
        ),
        None => "What it had not published is lost.".to_owned(),
    };
    format!("{hidden}\n**locum: ended without a result**{log}\n\n{why} {lost} {cure}")
}

/// Returns what takes the place of a comment whose run waits for a decision that does not count as
/// things are, without its hidden lines: the page of the run, why, the command that starts it
/// again, and what was folded.
pub fn outdated(comment: &str, run_url: Option<&str>, (why, retry): (&str, &str)) -> String {
    let log = run_url.map_or_else(String::new, |url| format!(" · [log]({})", address(url)));
    join(&[
        format!("**locum: can no longer go on**{log}"),
        format!("It waited for a person. As things are now, no decision counts: {}.", inline(why)),
        format!("{retry} starts the last request on this thread again."),
        folds_of(comment),
    ])
}

/// Returns the folds of a comment, as [`fold`](crate::report::markdown::fold) makes them.
fn folds_of(comment: &str) -> String {
    let (mut kept, mut depth, mut fence) = (Vec::new(), 0_usize, None);
    for line in comment.lines() {
        let info = line.trim_start_matches('`');
        let ticks = line.len() - info.len();
        match fence {
            Some(open) if ticks >= open && info.is_empty() => fence = None,
            None if ticks >= 3 && !info.contains('`') => fence = Some(ticks),
            Some(_) | None => {}
        }
        depth += usize::from(fence.is_none() && line.starts_with("<details>"));
        if depth > 0 {
            kept.push(line);
        }
        if fence.is_none() && line == "</details>" {
            depth = depth.saturating_sub(1);
            kept.extend((depth == 0).then_some(""));
        }
    }
    kept.join("\n").trim_end().to_owned()
}

/// Returns the hidden line of a repair: the commit that it made, and the checks that are to mend.
pub fn repair_line(head: &str, checks: &str) -> String {
    marker("repair", &[("head", head), ("checks", checks)])
}

/// Returns the comment of a repair with the news that the checks it was to mend pass; `None` unless
/// it is of a repair that made this commit, and does not say so yet.
pub fn repaired(comment: &str, (head, checks): (&str, &str), news: &str) -> Option<String> {
    let repair = repair_line(head, checks);
    let (before, after) = comment.split_once(&format!("\n{repair}\n"))?;
    // The lines before are hidden ones, the next one says how the run ended.
    let is_hidden = |line: &str| line.starts_with("<!-- ") && line.ends_with(" -->");
    let (state, rest) = after.split_once('\n').unwrap_or((after, ""));
    let is_whole = before.lines().all(is_hidden) && state.starts_with("**locum: ");
    is_whole.then(|| format!("{before}\n{}\n{state}\n\n{news}\n{rest}", passed_line(head, checks)))
}

/// Returns the hidden line that takes the place of [`repair_line`] once the checks pass.
pub fn passed_line(head: &str, checks: &str) -> String {
    marker("repaired", &[("head", head), ("checks", checks)])
}

/// Returns the comment when the run has ended.
pub fn ended(
    facts: &CommentFacts<'_>,
    outcome: &Outcome,
    landing: ChangeDestination<'_>,
) -> String {
    let surface = Surface::Markdown;
    let state = StateLine {
        state: outcome.word.heading(),
        refused: &outcome.refusals,
        mode: facts.mode,
        spent: &outcome.spent,
        is_estimate: outcome.spent_is_estimate,
        budget: None,
        run_url: facts.run_url,
    };
    let hidden: Vec<&str> = facts.hidden_lines().collect();
    let head = format!("{}\n{}", hidden.join("\n"), state.render());
    let mut room_chars = ROOM_CHARS.saturating_sub(figures::width(&head) + 2);
    let parts = ReportParts::of(
        outcome,
        &ReportView {
            surface,
            decide: facts.decide,
            again: facts.retry.map(|prefix| {
                let kept = facts.kept.map(|kept| kept.work);
                TryAgain { prefix, kept, mode: facts.kept.and_then(|kept| kept.mode) }
            }),
            published: &landed(outcome, landing),
            room_chars: room_chars.saturating_sub(FOLDS_CHARS),
            whole: &whole::sentence(facts.run_url, outcome, facts.runs),
        },
    );
    let mut lead = parts.lead;
    lead.extend_from_slice(facts.remarks);
    let lead = join(&lead);
    room_chars = room_chars.saturating_sub(figures::width(&lead) + 2);
    let files = changed::files(&outcome.changes, surface);
    room_chars = room_chars.saturating_sub(figures::width(&files) + 2);
    let folds = fitting(parts.folds, &mut room_chars);
    let not_merged = changed::not_merged_diff(&outcome.tasks, surface, room_chars);
    room_chars = room_chars.saturating_sub(figures::width(&not_merged) + 2);
    let changed = match landing {
        ChangeDestination::Diff(_) => changed::diff(&outcome.changes, surface, room_chars),
        ChangeDestination::Nowhere(_)
        | ChangeDestination::PullRequest { .. }
        | ChangeDestination::Commit { .. }
        | ChangeDestination::Review { .. } => Some(files),
    };
    let mut paragraphs = vec![head, lead, changed.unwrap_or_default(), not_merged];
    paragraphs.extend(folds);
    paragraphs.push(facts.asked_at_end());
    join(&paragraphs)
}

/// Returns the folds that fit, with a note of how many do not.
pub(crate) fn fitting(folds: Vec<String>, room_chars: &mut usize) -> Vec<String> {
    let all = folds.len();
    let mut kept = Vec::new();
    for fold in folds {
        if let Some(rest) = room_chars.checked_sub(figures::width(&fold) + 2 + LEFT_OUT_CHARS) {
            *room_chars = rest + LEFT_OUT_CHARS;
            kept.push(fold);
        }
    }
    let left_out = all - kept.len();
    if left_out > 0 {
        let sections = figures::count(left_out, "section");
        kept.push(format!("Left out for length: {sections}. The session's report has all."));
        *room_chars = room_chars.saturating_sub(LEFT_OUT_CHARS);
    }
    kept
}

/// Returns title and body of the issue where maintainers decide on a run that no issue or pull
/// request started.
pub fn decision_issue(marker: &str, about: &str, run_url: Option<&str>) -> (String, String) {
    let title = format!(
        "Waits for a person: {}",
        figures::clip(about.lines().next().unwrap_or_default(), 80)
    );
    let by = sections::written_by(None, run_url);
    let body = format!(
        "{marker}\n{by} A run that no issue or pull request started needs a decision: the \
         comments below say which, and how it is made. Close this issue when nothing waits here \
         any more."
    );
    (title, body)
}

fn asked(facts: &CommentFacts<'_>) -> String {
    facts
        .requested_by
        .map_or_else(String::new, |login| format!("Asked by {}.", code(&figures::clip(login, 60))))
}

fn landed(outcome: &Outcome, landing: ChangeDestination<'_>) -> String {
    let changes = figures::changes(&outcome.changes);
    // A merge alone changes no file of its own.
    let is_merge = outcome.changes.is_empty();
    let size = if is_merge { String::new() } else { format!(" ({changes})") };
    let sentence = |why: &str| {
        if why.is_empty() {
            String::new()
        } else {
            format!(": {}", inline(&figures::clip(why, 400)))
        }
    };
    match landing {
        ChangeDestination::Nowhere(_) if outcome.changes.is_empty() => {
            "No file was changed.".to_owned()
        }
        ChangeDestination::Nowhere(why) => {
            format!("The change ({changes}) was not published{}.", sentence(why))
        }
        ChangeDestination::PullRequest { number, url, branch, draft, effect } => {
            let kind = if draft { "Draft pull request" } else { "Pull request" };
            let (address, branch) = (address(url), code(branch));
            match effect {
                PullRequestEffect::Opened => {
                    format!("{kind} [#{number}]({address}) from {branch}{size}.")
                }
                PullRequestEffect::Updated => {
                    format!("{kind} [#{number}]({address}) updated on {branch}{size}.")
                }
                PullRequestEffect::Unchanged if outcome.changes.is_empty() => format!(
                    "No file was changed. {kind} [#{number}]({address}) from {branch} stays as it \
                     is."
                ),
                PullRequestEffect::Unchanged => format!(
                    "{kind} [#{number}]({address}) from {branch} holds this change already \
                     ({changes})."
                ),
            }
        }
        ChangeDestination::Commit { id, branch } => {
            format!("Commit {} on {}{size}.", figures::clip(id, 40), code(branch))
        }
        ChangeDestination::Review { url, comments } => {
            let change = if outcome.changes.is_empty() {
                String::new()
            } else {
                format!(": the change ({changes}) is suggested there, not pushed")
            };
            format!(
                "[Review]({}) with {}{change}.",
                address(url),
                figures::count(comments, "comment")
            )
        }
        ChangeDestination::Diff(_) if outcome.changes.is_empty() => {
            "No file was changed.".to_owned()
        }
        ChangeDestination::Diff(why) => {
            format!("The change ({changes}) is below as a diff{}.", sentence(why))
        }
    }
}

#[cfg(test)]
mod tests;
