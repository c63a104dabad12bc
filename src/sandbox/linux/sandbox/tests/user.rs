//! The same attacks as an ordinary user: most runners do not work as an administrator.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

/// A user who owns nothing.
const NOBODY: u32 = 65534;

#[test]
fn an_ordinary_user_is_held_alike() {
    if !rustix::process::geteuid().is_root() {
        // The other tests of this folder run as one already.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("tests");
    // Copied by another program: a child that another test starts meanwhile would hold the file
    // open for writing, and it could not be run.
    assert!(
        Command::new("cp")
            .arg(std::env::current_exe().unwrap())
            .arg(&program)
            .status()
            .unwrap()
            .success()
    );
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&program)
        .args([
            "sandbox::tests::",
            "exec::",
            "--test-threads=2",
            "--skip",
            "an_ordinary_user_is_held_alike",
        ])
        .current_dir(&home)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("RUST_BACKTRACE", "0")])
        .env("HOME", &home)
        .env("TMPDIR", &home)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed =
        text.lines().filter(|line| line.contains("::tests::") && line.ends_with("... ok")).count();
    assert!(passed > 25, "only {passed} tests ran\n{text}");
}
