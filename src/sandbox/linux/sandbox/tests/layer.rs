//! Commands whose writes go to a layer over the checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

use super::{SandboxFixture, ScriptAttempt};
use crate::exec::{ExecError, Exit};
use crate::layer::LayerFolders;
use crate::reach::WriteAccess;
use locum_policy::schema::SandboxSetting;

/// A checkout with a layer over it.
struct LayerFixture {
    place: SandboxFixture,
    upper: PathBuf,
    work: PathBuf,
}

impl LayerFixture {
    fn new() -> Self {
        let place = SandboxFixture::new();
        // What separates in options of overlayfs is part of the path.
        let [upper, work] = ["u,p:p\\er", "work"].map(|name| place.outside.join(name));
        std::fs::create_dir(&upper).unwrap();
        std::fs::create_dir(&work).unwrap();
        Self { place, upper, work }
    }

    fn layer(&self) -> LayerFolders<'_> {
        LayerFolders::over(&self.upper, &self.work)
    }

    fn run(&self, script: &str, writes: WriteAccess) -> (Exit, String) {
        let sandbox = self.place.sandbox(SandboxSetting::Required);
        assert!(sandbox.can_layer(&self.place.root, self.layer()));
        self.layer().empty_work().unwrap();
        let attempt = ScriptAttempt { writes, ..ScriptAttempt::of(&sandbox) };
        let output = self.place.run_over(script, attempt, Some(self.layer())).unwrap();
        self.layer().empty_work().unwrap();
        (output.exit, output.output.text)
    }
}

/// Every file below a folder with its content; links by their targets.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == "script.sh") {
            continue;
        }
        let facts = std::fs::symlink_metadata(&path).unwrap();
        if facts.is_dir() {
            found.extend(files(&path));
        } else if facts.is_file() {
            let text = std::fs::read(&path).unwrap();
            found.insert(path, String::from_utf8_lossy(&text).into_owned());
        } else {
            found.insert(path, "no file".to_owned());
        }
    }
    found
}

#[test]
fn what_is_written_goes_to_the_layer_and_is_there_for_the_next_command() {
    let fixture = LayerFixture::new();
    let before = files(&fixture.place.root);
    for (script, writes) in [
        ("echo x > new && echo y >> top && mkdir -p deep/er && mv src/a deep/er/a", "write"),
        ("rm -r sub/AGENTS.md web/deep/page; cat new top deep/er/a && test ! -e src/a", "write"),
        ("cat new top deep/er/a && test ! -e src/a && test ! -e web/deep/page", "read"),
    ] {
        let writes = if writes == "read" { WriteAccess::Nothing } else { WriteAccess::Entries };
        let (exit, output) = fixture.run(script, writes);
        assert_eq!(exit, Exit::Code(0), "{script}: {output}");
    }
    assert_eq!(files(&fixture.place.root), before);
    let written: Vec<PathBuf> = files(&fixture.upper).into_keys().collect();
    let expected = ["deep/er/a", "new", "src/a", "top", "web/deep/page"];
    assert_eq!(written, expected.map(|path| fixture.upper.join(path)));
}

#[test]
fn the_layer_brings_nothing_into_sight_and_nothing_out() {
    let fixture = LayerFixture::new();
    let before = files(&fixture.place.root);
    let upper = fixture.upper.display().to_string();
    for (script, writes) in [
        ("cat .env | grep PASSWORD", WriteAccess::Entries),
        ("cat web/deep/server.key | grep secret", WriteAccess::Nothing),
        ("grep AUTH .git/config sub/.git/config", WriteAccess::Entries),
        ("grep AUTH .git/config sub/.git/config", WriteAccess::Nothing),
        ("mv web web2 && grep secret web2/deep/server.key", WriteAccess::Entries),
        ("echo x > .git/hooks/pre-commit", WriteAccess::Entries),
        ("mv .git git", WriteAccess::Entries),
        ("echo x > .github/workflows/ci.yml", WriteAccess::Entries),
        ("echo x > top", WriteAccess::Nothing),
        ("ls UPPER", WriteAccess::Entries),
        ("cat door/file", WriteAccess::Entries),
        ("umount . || umount top", WriteAccess::Entries),
    ] {
        let (exit, output) = fixture.run(&script.replace("UPPER", &upper), writes);
        assert!(exit != Exit::Code(0), "{script}: {output}");
    }
    assert_eq!(files(&fixture.place.root), before);
}

#[test]
fn what_commands_leave_in_the_temporary_folder_is_there_for_the_next_one() {
    let place = SandboxFixture::inside(Path::new("/var/tmp"));
    let sandbox = place.sandbox(SandboxSetting::Required);
    let name = place.root.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let file = format!("/tmp/{name}");
    for script in [format!("echo kept > {file}"), format!("grep kept {file}")] {
        let (exit, output) = place.run(&script, &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(0), "{script}: {output}");
    }
    assert!(!Path::new(&file).exists());
}

#[test]
fn what_git_keeps_is_out_of_sight_where_it_holds_what_is_hidden() {
    let fixture = LayerFixture::new();
    let sandbox = fixture.place.sandbox(SandboxSetting::Required);
    for (git_hidden, script, expected) in [
        (true, "cat .git/HEAD", false),
        (true, "echo x > .git/HEAD", false),
        (true, "test -d .git && cat top", true),
        (false, "cat .git/HEAD", true),
    ] {
        let attempt = ScriptAttempt { git_hidden, ..ScriptAttempt::of(&sandbox) };
        fixture.layer().empty_work().unwrap();
        let output = fixture.place.run_over(script, attempt, Some(fixture.layer())).unwrap();
        assert_eq!(output.exit == Exit::Code(0), expected, "{script}: {}", output.output.text);
    }
}

#[test]
fn what_is_not_contained_does_not_run() {
    let fixture = LayerFixture::new();
    let sandbox = fixture.place.sandbox(SandboxSetting::Required);
    let policy = "version: 1\ncommands: { contained: allow }\n";
    let attempt = || ScriptAttempt { policy, ..ScriptAttempt::of(&sandbox) };
    let script = "cat top";
    let alone = fixture.place.run_over(script, attempt(), None);
    assert!(matches!(alone, Err(ExecError::NotContained)), "{alone:?}");
    let output = fixture.place.run_over(script, attempt(), Some(fixture.layer())).unwrap();
    assert_eq!((output.exit, output.output.text.as_str()), (Exit::Code(0), "top"));
}
