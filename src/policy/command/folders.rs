//! Changes of folder at the front of a script, as models write them: `cd FOLDER && ...`,
//! `pushd FOLDER && ... && popd`, and `mkdir -p FOLDER && cd FOLDER && ...`.
//!
//! In: the text of a script. Out: the folder as it is written, and the text that runs there. What
//! is cut off is only the change itself; the rest is judged and run as any other script.

use crate::command::parse;

/// A folder that a script makes before it changes to it.
pub(super) struct MadeFolder<'t> {
    /// The command that makes it.
    pub(super) maker: &'t str,
    /// The folder as written.
    pub(super) folder: &'t str,
    /// What runs there.
    pub(super) rest: &'t str,
}

/// A change of folder that was taken off the front of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnteredFolder {
    /// The folder as written.
    pub(super) folder: String,
    /// Whether `pushd` entered it, and `popd` left it.
    is_pushed: bool,
}

impl EnteredFolder {
    /// Returns the change to a folder at the front of a text.
    pub(super) fn of(folder: &str, text: &str) -> Self {
        let is_pushed = text.trim_start_matches(['(', ' ', '\t', '\n']).starts_with("pushd ");
        Self { folder: folder.to_owned(), is_pushed }
    }

    /// Returns the commands that it stands for. `pushd` changes the folder as `cd` does.
    pub(super) fn commands(&self) -> Vec<Vec<String>> {
        let command = |program: &str| vec![program.to_owned(), self.folder.clone()];
        let mut found = vec![command("cd")];
        if self.is_pushed {
            found.extend([command("pushd"), vec!["popd".to_owned()]]);
        }
        found
    }
}

/// What may stand behind `pushd` and `popd`, which print where they are. None ends like one behind
/// it.
const OUTPUT: &[&str] = &[
    "&>/dev/null",
    "&> /dev/null",
    "2>/dev/null",
    "2> /dev/null",
    "2>&1",
    ">/dev/null",
    "> /dev/null",
];

/// Takes a change of folder off the front of a command.
pub(super) fn changed(command: &str) -> Option<(&str, &str)> {
    let command = command.trim();
    let inner = command.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    let command = inner.filter(|_| parse::is_subshell(command)).map_or(command, str::trim);
    if let Some(behind) = command.strip_prefix("pushd ") {
        return pushed(behind.trim_start());
    }
    let (folder, rest) = plain_folder(command.strip_prefix("cd ")?.trim_start())?;
    let rest = behind_sign(rest)?;
    (!rest.is_empty()).then_some((folder, rest))
}

/// Takes a folder off that is made and entered: where `&&` joins all of it, the folder is there.
pub(super) fn made(command: &str) -> Option<MadeFolder<'_>> {
    let command = command.trim();
    let behind = command.strip_prefix("mkdir ")?.trim_start();
    let behind = behind.strip_prefix("-p ").map_or(behind, str::trim_start);
    let (folder, rest) = plain_folder(behind)?;
    let maker = command.strip_suffix(rest)?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix("&&")?.trim_start();
    let (entered, rest) = plain_folder(rest.strip_prefix("cd ")?.trim_start())?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix("&&")?.trim_start();
    let is_same = entered.trim_end_matches('/') == folder.trim_end_matches('/');
    (is_same && !rest.is_empty()).then_some(MadeFolder { maker, folder: entered, rest })
}

/// What stands between `pushd FOLDER` and the `popd` at the end.
fn pushed(behind: &str) -> Option<(&str, &str)> {
    let (folder, rest) = plain_folder(behind)?;
    let rest = behind_sign(without_output(rest, |text, output| text.strip_prefix(output)))?;
    let rest = without_output(rest, |text, output| text.strip_suffix(output));
    let rest = rest.strip_suffix("popd")?.trim_end_matches([' ', '\t']);
    let rest = ["&&", ";", "\n"].iter().find_map(|sign| rest.strip_suffix(sign))?.trim_end();
    (!rest.is_empty()).then_some((folder, rest))
}

/// Cuts off a folder that is one plain word.
fn plain_folder(text: &str) -> Option<(&str, &str)> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./-".contains(letter);
    let (folder, rest) = text.split_at(text.find(|letter| !is_plain(letter))?);
    (!folder.is_empty() && !folder.starts_with('-')).then_some((folder, rest))
}

/// Returns what follows the sign behind a change of folder.
fn behind_sign(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', '\t']);
    Some(["&&", ";", "\n"].iter().find_map(|sign| rest.strip_prefix(sign))?.trim_start())
}

/// Takes redirections to nowhere off one end of a text.
fn without_output<'t>(text: &'t str, cut: fn(&'t str, &str) -> Option<&'t str>) -> &'t str {
    let mut text = text.trim_matches([' ', '\t']);
    while let Some(rest) = OUTPUT.iter().find_map(|output| cut(text, output)) {
        text = rest.trim_matches([' ', '\t']);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{MadeFolder, changed, made};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_folder_that_is_pushed_and_popped_is_where_the_rest_runs() {
        for (text, expected) in [
            ("pushd docs && ls && popd", Some(("docs", "ls"))),
            ("pushd docs >/dev/null && ls && popd >/dev/null", Some(("docs", "ls"))),
            ("pushd docs > /dev/null 2>&1; ls; popd &>/dev/null", Some(("docs", "ls"))),
            ("pushd a/b\nls | wc\npopd", Some(("a/b", "ls | wc"))),
            ("(pushd docs && ls; x && popd)", Some(("docs", "ls; x"))),
            ("pushd docs && ls", None),
            ("pushd docs && popd", None),
            ("pushd && ls && popd", None),
            ("pushd +1 && ls && popd", None),
            ("pushd -n docs && ls && popd", None),
            ("pushd docs > a && ls && popd", None),
            ("pushd docs && ls && popd > a", None),
            ("pushd docs && ls && popd +1", None),
            ("pushd docs && ls || popd", None),
            ("pushd docs && ls | popd", None),
            ("pushd docs && echo 'popd'", None),
            ("pushd docs && echo popd", None),
            ("pushd $x && ls && popd", None),
            ("pushd docs | ls && popd", None),
        ] {
            assert_eq!(changed(text), expected, "{text}");
        }
    }

    #[test]
    fn a_folder_that_is_made_and_entered_is_surely_there() {
        let parts = |text: &'static str| {
            made(text).map(|MadeFolder { maker, folder, rest }| (maker, folder, rest))
        };
        for (text, expected) in [
            (
                "mkdir -p build && cd build && cmake .. && make",
                Some(("mkdir -p build", "build", "cmake .. && make")),
            ),
            ("mkdir a/b && cd a/b/ && ls", Some(("mkdir a/b", "a/b/", "ls"))),
            ("mkdir -p build; cd build && ls", None),
            ("mkdir -p build && cd build; ls", None),
            ("mkdir -p build || cd build && ls", None),
            ("mkdir -p build && cd other && ls", None),
            ("mkdir -p build x && cd build && ls", None),
            ("mkdir -p build > x && cd build && ls", None),
            ("mkdir -m 7 build && cd build && ls", None),
            ("mkdir -p build && cd build", None),
            ("mkdir -p build && (cd build && ls)", None),
            ("mkdir -p $x && cd $x && ls", None),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
