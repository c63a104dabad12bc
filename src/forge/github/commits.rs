//! Commits through GitHub's database of git objects, which signs what an app's or the workflow's
//! own token makes there.
//!
//! The tree that comes of it has to be the one that was judged, and the commit has to be signed,
//! before any branch points to it. <https://docs.github.com/en/rest/git/commits>

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::ForgeError;
use crate::commits::{ForgeCommit, TargetBranch};
use crate::github::answers::{CreatedCommit, ExistingCommit, GitObject, Reference};
use crate::github::client::NAME;
use crate::github::{GitHub, segment};
use locum_base::rebuilt::{Rebuilt, RebuiltEntry, RebuiltFile};

/// Text above this is sent by itself and not within its tree, in bytes.
const INLINE_LIMIT_BYTES: usize = 1024 * 1024;

impl GitHub {
    /// Makes a commit and puts it onto its branch; returns its name. A branch that holds this very
    /// change already is left as it is.
    pub(super) async fn make_commit(&self, commit: &ForgeCommit) -> Result<String, ForgeError> {
        let tip = self.tip(&commit.branch).await?;
        match (&tip, &commit.onto) {
            (None, TargetBranch::NewBranch) => {}
            (Some(tip), TargetBranch::Branch) if *tip == commit.change.parent => {}
            (Some(tip), TargetBranch::Replaced(from)) if tip == from => {}
            (Some(tip), _) => return self.same_change(tip, commit).await,
            (None, TargetBranch::Branch | TargetBranch::Replaced(_)) => {
                return Err(conflict(commit, "is not there"));
            }
        }
        let Rebuilt { parent, tree, message, .. } = &commit.change;
        if self.make_tree(&commit.change).await? != *tree {
            return Err(refused("the tree that came of it is not the one that was judged"));
        }
        let body = json!({ "message": message, "tree": tree, "parents": [parent] });
        let made: CreatedCommit =
            self.client.send("POST", &self.path("git/commits"), &body).await?;
        if !made.verification.as_ref().is_some_and(|signature| signature.verified) {
            let reason = made.verification.and_then(|signature| signature.reason);
            return Err(refused(&format!(
                "it signed no commit of this token ({}); it signs those of the workflow's own \
                 token and of apps, else the policy says `sign: git`",
                reason.as_deref().unwrap_or("unsigned")
            )));
        }
        self.place(commit, &made.sha).await?;
        Ok(made.sha)
    }

    async fn place(&self, commit: &ForgeCommit, sha: &str) -> Result<(), ForgeError> {
        let is_forced = matches!(commit.onto, TargetBranch::Replaced(_));
        let placed: Result<IgnoredAny, ForgeError> = match &commit.onto {
            TargetBranch::NewBranch => {
                let body = json!({ "ref": format!("refs/heads/{}", commit.branch), "sha": sha });
                self.client.send("POST", &self.path("git/refs"), &body).await
            }
            TargetBranch::Branch | TargetBranch::Replaced(_) => {
                let path = self.path(&format!("git/refs/heads/{}", segments(&commit.branch)));
                self.client.send("PATCH", &path, &json!({ "sha": sha, "force": is_forced })).await
            }
        };
        match placed {
            Ok(_) => Ok(()),
            Err(error @ (ForgeError::Failed { .. } | ForgeError::Unavailable { .. })) => {
                match self.tip(&commit.branch).await? {
                    Some(tip) if tip == sha => Ok(()),
                    Some(tip) if tip != commit.change.parent && !is_forced => {
                        Err(conflict(commit, "holds something else by now"))
                    }
                    Some(_) | None => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    async fn tip(&self, branch: &str) -> Result<Option<String>, ForgeError> {
        let path = self.path(&format!("git/ref/heads/{}", segments(branch)));
        match self.client.get::<Reference>(&path).await {
            Ok(reference) => Ok(Some(reference.object.sha)),
            Err(ForgeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// An earlier attempt may have come this far.
    async fn same_change(&self, tip: &str, commit: &ForgeCommit) -> Result<String, ForgeError> {
        let existing: ExistingCommit =
            self.client.get(&self.path(&format!("git/commits/{tip}"))).await?;
        let parents: Vec<&str> =
            existing.parents.iter().map(|parent| parent.sha.as_str()).collect();
        let Rebuilt { parent, tree, .. } = &commit.change;
        if parents == [parent.as_str()] && existing.tree.sha == *tree {
            return Ok(tip.to_owned());
        }
        Err(conflict(commit, "holds something else"))
    }

    async fn make_tree(&self, change: &Rebuilt) -> Result<String, ForgeError> {
        let mut entries = Vec::new();
        for entry in &change.entries {
            entries.push(self.tree_entry(entry).await?);
        }
        let body = json!({ "base_tree": change.parent_tree, "tree": entries });
        let made: GitObject = self.client.send("POST", &self.path("git/trees"), &body).await?;
        Ok(made.sha)
    }

    /// Text goes along with its tree; other content is sent before.
    async fn tree_entry(
        &self,
        RebuiltEntry { path, now }: &RebuiltEntry,
    ) -> Result<Value, ForgeError> {
        let Some(RebuiltFile { mode, blob, content }) = now else {
            return Ok(json!({ "path": path, "mode": "100644", "type": "blob", "sha": null }));
        };
        if let Some(text) =
            std::str::from_utf8(content).ok().filter(|text| text.len() <= INLINE_LIMIT_BYTES)
        {
            return Ok(json!({ "path": path, "mode": mode, "type": "blob", "content": text }));
        }
        let body = json!({ "content": STANDARD.encode(content), "encoding": "base64" });
        let made: GitObject = self.client.send("POST", &self.path("git/blobs"), &body).await?;
        if made.sha != *blob {
            return Err(refused(&format!("`{path}` did not arrive as it was sent")));
        }
        Ok(json!({ "path": path, "mode": mode, "type": "blob", "sha": blob }))
    }
}

fn refused(why: &str) -> ForgeError {
    ForgeError::Failed {
        forge: NAME,
        action: "making a commit".to_owned(),
        message: why.to_owned(),
    }
}

fn conflict(commit: &ForgeCommit, why: &str) -> ForgeError {
    ForgeError::Conflict { forge: NAME, what: format!("the branch `{}` {why}", commit.branch) }
}

/// Writes a branch as part of a path.
fn segments(branch: &str) -> String {
    branch.split('/').map(segment).collect::<Vec<_>>().join("/")
}
