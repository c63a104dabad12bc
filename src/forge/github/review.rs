//! Reviews of pull requests: which lines can be commented on, and the one review of a run.
//!
//! A review is found again by its marker, as a comment is. Only its text can be changed then, so
//! one marker identifies text and comments.

use futures::FutureExt as _;
use serde::Serialize;
use serde_json::json;

use crate::github::answers::ChangedFile;
use crate::github::lists::PAGES;
use crate::github::{GitHub, receipt};
use crate::posts::{LineComment, Receipt};
use crate::{CommentableLines, ForgeError};
use locum_policy::intent::PublicationKind;

/// A review as it is submitted: it comments, and neither approves nor refuses.
#[derive(Serialize)]
pub(super) struct SubmittedReview<'a> {
    commit_id: &'a str,
    event: &'static str,
    body: &'a str,
    comments: Vec<ReviewComment<'a>>,
}

#[derive(Serialize)]
struct ReviewComment<'a> {
    path: &'a str,
    #[serde(flatten)]
    start: Option<RangeStart>,
    line: u32,
    side: &'static str,
    body: &'a str,
}

/// The first of several lines.
#[derive(Serialize)]
struct RangeStart {
    start_line: u32,
    start_side: &'static str,
}

impl<'a> SubmittedReview<'a> {
    pub(super) fn new(commit_id: &'a str, body: &'a str, comments: &'a [LineComment]) -> Self {
        let side = "RIGHT";
        let comment = |LineComment { path, first, last, body }: &'a LineComment| ReviewComment {
            path,
            start: (first != last).then_some(RangeStart { start_line: *first, start_side: side }),
            line: *last,
            side,
            body,
        };
        let comments = comments.iter().map(comment).collect();
        Self { commit_id, event: "COMMENT", body, comments }
    }
}

impl GitHub {
    /// Reads the lines that a pull request's diff shows of its head.
    pub(super) async fn read_lines(
        &self,
        pull_request: u64,
    ) -> Result<CommentableLines, ForgeError> {
        let list = self.path(&format!("pulls/{pull_request}/files"));
        let lines_of = |file: ChangedFile| Some((file.filename, shown(&file.patch?)));
        // GitHub lists 3,000 files at most; without a diff of the others no line of them counts.
        Ok(self.client.list_first(PAGES, &list, lines_of).await?.into_iter().collect())
    }

    /// Changes the text of our review with this marker, or submits one.
    pub(super) async fn put_review(
        &self,
        pull_request: u64,
        marker: &str,
        review: &SubmittedReview<'_>,
    ) -> Result<Receipt, ForgeError> {
        let path = self.path(&format!("pulls/{pull_request}/reviews"));
        if let Some(known) = self.first_post(&path, marker).await? {
            let change = json!({ "body": review.body });
            let post = self.client.send("PUT", &format!("{path}/{}", known.id), &change).await?;
            return Ok(receipt(PublicationKind::Review, post, true));
        }
        let find = || self.first_post(&path, marker).boxed();
        let post = self.client.create(&path, review, find).await?;
        Ok(receipt(PublicationKind::Review, post, false))
    }
}

/// Returns the spans of new lines in a patch's headers, `@@ -1,2 +3,4 @@`.
fn shown(patch: &str) -> Vec<(u32, u32)> {
    let span = |header: &str| {
        let (start, count) = header
            .split(' ')
            .find_map(|word| word.strip_prefix('+'))
            .map(|new| new.split_once(',').unwrap_or((new, "1")))?;
        let (start, count): (u32, u32) = (start.parse().ok()?, count.parse().ok()?);
        (count > 0).then(|| (start, start.saturating_add(count - 1)))
    };
    patch.lines().filter_map(|line| line.strip_prefix("@@ ")).filter_map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::{SubmittedReview, shown};
    use crate::posts::LineComment;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn reads_the_spans_of_new_lines() {
        let patch = "@@ -1,3 +1,4 @@ fn a\n one\n+two\n@@ -9 +10 @@\n-x\n+y\n@@ -20,2 +20,0 \
                     @@\n-@@ -1 +99 @@\n+@@ nothing\n@@ broken @@";
        assert_eq!(shown(patch), [(1, 4), (10, 10)]);
    }

    #[test]
    fn one_line_has_no_start() {
        let comment =
            |first, last| LineComment { path: "a".to_owned(), first, last, body: "b".to_owned() };
        let comments = [comment(2, 2), comment(2, 4)];
        let review = SubmittedReview::new("c0ffee", "text", &comments);
        assert_eq!(
            serde_json::to_value(review).unwrap(),
            json!({ "commit_id": "c0ffee", "event": "COMMENT", "body": "text", "comments": [
                { "path": "a", "line": 2, "side": "RIGHT", "body": "b" },
                { "path": "a", "start_line": 2, "start_side": "RIGHT", "line": 4,
                  "side": "RIGHT", "body": "b" },
            ]})
        );
    }
}
