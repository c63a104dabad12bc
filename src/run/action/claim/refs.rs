//! `ClaimRef`: the ref at the remote that holds the claim on a subject.

use crate::run::action::claim::record::ClaimRecord;
use crate::run::error::RunError;
use crate::run::kept_file::{KeptAt, KeptFile};
use locum_policy::Permit;
use locum_policy::intent::Act;
use locum_workspace::carried::CLAIM_REFS;
use locum_workspace::repo::{CommitId, RepoError};

/// Largest record that is read.
const RECORD_LIMIT_BYTES: u64 = 16 * 1024;

/// The ref that holds the claim on a subject.
pub(super) struct ClaimRef<'a> {
    /// Last part of its name.
    name: String,
    full_name: String,
    at: KeptAt<'a>,
}

impl<'a> ClaimRef<'a> {
    /// Returns the ref of a subject: `issue-7`, `job-docs`.
    pub(super) fn of(subject: &str, at: KeptAt<'a>) -> Self {
        Self::named(&name_of(subject), at)
    }

    /// Returns the ref of this name.
    pub(super) fn named(name: &str, at: KeptAt<'a>) -> Self {
        Self { name: name.to_owned(), full_name: format!("{CLAIM_REFS}{name}"), at }
    }

    /// Returns the commit it is at; `None` where nobody has the claim.
    pub(super) async fn tip(&self) -> Result<Option<CommitId>, RunError> {
        self.file().tip().await
    }

    /// Returns who has the claim.
    pub(super) async fn look(&self) -> Result<Option<(CommitId, ClaimRecord)>, RunError> {
        let file = self.file();
        let Some((tip, text)) = file.look().await? else { return Ok(None) };
        let record = ClaimRecord::parse(&text).map_err(|why| file.unusable(&why))?;
        Ok(Some((tip, record)))
    }

    /// Makes the commit of a record; no ref moves.
    pub(super) fn write(&self, record: &ClaimRecord) -> Result<CommitId, RunError> {
        let text = record.render().map_err(RunError::internal)?;
        self.file().write(&text, "who works here\n")
    }

    /// Moves the ref from one commit to another, `None` standing for no ref, or not at all.
    pub(super) async fn push(
        &self,
        permit: &Permit<impl Act>,
        moves: (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        self.at.git.push_claim(permit, self.at.remote, &self.name, moves).await
    }

    fn file(&self) -> KeptFile<'_> {
        KeptFile {
            full_name: &self.full_name,
            file: "claim.json",
            limit_bytes: RECORD_LIMIT_BYTES,
            once_deleted: "nobody has the claim then",
            at: self.at,
        }
    }
}

/// Returns a subject as the last part of a ref's name; no two subjects have the same.
fn name_of(subject: &str) -> String {
    let mut name = String::new();
    for letter in subject.chars() {
        if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_') {
            name.push(letter);
        } else {
            name.push_str(&format!("+{:x}+", u32::from(letter)));
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::name_of;
    use pretty_assertions::assert_eq;

    #[test]
    fn every_subject_has_a_ref_of_its_own() {
        assert_eq!(name_of("issue-7"), "issue-7");
        assert_eq!(name_of("job-a.b"), "job-a+2e+b");
        assert_eq!(name_of("job-a+2e+b"), "job-a+2b+2e+2b+b");
        assert!(git2::Reference::is_valid_name(&format!("refs/{}", name_of("job-~^: ä@{"))));
    }
}
