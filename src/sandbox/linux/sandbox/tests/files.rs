//! What commands do to files.

use pretty_assertions::{assert_eq, assert_ne};

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::{SandboxFixture, attacks, check, sandboxes_of};
use crate::exec::Exit;
use crate::level::SandboxLevel;
use crate::linux::sandbox::Sandbox;
use crate::reach::WriteAccess;
use locum_policy::Policy;
use locum_policy::schema;

#[test]
fn nothing_outside_and_nothing_protected_is_written() {
    check(&attacks(&[
        ("write outside", "echo x > $OUTSIDE/new"),
        ("change outside", "echo x >> $OUTSIDE/file"),
        ("cut outside", ": > $OUTSIDE/file"),
        ("remove outside", "rm $OUTSIDE/file"),
        ("write through a link", "echo x > door/new"),
        ("carry in from outside", "ln $OUTSIDE/file src/link"),
        (
            "write to the temporary folder of all",
            "echo x > /tmp/locum-sandbox-test-$$ && rm /tmp/locum-sandbox-test-$$",
        ),
        ("change git's settings", "echo x >> .git/config"),
        ("cut git's settings", ": > .git/config"),
        ("make a hook", "echo x > .git/hooks/pre-commit"),
        ("link a hook", "ln src/a .git/hooks/pre-commit"),
        ("point to a hook", "ln -s ../../src/a .git/hooks/pre-commit"),
        ("move a hook in", "mv src/a .git/hooks/pre-commit"),
        ("move git's folder away", "mv .git src/git"),
        ("change a workflow", "echo x >> .github/workflows/ci.yml"),
        ("make a workflow", "echo x > .github/workflows/new.yml"),
        ("remove the policy", "rm .locum/policy.yml"),
    ]));
}

#[test]
fn what_build_tools_make_is_made_for_commands_that_write_alone() {
    let place = SandboxFixture::new();
    std::fs::write(place.root.join("Cargo.toml"), "").unwrap();
    let sandbox = place.sandbox(schema::SandboxSetting::Required);
    for (writes, found) in [(WriteAccess::Nothing, 1), (WriteAccess::Entries, 0)] {
        let (exit, output) = place.run_as("test -e Cargo.lock", &sandbox, writes).unwrap();
        assert_eq!(exit, Exit::Code(found), "{writes:?}: {output}");
        assert!(!place.root.join("Cargo.lock").exists(), "{writes:?}");
    }
}

#[test]
fn no_credential_is_read() {
    check(&attacks(&[
        ("a key of the home", "cat $OUTSIDE/../home/.ssh/id_ed25519"),
        ("a listing of the home", "ls $OUTSIDE/../home/.ssh"),
        ("the environment file", "grep . .env"),
        ("a key deep down", "grep . web/deep/server.key"),
        ("a key deep down under another name", "ln web/deep/server.key web/x && grep . web/x"),
        ("a key deep down, moved", "mv web/deep/server.key web/x && grep . web/x"),
        ("a key deep down, with its folder moved", "mv web/deep web/x && grep . web/x/server.key"),
        ("the settings of a repository inside", "grep AUTHORIZATION sub/.git/config"),
        ("git's settings with a token in them", "grep AUTHORIZATION .git/config"),
        ("the environment of this program", "cat /proc/$PPID/environ"),
        ("the memory of this program", "exec 3< /proc/$PPID/mem"),
        ("the open files of this program", "readlink /proc/$PPID/fd/0"),
        ("a file outside", "cat $OUTSIDE/file"),
    ]));
}

#[test]
fn a_command_reaches_as_far_as_it_is_known() {
    let place = SandboxFixture::new();
    let outside = place.outside.display();
    for sandbox in place.sandboxes(schema::SandboxSetting::Required) {
        for (writes, inside) in
            [(WriteAccess::Nothing, false), (WriteAccess::Entries, true), (WriteAccess::Root, true)]
        {
            let fine =
                |script: &str| place.run_as(script, &sandbox, writes).unwrap().0 == Exit::Code(0);
            assert_eq!(fine("echo x > src/new"), inside, "{writes:?}");
            assert!(!fine("echo x > new && rm new"), "{writes:?}: there are hidden files");
            assert!(
                !fine(&format!("echo x > {outside}/new")) && !fine("cat ~/../home/.ssh/id_ed25519"),
                "{writes:?}"
            );
        }
    }
}

#[test]
fn a_command_that_names_the_root_sees_no_more_than_others() {
    let place = SandboxFixture::new();
    for sandbox in place.sandboxes(schema::SandboxSetting::Required) {
        let (_, output) = place
            .run_as("grep -r . .env web sub .git/config; true", &sandbox, WriteAccess::Root)
            .unwrap();
        assert!(output.contains("page:x"), "{output}");
        for secret in ["PASSWORD", "server.key:secret", "AUTHORIZATION"] {
            assert!(!output.contains(secret), "{secret}: {output}");
        }
    }
}

