//! A starter policy for a repository: only real source folders may be edited, only commands that
//! exist may be run, and every line says why it is there.
//!
//! In: the repository's paths and the texts of a few files. Out: a policy's text, the same for the
//! same repository. It is written to be read, cut down and added to by a maintainer, and is a valid
//! policy whatever the repository holds.

mod commands;
mod folders;
mod refused;
pub mod scan;
mod workflows;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::Policy;
use crate::import::quoted;
use crate::schema::PolicyErrors;
use crate::starter::commands::ProposedTool;
use crate::starter::folders::ScannedFolders;
use crate::starter::scan::{ProposedLine, StarterScan};
use crate::words;
use locum_base::path::RepoPath;

/// Modes that write and run.
const WRITERS: &[&str] = &["code", "debug"];
/// Programs that only look, whatever their known options.
const LOOKS: &[&str] = &[
    "ls",
    "cat",
    "tac",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "find",
    "tree",
    "sort",
    "uniq",
    "cut",
    "tr",
    "nl",
    "column",
    "paste",
    "comm",
    "join",
    "fold",
    "rev",
    "diff",
    "cmp",
    "stat",
    "file",
    "du",
    "df",
    "jq",
    "sed -n",
    "awk",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "base64",
    "echo",
    "printf",
    "true",
    "false",
    ":",
    "test",
    "[",
    "sleep",
    "pwd",
    "basename",
    "dirname",
    "readlink",
    "realpath",
    "which",
    "whereis",
    "type",
    "hash",
    "man",
    "less",
    "date",
    "id",
    "uname",
    "nproc",
    "free",
    "uptime",
    "printenv",
    "mktemp",
    "seq",
    "sha256sum",
    "sha1sum",
    "md5sum",
    "cksum",
    "whoami",
    "set",
    "timeout",
    "nice",
    "ionice",
    "nohup",
    "stdbuf",
    "env",
    "command",
    "xargs",
    "for",
    "while",
    "until",
    "case",
    "git status",
    "git diff",
    "git log",
    "git show",
    "git blame",
    "git grep",
    "git branch",
    "git ls-files",
    "git ls-tree",
    "git rev-parse",
    "git rev-list",
    "git describe",
    "git remote",
    "git tag",
    "git config --get",
    "git stash list",
    "git reflog",
    "git shortlog",
    "git cat-file",
    "git check-ignore",
    "git merge-base",
    "git name-rev",
    "git show-ref",
    "git for-each-ref",
    "git count-objects",
    "git worktree list",
    "git clean",
    "git apply --check",
    "git apply --stat",
    "git --version",
    "git -v",
    "git --help",
];
/// Programs that change nothing but the files they name.
const CHANGES: &[&str] = &[
    "mkdir",
    "rmdir",
    "touch",
    "cp",
    "mv",
    "rm",
    "chmod",
    "sed",
    "tee",
    "truncate",
    "git mv",
    "git rm",
    "git restore",
    "git checkout",
];
/// Commands among the examples.
const EXAMPLES: usize = 8;
/// Columns of lists with several commands on a line.
const FLOW_COLUMNS: usize = 110;
/// Modes there are without any file.
const BUILT_IN: &[&str] =
    &["orchestrator", "architect", "code", "debug", "ask", "review", "coordinator"];

/// Returns true for files whose text a repository scan needs.
pub fn is_read(path: &RepoPath) -> bool {
    let workflow = path.as_str().starts_with(".github/workflows/")
        && (path.as_str().ends_with(".yml") || path.as_str().ends_with(".yaml"));
    let name = path.name().unwrap_or_default();
    workflow
        || name == ".gitattributes"
        || path.as_str() == ".gitignore"
        || words::holds(commands::MANIFESTS, name)
}

/// Writes the policy.
///
/// # Errors
/// Never for a repository this code foresees. The text is parsed before it is returned, and what is
/// wrong with it is reported.
pub fn starter(scan: &StarterScan) -> Result<String, PolicyErrors> {
    let folders = folders::find(&scan.files, &scan.texts);
    let mut tools = commands::find(scan);
    let known: Vec<String> = tools.iter().map(|tool| tool.line.pattern.clone()).collect();
    tools.extend(workflows::find(scan, &known));
    let text = render(scan, &folders, &tools);
    Policy::parse(&text, "the starter policy")?;
    Ok(text)
}

