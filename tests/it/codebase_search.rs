//! `codebase_search` through the binary: what is found is cut along definitions, an index is kept in
//! the state folder, and what is refused is neither shown nor counted.

use crate::support::stage::Stage;
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
