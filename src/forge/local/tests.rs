//! What is posted, as files of a folder.

use super::LocalForge;
use crate::posts::{Posting, ReactionTarget};
use crate::{Forge as _, ForgeError, ForgePermission};
use pretty_assertions::assert_eq;
use std::fs;

fn comment(number: u64, marker: &str, text: &str) -> Posting {
    Posting::Comment {
        number,
        marker: marker.to_owned(),
        body: format!("{marker}\n{text}"),
        replaces: None,
    }
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
    let local = LocalForge::new(&place);
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
    let local = LocalForge::new(folder.path());
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
    let local = LocalForge::new(folder.path());
    let asked = futures::executor::block_on(local.permission("anyone"));
    assert_eq!(asked, Ok(ForgePermission::Admin));
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
    let error = LocalForge::new(&file).publish(&comment(1, "<!-- a -->", "x")).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
}
