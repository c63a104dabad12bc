//! Reviews of pull requests: which lines can be commented on, and the one review of a run.
//!
//! A review is found again by its marker, as a comment is; only its text can be changed then, so
//! the marker has to stand for the comments as well.

use serde_json::{Value, json};

use crate::github::wire::{Call, number, text};
use crate::github::{GitHub, PAGE, PAGES, missing, receipt, starts_with_line};
use crate::posts::{LineComment, Receipt};
use crate::{CommentableLines, ForgeError};
use locum_policy::intent::Publication;

impl GitHub {
    /// Reads the lines that a pull request's diff shows of its head.
    pub(super) async fn read_lines(
        &self,
        pull_request: u64,
    ) -> Result<CommentableLines, ForgeError> {
        let list = self.path(&format!("pulls/{pull_request}/files"));
        let mut lines = CommentableLines::new();
        for page in 1..=PAGES {
            let answer =
                self.wire.ask(Call::get(format!("{list}?per_page={PAGE}&page={page}"))).await?;
            let Value::Array(files) = answer else { return Err(missing(&list, "a list")) };
            for file in &files {
                // Of large and binary files no patch is told, and nothing can be said on their
                // lines.
                if let (Some(name), Some(patch)) = (text(file, "/filename"), text(file, "/patch")) {
                    lines.insert(name.to_owned(), shown(patch));
                }
            }
            if files.len() < PAGE {
                break;
            }
        }
        Ok(lines)
    }

    /// Changes the text of our review with this marker, or submits one.
    pub(super) async fn put_review(
        &self,
        pull_request: u64,
        marker: &str,
        review: &Value,
    ) -> Result<Receipt, ForgeError> {
        let path = self.path(&format!("pulls/{pull_request}/reviews"));
        let ours = self.ours(&path, marker).await?;
        if let Some(known) = ours.iter().find(|known| starts_with_line(known, marker)) {
            let one =
                format!("{path}/{}", number(known, "/id").ok_or_else(|| missing(&path, "/id"))?);
            let answer = self
                .wire
                .ask(Call::put(one.clone(), json!({ "body": review.get("body") })))
                .await?;
            return receipt(Publication::Review, &one, &answer, true);
        }
        let answer = self.wire.ask(Call::post(path.clone(), review.clone())).await?;
        receipt(Publication::Review, &path, &answer, false)
    }
}

/// Returns a review as it is submitted: it comments, and neither approves nor refuses.
pub(super) fn review_of(commit: &str, body: &str, comments: &[LineComment]) -> Value {
    let comments: Vec<Value> = comments.iter().map(comment_of).collect();
    json!({ "commit_id": commit, "event": "COMMENT", "body": body, "comments": comments })
}

fn comment_of(comment: &LineComment) -> Value {
    let LineComment { path, first, last, body } = comment;
    if first == last {
        json!({ "path": path, "line": last, "side": "RIGHT", "body": body })
    } else {
        json!({ "path": path, "start_line": first, "start_side": "RIGHT", "line": last, "side": "RIGHT", "body": body })
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
    use super::{review_of, shown};
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
        let review = review_of("c0ffee", "text", &[comment(2, 2), comment(2, 4)]);
        assert_eq!(
            review,
            json!({ "commit_id": "c0ffee", "event": "COMMENT", "body": "text", "comments": [
                { "path": "a", "line": 2, "side": "RIGHT", "body": "b" },
                { "path": "a", "start_line": 2, "start_side": "RIGHT", "line": 4, "side": "RIGHT", "body": "b" },
            ]})
        );
    }
}
