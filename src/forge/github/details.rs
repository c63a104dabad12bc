//! What a pull request is given besides its text: labels, reviewers, assignees, a milestone.
//!
//! GitHub answers a name that it does not take in three ways: reviewers with an error, assignees by
//! leaving them out, milestones not at all, since they go by number. Here each is an error that
//! names who or what was meant.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::ForgeError;
use crate::github::GitHub;
use crate::github::answers::Account;
use crate::github::client::NAME;
use crate::posts::Receipt;
use locum_policy::intent::PublicationKind;

/// Who an issue is assigned to.
#[derive(Deserialize)]
struct Assigned {
    #[serde(default)]
    assignees: Vec<Account>,
}

/// A milestone of a list.
#[derive(Deserialize)]
struct Milestone {
    number: u64,
    title: String,
}

impl GitHub {
    /// Adds labels to an issue or pull request; one that does not exist is created by the forge.
    pub(super) async fn put_labels(
        &self,
        number: u64,
        labels: &[String],
    ) -> Result<Receipt, ForgeError> {
        let path = self.path(&format!("issues/{number}/labels"));
        let _: IgnoredAny = self.client.send("POST", &path, &json!({ "labels": labels })).await?;
        Ok(given(number, PublicationKind::Label))
    }

    /// Asks a user, or a team of the repository's owner, for a review.
    pub(super) async fn request_review(
        &self,
        number: u64,
        reviewer: &str,
    ) -> Result<Receipt, ForgeError> {
        let (owner, _) = self.repository.split_once('/').unwrap_or_default();
        let body = match reviewer.split_once('/') {
            None => json!({ "reviewers": [reviewer] }),
            Some((organisation, team)) if organisation.eq_ignore_ascii_case(owner) => {
                json!({ "team_reviewers": [team] })
            }
            Some(_) => {
                return Err(refused("requesting a review", &format!("it is no team of `{owner}`")));
            }
        };
        let path = self.path(&format!("pulls/{number}/requested_reviewers"));
        let _: IgnoredAny = self.client.send("POST", &path, &body).await?;
        Ok(given(number, PublicationKind::PullRequest))
    }

    /// Assigns a pull request.
    pub(super) async fn assign(
        &self,
        number: u64,
        logins: &[String],
    ) -> Result<Receipt, ForgeError> {
        let path = self.path(&format!("issues/{number}/assignees"));
        let body = json!({ "assignees": logins });
        let assigned: Assigned = self.client.send("POST", &path, &body).await?;
        let is_assigned = |login: &String| {
            assigned.assignees.iter().any(|account| account.login.eq_ignore_ascii_case(login))
        };
        let missing: Vec<String> =
            logins.iter().filter(|login| !is_assigned(login)).map(|it| format!("`{it}`")).collect();
        if missing.is_empty() {
            return Ok(given(number, PublicationKind::PullRequest));
        }
        let why = format!("{} cannot be assigned in this repository", missing.join(", "));
        Err(refused("assigning", &why))
    }

    /// Puts a pull request into the open milestone of this title.
    pub(super) async fn put_milestone(
        &self,
        number: u64,
        title: &str,
    ) -> Result<Receipt, ForgeError> {
        let list = self.path("milestones?state=open");
        let same =
            |milestone: Milestone| (milestone.title.trim() == title).then_some(milestone.number);
        let found = self.client.list(&list, same).await?;
        let Some(milestone) = found.first() else {
            return Err(refused("setting the milestone", "no open milestone has this title"));
        };
        let path = self.path(&format!("issues/{number}"));
        let _: IgnoredAny =
            self.client.send("PATCH", &path, &json!({ "milestone": milestone })).await?;
        Ok(given(number, PublicationKind::PullRequest))
    }
}

fn given(number: u64, publication: PublicationKind) -> Receipt {
    Receipt { publication, id: number, url: String::new(), updated: false }
}

fn refused(action: &str, why: &str) -> ForgeError {
    ForgeError::Failed { forge: NAME, action: action.to_owned(), message: why.to_owned() }
}
