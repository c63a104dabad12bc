//! Names of environment variables that commands and MCP servers are given.

use locum_files::rejection::Rejection;
use locum_files::shape::ParsedText;

/// A variable passed on to commands. Names that carry the runner's own credentials or files, or
/// that make a program start another one, are refused.
pub(super) const VARIABLE: ParsedText<String> = ParsedText {
    parse: |name| checked(name, is_guarded(name), "passed on to commands"),
    write: Some(String::clone),
    pattern: "^[A-Za-z0-9_]+$",
    example: "CARGO_HOME",
};

/// A variable given to a server. Keys are what servers are given variables for; what belongs to
/// this program or would change how others start is refused.
pub(super) const SERVER_VARIABLE: ParsedText<String> = ParsedText {
    parse: |name| {
        let upper = name.to_ascii_uppercase();
        let own = ["ACTIONS_", "INPUT_", "LOCUM_"].iter().any(|start| upper.starts_with(start));
        checked(name, own, "given to a server")
    },
    write: Some(String::clone),
    pattern: "^[A-Za-z0-9_]+$",
    example: "ISSUES_TOKEN",
};

fn checked(name: &str, is_refused: bool, use_of_it: &str) -> Result<String, Rejection> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(Rejection::from(format!(
            "`{name}` is not the name of a variable; wildcards are not allowed here"
        )));
    }
    if is_refused {
        return Err(Rejection::from(format!("`{name}` is never {use_of_it}")));
    }
    Ok(name.to_owned())
}

fn is_guarded(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["GITHUB_", "ACTIONS_", "INPUT_", "LD_", "DYLD_", "GIT_", "RUNNER_", "LOCUM_"]
        .iter()
        .any(|start| upper.starts_with(start))
        || ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY"]
            .iter()
            .any(|word| upper.contains(word))
        || matches!(
            upper.as_str(),
            "BASH_ENV"
                | "ENV"
                | "IFS"
                | "PS4"
                | "PROMPT_COMMAND"
                | "SHELLOPTS"
                | "BASHOPTS"
                | "SSH_AUTH_SOCK"
        )
}
