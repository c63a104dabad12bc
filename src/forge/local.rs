//! `local`: writes what would be posted into a folder, one numbered file a posting; a comment or
//! pull request posted again changes its file.
//!
//! Comments and pull requests are Markdown as they would be posted (a pull request under a line of
//! JSON with its branches), reactions and labels are JSON. The person at the command line is asked
//! nothing: it is their own checkout.

#![expect(clippy::disallowed_methods, reason = "this forge is a folder")]

use std::fs;
use std::path::{Path, PathBuf};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::commits::ForgeCommit;
use crate::event::Subject;
use crate::posts::{Posting, Receipt};
use crate::{CommentableLines, Forge, ForgeError, OwnComment, Permission, PullRequest, Thread};
use locum_policy::Permit;
use locum_policy::intent::{Act as _, Intent, Publication};

/// The forge's name.
const NAME: &str = "local";

/// A folder that takes what would be posted.
pub struct Local {
    folder: PathBuf,
}

impl Local {
    /// Prepares the forge; the folder is made at the first posting.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn publish(&self, posting: &Posting) -> Result<Receipt, ForgeError> {
        fs::create_dir_all(&self.folder).map_err(|error| failed(&self.folder, &error))?;
        let (kind, ending, first_line, text) = match posting {
            Posting::Comment { number, marker, body } => {
                (format!("comment-{number}"), "md", Some(marker.clone()), body.clone())
            }
            Posting::Reply { comment, marker, body, .. } => {
                (format!("reply-{comment}"), "md", Some(marker.clone()), body.clone())
            }
            Posting::Review { number, .. } => {
                (format!("review-{number}"), "json", None, as_json(posting))
            }
            Posting::PullRequest { head, base, title, body, draft } => {
                // The line names the branch only, so that a new base or title changes the same
                // file.
                let line = format!("<!-- {} -->", json!({ "head": head }));
                let facts = json!({ "base": base, "draft": draft });
                (
                    "pull-request".to_owned(),
                    "md",
                    Some(line.clone()),
                    format!("{line}\n<!-- {facts} -->\n# {title}\n\n{body}"),
                )
            }
            Posting::Issue { marker, title, body } => (
                "issue".to_owned(),
                "md",
                Some(marker.clone()),
                format!("{body}\n\n(title: {title})"),
            ),
            Posting::Withdrawal(_) => ("withdrawal".to_owned(), "json", None, as_json(posting)),
            Posting::Reaction { .. } => ("reaction".to_owned(), "json", None, as_json(posting)),
            Posting::Labels { number, .. } => {
                (format!("labels-{number}"), "json", None, as_json(posting))
            }
        };
        let files = self.files()?;
        let is_same = |file: &Path| match &first_line {
            Some(line) => first_line_of(file).as_ref() == Some(line),
            None => fs::read_to_string(file).is_ok_and(|known| known == text),
        };
        let same = files.iter().find(|(_, file)| is_of_kind(file, &kind) && is_same(file));
        let (id, file) = match same {
            Some((number, file)) => (*number, file.clone()),
            None => {
                let next = files.iter().map(|(number, _)| *number).max().unwrap_or(0) + 1;
                (next, self.folder.join(format!("{next:03}-{kind}.{ending}")))
            }
        };
        fs::write(&file, text).map_err(|error| failed(&file, &error))?;
        Ok(Receipt {
            publication: publication_of(posting),
            id,
            url: file.display().to_string(),
            updated: same.is_some(),
        })
    }

    /// Returns the numbered files of the folder.
    fn files(&self) -> Result<Vec<(u64, PathBuf)>, ForgeError> {
        let entries = fs::read_dir(&self.folder).map_err(|error| failed(&self.folder, &error))?;
        let mut files: Vec<(u64, PathBuf)> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter_map(|file| {
                let number = file.file_name()?.to_str()?.split('-').next()?.parse().ok()?;
                Some((number, file))
            })
            .collect();
        files.sort();
        Ok(files)
    }

    fn unknown<T>(&self, what: &str) -> Result<T, ForgeError> {
        Err(ForgeError::NotFound {
            forge: NAME,
            what: format!("{what}: `{}` is only a folder", self.folder.display()),
        })
    }
}

impl Forge for Local {
    fn name(&self) -> &'static str {
        NAME
    }

    fn permission<'a>(&'a self, _login: &'a str) -> BoxFuture<'a, Result<Permission, ForgeError>> {
        futures::future::ready(Ok(Permission::Admin)).boxed()
    }

    fn pull_request(&self, number: u64) -> BoxFuture<'_, Result<PullRequest, ForgeError>> {
        futures::future::ready(self.unknown(&format!("pull request {number}"))).boxed()
    }

    fn commentable_lines(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<CommentableLines, ForgeError>> {
        futures::future::ready(self.unknown(&format!("lines of pull request {number}"))).boxed()
    }

    fn issue(&self, number: u64) -> BoxFuture<'_, Result<Subject, ForgeError>> {
        futures::future::ready(self.unknown(&format!("issue {number}"))).boxed()
    }

    fn own_login(&self) -> BoxFuture<'_, Option<String>> {
        futures::future::ready(None).boxed()
    }

    fn own_comments<'a>(
        &'a self,
        _thread: Thread,
        _marker: &'a str,
        _since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Vec<OwnComment>, ForgeError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn commit(&self, permit: Permit<ForgeCommit>) -> BoxFuture<'_, Result<String, ForgeError>> {
        futures::future::ready(self.unknown(&format!("the branch `{}`", permit.act().branch)))
            .boxed()
    }

    fn post(&self, permit: Permit<Posting>) -> BoxFuture<'_, Result<Receipt, ForgeError>> {
        futures::future::ready(self.publish(permit.act())).boxed()
    }
}

