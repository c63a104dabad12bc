//! The step of the Action that lets commands have namespaces: `config/allow-namespaces.sh`, with a
//! `sudo` of the test's own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use pretty_assertions::assert_eq;

/// Runs the script for a program; returns what it said and what `sudo` was given.
fn run(switch: &str, sudo: Option<&str>, program: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("switch"), switch).unwrap();
    std::fs::write(at(program), "").unwrap();
    if let Some(sudo) = sudo {
        std::fs::write(at("sudo"), format!("#!/bin/sh\n{sudo}\n")).unwrap();
        std::fs::set_permissions(at("sudo"), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/allow-namespaces.sh");
    let output = Command::new(script)
        .args([at(program), at("switch")])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
        .env("LOG", at("log"))
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let path = folder.path().canonicalize().unwrap().display().to_string();
    let given = std::fs::read_to_string(at("log")).unwrap_or_default().replace(&path, "DIR");
    (String::from_utf8(output.stdout).unwrap().replace(&path, "DIR"), given)
}

const LOGS: &str = "echo \"$*\" >> \"$LOG\"; [ \"$2\" != tee ] || cat >> \"$LOG\"";

#[test]
fn a_profile_names_the_program_where_apparmor_keeps_namespaces_from_it() {
    let (said, given) = run("1\n", Some(LOGS), "locum");
    assert_eq!(
        given,
        "-n tee /etc/apparmor.d/locum\nabi <abi/4.0>,\nprofile locum DIR/locum \
         flags=(unconfined) {\n  userns,\n}\n-n apparmor_parser --replace /etc/apparmor.d/locum\n"
    );
    assert!(said.starts_with("Commands get namespaces"), "{said}");
}

#[test]
fn nothing_is_done_where_it_is_not_needed_and_what_cannot_be_done_is_said() {
    assert_eq!(run("0\n", Some(LOGS), "locum"), Default::default());
    for (sudo, program, why) in [
        ("exit 1", "locum", "no sudo without a password"),
        ("[ \"$2\" = tee ]", "locum", "AppArmor refused the profile"),
        (LOGS, "lo cum", "special characters"),
        (LOGS, "lo{cum", "special characters"),
    ] {
        let (said, given) = run("1", Some(sudo), program);
        assert!(said.contains(why) && given.is_empty(), "{program}: {said}{given}");
    }
}
