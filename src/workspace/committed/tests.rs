//! What is found in commits, odd ones among them.

use git2::{FileMode, Oid};
use pretty_assertions::assert_eq;

use super::{CommitChanges, CommittedFile};
use crate::fixture::{RepoFixture, path};
use crate::repo::CommitId;

/// Makes a commit of entries written straight into a tree below `sub`, which no tool would
/// make.
fn committed(fixture: &RepoFixture, entries: &[(&[u8], &[u8], FileMode)]) -> CommitChanges {
    let git = &fixture.repo.git;
    let root = fixture.repo.tree_of(&fixture.base).unwrap();
    let mut builder = git.treebuilder(None).unwrap();
    for (name, content, mode) in entries {
        let id = if *mode == FileMode::Commit {
            Oid::from_str(&fixture.base.0).unwrap()
        } else {
            git.blob(content).unwrap()
        };
        builder.insert(*name, id, i32::from(*mode)).unwrap();
    }
    let mut top = git.treebuilder(Some(&root)).unwrap();
    top.insert("sub", builder.write().unwrap(), FileMode::Tree.into()).unwrap();
    let tree = git.find_tree(top.write().unwrap()).unwrap();
    let author = git2::Signature::now("a", "a@example.org").unwrap();
    let parent = fixture.repo.find(&fixture.base).unwrap();
    let id = git.commit(None, &author, &author, "m", &tree, &[&parent]).unwrap();
    fixture.repo.committed(&fixture.base, &CommitId::of(id)).unwrap()
}

#[test]
fn tells_every_kind_of_change() {
    let fixture = RepoFixture::new();
    fixture.write("src/lib.rs", "one\n2\nthree\n");
    fixture.write("run.sh", "#!/bin/sh\n");
    fixture.set_mode("latin", 0o755);
    fixture.remove("link");
    fixture.link("src", "link");
    fixture.remove("old/only");
    fixture.write("new/a", "x");
    let commit = CommitId(fixture.commit("second"));
    let found = fixture.repo.committed(&fixture.base, &commit).unwrap();
    let file = |executable, size_bytes| CommittedFile::File { executable, size_bytes };
    let files: Vec<(&str, &CommittedFile, &CommittedFile)> = found
        .paths
        .iter()
        .map(|changed| (changed.path.as_ref().unwrap().as_str(), &changed.before, &changed.after))
        .collect();
    let link = |target: &str, to: &str| CommittedFile::Link {
        target: target.to_owned(),
        leads_to: Some(path(to)),
    };
    assert_eq!(
        files,
        [
            ("latin", &file(false, 5), &file(true, 5)),
            ("link", &link("src/lib.rs", "src/lib.rs"), &link("src", "src")),
            ("new/a", &CommittedFile::Nothing, &file(false, 1)),
            ("old/only", &file(false, 2), &CommittedFile::Nothing),
            ("src/lib.rs", &file(false, 14), &file(false, 12)),
        ]
    );
    let lines = &found.paths.last().unwrap().lines;
    assert_eq!(
        (lines.added, lines.removed, lines.text.as_slice()),
        (1, 1, [(2, "2".to_owned())].as_slice())
    );
    assert_eq!(
        (found.parents, found.is_cut, found.collisions),
        (vec![fixture.base.clone()], false, vec![])
    );
}

#[test]
fn sees_what_a_checkout_would_not_show() {
    let fixture = RepoFixture::new();
    let found = committed(
        &fixture,
        &[
            (b"caf\xe9", b"x", FileMode::Blob),
            (b"a\nb", b"x", FileMode::Blob),
            (b"module", b"", FileMode::Commit),
            (b"README", b"x", FileMode::Blob),
            (b"readme", b"x", FileMode::Blob),
            (b"out", b"../../etc/passwd", FileMode::Link),
            (b"absolute", b"/etc/passwd", FileMode::Link),
            (b"loop", b"loop", FileMode::Link),
            (b"chain", b"../link", FileMode::Link),
            (b"self", b"..", FileMode::Link),
        ],
    );
    let files: Vec<(String, Option<String>)> = found
        .paths
        .iter()
        .map(|changed| {
            let path =
                changed.path.as_ref().map_or_else(|shown| format!("?{shown}"), ToString::to_string);
            let leads = match &changed.after {
                CommittedFile::Link { leads_to, .. } => {
                    Some(leads_to.as_ref().map_or("outside".to_owned(), ToString::to_string))
                }
                CommittedFile::Submodule => Some("submodule".to_owned()),
                CommittedFile::File { .. } | CommittedFile::Nothing => None,
            };
            (path, leads)
        })
        .collect();
    let expect = |path: &str, leads: Option<&str>| (path.to_owned(), leads.map(str::to_owned));
    assert_eq!(
        files,
        [
            expect("sub/README", None),
            expect("?sub/a\\nb", None),
            expect("sub/absolute", Some("outside")),
            expect("?sub/caf\u{fffd}", None),
            expect("sub/chain", Some("src/lib.rs")),
            expect("sub/loop", Some("outside")),
            expect("sub/module", Some("submodule")),
            expect("sub/out", Some("outside")),
            expect("sub/readme", None),
            expect("sub/self", Some(".")),
        ]
    );
    assert_eq!(found.collisions, [("sub/readme".to_owned(), "sub/README".to_owned())]);
}

#[test]
fn attributes_of_the_checkout_hide_nothing() {
    let fixture = RepoFixture::new();
    fixture.write(".gitattributes", "* -diff binary\n");
    fixture.write("src/lib.rs", "one\nnew line\nthree\n");
    let commit = CommitId(fixture.commit("second"));
    let found = fixture.repo.committed(&fixture.base, &commit).unwrap();
    assert_eq!(found.paths.last().unwrap().lines.text, [(2, "new line".to_owned())]);
}

#[test]
fn a_folder_that_git_takes_for_a_repository_is_found() {
    let fixture = RepoFixture::new();
    let blob = FileMode::Blob;
    let whole: [(&[u8], &[u8], FileMode); 5] = [
        (b"HEAD", b"ref: refs/heads/main\n", blob),
        (b"config", b"[core]\n", blob),
        (b"objects", b"x", blob),
        (b"refs", b"x", blob),
        (b"readme", b"x", blob),
    ];
    let found = committed(&fixture, &whole).git_data;
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["sub/HEAD", "sub/config", "sub/objects", "sub/refs"]);
    assert!(found.iter().all(|(_, folder)| *folder == path("sub")));
    assert_eq!(committed(&fixture, &whole[1..]).git_data, []);
}