fn as_json(posting: &Posting) -> String {
    serde_json::to_value(posting).map(|value: Value| format!("{value:#}\n")).unwrap_or_default()
}

fn publication_of(posting: &Posting) -> Publication {
    posting
        .intents()
        .into_iter()
        .find_map(
            |intent| {
                if let Intent::Publish(publication) = intent { Some(publication) } else { None }
            },
        )
        .unwrap_or(Publication::Comment)
}

/// Returns true for `012-comment-7.md` and the kind `comment-7`.
fn is_of_kind(file: &Path, kind: &str) -> bool {
    file.file_stem()
        .and_then(|stem| stem.to_str())
        .and_then(|stem| stem.split_once('-'))
        .is_some_and(|(_, rest)| rest == kind)
}

fn first_line_of(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok()?.lines().next().map(str::to_owned)
}

fn failed(place: &Path, error: &std::io::Error) -> ForgeError {
    ForgeError::Failed {
        forge: NAME,
        action: format!("write `{}`", place.display()),
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::Local;
    use crate::posts::{Posting, ReactionTarget};
    use crate::{Forge as _, ForgeError, Permission};
    use pretty_assertions::assert_eq;
    use std::fs;

    fn comment(number: u64, marker: &str, text: &str) -> Posting {
        Posting::Comment { number, marker: marker.to_owned(), body: format!("{marker}\n{text}") }
    }

    fn names(folder: &std::path::Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_posting_is_a_file_and_posting_again_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("posts");
        let local = Local::new(&place);
        let first = local.publish(&comment(7, "<!-- a -->", "one")).unwrap();
        let other = local.publish(&comment(7, "<!-- b -->", "two")).unwrap();
        let again = local.publish(&comment(7, "<!-- a -->", "three")).unwrap();
        assert_eq!((first.id, first.updated), (1, false));
        assert_eq!((other.id, other.updated), (2, false));
        assert_eq!((again.id, again.updated, again.url.as_str()), (1, true, first.url.as_str()));
        assert_eq!(fs::read_to_string(&first.url).unwrap(), "<!-- a -->\nthree");
        assert_eq!(names(&place), ["001-comment-7.md", "002-comment-7.md"]);
        assert!(!local.publish(&comment(8, "<!-- a -->", "elsewhere")).unwrap().updated);
    }

    #[test]
    fn every_kind_of_posting_has_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let local = Local::new(folder.path());
        let pull_request = |title: &str, base: &str| Posting::PullRequest {
            head: "locum/a".to_owned(),
            base: base.to_owned(),
            title: title.to_owned(),
            body: "text".to_owned(),
            draft: true,
        };
        local
            .publish(&Posting::Reaction {
                target: ReactionTarget::IssueComment(3),
                content: "eyes".to_owned(),
            })
            .unwrap();
        local.publish(&pull_request("one", "main")).unwrap();
        assert!(local.publish(&pull_request("two", "next")).unwrap().updated);
        local.publish(&Posting::Labels { number: 2, labels: vec!["locum".to_owned()] }).unwrap();
        local
            .publish(&Posting::Reply {
                number: 2,
                comment: 9,
                marker: "<!-- m -->".to_owned(),
                body: "<!-- m -->\nx".to_owned(),
            })
            .unwrap();
        assert_eq!(
            names(folder.path()),
            ["001-reaction.json", "002-pull-request.md", "003-labels-2.json", "004-reply-9.md"]
        );
        let text = fs::read_to_string(folder.path().join("002-pull-request.md")).unwrap();
        assert_eq!(
            text,
            "<!-- {\"head\":\"locum/a\"} -->\n<!-- {\"base\":\"next\",\"draft\":true} -->\n# \
             two\n\ntext"
        );
    }

    #[test]
    fn a_folder_knows_no_pull_requests_and_its_owner_may_everything() {
        let folder = tempfile::tempdir().unwrap();
        let local = Local::new(folder.path());
        let asked = futures::executor::block_on(local.permission("anyone"));
        assert_eq!(asked, Ok(Permission::Admin));
        assert!(matches!(
            futures::executor::block_on(local.pull_request(1)),
            Err(ForgeError::NotFound { .. })
        ));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = Local::new(&file).publish(&comment(1, "<!-- a -->", "x")).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
    }
}
