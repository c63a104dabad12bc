//! What stood in the way of publishing, for readers: what helps, where the changes are meanwhile.
//!
//! In: an outcome. Out: Markdown for comment and job summary, lines for a terminal. Why it is so
//! stands in the outcome's reason where it ended the run; beside a worse end it is said here.

use crate::report::figures;
use crate::report::markdown::{code, inline};
use crate::report::sections::{address, join};
use crate::session::hindrance::Hindrance;
use crate::session::outcome::{Outcome, OutcomeWord};

/// Most characters of why, and of what helps.
const SENTENCE_LIMIT_CHARS: usize = 600;

/// Returns what a person can do about it, in Markdown; empty where nothing stood in the way.
pub fn markdown(outcome: &Outcome) -> String {
    let Some(hindrance) = &outcome.hindrance else { return String::new() };
    let sentence = |text: &str| inline(&figures::clip(text, SENTENCE_LIMIT_CHARS));
    let why = beside(outcome)
        .map_or_else(String::new, |why| format!("Not published: {}.", sentence(why)));
    let Hindrance { cure, pushed, .. } = hindrance.as_ref();
    let cure = cure.as_ref().map(|cure| format!("**What helps:** {}.", sentence(cure)));
    let pushed = pushed.as_ref().map(|pushed| {
        let branch = code(&pushed.name);
        match &pushed.compare_url {
            Some(url) => format!(
                "The branch {branch} is pushed: [open the pull request from it]({}).",
                address(url)
            ),
            None => format!("The branch {branch} is pushed."),
        }
    });
    join(&[why, cure.unwrap_or_default(), pushed.unwrap_or_default()])
}

/// Returns the same as lines of plain text, and where the patch is.
pub fn lines(outcome: &Outcome) -> Vec<String> {
    let Some(hindrance) = &outcome.hindrance else { return Vec::new() };
    let Hindrance { cure, pushed, patch, .. } = hindrance.as_ref();
    let mut lines: Vec<String> =
        beside(outcome).map(|why| format!("not published: {why}")).into_iter().collect();
    lines.extend(cure.as_ref().map(|cure| format!("what helps: {cure}")));
    lines.extend(pushed.as_ref().map(|pushed| match &pushed.compare_url {
        Some(url) => format!("pushed branch: {} ({url})", pushed.name),
        None => format!("pushed branch: {}", pushed.name),
    }));
    lines.extend(patch.as_ref().map(|patch| format!("patch: {patch}")));
    lines
}

/// Returns why, where it is not the reason that the run ended so.
fn beside(outcome: &Outcome) -> Option<&str> {
    let hindrance = outcome.hindrance.as_ref()?;
    (outcome.word != OutcomeWord::NotPublished).then_some(hindrance.why.as_str())
}

#[cfg(test)]
mod tests {
    use super::{lines, markdown};
    use crate::report::sample;
    use crate::session::ending::{Settlement, settle};
    use crate::session::hindrance::{Hindrance, PushedBranch};
    use crate::session::outcome::{Outcome, OutcomeWord};
    use pretty_assertions::assert_eq;

    fn hindered(word: OutcomeWord) -> Outcome {
        let pushed = PushedBranch {
            name: "locum/issue-7".to_owned(),
            compare_url: Some("https://github.com/a/b/compare/main...x?expand=1".to_owned()),
        };
        let hindrance = Hindrance {
            why: "there is no pull request: 403".to_owned(),
            cure: Some("tick \"Allow\" under Settings".to_owned()),
            pushed: Some(pushed),
            patch: Some("/tmp/changes.patch".to_owned()),
        };
        let mut outcome = Outcome { word, ..sample::outcome() };
        settle(&mut outcome, Settlement::Hindered(&hindrance));
        outcome
    }

    #[test]
    fn says_what_helps_and_where_the_changes_are() {
        let helps = "**What helps:** tick \"Allow\" under Settings.\n\nThe branch `locum/issue-7` is \
                     pushed: [open the pull request from \
                     it](https://github.com/a/b/compare/main...x?expand=1).";
        assert_eq!(markdown(&hindered(OutcomeWord::Done)), helps);
        let worse = hindered(OutcomeWord::ChecksFailed);
        let why = "Not published: there is no pull request: 403.";
        assert_eq!(markdown(&worse), format!("{why}\n\n{helps}"));
        assert_eq!(
            lines(&hindered(OutcomeWord::Done)),
            [
                "what helps: tick \"Allow\" under Settings",
                "pushed branch: locum/issue-7 (https://github.com/a/b/compare/main...x?expand=1)",
                "patch: /tmp/changes.patch",
            ]
        );
        assert_eq!(
            (markdown(&sample::outcome()), lines(&sample::outcome())),
            (String::new(), vec![])
        );
    }
}
