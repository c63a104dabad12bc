//! What a change does, as a name: the same change to another state of the files has the same one.

use git2::{Delta, ObjectType, Oid};

use crate::repo::{CommitId, Repo, RepoError};

/// Hexadecimal digits of a name.
const NAME_DIGITS: usize = 16;

impl Repo {
    /// Returns a name for what differs between two commits, after `git patch-id`: numbers of lines
    /// do not count. 16 hexadecimal digits.
    ///
    /// # Errors
    /// When a commit is not there or git fails.
    pub fn patch_id(&self, base: &CommitId, commit: &CommitId) -> Result<String, RepoError> {
        let (before, after) = (self.tree_of(base)?, self.tree_of(commit)?);
        let diff = self.git.diff_tree_to_tree(Some(&before), Some(&after), None)?;
        let mut name = diff.patchid(None)?.to_string().into_bytes();
        // Of these git's own says nothing, or no more than that they changed.
        for delta in diff.deltas() {
            let (old, new) = (delta.old_file(), delta.new_file());
            let is_binary = !(old.is_not_binary() && new.is_not_binary());
            if is_binary || old.mode() != new.mode() || delta.status() == Delta::Typechange {
                name.extend_from_slice(new.path_bytes().unwrap_or_default());
                name.extend(format!("\0{:?} {:?}\0", old.mode(), new.mode()).bytes());
            }
            if is_binary {
                name.extend(new.id().to_string().bytes());
            }
        }
        let whole = Oid::hash_object(ObjectType::Blob, &name)?.to_string();
        Ok(whole.chars().take(NAME_DIGITS).collect())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::{assert_eq, assert_ne};

    use crate::fixture::{RepoFixture, paths};
    use crate::repo::{CommitId, NewCommit};

    fn change(fixture: &RepoFixture, base: &CommitId, path: &str, text: &[u8]) -> String {
        fixture.write(path, text);
        named(fixture, base, path)
    }

    fn named(fixture: &RepoFixture, base: &CommitId, path: &str) -> String {
        let author = ("a", "a@example.org");
        let new = NewCommit { parent: base, touched: &paths(&[path]), message: "m", author };
        fixture.repo.patch_id(base, &fixture.repo.commit(&new).unwrap()).unwrap()
    }

    #[test]
    fn the_same_change_keeps_its_name_on_another_base_and_another_change_has_another() {
        let fixture = RepoFixture::new();
        let lines = |first: &str, last: &str| format!("{first}1\n2\n3\n4\n5\n6\n7\n{last}8\n");
        fixture.write("list", lines("", ""));
        let base = CommitId(fixture.commit("list"));
        let name = change(&fixture, &base, "list", lines("", "new\n").as_bytes());
        assert_ne!(name, change(&fixture, &base, "list", lines("", "newer\n").as_bytes()));
        fixture.write("list", lines("0\n", ""));
        let moved = CommitId(fixture.commit("moved"));
        assert_eq!(name, change(&fixture, &moved, "list", lines("0\n", "new\n").as_bytes()));
        assert_eq!(name.len(), 16);
    }

    #[test]
    fn binary_files_and_modes_count() {
        let fixture = RepoFixture::new();
        let base = fixture.base.clone();
        let name = change(&fixture, &base, "raw", &[0, 1, 2]);
        assert_ne!(name, change(&fixture, &base, "raw", &[0, 1, 3]));
        assert_eq!(name, change(&fixture, &base, "raw", &[0, 1, 2]));
        let text = change(&fixture, &base, "tool", b"true\n");
        fixture.set_mode("tool", 0o755);
        assert_ne!(text, named(&fixture, &base, "tool"));
    }
}
