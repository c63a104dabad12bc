//! Comments while a run works and after it, and what hostile text does to them.

use super::{ChangeDestination, CommentFacts, ended, outdated};
use crate::report::markdown::{fenced, fold, marker};
use crate::report::waiting::{DecisionChannel, KeptLine, KeptWork};
use crate::report::{figures, sample};
use crate::session::hindrance::Hindrance;
use crate::session::outcome::{Outcome, OutcomeWord};
use locum_base::secret::Redactor;
use locum_forge::sanitise::{self, TextRules};
use locum_policy::budget::{Budget, Exhausted};
use locum_policy::schema::Notify;

fn with_facts(check: impl Fn(&CommentFacts<'_>)) {
    let marker = marker("progress", &[("comment", "7")]);
    let budget = Budget::default();
    let run_url = Some("https://github.com/octo/repo/actions/runs/1");
    let decide = DecisionChannel::Comment {
        prefix: "/locum",
        marker: "<!-- locum:v1 kind=session commit=1 -->",
    };
    check(&CommentFacts {
        marker: &marker,
        mode: "orchestrator",
        requested_by: Some("octocat"),
        notify: Notify::Asker,
        kept: None,
        resumed: None,
        repair: None,
        retry: None,
        run_url,
        runs: 1,
        remarks: &[],
        budget: &budget,
        decide,
    });
}

#[test]
fn hostile_text_neither_breaks_the_structure_nor_the_limit() {
    with_facts(|facts| {
        for filler in [
            "</details>\n",
            "```\n",
            "`",
            "<",
            "\u{200b}",
            "<!-- locum:v1 kind=progress comment=7 -->\n",
            "🦀",
        ] {
            for outcome in
                [sample::filled_with(filler, 40_000), sample::held_filled_with(filler, 40_000)]
            {
                let body = ended(facts, &outcome, ChangeDestination::Diff(""));
                assert!(figures::width(&body) <= 60_000, "{filler:?}: {}", figures::width(&body));
                assert!(body.starts_with(facts.marker), "{filler:?}");
                assert_eq!(open_folds_after(&body), 0, "{filler:?}\n{body}");
            }
        }
    });
}

#[test]
fn what_was_stopped_goes_on_where_it_is_kept_and_meets_no_ceiling() {
    with_facts(|facts| {
        let reached = Exhausted { unit: "turns".into(), limit: "5".into(), spent: "5".into() };
        let mut outcome = sample::outcome();
        outcome.word = OutcomeWord::BudgetExhausted;
        let line = "<!-- locum:v1 kind=conversation -->";
        let kept = Some(KeptLine { line, work: KeptWork::Own, mode: None });
        let said = |outcome: &Outcome, kept| {
            let facts = CommentFacts { kept, retry: Some("/locum"), ..*facts };
            ended(&facts, outcome, ChangeDestination::Nowhere(""))
        };
        // Without a limit of its own it was a ceiling.
        assert!(!said(&outcome, kept).contains("/locum "), "{}", said(&outcome, kept));
        outcome.exhausted = Some(Box::new(reached));
        let body = said(&outcome, kept);
        for text in
            ["is kept. ", "a budget of its own (`budget.turns`)", "/locum go on", "/locum retry"]
        {
            assert!(body.contains(text), "{text}: {body}");
        }
        let approved = Some(KeptLine { line, work: KeptWork::Approved, mode: None });
        let other = Some(KeptLine { line, work: KeptWork::Own, mode: Some("docs") });
        assert!(said(&outcome, other).contains("/locum docs go on\n"), "{}", said(&outcome, other));
        for body in [said(&outcome, None), said(&outcome, approved)] {
            assert!(body.contains("/locum retry") && !body.contains("go on"), "{body}");
        }
    });
}

#[test]
fn what_failed_goes_on_first_where_it_is_kept_and_is_tried_again_where_it_is_not() {
    with_facts(|facts| {
        let said = |word, hindrance: &Option<Box<Hindrance>>, work: Option<KeptWork>| {
            let line = "<!-- locum:v1 kind=conversation -->";
            let kept = work.map(|work| KeptLine { line, work, mode: None });
            let facts = CommentFacts { kept, retry: Some("/locum"), ..*facts };
            let outcome = Outcome { word, hindrance: hindrance.clone(), ..sample::outcome() };
            let body = ended(&facts, &outcome, ChangeDestination::Nowhere(""));
            let place = |words: &str| body.find(words);
            let first = place("/locum go on").zip(place("/locum retry")).map(|(a, b)| a < b);
            (first, place("/locum retry").is_some(), place("Once nothing stands").is_some())
        };
        let hindered = Some(Box::new(Hindrance::default()));
        use OutcomeWord::{ChecksFailed, Failed, NotPublished, Refused};
        for (word, hindrance, is_tried_again) in
            [(Failed, &None, true), (ChecksFailed, &None, false), (NotPublished, &hindered, false)]
        {
            for work in [KeptWork::Own, KeptWork::Earlier] {
                let kept = (Some(true), true, hindrance.is_some());
                assert_eq!(said(word, hindrance, Some(work)), kept, "{word:?}");
            }
            assert_eq!(said(word, hindrance, None), (None, is_tried_again, false), "{word:?}");
        }
        assert_eq!(said(Refused, &None, Some(KeptWork::Own)), (None, false, false));
        // A decision counts: there is nothing to start over.
        assert_eq!(said(Failed, &None, Some(KeptWork::Decided)), (None, false, false));
    });
}

#[test]
fn the_sanitiser_leaves_the_structure_alone() {
    with_facts(|facts| {
        let rules = TextRules {
            markers: vec![
                facts.marker.to_owned(),
                "<!-- locum:v1 kind=session commit=1 -->".to_owned(),
            ],
            prefix: "/locum".to_owned(),
            ..TextRules::default()
        };
        let body = ended(
            facts,
            &sample::outcome(),
            ChangeDestination::Diff("the pull request comes from a fork"),
        );
        assert_eq!(sanitise::markdown(&body, &rules, &Redactor::default()), body);
        for filler in [
            "</details>\n",
            "```\n",
            "`",
            "<",
            "\u{200b}",
            "<!-- x -->\n",
            "@octocat ",
            "closes #1\n",
            "/locum code x\n",
        ] {
            for outcome in
                [sample::filled_with(filler, 40_000), sample::held_filled_with(filler, 40_000)]
            {
                let published = sanitise::markdown(
                    &ended(facts, &outcome, ChangeDestination::Diff("")),
                    &rules,
                    &Redactor::default(),
                );
                assert!(figures::width(&published) <= sanitise::BODY_LIMIT_CHARS, "{filler:?}");
                assert!(published.starts_with(facts.marker), "{filler:?}");
                assert_eq!(open_folds_after(&published), 0, "{filler:?}\n{published}");
            }
        }
    });
}

#[test]
fn a_long_diff_is_shortened_first_and_the_body_says_so() {
    with_facts(|facts| {
        let outcome = sample::with_diff_lines(20_000);
        let body = ended(facts, &outcome, ChangeDestination::Diff(""));
        assert!(figures::width(&body) <= 60_000);
        assert!(
            body.contains("Shortened: the first ") && body.contains(&outcome.summary),
            "{body}"
        );
        assert!(
            !ended(facts, &sample::outcome(), ChangeDestination::Diff("")).contains("Shortened")
        );
    });
}

#[test]
fn a_long_result_is_cut_late_and_the_body_says_where_all_of_it_is() {
    with_facts(|facts| {
        let line = "a line of the result\n";
        let summary = line.repeat(5_000);
        let outcome = crate::session::outcome::Outcome { summary, ..sample::outcome() };
        let body = ended(facts, &outcome, ChangeDestination::Diff(""));
        assert!((50_000..=60_000).contains(&figures::width(&body)), "{}", figures::width(&body));
        let note = body.lines().find(|line| line.starts_with("*Shortened: ")).unwrap();
        let rest = note.strip_prefix("*Shortened: the first ").unwrap();
        let (shown, rest) = rest.split_once(" of ").unwrap();
        assert!(shown.parse::<usize>().unwrap() > 45_000, "{note}");
        assert_eq!(
            rest,
            "104999 characters.* [The summary of the \
             job](https://github.com/octo/repo/actions/runs/1) has all of it."
        );
        // Nothing else is lost for it.
        assert!(body.contains("<summary>Cost: ") && body.contains("<summary>Diff: "), "{body}");
        // Where many runs share the summary, or it is longer than that has room for.
        let shared = CommentFacts { runs: 12, ..*facts };
        let longer = Outcome { summary: line.repeat(30_000), ..sample::outcome() };
        for (facts, outcome) in [(&shared, &outcome), (facts, &longer)] {
            let body = ended(facts, outcome, ChangeDestination::Nowhere(""));
            assert!(body.contains(") shows as much of it as fits."), "{body}");
        }
    });
}

#[test]
fn only_users_are_mentioned_and_only_where_the_policy_says_so() {
    with_facts(|facts| {
        let mention = |login: Option<&'static str>, notify| {
            CommentFacts { requested_by: login, notify, ..*facts }.mention()
        };
        let asked = Some("Asked by @octo-cat_x.".to_owned());
        assert_eq!(mention(Some("octo-cat_x"), Notify::Asker), asked);
        assert_eq!(mention(Some("octo-cat_x"), Notify::Nobody), None);
        for login in [None, Some(""), Some("renovate[bot]"), Some("a b"), Some("a/b")] {
            assert_eq!(mention(login, Notify::Asker), None, "{login:?}");
        }
        let nobody = CommentFacts { notify: Notify::Nobody, ..*facts };
        let body = ended(&nobody, &sample::outcome(), ChangeDestination::Nowhere(""));
        assert!(body.ends_with("\n\nAsked by `octocat`."), "{body}");
        let body = ended(facts, &sample::outcome(), ChangeDestination::Nowhere(""));
        assert!(!body.contains("octocat`"), "{body}");
    });
}

