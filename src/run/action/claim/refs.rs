//! `ClaimRef`: the ref at the remote that holds the claim on a subject.

use crate::run::action::claim::record::ClaimRecord;
use crate::run::error::RunError;
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Act;
use locum_workspace::carried::CLAIM_REFS;
use locum_workspace::git_binary::{FetchDepth, GitBinary};
use locum_workspace::remote::Remote;
use locum_workspace::repo::{CommitId, Repo, RepoError};

/// The record's name in the claim's commit.
const RECORD_FILE: &str = "claim.json";
/// Largest record that is read.
const RECORD_LIMIT_BYTES: u64 = 16 * 1024;
/// How often a claim is read that moves meanwhile.
const TRIES: u32 = 3;

/// The ref that holds the claim on a subject.
pub(super) struct ClaimRef<'a> {
    /// Last part of its name.
    name: String,
    git: &'a GitBinary,
    remote: &'a Remote,
    repo: &'a Repo,
}

impl<'a> ClaimRef<'a> {
    /// Returns the ref of a subject: `issue-7`, `job-docs`.
    pub(super) fn of(subject: &str, at: (&'a GitBinary, &'a Remote, &'a Repo)) -> Self {
        Self::named(&name_of(subject), at)
    }

    /// Returns the ref of this name.
    pub(super) fn named(
        name: &str,
        (git, remote, repo): (&'a GitBinary, &'a Remote, &'a Repo),
    ) -> Self {
        Self { name: name.to_owned(), git, remote, repo }
    }

    /// Returns the commit it is at; `None` where nobody has the claim.
    pub(super) async fn tip(&self) -> Result<Option<CommitId>, RunError> {
        self.git.claim(self.remote, &self.name).await.map_err(RunError::internal)
    }

    /// Returns who has the claim.
    pub(super) async fn look(&self) -> Result<Option<(CommitId, ClaimRecord)>, RunError> {
        let full_name = format!("{CLAIM_REFS}{}", self.name);
        let shallow = self.repo.is_shallow();
        let depth = if shallow { FetchDepth::Commits(1) } else { FetchDepth::Full };
        let mut last = RunError::internal("the claim moves too fast to be read");
        for _ in 0..TRIES {
            if self.tip().await?.is_none() {
                return Ok(None);
            }
            let refspec = format!("+{full_name}:{full_name}");
            match self.git.fetch(self.remote, &refspec, depth).await {
                Ok(()) => {
                    let tip = self.repo.commit_of(&full_name).map_err(RunError::internal)?;
                    return Ok(Some((tip.clone(), self.read(&tip)?)));
                }
                // It may have been given back between the two.
                Err(error) => last = RunError::internal(error),
            }
        }
        Err(last)
    }

    /// Makes the commit of a record; no ref moves.
    pub(super) fn write(&self, record: &ClaimRecord) -> Result<CommitId, RunError> {
        let text = record.render().map_err(RunError::internal)?;
        let files = [(RECORD_FILE, text.as_bytes())];
        self.repo.carry(&files, &[], "who works here\n").map_err(RunError::internal)
    }

    /// Moves the ref from one commit to another, `None` standing for no ref, or not at all.
    pub(super) async fn push(
        &self,
        permit: &Permit<impl Act>,
        moves: (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        self.git.push_claim(permit, self.remote, &self.name, moves).await
    }

    fn read(&self, tip: &CommitId) -> Result<ClaimRecord, RunError> {
        let place = format!("{CLAIM_REFS}{}", self.name);
        let unsound = |why: &str| {
            RunError::usage(&place, format!("the claim is unusable: {why}"))
                .hint(format!("delete `{place}`; nobody has the claim then"))
        };
        let path = RepoPath::parse(RECORD_FILE).map_err(RunError::internal)?;
        let file = self.repo.file_at(tip, &path, RECORD_LIMIT_BYTES);
        let file = file.map_err(|error| unsound(&error.to_string()))?;
        let file = file.ok_or_else(|| unsound("there is no record in it"))?;
        ClaimRecord::parse(&file.text).map_err(|why| unsound(&why))
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
