//! Variables that name folders to load code from, where the script names them by the folder that it
//! runs in and adds them to those that the variable holds: `PYTHONPATH=$PWD/src:$PYTHONPATH`.
//!
//! In: an assignment as the grammar cut it, and where the repository lies. Out: the same with its
//! folders as they are from where the script runs, and how a shell is given it. What the variable
//! holds already is no more than what programs are given anyway.

use brush_parser::ast;

use crate::command::variables;

/// Folders of the repository, as the value of a variable.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SearchPath {
    /// `NAME=VALUE`, with what the script itself adds.
    pub(super) known: String,
    /// What a shell is given.
    pub(super) rendered: String,
}

/// Reads the value of such a variable; `None` for another one, and for a value that holds more.
pub(super) fn read(assignment: &ast::Assignment, root: &str) -> Option<SearchPath> {
    let (ast::AssignmentName::VariableName(name), ast::AssignmentValue::Scalar(value), false) =
        (&assignment.name, &assignment.value, assignment.append)
    else {
        return None;
    };
    variables::names_folders(name).then_some(())?;
    read_value(name, &value.value, root)
}

fn read_value(name: &str, raw: &str, root: &str) -> Option<SearchPath> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:${}()+".contains(letter);
    let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
    inner.chars().all(plain).then_some(())?;
    // Each value has several spellings.
    let held = format!("${name}");
    let spelled = inner
        .replace("$(pwd)", "$PWD")
        .replace("${PWD}", "$PWD")
        .replace(&format!("${{{name}:-}}"), &held)
        .replace(&format!("${{{name}}}"), &held);
    let if_any = format!("${{{name}:+:${name}}}");
    let listed = spelled.strip_suffix(if_any.as_str()).unwrap_or(&spelled);
    let mut folders = Vec::new();
    for part in listed.split(':').filter(|part| *part != held) {
        folders.push(match part.strip_prefix("$PWD") {
            Some("" | "/") => ".",
            Some(below) => below.strip_prefix('/')?,
            None => part,
        });
    }
    let value = if folders.is_empty() { ".".to_owned() } else { folders.join(":") };
    let value = variables::from_root(&value, root);
    variables::check(name, &value).ok()?;
    let (known, rendered) = (format!("{name}={value}"), format!("{name}=\"{spelled}\""));
    Some(SearchPath { known, rendered })
}

#[cfg(test)]
mod tests {
    use super::read_value;
    use pretty_assertions::assert_eq;

    #[test]
    fn folders_of_the_repository_are_added_to_what_is_held_and_nothing_else_is() {
        for (raw, known, rendered) in [
            ("$PWD/src", "src", "$PWD/src"),
            ("\"$PWD/src\"", "src", "$PWD/src"),
            ("${PWD}/src:tests", "src:tests", "$PWD/src:tests"),
            ("$(pwd)", ".", "$PWD"),
            ("$PWD/", ".", "$PWD/"),
            ("src:$PYTHONPATH", "src", "src:$PYTHONPATH"),
            ("${PYTHONPATH:-}:src", "src", "$PYTHONPATH:src"),
            ("src${PYTHONPATH:+:$PYTHONPATH}", "src", "src${PYTHONPATH:+:$PYTHONPATH}"),
            ("\"$PWD${PYTHONPATH:+:${PYTHONPATH}}\"", ".", "$PWD${PYTHONPATH:+:$PYTHONPATH}"),
            ("/w/repo/src:/w/repo", "src:.", "/w/repo/src:/w/repo"),
            ("$PYTHONPATH", ".", "$PYTHONPATH"),
        ] {
            let found = read_value("PYTHONPATH", raw, "/w/repo").unwrap();
            assert_eq!(found.known, format!("PYTHONPATH={known}"), "{raw}");
            assert_eq!(found.rendered, format!("PYTHONPATH=\"{rendered}\""), "{raw}");
        }
        for raw in [
            "$HOME/src",
            "$PWD/../x",
            "$PWDX/src",
            "$PWD/$x",
            "$OLDPWD/src",
            "$PYTHONPATH/src",
            "$PYTHONPATHX",
            "${PYTHONPATH:-/tmp/x}",
            "${PYTHONPATH:+/tmp/x}",
            "src:${PYTHONPATH:+:$PYTHONPATH}",
            "/tmp/x:$PYTHONPATH",
            "/w/repository/src",
            "/w/repo/../x",
            "$(id)",
            "`pwd`/src",
            "'$PWD/src'",
            "$PWD\"/src\"",
            "$PWD/a b",
            "src:",
        ] {
            assert_eq!(read_value("PYTHONPATH", raw, "/w/repo"), None, "{raw}");
        }
        assert_eq!(read_value("PYTHONPATH", "/w/repo/src", ""), None);
    }
}
