//! What the job summary says of a publication besides where it is: where people decide, and why
//! changes are only shown.

use crate::run::publish::{Publication, PublishResult};
use locum_agent::report::{figures, markdown};

/// Says where people decide on what a run waits for; empty where it waits for nothing.
pub fn decide_on(publication: &Publication) -> String {
    match (publication.decide_on, &publication.comment) {
        (Some(number), Some(comment)) => format!(
            "Decide in [#{number}]({}): the comment there has the commands.",
            markdown::address(&comment.url)
        ),
        (_, _) => String::new(),
    }
}

/// Says in a sentence why so many changed files are only shown, which the summary does below; or
/// why nothing is published.
pub fn unpublished(publication: &Publication, why: &str, files: usize) -> String {
    let why = markdown::inline(why);
    let why = why.trim_end_matches('.');
    match &publication.result {
        _ if why.is_empty() => String::new(),
        PublishResult::Diff(_) if files > 0 => {
            format!("The change ({}) is below: {why}.", figures::count(files, "file"))
        }
        _ => {
            let mut letters = why.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            format!("{}{}.", first.map(String::from).unwrap_or_default(), letters.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{decide_on, unpublished};
    use crate::run::publish::{Publication, PublishResult};
    use locum_forge::posts::Receipt;
    use locum_policy::intent::PublicationKind;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_summary_speaks_in_whole_sentences_and_says_where_to_decide() {
        let waits = "it is published when the run goes on";
        let of = |result| Publication { result, ..Publication::default() };
        let shown = of(PublishResult::Diff(waits.to_owned()));
        let whole = "The change (1 file) is below: it is published when the run goes on.";
        assert_eq!(unpublished(&shown, waits, 1), whole);
        assert_eq!(unpublished(&shown, "", 1), "");
        let nowhere = of(PublishResult::Nowhere(String::new()));
        assert_eq!(unpublished(&nowhere, "nothing may be said", 0), "Nothing may be said.");
        let comment = Receipt {
            publication: PublicationKind::Comment,
            id: 5,
            url: "https://x/10#5".to_owned(),
            updated: false,
        };
        let asked = Publication { decide_on: Some(10), comment: Some(comment), ..shown };
        let link = "Decide in [#10](https://x/10#5): the comment there has the commands.";
        assert_eq!(decide_on(&asked), link);
        assert_eq!(decide_on(&Publication { decide_on: None, ..asked }), "");
    }
}