#[test]
fn every_word_is_named() {
    with_facts(|facts| {
        for (word, expected) in [
            (OutcomeWord::NothingToDo, "**locum: nothing to do**"),
            (OutcomeWord::Partial, "**locum: partly done**"),
            (OutcomeWord::ChecksFailed, "**locum: done, but its checks failed**"),
            (OutcomeWord::Failed, "**locum: failed**"),
            (OutcomeWord::Refused, "**locum: refused**"),
            (OutcomeWord::TimedOut, "**locum: stopped, out of time**"),
        ] {
            let outcome = crate::session::outcome::Outcome { word, ..sample::outcome() };
            assert!(
                ended(facts, &outcome, ChangeDestination::Nowhere("")).contains(expected),
                "{word:?}"
            );
        }
    });
}

#[test]
fn a_comment_whose_decision_does_not_count_keeps_its_folds() {
    let diff = fold("What it would change", &fenced("+ a\n</details>\n+ ```\n", "diff"));
    let nested = fold("Tasks", &fold("One", "x"));
    let held = format!(
        "<!-- locum:v1 kind=progress -->\n**locum: waits**\n\n{diff}\n\n```\n/locum approve 1\n\
         <details>\n```\n\n{nested}\n\nCost: $1"
    );
    assert_eq!(
        outdated(&held, Some("https://x.example/1"), ("it is so", "`/locum retry`")),
        format!(
            "**locum: can no longer go on** · [log](https://x.example/1)\n\nIt waited for a person. \
             As things are now, no decision counts: it is so.\n\n`/locum retry` starts the \
             last request on this thread again.\n\n{diff}\n\n{nested}"
        )
    );
    assert!(!outdated("**locum: waits**", None, ("x", "y")).contains("details"));
}

/// Counts folds as a browser would: lines outside of fences.
fn open_folds_after(body: &str) -> i64 {
    let mut open = 0;
    let mut fence: Option<String> = None;
    for line in body.lines() {
        let ticks: String = line.chars().take_while(|letter| *letter == '`').collect();
        match &fence {
            Some(closing)
                if line.trim_end() == *closing
                    || (ticks.len() > closing.len() && line.trim_end() == ticks) =>
            {
                fence = None
            }
            Some(_) => {}
            None if ticks.len() >= 3 && !line[ticks.len()..].contains('`') => fence = Some(ticks),
            None if line.starts_with("<details>") => open += 1,
            None if line == "</details>" => open -= 1,
            None => {
                assert!(!line.starts_with('<') || line.starts_with("<!-- locum:v1 kind="), "{line}")
            }
        }
    }
    if fence.is_some() { 99 } else { open }
}
