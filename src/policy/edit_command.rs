//! `EditCommand`: a fast check that the policy runs after an edit of certain files.

use crate::command::tree::quoted;
use crate::glob::{LetterCase, PathGlob};
use locum_base::path::RepoPath;

/// What stands for the edited file in a command.
pub const FILE_PLACE: &str = "{file}";

/// A check that follows an edit.
#[derive(Clone, Debug)]
pub struct EditCommand {
    /// The files it is for.
    pub files: Vec<PathGlob>,
    /// The command, with [`FILE_PLACE`] where the file is named.
    pub run: String,
}

impl EditCommand {
    /// Returns the command for an edited file; `None` where it is not for this one.
    pub fn of(&self, path: &RepoPath) -> Option<String> {
        let fits = self.files.iter().any(|glob| glob.matches(path, LetterCase::Exact));
        fits.then(|| self.run.replace(FILE_PLACE, &word(path)))
    }
}

/// Returns a path as one word of a shell that is no option.
fn word(path: &RepoPath) -> String {
    let path = path.as_str();
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-');
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    if path.chars().all(plain) { path } else { quoted(&path) }
}

#[cfg(test)]
mod tests {
    use super::EditCommand;
    use crate::glob::PathGlob;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_command_names_its_file_as_one_word_and_leaves_others_alone() {
        let command = EditCommand {
            files: vec![PathGlob::parse("**/*.py").unwrap(), PathGlob::parse("-*").unwrap()],
            run: "ruff check {file}".to_owned(),
        };
        for (path, expected) in [
            ("src/a.py", Some("ruff check src/a.py")),
            ("a b.py", Some("ruff check 'a b.py'")),
            ("$(id).py", Some("ruff check '$(id).py'")),
            ("it's.py", Some("ruff check 'it'\\''s.py'")),
            ("-rf", Some("ruff check ./-rf")),
            ("src/a.pyc", None),
            ("README.md", None),
        ] {
            let path = RepoPath::parse(path).unwrap();
            assert_eq!(command.of(&path).as_deref(), expected, "{path}");
        }
    }
}
