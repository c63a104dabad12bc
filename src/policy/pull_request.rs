//! `PullRequestDetails`: labels, reviewers, assignees and milestone of the pull requests that runs
//! open, as the policy says, and what a job says instead.
//!
//! In: a section of a policy or of a job file. Out: the values, checked as far as their form goes.
//! Whether somebody can review is the forge's to say.

use serde::{Deserialize, Serialize};

use locum_files::rejection::Rejection;
use locum_files::section::Section;
use locum_files::shape::{AnyText, ListOf, OneOrMany, ParsedText};

/// Most users and teams that are asked for a review of one pull request.
pub const REVIEWERS_LIMIT: usize = 15;
/// Most assignees of a pull request.
/// <https://docs.github.com/en/rest/issues/assignees#add-assignees-to-an-issue>
pub const ASSIGNEES_LIMIT: usize = 10;

/// What a pull request is given when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestDetails {
    /// Names of labels.
    pub labels: Vec<String>,
    /// Logins of users, and teams as `organisation/team`.
    pub reviewers: Vec<String>,
    /// Logins of users.
    pub assignees: Vec<String>,
    /// Title of an open milestone.
    pub milestone: Option<String>,
}

impl Default for PullRequestDetails {
    fn default() -> Self {
        Self {
            labels: vec!["locum".to_owned()],
            reviewers: Vec::new(),
            assignees: Vec::new(),
            milestone: None,
        }
    }
}

/// What a job says in place of the policy; `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PullRequestOverrides {
    /// Names of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Logins of users, and teams as `organisation/team`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewers: Option<Vec<String>>,
    /// Logins of users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignees: Option<Vec<String>>,
    /// Title of an open milestone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestone: Option<String>,
}

impl PullRequestOverrides {
    /// Returns whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl PullRequestDetails {
    /// Returns what counts where a job says something else.
    pub fn overridden(&self, by: &PullRequestOverrides) -> Self {
        let PullRequestOverrides { labels, reviewers, assignees, milestone } = by.clone();
        Self {
            labels: labels.unwrap_or_else(|| self.labels.clone()),
            reviewers: reviewers.unwrap_or_else(|| self.reviewers.clone()),
            assignees: assignees.unwrap_or_else(|| self.assignees.clone()),
            milestone: milestone.or_else(|| self.milestone.clone()),
        }
    }
}

/// Reads what the policy says.
pub(crate) fn read_details(section: &mut Section<'_>, found: &mut PullRequestDetails) {
    section.set("labels", LABELS, OneOrMany(AnyText), &mut found.labels);
    section.set("reviewers", REVIEWERS, REVIEWER_LIST, &mut found.reviewers);
    section.set("assignees", ASSIGNEES, ASSIGNEE_LIST, &mut found.assignees);
    found.milestone = section.key("milestone", MILESTONE, TITLE);
}

/// Reads what a job says.
pub fn read_overrides(section: &mut Section<'_>) -> PullRequestOverrides {
    PullRequestOverrides {
        labels: section.key("labels", LABELS, OneOrMany(AnyText)),
        reviewers: section.key("reviewers", REVIEWERS, REVIEWER_LIST),
        assignees: section.key("assignees", ASSIGNEES, ASSIGNEE_LIST),
        milestone: section.key("milestone", MILESTONE, TITLE),
    }
}

const LABELS: &str = "Labels put on pull requests.";
const REVIEWERS: &str = "Who is asked to review new pull requests: logins, and teams as \
                         `organisation/team`.";
const ASSIGNEES: &str = "Logins of who new pull requests are assigned to.";
const MILESTONE: &str = "Title of the open milestone that new pull requests belong to.";

const REVIEWER_LIST: ListOf<ParsedText<String>> =
    ListOf { item: REVIEWER, least: 0, most: REVIEWERS_LIMIT };
const ASSIGNEE_LIST: ListOf<ParsedText<String>> =
    ListOf { item: ASSIGNEE, least: 0, most: ASSIGNEES_LIMIT };

const REVIEWER: ParsedText<String> = ParsedText {
    parse: |text| {
        let parts: Vec<&str> = text.split('/').collect();
        let good = match parts.as_slice() {
            [login] => is_name(login),
            [organisation, team] => is_name(organisation) && is_name(team),
            _ => false,
        };
        let wrong = || Rejection::from(format!("`{text}` is neither a login nor a team"));
        let hint = "write a login, `alice`, or a team with its organisation, `acme/security`; \
                    without `@`";
        good.then(|| text.to_owned()).ok_or_else(|| wrong().hint(hint))
    },
    write: Some(String::clone),
    pattern: r"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?$",
    example: "acme/security",
};

const ASSIGNEE: ParsedText<String> = ParsedText {
    parse: |text| {
        let wrong = || Rejection::from(format!("`{text}` is not a login"));
        is_name(text).then(|| text.to_owned()).ok_or_else(|| wrong().hint("without `@`"))
    },
    write: Some(String::clone),
    pattern: r"^[A-Za-z0-9_.-]+$",
    example: "alice",
};

const TITLE: ParsedText<String> = ParsedText {
    parse: |text| {
        let good = !text.trim().is_empty() && text.chars().count() <= 256;
        let wrong = || Rejection::from("a milestone is named by its title, up to 256 characters");
        good.then(|| text.trim().to_owned()).ok_or_else(wrong)
    },
    write: Some(String::clone),
    pattern: r"\S",
    example: "2.0",
};

fn is_name(text: &str) -> bool {
    (1..=100).contains(&text.len())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::{PullRequestDetails, PullRequestOverrides};
    use crate::Policy;
    use pretty_assertions::assert_eq;

    fn details(publish: &str) -> Result<PullRequestDetails, Vec<String>> {
        match Policy::parse(&format!("version: 1\npublish: {publish}\n"), "p.yml") {
            Ok(policy) => Ok(policy.settings().publish.details.clone()),
            Err(error) => Err(error.0.iter().map(|one| one.message.clone()).collect()),
        }
    }

    #[test]
    fn people_and_teams_are_named_without_an_at_sign() {
        let found = details(
            "{ labels: deps, reviewers: [alice, acme/security-team], assignees: [bob], milestone: \
             ' v2.0 ' }",
        );
        let expected = PullRequestDetails {
            labels: vec!["deps".to_owned()],
            reviewers: vec!["alice".to_owned(), "acme/security-team".to_owned()],
            assignees: vec!["bob".to_owned()],
            milestone: Some("v2.0".to_owned()),
        };
        assert_eq!(found, Ok(expected));
        assert_eq!(details("{}"), Ok(PullRequestDetails::default()));
        for bad in [
            "{ reviewers: ['@alice'] }",
            "{ reviewers: [a/b/c] }",
            "{ reviewers: [acme/] }",
            "{ reviewers: [''] }",
            "{ reviewers: alice }",
            "{ assignees: [acme/team] }",
            "{ assignees: [a, b, c, d, e, f, g, h, i, j, k] }",
            "{ milestone: ' ' }",
        ] {
            assert!(details(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_job_says_takes_the_place_of_what_the_policy_says() {
        let policy = details("{ reviewers: [alice], milestone: one }").unwrap();
        assert_eq!(policy.overridden(&PullRequestOverrides::default()), policy);
        let job = PullRequestOverrides {
            reviewers: Some(Vec::new()),
            assignees: Some(vec!["bob".to_owned()]),
            ..PullRequestOverrides::default()
        };
        let found = policy.overridden(&job);
        assert_eq!((found.reviewers.len(), found.assignees.len()), (0, 1));
        assert_eq!(found.milestone.as_deref(), Some("one"));
    }
}
