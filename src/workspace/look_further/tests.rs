//! What is closed in a checkout, before a command and after it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;

use crate::fixture::{RepoFixture, path};
use crate::git_binary::GitBinary;
use crate::touched::Snapshot;

fn git(fixture: &RepoFixture) -> GitBinary {
    let search = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    GitBinary::new(&fixture.repo, &[search].into())
}

fn set_mode(fixture: &RepoFixture, at: &str, mode: u32) {
    fs::set_permissions(fixture.root.join(at), Permissions::from_mode(mode)).unwrap();
}

fn mode(fixture: &RepoFixture, at: &str) -> u32 {
    fs::symlink_metadata(fixture.root.join(at)).unwrap().permissions().mode() & 0o777
}

async fn look(fixture: &RepoFixture) -> Snapshot {
    fixture.repo.snapshot(&git(fixture)).await.unwrap()
}

async fn touched_since(fixture: &RepoFixture, before: &Snapshot) -> Vec<String> {
    let after = fixture.repo.snapshot_after(&git(fixture), before).await.unwrap();
    let touched = fixture.repo.touched(before, &after).unwrap();
    touched.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn what_a_person_closed_stays_closed_and_what_a_command_closed_is_opened() {
    let fixture = RepoFixture::new();
    for file in ["locked/deep/p", "secret", "half/p"] {
        fixture.write(file, "a person's");
    }
    set_mode(&fixture, "locked", 0o000);
    set_mode(&fixture, "secret", 0o000);
    set_mode(&fixture, "half", 0o400);
    let before = look(&fixture).await;
    assert_eq!(touched_since(&fixture, &before).await, Vec::<String>::new());
    for (at, expected) in [("locked", 0o000), ("secret", 0o000), ("half", 0o400)] {
        assert_eq!(mode(&fixture, at), expected, "{at}");
    }

    for file in ["new/deep/file", "new/file", "file", "read only/file"] {
        fixture.write(file, "a command's");
    }
    for at in ["new/deep/file", "new/file", "file", "new/deep", "new"] {
        set_mode(&fixture, at, 0o000);
    }
    set_mode(&fixture, "read only", 0o555);
    set_mode(&fixture, "locked", 0o755);
    fs::rename(fixture.root.join("locked"), fixture.root.join("moved")).unwrap();
    let touched = touched_since(&fixture, &before).await;
    for own in ["file", "new/deep/file", "new/file", "read only/file"] {
        assert!(touched.contains(&own.to_owned()), "{own}: {touched:?}");
        assert!(!fixture.repo.was_unseen(&before, &path(own)), "{own}");
    }
    for (at, expected) in [
        ("new", 0o700),
        ("new/deep", 0o700),
        ("new/file", 0o600),
        ("file", 0o600),
        ("read only", 0o755),
        ("secret", 0o000),
        ("half", 0o400),
    ] {
        assert_eq!(mode(&fixture, at), expected, "{at}");
    }
    for theirs in ["locked/deep/p", "moved/deep/p", "secret", "half/p"] {
        assert!(fixture.repo.was_unseen(&before, &path(theirs)), "{theirs}");
    }
    set_mode(&fixture, "half", 0o700);
}

#[tokio::test]
async fn what_lies_in_a_closed_folder_counts_as_what_is_in_no_commit() {
    let fixture = RepoFixture::new();
    fixture.write("locked/p", "a person's");
    set_mode(&fixture, "locked", 0o000);
    let before = look(&fixture).await;
    assert!(before.is_dirty(&path("locked/p")) && !before.is_dirty(&path("src/lib.rs")));
    set_mode(&fixture, "locked", 0o700);
    assert!(!look(&fixture).await.is_dirty(&path("locked/q")));
}