#[test]
fn git_s_settings_are_there_without_what_may_be_a_credential() {
    let place = SandboxFixture::new();
    let token = "[core]\n\tbare = false\n[http]\n\textraheader = AUTHORIZATION: basic x\n";
    std::fs::write(place.root.join(".git/config"), token).unwrap();
    let [with, without] =
        place.sandboxes(schema::SandboxSetting::Required).try_into().ok().unwrap();
    let (_, output) = place.run("cat .git/config; echo x >> .git/config", &with).unwrap();
    assert!(output.contains("bare = false") && !output.contains("AUTHORIZATION"), "{output}");
    let (_, output) = place.run("cat .git/config", &without).unwrap();
    assert!(!output.contains("bare") && !output.contains("AUTHORIZATION"), "{output}");
    assert_eq!(std::fs::read_to_string(place.root.join(".git/config")).unwrap(), token);
}

#[test]
fn what_is_put_in_the_place_of_git_s_settings_brings_nothing_in() {
    let place = SandboxFixture::new();
    let git = place.root.join("src/n/.git");
    std::fs::create_dir_all(&git).unwrap();
    let link = |target: &std::path::Path, name: &str| {
        std::os::unix::fs::symlink(target, git.join(name)).unwrap();
    };
    link(&place.outside.join("file"), "config");
    link(&place.home.join(".ssh/id_ed25519"), "config.worktree");
    link("nowhere".as_ref(), "config.lock");
    rustix::fs::mkfifoat(rustix::fs::CWD, git.join("config.pipe"), rustix::fs::Mode::RWXU).unwrap();
    for sandbox in place.sandboxes(schema::SandboxSetting::Required) {
        let (_, output) = place
            .run("cat src/n/.git/config src/n/.git/config.worktree; echo ended", &sandbox)
            .unwrap();
        assert!(output.contains("ended"), "{output}");
        assert!(!output.contains("outside\n") && !output.contains("secret"), "{output}");
    }
}

#[test]
fn a_link_whose_name_is_no_text_hides_nothing_and_stops_nothing() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = SandboxFixture::new();
    let name = |bytes: &'static [u8]| place.root.join(std::ffi::OsStr::from_bytes(bytes));
    std::os::unix::fs::symlink("nowhere", name(b"caf\xe9")).unwrap();
    std::os::unix::fs::symlink("top", name(b"th\xe9")).unwrap();
    for sandbox in place.sandboxes(schema::SandboxSetting::Required) {
        let (exit, output) = place.run("cat top", &sandbox).unwrap();
        assert_eq!((exit, output.as_str()), (Exit::Code(0), "top"), "{output}");
    }
}

#[test]
fn folders_the_policy_lets_commands_read_are_read_and_not_written() {
    let place = SandboxFixture::new();
    let text = format!("version: 1\ncommands: {{ reads: ['{}/**'] }}\n", place.outside.display());
    let limits = Policy::parse(&text, "policy.yml").unwrap().settings().commands.clone();
    for namespaces in [true, false] {
        let sandbox = Sandbox::on(
            &limits,
            &place.env,
            SandboxLevel { namespaces, ..SandboxLevel::obtained() },
        )
        .unwrap();
        let fine = |script: &str| {
            place
                .run(&script.replace("$OUTSIDE", &place.outside.display().to_string()), &sandbox)
                .unwrap()
                .0
                == Exit::Code(0)
        };
        assert!(fine("cat $OUTSIDE/file"), "{namespaces}");
        assert!(
            !fine("echo x > $OUTSIDE/new") && !fine("cat $OUTSIDE/../home/.ssh/id_ed25519"),
            "{namespaces}"
        );
    }
}

#[test]
fn protected_paths_deep_down_stay_as_they_are_where_they_can_be_covered() {
    let place = SandboxFixture::new();
    let [with, _] = place.sandboxes(schema::SandboxSetting::Required).try_into().ok().unwrap();
    for script in [
        "echo x >> sub/AGENTS.md",
        "rm sub/AGENTS.md",
        "mv src/a sub/AGENTS.md",
        "mv sub/AGENTS.md src/b",
        "echo x > sub/.git/hooks/post-checkout",
        "rm -r sub/.git",
        "mv .git sub/x",
        "mv src .git",
        "perl -e 'exit(syscall(316,-100,\".git\",-100,\"src\",2) != 0)'",
    ] {
        let (exit, output) = place.run(script, &with).unwrap();
        assert_ne!(exit, Exit::Code(0), "{script}\n{output}");
    }
    let (exit, output) = place
        .run("echo x > src/new && mv src/a src/b && mkdir src/made && echo x > src/made/y", &with)
        .unwrap();
    assert_eq!(exit, Exit::Code(0), "{output}");
}

