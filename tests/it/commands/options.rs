//! The tables beside what the programs say of themselves: an option nobody knows is refused, and
//! one that is known takes what the program says it takes. What programs said is on record in
//! `tests/vectors/options.txt`, so that the test is the same on every machine. To record it anew:
//! `cargo test --test it what_programs_say_is_recorded -- --ignored`.
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use locum_base::path::RepoPath;
use locum_policy::command::examine::CommandEffects;
use locum_policy::command::tables::index::IndexedTable;
use locum_policy::command::tables::{self, ProgramEffect, index};

/// A line an option: the program's words, the option, what it takes, how the program writes it.
const RECORD: &str = include_str!("../../vectors/options.txt");

/// Characters of how a program writes an option that are recorded: some go on with a sentence.
const SPEC_LIMIT_CHARS: usize = 48;

/// Programs that have to be on record.
const EVERYWHERE: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep", "git", "rm", "cp",
    "mv", "date", "stat", "du", "df", "rg", "tree", "jq",
];
/// What the program's own words leave open, looked up by hand: `-U NUM` of diff needs its number,
/// though `--unified` does not; cargo shows what there is where a name is missing, and takes the
/// next word where there is one, and so does rustc, of which only the second value in
/// `--print <INFO>[=<FILE>]` may be missing; xxd and stat name no value; jq takes two words
/// (`--arg a v`), named in small letters, as gofmt, tree, black and mypy name theirs.
const KNOWN: &[(&str, &str)] = &[
    ("diff", "-U"),
    ("diff", "-C"),
    ("cargo", ""),
    ("xxd", ""),
    ("stat", "-c"),
    ("rustfmt", ""),
    ("rustc", ""),
    ("jq", "--arg"),
    ("jq", "--argjson"),
    ("gofmt", "-r"),
    ("tree", ""),
    ("black", "-t"),
    ("black", "--target-version"),
    ("mypy", ""),
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
    let record = recorded();
    for table in index::all() {
        let Some(said) = record.get(&table.words.join(" ")) else {
            let silent = table.words.first() == Some(&"git")
                && matches!(table.words.get(1), Some(&"rev-parse" | &"reflog" | &"stash"));
            let missing = !silent && EVERYWHERE.contains(&table.words[0]);
            wrong.extend(missing.then(|| format!("{:?} does not tell its options", table.words)));
            continue;
        };
        asked += said.len();
        for (option, (says, spec)) in said {
            let name = table.words.join(" ");
            let entry =
                table.table.options.iter().flat_map(|list| list.split_ascii_whitespace()).find_map(
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
                let refused = CommandEffects::of(&words, &RepoPath::root())
                    .findings
                    .iter()
                    .any(|finding| finding.index >= table.words.len());
                let letter = option.len() == 2
                    && (option.as_bytes()[1].is_ascii_digit()
                        || table.table.operands == tables::OperandKind::Words);
                let text = table.table.operands == tables::OperandKind::Words;
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
            if file && *says == Says::Value && !matches!(takes, "=<" | "=>" | "=:" | "=@") {
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
    for table in index::all()
        .filter(|table| table.words[0] == "git" && table.table.effect == ProgramEffect::Reads)
    {
        for entry in table.table.options.iter().flat_map(|list| list.split_ascii_whitespace()) {
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
            let refused = !CommandEffects::of(&words, &RepoPath::root()).findings.is_empty();
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

fn recorded() -> BTreeMap<String, BTreeMap<String, (Says, String)>> {
    let mut record: BTreeMap<String, BTreeMap<String, (Says, String)>> = BTreeMap::new();
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        let [words, option, says, spec] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not a record: {line}")
        };
        let says = match says {
            "nothing" => Says::Nothing,
            "perhaps" => Says::Perhaps,
            "value" => Says::Value,
            other => panic!("not a record: {other}"),
        };
        let options = record.entry(words.to_owned()).or_default();
        options.insert(option.to_owned(), (says, spec.to_owned()));
    }
    record
}

#[test]
#[ignore = "writes the record, from the programs this machine has"]
fn what_programs_say_is_recorded() {
    let mut text = "# What programs say of their options, as `tests/it/commands/options.rs` reads \
                    it.\n"
        .to_owned();
    for table in index::all() {
        for (option, (says, spec)) in options_of(table).into_iter().flatten() {
            let says = format!("{says:?}").to_lowercase();
            let spec: String = spec.chars().take(SPEC_LIMIT_CHARS).collect();
            text += &format!("{}\t{option}\t{says}\t{spec}\n", table.words.join(" "));
        }
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/options.txt"), text)
        .unwrap();
}

/// Asks a program for its options; `None` when it is not there or does not tell.
fn options_of(table: &IndexedTable) -> Option<BTreeMap<String, (Says, String)>> {
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
    let found = options_in(&format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ));
    (!found.is_empty()).then_some(found)
}

/// Reads the options out of a text for people: each with what it takes, and how that was written.
///
/// An option stands at the beginning of a line. So do words of sentences that happen to begin with
/// `-`: those stand in a column where descriptions were seen to stand, or go on with the sentence
/// of the line above.
fn options_in(help: &str) -> BTreeMap<String, (Says, String)> {
    let mut found = BTreeMap::new();
    let mut descriptions = BTreeSet::new();
    let mut option_column = None;
    let mut sentence_column = None;
    for line in help.lines().map(without_tabs) {
        let text = line.trim();
        let column = line.len() - line.trim_start().len();
        let is_below = option_column.is_some_and(|option| column > option);
        let is_prose =
            sentence_column == Some(column) || (is_below && descriptions.contains(&column));
        if !text.starts_with('-') || is_prose {
            if is_below {
                descriptions.insert(column);
            }
            let is_sentence = is_prose || (text.split(' ').count() > 2 && !text.contains("  "));
            sentence_column = (is_sentence && !text.ends_with(':')).then_some(column);
            continue;
        }
        (option_column, sentence_column) = (Some(column), None);
        let (specs, description) =
            parts(text).into_iter().partition::<Vec<_>, _>(|(_, part)| part.starts_with('-'));
        descriptions.extend(description.first().map(|(at, _)| column + at));
        for (_, spec) in specs {
            let (spec, says) = read_spec(spec);
            for name in spec.split([' ', ',', '=', '[', '|', '<']).filter(|part| is_option(part)) {
                found.entry(name.to_owned()).or_insert((says, spec.clone()));
            }
        }
    }
    found
}

/// Returns the parts of a line that more than one blank separates, with where they begin; a
/// description ends them.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for part in text.split("  ") {
        let blanks = part.len() - part.trim_start().len();
        if !part.trim().is_empty() {
            parts.push((at + blanks, part.trim()));
            if !part.trim().starts_with('-') {
                break;
            }
        }
        at += part.len() + 2;
    }
    parts
}

/// Reads what an option takes.
fn read_spec(spec: &str) -> (String, Says) {
    let spec = spec.replace("[no-]", "");
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
    (spec, says)
}

/// Writes tabs as blanks up to the next multiple of eight.
fn without_tabs(line: &str) -> String {
    line.chars().fold(String::new(), |mut text, letter| {
        let width = if letter == '\t' { 8 - text.len() % 8 } else { 0 };
        text.extend(std::iter::repeat_n(' ', width).chain((letter != '\t').then_some(letter)));
        text
    })
}

#[test]
fn sentences_of_a_help_text_are_no_options() {
    let help = "\
prog 1
A program that is called with
-x or with nothing at all, and so on
and so on.

USAGE:
    prog [OPTIONS]

OPTIONS:
    -A, --after-context <NUM>
            Show NUM lines after each match. This overrides
            --context and
            -B.

            --before-context is another one.

        --color[=WHEN]   as GNU does it; see
                         --colour
    -c  --format=FORMAT  one of several
\t-n\twith a tab, unlike
\t\t--null
      --[no-]quiet  both ways
  @file  a file
  -z      last, after what is no sentence
";
    let found = options_in(help);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["--after-context", "--color", "--format", "--quiet", "-A", "-c", "-n", "-z"]
    );
    let says = |name: &str| found[name].0;
    assert_eq!(
        [says("-A"), says("--color"), says("--format"), says("-c"), says("-n")],
        [Says::Value, Says::Perhaps, Says::Value, Says::Nothing, Says::Nothing]
    );
}

fn is_option(part: &str) -> bool {
    let name = part
        .strip_prefix("--")
        .or_else(|| part.strip_prefix('-').filter(|rest| rest.len() == 1))
        .unwrap_or_default();
    name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}