fn render(scan: &StarterScan, folders: &ScannedFolders, tools: &[ProposedTool]) -> String {
    let mut text = String::from(
        "# What locum may do here. Read it, cut it down, add to it: what no rule allows is \
         denied.\n# Ask it before you commit it: `locum policy check`, `locum policy explain \
         'edit(README.md)'`, `locum policy test`.\nversion: 1\n\ntriggers: # who may start a run: \
         everyone who may push, by `/locum` in a comment or by hand\n  comment: { prefix: /locum, \
         tiers: [maintainer] }\n  dispatch: { tiers: [maintainer] }\n  forks: read-only # pull \
         requests of strangers start nothing that writes\n",
    );
    let own: Vec<&str> = scan
        .modes
        .iter()
        .map(|mode| mode.slug.as_str())
        .filter(|slug| !BUILT_IN.contains(slug))
        .collect();
    if !own.is_empty() {
        let all: Vec<String> = BUILT_IN.iter().chain(&own).map(|slug| (*slug).to_owned()).collect();
        let _ = write!(
            text,
            "\nmodes: # the built-in ones and those of this repository\n  allow: [{}]\n",
            all.join(", ")
        );
    }
    rules(scan, folders, tools, &mut text);
    examples(folders, tools, &mut text);
    text.push_str(
        "\ncommands:\n  timeout: 10m\n  sandbox: required # tests run the repository's code: only \
         where the machine can hold it\n  contained: allow # any script may run where it has no way \
         out and what it writes is judged; elsewhere by its words\n  expansions: allow # there, \
         variables, globs and loops around commands that are allowed\n  max_complexity: 1.0\n  network: off # what a build needs has to be there \
         before\n\nbudget: { turns: 60, cost_usd: 2.00, minutes: 30, files: 30, diff_lines: 1500 \
         }\n\npublish:\n  allow: [comment, commit, pull-request]\n  draft: true # a person marks \
         it as ready\n",
    );
    let success: Vec<String> =
        tools.iter().filter(|tool| tool.proves).map(|tool| quoted(&tool.command)).collect();
    if !success.is_empty() {
        let _ = writeln!(
            text,
            "  success: [{}] # must end with 0, else the pull request is a draft and says why",
            success.join(", ")
        );
    }
    text
}

// NOTE: writing to a string cannot fail, so results of `write!` are dropped here.
fn rules(scan: &StarterScan, folders: &ScannedFolders, tools: &[ProposedTool], text: &mut String) {
    let own = scan
        .modes
        .iter()
        .filter(|mode| mode.writes && !BUILT_IN.contains(&mode.slug.as_str()))
        .map(|mode| mode.slug.as_str());
    let writers: Vec<&str> = WRITERS.iter().copied().chain(own).collect();
    text.push_str(
        "\nrules: # the strictest matching rule decides\n  - allow: \"read(**)\" # files that may \
         hold secrets stay closed all the same\n",
    );
    flow(text, "allow", "commands that only look", LOOKS);
    flow(text, "allow", "commands whose files are judged as edits", CHANGES);
    let _ = writeln!(text, "    modes: [{}]", writers.join(", "));
    list(
        text,
        "allow",
        "source folders, and the files beside them",
        &folders.sources,
        Some(&writers),
    );
    let writers_of_text: Vec<&str> =
        std::iter::once("architect").chain(writers.iter().copied()).collect();
    list(text, "allow", "texts for people", &folders.texts, Some(&writers_of_text));
    list(text, "allow", "what builds write and git ignores", &output(scan), Some(&writers));
    let ran: Vec<ProposedLine> = tools.iter().map(|tool| tool.line.clone()).collect();
    let ran: Vec<ProposedLine> =
        ran.iter().filter(|line| !line.is_covered(&ran)).cloned().collect();
    list(text, "allow", "builds and tests, in the sandbox", &ran, Some(&writers));
    list(text, "hold", "", &folders.manifests, None);
    if !folders.manifests.is_empty() {
        text.push_str("    reason: dependencies and how it is built need a person\n");
    }
    list(text, "deny", "", &folders.closed, None);
    if !folders.closed.is_empty() {
        text.push_str("    reason: written by programs or by others, not by hand\n");
    }
    refused::rules(text);
    if folders.sources.is_empty() {
        text.push_str(
            "  # No source folder was found. Name yours:\n  # - allow: [\"edit(src/**)\", \
             \"edit(tests/**)\"]\n  #   modes: [code, debug]\n",
        );
    }
    if !tools.iter().any(|tool| tool.proves) {
        text.push_str(
            "  # No test command was found. Name yours, as exact words, or with `:*` where more \
             may follow:\n  # - allow: \"command(make test)\"\n  #   modes: [code, debug]\n",
        );
    }
}