#[test]
fn a_protected_name_that_did_not_exist_is_not_made() {
    let place = SandboxFixture::new();
    for sandbox in place.sandboxes(schema::SandboxSetting::Required) {
        for script in [
            "mkdir -p .claude/x && echo x > .claude/x/y",
            "echo x > CLAUDE.md",
            "ln -s src .cargo",
            "echo x > .npmrc; kill -9 $$",
        ] {
            place.run(script, &sandbox).unwrap();
            for name in [".claude", "CLAUDE.md", ".cargo", ".npmrc"] {
                assert!(
                    std::fs::symlink_metadata(place.root.join(name)).is_err(),
                    "{script}: {name}"
                );
            }
        }
    }
    assert!(place.root.join("src/a").exists());
}

#[test]
fn no_command_sees_the_root_its_view_was_put_together_in() {
    let place = SandboxFixture::new();
    for sandbox in place.sandboxes(schema::SandboxSetting::Required) {
        // All of the system lies there, below a folder that commands may write to.
        let (exit, output) = place.run("cd \"$HOME/..\" && echo $(ls -A)", &sandbox).unwrap();
        assert_eq!((exit, output.trim()), (Exit::Code(0), "home tmp"));
    }
}

#[test]
fn nothing_outside_changes_even_in_ways_that_are_no_access_to_a_file() {
    let place = SandboxFixture::new();
    let tools = place.outside.join("bin");
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(tools.join("tool"), "#!/bin/sh\n").unwrap();
    let env = [("PATH", format!("/usr/bin:/bin:{}", tools.display()))];
    let env = env.map(|(name, value)| (name.to_owned(), value)).into();
    let facts = || {
        let facts = std::fs::metadata(tools.join("tool")).unwrap();
        (facts.permissions().mode(), facts.modified().unwrap(), facts.uid())
    };
    let before = facts();
    for sandbox in sandboxes_of(&env) {
        let tool = tools.join("tool").display().to_string();
        for change in ["chmod 777", "touch -d 2001-01-01", "chown 1", "setfattr -n user.x -v y"] {
            let (exit, output) = place.run(&format!("{change} {tool}"), &sandbox).unwrap();
            assert_ne!(exit, Exit::Code(0), "{change}: {output}");
        }
        let opened = "import os,sys; os.fchmod(os.open(sys.argv[1], os.O_RDONLY), 0o777)";
        let by_descriptor = format!("python3 -c '{opened}' {tool}");
        let link = "ln -s {tool} src/link; chmod 777 src/link; touch -h -d 2001-01-01 src/link";
        for change in [by_descriptor, link.replace("{tool}", &tool)] {
            let (_, output) = place.run(&change, &sandbox).unwrap();
            assert_eq!(facts(), before, "{change}: {output}");
        }
        let (exit, output) = place.run(&format!("cat {tool} > /dev/null"), &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(0), "{output}");
    }
    assert_eq!(facts(), before);
}

#[test]
fn a_command_changes_modes_and_times_of_its_own_files_and_of_none_that_is_protected() {
    for sandbox in sandboxes_of(&SandboxFixture::new().env) {
        let place = SandboxFixture::new();
        let modified = |file: &str| {
            let facts = std::fs::metadata(place.root.join(file)).unwrap();
            (facts.permissions().mode() & 0o7777, facts.mtime())
        };
        let script = "set -e; chmod 750 src/a; touch -d @1000000000 src/a; cp -a src/a src/b; \
                      cd src; mkdir c; chmod 700 c; touch -d @1000000000 c; chown $(id -u) a; \
                      mktemp > /dev/null; touch $HOME/x; chmod 600 $HOME/x; install -m 711 a d";
        let (exit, output) = place.run(script, &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(0), "{:?}: {output}", sandbox.level);
        assert_eq!(modified("src/a"), (0o750, 1_000_000_000));
        assert_eq!(modified("src/b"), (0o750, 1_000_000_000));
        assert_eq!(modified("src/c"), (0o700, 1_000_000_000));
        assert_eq!(modified("src/d").0, 0o711);
        let named = [".git/config", ".locum/policy.yml", ".github/workflows/ci.yml"];
        let sub = ["sub/.git/config", "sub/AGENTS.md", "web/deep/server.key", ".env"];
        for file in [&named[..], &sub].concat() {
            let before = modified(file);
            for change in ["chmod 777", "touch -d 2001-01-01"] {
                let (exit, output) = place.run(&format!("{change} {file}"), &sandbox).unwrap();
                assert_ne!(exit, Exit::Code(0), "{change} {file}, {:?}: {output}", sandbox.level);
            }
            assert_eq!(modified(file), before, "{file}, {:?}", sandbox.level);
        }
        let (exit, _) = place.run("chmod 4755 src/a", &sandbox).unwrap();
        assert!(exit != Exit::Code(0) || sandbox.level.namespaces);
    }
}
