//! `codebase_search` through the binary: what is found is cut along definitions, an index is kept
//! in the state folder, and what is refused is neither shown nor counted.

use std::process::Stdio;

use crate::support::stage::{Ran, Stage};
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use pretty_assertions::assert_eq;

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)"]
  - deny: ["read(src/secret.rs)", "read(secret/**)"]
"#;

const FILES: &[(&str, &str)] = &[
    (".locum/policy.yml", POLICY),
    (".gitignore", "target/\n"),
    (
        "src/lib.rs",
        "use std::fmt;\n\npub struct Token;\n\nimpl Token {\n    /// Says when it ends.\n    pub fn \
         expiry(&self) -> u64 {\n        self.issued + LIFETIME\n    }\n\n    fn issuer(&self) {}\n}\n",
    ),
    ("src/retry.py", "class Retry:\n    def wait(self):\n        return self.backoff\n"),
    ("src/secret.rs", "fn token_expiry() { expiry(); token(); expiry(); token() }\n"),
    ("target/debug.rs", "fn token_expiry() {}\n"),
];

/// Returns a script of calls, each a tool with its arguments.
fn script(calls: &[(&str, &str)]) -> String {
    let turns: String = calls
        .iter()
        .chain(&[("attempt_completion", "{ result: ok }")])
        .map(|(tool, args)| format!("      - calls: [{{ tool: {tool}, args: {args} }}]\n"))
        .collect();
    format!("version: 1\ntasks:\n  - turns:\n{turns}")
}

const FOUND: &str = "1 file with words of the query, of 4 files. Best first.\n\n# src/lib.rs\n6-9 | pub \
                     fn expiry(&self) -> u64 {\n    6 |     /// Says when it ends.\n    7 |     pub fn \
                     expiry(&self) -> u64 {\n    8 |         self.issued + LIFETIME\n    9 |     \
                     }\n5-5 | impl Token {\n3-3 | pub struct Token;\n\n(Files that may not be read are \
                     left out.)";

#[test]
fn definitions_are_found_by_words_and_what_is_refused_has_no_say() {
    let stage = Stage::with(FILES);
    let search = ("codebase_search", "{ query: 'when does a TokenExpiry happen' }");
    let refused = ("codebase_search", "{ query: token, path: secret }");
    let ran = stage.play(&script(&[search, refused]), &[]);
    let answers = stage.answers();
    assert_eq!(answers[0].1, FOUND, "{ran:?}");
    assert!(answers[1].1.contains("`read(secret)`: denied by"), "{}", answers[1].1);
}

#[test]
fn a_run_finds_what_it_wrote_and_keeps_one_index_in_the_state_folder() {
    let stage = Stage::with(FILES);
    let search = ("codebase_search", "{ query: 'jitter of backoff' }");
    let write = (
        "write_to_file",
        "{ path: src/jitter.go, content: \"package a\\n\\nfunc Jitter() int {\\n\\treturn 4\\n}\\n\" }",
    );
    stage.play(&script(&[search, write, search]), &[]);
    let answers = stage.answers();
    let places = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("# ")).map(str::to_owned).collect()
    };
    assert_eq!(places(&answers[0].1), ["# src/retry.py"]);
    assert_eq!(places(&answers[2].1), ["# src/jitter.go", "# src/retry.py"]);
    assert!(answers[2].1.contains("3-5 | func Jitter() int {"), "{}", answers[2].1);
    let kept = stage.names("state/locum/index");
    assert_eq!(kept.len(), 1, "{kept:?}");
}

/// Returns the files of each search of a run, in their order.
fn found_by(stage: &Stage, ran: &Ran) -> Vec<Vec<String>> {
    let session = ran.json()["session"].as_str().unwrap().to_owned();
    let lines = Journal::read(&stage.path("state/locum/sessions").join(session)).unwrap();
    let answers = lines.into_iter().filter_map(|line| match line.event {
        Event::Answered { tool, observation, .. } if tool == "codebase_search" => {
            Some(observation.text)
        }
        _ => None,
    });
    let places = |text: String| {
        text.lines().filter_map(|line| line.strip_prefix("# ")).map(str::to_owned).collect()
    };
    answers.map(places).collect()
}

#[test]
fn of_two_runs_at_once_each_finds_what_its_own_worktree_has_and_the_index_stays_whole() {
    let many = |word: &str| -> Vec<(String, String)> {
        let of = |number| (format!("src/many/{number}.rs"), format!("fn {word}{number}() {{}}\n"));
        (0..40).map(of).collect()
    };
    let stage = Stage::with(FILES);
    for (folder, word, place) in [("checkout", "word", "here"), ("other", "term", "there")] {
        if folder == "other" {
            stage.git(&["worktree", "add", "--quiet", "-b", "other", "../other"]);
            std::fs::remove_file(stage.path("other/src/here.rs")).unwrap();
        }
        stage.write(&format!("{folder}/src/{place}.rs"), "fn needle() {}\n");
        for (path, text) in many(word) {
            stage.write(&format!("{folder}/{path}"), &text);
        }
        stage.git_in(folder, &["add", "--all"]);
        stage.git_in(folder, &["commit", "--quiet", "--message", "more"]);
    }
    let searches =
        ["needle", "word7", "term7", "needle"].map(|word| format!("{{ query: {word} }}"));
    let calls: Vec<(&str, &str)> =
        searches.iter().map(|query| ("codebase_search", query.as_str())).collect();
    stage.write("script.yml", &script(&calls));
    let path = stage.path("script.yml");
    let words = ["run", "Look.", "--output-format", "json", "--script", path.to_str().unwrap()];
    for round in 0..3 {
        let children = ["checkout", "other"].map(|folder| {
            let mut command = stage.locum(&words);
            command.current_dir(stage.path(folder));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        let [here, there] = children.map(|child| {
            let ran: Ran = child.wait_with_output().unwrap().into();
            found_by(&stage, &ran)
        });
        let (seventh, none) = ("src/many/7.rs", "");
        let files = |expected: [&str; 4]| -> Vec<Vec<String>> {
            let list = |file: &&str| (!file.is_empty()).then(|| (*file).to_owned());
            expected.iter().map(|file| list(file).into_iter().collect()).collect()
        };
        assert_eq!(here, files(["src/here.rs", seventh, none, "src/here.rs"]), "{round}");
        assert_eq!(there, files(["src/there.rs", none, seventh, "src/there.rs"]), "{round}");
        let kept = stage.names("state/locum/index");
        assert_eq!(kept.len(), 1, "{kept:?}");
        let bytes = std::fs::read(stage.path("state/locum/index").join(&kept[0])).unwrap();
        let index = locum_index::kept::parse(&bytes).map(|files| files.len());
        assert!(index.is_some_and(|files| files > 40), "{index:?}");
    }
}
