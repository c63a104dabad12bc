//! A run on a terminal: a line that lives while it works, and plain lines where the terminal cannot
//! draw.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                      [\"read(**)\", \"edit(notes/**)\"]\n";
const SCRIPT: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_to_file, args: { path: notes/a.md, content: "x\n" } }]
      - calls: [{ tool: read_file, args: { path: nope } }]
      - calls: [{ tool: attempt_completion, args: { result: "Did it." } }]
"#;

/// Runs the script with standard output and standard error on a terminal, and returns what that
/// was sent.
fn on_a_terminal(variables: &[(&str, &str)], flags: &[&str]) -> String {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    stage.write("script.yml", SCRIPT);
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let theirs = ioctl_tiocgptpeer(&ours, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    let script = stage.path("script.yml");
    let words = ["run", "Do the task.", "--script", script.to_str().unwrap()];
    let mut command = stage.locum(&[words.as_slice(), flags].concat());
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command.stdout(File::from(theirs.try_clone().unwrap())).stderr(File::from(theirs));
    let mut child = command.spawn().unwrap();
    // The terminal ends with an error once nobody holds its other side.
    drop(command);
    let mut sent = Vec::new();
    let _ = File::from(ours).read_to_end(&mut sent);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    String::from_utf8(sent).unwrap()
}

#[test]
fn a_run_draws_where_a_terminal_can_and_nowhere_else() {
    let erases = "\x1b[2K";
    let bold = "\x1b[1m";
    for (variables, flags, is_drawn, is_coloured) in [
        (&[("TERM", "xterm")][..], &[][..], true, true),
        (&[("TERM", "xterm"), ("NO_COLOR", "1")], &[], true, false),
        (&[("TERM", "xterm")], &["--color", "never"], true, false),
        (&[("TERM", "dumb")], &[], false, false),
        (&[("TERM", "xterm")], &["--quiet"], false, true),
    ] {
        let sent = on_a_terminal(variables, flags);
        let found = (sent.contains(erases), sent.contains(bold));
        assert_eq!(found, (is_drawn, is_coloured), "{variables:?} {flags:?}: {sent:?}");
        assert_eq!(sent.contains("waits for the model"), is_drawn, "{sent:?}");
        assert!(sent.contains("Did it."), "{sent:?}");
        let last = sent.trim_end().lines().last().unwrap();
        assert!(last.contains("Session ") && !last.contains(erases), "{sent:?}");
        if !flags.contains(&"--quiet") {
            assert!(sent.contains("read_file · Cannot read `nope`"), "{sent:?}");
            assert!(sent.contains("notes/a.md · +1"), "{sent:?}");
        }
    }
}