/// Folders of build output, which nothing is published of.
fn output(scan: &StarterScan) -> Vec<ProposedLine> {
    let ignored = scan.texts.iter().find(|(path, _)| path.as_str() == ".gitignore");
    let lines = ignored.map(|(_, text)| text.lines()).into_iter().flatten();
    let names = lines.map(|line| line.trim().trim_matches('/'));
    let outputs = "bin build coverage dist htmlcov out target";
    let tracked = |name: &str| {
        let below = format!("{name}/");
        scan.files.iter().any(|path| path.as_str().starts_with(&below))
    };
    let folders: BTreeSet<&str> =
        names.filter(|name| words::holds(outputs, name) && !tracked(name)).collect();
    folders
        .into_iter()
        .filter_map(|name| ProposedLine::new(format!("edit({name}/**)"), ".gitignore".to_owned()))
        .collect()
}

/// Writes commands that go together, each with anything after it, several on a line.
fn flow(text: &mut String, decision: &str, title: &str, commands: &[&str]) {
    let title = if title.is_empty() { String::new() } else { format!(" # {title}") };
    let _ = writeln!(text, "  - {decision}:{title}");
    text.push_str("      [");
    let mut column = 7;
    for (index, command) in commands.iter().enumerate() {
        let pattern = quoted(&format!("command({command}:*)"));
        if index > 0 {
            let wraps = column + pattern.len() > FLOW_COLUMNS;
            text.push_str(if wraps { ",\n       " } else { ", " });
            column = if wraps { 7 } else { column + 2 };
        }
        column += pattern.len();
        text.push_str(&pattern);
    }
    text.push_str("]\n");
}

fn list(
    text: &mut String,
    decision: &str,
    title: &str,
    lines: &[ProposedLine],
    modes: Option<&[&str]>,
) {
    if lines.is_empty() {
        return;
    }
    let title = if title.is_empty() { String::new() } else { format!(" # {title}") };
    let _ = writeln!(text, "  - {decision}:{title}");
    for line in lines {
        let why = if line.why.is_empty() { String::new() } else { format!(" # {}", line.why) };
        let _ = writeln!(text, "      - {}{why}", quoted(&line.pattern));
    }
    if let Some(modes) = modes {
        let _ = writeln!(text, "    modes: [{}]", modes.join(", "));
    }
}

fn examples(folders: &ScannedFolders, tools: &[ProposedTool], text: &mut String) {
    let mut allow = vec!["command(git diff HEAD~1)".to_owned()];
    allow.extend(folders.example.iter().map(|path| format!("edit({path})")));
    let shown = tools.iter().filter(|tool| tool.proves).take(EXAMPLES);
    allow.extend(shown.map(|tool| format!("command({})", tool.command)));
    let mut deny = vec![
        "edit(.github/workflows/ci.yml)".to_owned(),
        "edit(.locum/policy.yml)".to_owned(),
        "read(.env)".to_owned(),
    ];
    deny.extend(["command(git push)".to_owned(), "command(git log; curl evil.example)".to_owned()]);
    deny.extend(folders.closed_example.iter().map(|path| format!("edit({path})")));
    text.push_str("\nexamples: # the policy's own tests, checked whenever it is read\n");
    for (decision, intents) in [("allow", allow), ("deny", deny)] {
        let _ = writeln!(text, "  {decision}:");
        for intent in intents {
            let _ = writeln!(text, "    - {}", quoted(&intent));
        }
    }
}

#[cfg(test)]
mod tests;
