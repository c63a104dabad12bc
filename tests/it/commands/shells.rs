//! Runs many scripts in one process of a real shell; every program on its `PATH` notes how it was
//! called.
//!
//! Each script runs by `eval` in a subshell, in a folder of its own. What comes back: every call
//! with its words and its input, and every file that is there afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that are there, one of which nothing allows.
pub(crate) const PROGRAMS: &[&str] = &[
    "p", "q", "no", "cat", "ls", "find", "sort", "rg", "touch", "PWNED", "sh", "a", "b", "E", "x",
    "nop",
];

/// Notes its words and its input; `no` fails. What runs without end is ended.
const NOTES: &str = "#!/bin/sh\ninput=\nwhile IFS= read -r line || [ -n \"$line\" ]; do \
                     input=\"$input$line\n\"; done\nprintf '%s\\0' \"${0##*/}\" \"$@\" \
                     \"<$input\" > \"$LOG/$$\"\nprintf '%s\\n' \"$*\"\nprintf '%s\\n' \
                     \"${0##*/}\" >&2\nname=${0##*/}; set -- \"$LOG\"/*; [ $# -gt 200 ] && kill \
                     -9 $PPID; [ \"$name\" != no ]\n";

/// What a script did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Words of each program that ran, and what it was given as input, sorted.
    pub(crate) calls: Vec<(Vec<String>, String)>,
    /// What lies in the folder afterwards.
    pub(crate) files: BTreeMap<String, String>,
    /// What was printed.
    pub(crate) output: String,
}

/// A folder with the programs in it.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
                .unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for program in PROGRAMS {
            std::fs::write(bin.join(program), NOTES).unwrap();
            std::fs::set_permissions(bin.join(program), PermissionsExt::from_mode(0o755)).unwrap();
        }
        Self { folder }
    }

    /// Runs scripts in a shell; what they do is in the same order.
    pub(crate) fn run(&self, shell: &str, scripts: &[&str]) -> Vec<Effects> {
        let place = self.folder.path().join("work");
        let _ = std::fs::remove_dir_all(&place);
        let mut text = String::new();
        for (index, script) in scripts.iter().enumerate() {
            let (work, log) = (place.join(format!("{index}/w")), place.join(format!("{index}/l")));
            std::fs::create_dir_all(&work).unwrap();
            std::fs::create_dir_all(&log).unwrap();
            std::fs::write(work.join("a.rs"), "content\n").unwrap();
            std::fs::write(work.join("-x"), "").unwrap();
            let quoted = script.replace('\'', "'\\''");
            let out = place.join(format!("{index}/out"));
            let (work, log, out) = (work.display(), log.display(), out.display());
            writeln!(
                text,
                "(cd {work} && LOG={log} && export LOG && eval '{quoted}') </dev/null >{out} \
                 2>/dev/null"
            )
            .unwrap();
        }
        let file = self.folder.path().join("scripts");
        std::fs::write(&file, text).unwrap();
        let status = Command::new("/usr/bin/timeout")
            .args(["300", shell])
            .arg(&file)
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .env("X", "value")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(
            status.is_ok_and(|status| status.code() != Some(124)),
            "`{shell}` is needed for this test, and has to end in time"
        );
        (0..scripts.len()).map(|index| effects(&place.join(index.to_string()))).collect()
    }
}

fn effects(place: &Path) -> Effects {
    let mut found = Effects::default();
    for entry in std::fs::read_dir(place.join("l")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let mut words: Vec<String> = bytes
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        words.pop();
        let input = words.pop().unwrap_or_default();
        found.calls.push((words, input));
    }
    found.calls.sort();
    for entry in std::fs::read_dir(place.join("w")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        found.files.insert(
            name,
            std::fs::read(&path)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default(),
        );
    }
    found.output = std::fs::read(place.join("out"))
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    found
}
