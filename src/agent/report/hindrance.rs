//! What stood in the way of publishing, for readers: what helps, where the changes are meanwhile.
//!
//! In: an outcome and the surface. Out: paragraphs. Why it is so stands in the outcome's reason
//! where it ended the run; beside a worse end it is said here.

use crate::report::markdown::address;
use crate::report::surface::{Surface, join};
use crate::session::hindrance::Hindrance;
use crate::session::outcome::{Outcome, OutcomeWord};

/// Most characters of why, and of what helps.
const SENTENCE_LIMIT_CHARS: usize = 600;

/// Returns what a person can do about it; empty where nothing stood in the way.
pub(crate) fn section(outcome: &Outcome, surface: Surface) -> String {
    let Some(hindrance) = &outcome.hindrance else { return String::new() };
    let sentence = |text: &str| surface.words_within(text, SENTENCE_LIMIT_CHARS);
    let why = beside(outcome)
        .map_or_else(String::new, |why| format!("Not published: {}.", sentence(why)));
    let Hindrance { cure, pushed, patch, .. } = hindrance.as_ref();
    let cure =
        cure.as_ref().map(|cure| format!("{} {}.", surface.strong("What helps:"), sentence(cure)));
    let pushed = pushed.as_ref().map(|pushed| {
        let branch = surface.code(&pushed.name);
        match (&pushed.compare_url, surface) {
            (None, _) => format!("The branch {branch} is pushed."),
            (Some(url), Surface::Terminal) => format!("The branch {branch} is pushed: {url}"),
            (Some(url), Surface::Markdown) => format!(
                "The branch {branch} is pushed: [open the pull request from it]({}).",
                address(url)
            ),
        }
    });
    // Where it lies, only readers of the terminal can open it.
    let patch = patch.as_ref().filter(|_| surface == Surface::Terminal);
    let patch = patch.map(|patch| format!("The changes are kept as a patch: {patch}"));
    join(&[why, cure.unwrap_or_default(), pushed.unwrap_or_default(), patch.unwrap_or_default()])
}

/// Returns why, where it is not the reason that the run ended so.
fn beside(outcome: &Outcome) -> Option<&str> {
    let hindrance = outcome.hindrance.as_ref()?;
    (outcome.word != OutcomeWord::NotPublished).then_some(hindrance.why.as_str())
}

#[cfg(test)]
mod tests {
    use super::section;
    use crate::report::sample;
    use crate::report::surface::Surface;
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
        assert_eq!(section(&hindered(OutcomeWord::Done), Surface::Markdown), helps);
        let worse = hindered(OutcomeWord::ChecksFailed);
        let why = "Not published: there is no pull request: 403.";
        assert_eq!(section(&worse, Surface::Markdown), format!("{why}\n\n{helps}"));
        assert_eq!(
            section(&hindered(OutcomeWord::Done), Surface::Terminal),
            "What helps: tick \"Allow\" under Settings.\n\nThe branch locum/issue-7 is pushed: \
             https://github.com/a/b/compare/main...x?expand=1\n\nThe changes are kept as a \
             patch: /tmp/changes.patch"
        );
        assert_eq!(section(&sample::outcome(), Surface::Markdown), "");
    }
}
