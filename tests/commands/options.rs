//! The tables beside what the programs say of themselves: an option nobody knows is refused, and
//! one that is known takes what the program says it takes. A program that is missing fails the test
//! where every system has it, and is passed over elsewhere.
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use locum_base::path::RepoPath;
use locum_policy::command::examine::Examination;
use locum_policy::command::tables::{self, Effect, Table, index};

/// Programs that every system has on which this is tested.
const EVERYWHERE: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep", "git", "rm", "cp",
    "mv", "date", "stat", "du", "df",
];
/// What the program's own words leave open, looked up by hand: `-U NUM` of diff needs its number,
/// though `--unified` does not; cargo shows what there is where a name is missing, and takes the
/// next word where there is one; xxd and stat name no value; jq takes two words (`--arg a v`),
/// named in small letters.
const KNOWN: &[(&str, &str)] = &[
    ("diff", "-U"),
    ("diff", "-C"),
    ("cargo", ""),
    ("xxd", ""),
    ("stat", "-c"),
    ("rustfmt", ""),
    ("jq", "--arg"),
    ("jq", "--argjson"),
];

/// What an option takes, as the program says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nothing,
    Perhaps,
    Value,
}

#[test]
fn every_option_a_program_has_is_known_for_what_it_is_or_refused() {
    let mut wrong = Vec::new();
    let mut asked = 0;
    for table in index::all() {
        let Some(said) = options_of(table) else {
            let silent = table.words.first() == Some(&"git")
                && matches!(table.words.get(1), Some(&"rev-parse" | &"reflog" | &"stash"));
            let missing = !silent && EVERYWHERE.contains(&table.words[0]);
            wrong.extend(missing.then(|| format!("{:?} does not tell its options", table.words)));
            continue;
        };
        asked += said.len();
        for (option, (says, spec)) in &said {
            let name = table.words.join(" ");
            let entry =
                table.options.iter().flat_map(|list| list.split_ascii_whitespace()).find_map(
                    |entry| {
                        entry
                            .strip_prefix(option.as_str())
                            .filter(|rest| rest.is_empty() || rest.starts_with('='))
                    },
                );
            let Some(takes) = entry else {
                let mut words: Vec<String> =
                    table.words.iter().map(|word| (*word).to_owned()).collect();
                words.push(option.clone());
                let harmless = matches!(option.as_str(), "--version" | "--help");
                let refused = Examination::of(&words, &RepoPath::root())
                    .findings
                    .iter()
                    .any(|finding| finding.index >= table.words.len());
                let letter = option.len() == 2
                    && (option.as_bytes()[1].is_ascii_digit()
                        || table.operands == tables::Operands::Words);
                let text = table.operands == tables::Operands::Words;
                wrong.extend(
                    (!refused && !harmless && !letter && !text).then(|| {
                        format!("{name} {option}: nobody knows it, and it is not refused")
                    }),
                );
                continue;
            };
            let known = KNOWN.iter().any(|(program, known)| {
                *program == table.words[0] && (known.is_empty() || known == option)
            });
            if takes.starts_with('=') && takes != "=?" && *says != Says::Value && !known {
                wrong.push(format!(
                    "{name} {option}: it may not take the next word, which would be a file nobody \
                     judged ({spec})"
                ));
            }
            let file = spec
                .split([' ', '=', ','])
                .any(|part| matches!(part, "FILE" | "DIR" | "<file>" | "<path>"));
            if file && *says == Says::Value && !matches!(takes, "=<" | "=>" | "=:") {
                wrong.push(format!("{name} {option}: it takes a file ({spec})"));
            }
        }
    }
    assert!(asked > 700, "only {asked} options were told");
    assert_eq!(wrong, Vec::<String>::new());
}

/// What is taken for a value must not be a revision, a path or an option to git: none of those
/// would have been judged.
#[test]
fn what_follows_an_option_of_git_is_taken_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        let output = command
            .args(words)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    git(&["init", "-q"]);
    git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.com",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "a",
    ]);
    let mut wrong = Vec::new();
    let mut asked = 0;
    for table in
        index::all().filter(|table| table.words[0] == "git" && table.effect == Effect::Reads)
    {
        for entry in table.options.iter().flat_map(|list| list.split_ascii_whitespace()) {
            let Some((option, "" | "<" | ">" | ":")) = entry.split_once('=') else { continue };
            asked += 1;
            let with = |next| {
                git(&table.words[1..].iter().copied().chain([option, next]).collect::<Vec<_>>())
            };
            if with("not-there").contains("ambiguous argument 'not-there'") {
                wrong.push(format!(
                    "{} {option}: the next word is a revision or a path",
                    table.words.join(" ")
                ));
            }
            let words: Vec<String> = table
                .words
                .iter()
                .chain(&[option, "--output=x"])
                .map(|word| (*word).to_owned())
                .collect();
            let refused = !Examination::of(&words, &RepoPath::root()).findings.is_empty();
            with("--output=x");
            if std::fs::remove_file(folder.path().join("x")).is_ok() && !refused {
                wrong.push(format!(
                    "{} {option}: the next word is an option",
                    table.words.join(" ")
                ));
            }
        }
    }
    assert!(asked > 100, "only {asked} options were tried");
    assert_eq!(wrong, Vec::<String>::new());
}

/// Asks a program for its options; `None` when it is not there or does not tell.
fn options_of(table: &Table) -> Option<BTreeMap<String, (Says, String)>> {
    let (program, verbs) = table.words.split_first()?;
    let help = match *program {
        "git" | "cargo" => "-h",
        "npm" | "yarn" | "pnpm" | "go" | "dotnet" | "python" | "python3" | "mvn" | "gradle" => {
            return None;
        }
        _ => "--help",
    };
    let output = Command::new(program)
        .args(verbs)
        .arg(help)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let mut found = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| line.starts_with('-')) {
        let spec = line
            .split("  ")
            .next()
            .unwrap_or_default()
            .split('\t')
            .next()
            .unwrap_or_default()
            .replace("[no-]", "");
        let names: Vec<&str> =
            spec.split([' ', ',', '=', '[', '|', '<']).filter(|part| is_option(part)).collect();
        let capital = spec
            .split([' ', ','])
            .any(|part| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase()));
        let says = if spec.contains("[=") || spec.contains("[<") {
            Says::Perhaps
        } else if spec.contains('=')
            || spec.contains('<')
            || capital
            || spec.ends_with(" N")
            || spec.ends_with(" C")
        {
            Says::Value
        } else {
            Says::Nothing
        };
        for name in names {
            found.entry(name.to_owned()).or_insert((says, spec.clone()));
        }
    }
    (!found.is_empty()).then_some(found)
}

fn is_option(part: &str) -> bool {
    let name = part
        .strip_prefix("--")
        .or_else(|| part.strip_prefix('-').filter(|rest| rest.len() == 1))
        .unwrap_or_default();
    name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}
