//! Paths below the home of whoever runs a command: folders in which tools keep what they fetched.
//!
//! In: a word as it is written. Out: the same path behind `~/`, where it lies in such a folder.
//! Credentials lie beside these folders; whether a name in one is protected is asked elsewhere.

/// Folders of packages and of tool chains.
const TOOLS: &[&str] = &[
    ".cargo/git",
    ".cargo/registry",
    ".gem/ruby",
    ".local/lib",
    ".m2/repository",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    "go/pkg/mod",
];

/// Folders that hold such folders.
const AROUND_TOOLS: &[&str] = &[".cargo", ".gem", ".local", ".m2", "go", "go/pkg"];

/// Returns the path that a word names, if a tool keeps it. It may be a pattern of files.
pub(super) fn of_tools(raw: &str) -> Option<String> {
    let path = below_home(raw)?;
    is_of_tools(&path).then_some(path)
}

/// Returns the path that a word names, if it holds the folder of a tool.
pub(super) fn around_tools(raw: &str) -> Option<String> {
    let path = below_home(raw)?;
    let inside = path.strip_prefix("~/")?;
    AROUND_TOOLS.contains(&inside.trim_end_matches('/')).then_some(path)
}

/// Returns true for a path behind `~/` that lies in the folder of a tool.
pub(crate) fn is_of_tools(path: &str) -> bool {
    let Some(inside) = path.strip_prefix("~/") else { return false };
    let is_below = |folder: &&str| {
        inside.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    inside.trim_end_matches('/').split('/').all(is_plain) && TOOLS.iter().any(is_below)
}

/// Returns a path below the home, spelled plainly. Where `*` stands, no part may begin with a dot:
/// it could lead up.
fn below_home(raw: &str) -> Option<String> {
    // A quote within `~/` would make it a folder of that name.
    let plain = if raw.starts_with('~') { raw.to_owned() } else { raw.replace('"', "") };
    let inside = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|home| plain.strip_prefix(home))?;
    let is_known = |letter: char| letter.is_ascii_alphanumeric() || "_-./+@*?".contains(letter);
    let leads_up = |part: &str| part.starts_with('.') && part.contains(['*', '?']);
    let known = inside.chars().all(is_known) && !inside.split('/').any(leads_up);
    known.then(|| format!("~/{inside}"))
}

#[cfg(test)]
mod tests {
    use super::{around_tools, is_of_tools, of_tools};

    #[test]
    fn only_what_tools_keep_is_known_of_a_home() {
        for (raw, path) in [
            ("~/.cargo/registry/src/a/b.rs", "~/.cargo/registry/src/a/b.rs"),
            ("$HOME/.m2/repository", "~/.m2/repository"),
            ("\"$HOME\"/go/pkg/mod/a@v1/b.go", "~/go/pkg/mod/a@v1/b.go"),
            ("\"${HOME}/.rustup/toolchains\"", "~/.rustup/toolchains"),
            ("~/.cargo/registry/src/*/a-1*/Cargo.toml", "~/.cargo/registry/src/*/a-1*/Cargo.toml"),
        ] {
            assert_eq!(of_tools(raw).as_deref(), Some(path), "{raw}");
        }
        for raw in [
            "~",
            "~/",
            "~/.cargo",
            "~/.cargo/credentials.toml",
            "~/.cargo/registry/../credentials.toml",
            "~/.cargo/registry//x",
            "~/.cargo/registryx",
            "~/.m2/settings.xml",
            "~/.c*/registry/x",
            "~/.cargo/registry/.*/x",
            "~/.cargo/registry/$x",
            "~/.cargo/registry/{a,b}",
            "~\"/.cargo/registry\"",
            "~me/.cargo/registry",
            "~/.ssh/id_rsa",
            "x/~/.cargo/registry",
        ] {
            assert_eq!(of_tools(raw), None, "{raw}");
        }
        assert!(!is_of_tools(".cargo/registry") && is_of_tools("~/.nvm/"));
        assert_eq!(around_tools("~/.m2").as_deref(), Some("~/.m2"));
        for raw in ["~", "~/.ssh", "~/.m2/settings.xml", "~/.cargo/*"] {
            assert_eq!(around_tools(raw), None, "{raw}");
        }
    }
}
