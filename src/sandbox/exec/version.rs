//! What an installed program says of its version: for people, outside of any run.
//!
//! In: a program that the user or a package put there. Out: the first line that it prints. It gets
//! no environment and no input, and ends with the wait for it.
#![expect(clippy::disallowed_types, reason = "the owner of child processes")]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// Longest wait for the answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Bytes shown of the answer.
const SHOWN_BYTES: usize = 100;

/// Returns what `program --version` prints; `None` where it fails, says nothing or takes too long.
pub async fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").env_clear().current_dir("/").kill_on_drop(true);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = timeout(ANSWER_LIMIT, output).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim();
    let is_shown = output.status.success() && !line.is_empty();
    is_shown.then(|| locum_base::text::head(line, SHOWN_BYTES).to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::version;

    #[tokio::test]
    async fn a_program_says_its_version_in_a_line_or_nothing_is_shown() {
        let said = version(Path::new("/bin/bash")).await.unwrap();
        assert!(said.starts_with("GNU bash") && !said.contains('\n'), "{said}");
        assert_eq!(version(Path::new("/bin/false")).await, None);
        assert_eq!(version(Path::new("/no/such/program")).await, None);
    }
}
