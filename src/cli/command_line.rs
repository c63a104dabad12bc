//! The command line in full: what clap reads from the types of the arguments, with examples below
//! the help of each command, and with what a shell completes.
//!
//! In: nothing. Out: one `clap::Command`, for parsing, help, man pages and completion alike.

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::Cli;
use crate::cli::candidates;

/// Command lines for the help of commands: the command, then each line and what it does.
pub const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "locum",
        &[
            ("locum demo", "see a whole run, without a model"),
            ("locum run \"fix the failing test\"", "work on a task in this checkout"),
            ("locum help policy explain", "read the help of a command"),
        ],
    ),
    (
        "locum run",
        &[
            ("locum run \"fix the failing test\"", "work in the policy's default mode"),
            ("locum run --mode ask \"how are jobs scheduled?\"", "ask, without an edit"),
            ("locum run --dry-run \"update the docs\"", "see mode, models and limits first"),
            ("locum run --max-cost-usd 0.50 --worktree \"add tests\"", "cap the price; work aside"),
            ("git diff | locum run --mode review -", "read the task from standard input"),
            ("locum run --json \"fix it\"", "get the result as one JSON object"),
        ],
    ),
    (
        "locum job",
        &[
            ("locum job list", "see when each job runs next, and how it ended"),
            ("locum job run update-dependencies", "run a job now"),
            ("locum job due --within-minutes 15", "list what a scheduler has to start"),
        ],
    ),
    (
        "locum init",
        &[
            ("locum init", "write policy and workflow for this repository"),
            ("locum init --two-jobs --provider anthropic", "keep the model's job without rights"),
        ],
    ),
    (
        "locum modes",
        &[
            ("locum modes list", "see every mode and the file that it comes from"),
            ("locum modes show code --prompt", "read what a model is sent in a mode"),
            ("locum modes validate .roomodes", "check a file"),
        ],
    ),
    (
        "locum mcp",
        &[
            ("locum mcp list", "see every server, and whether a run may use it"),
            ("locum mcp list --tools", "start the allowed ones and list their tools"),
        ],
    ),
    (
        "locum policy",
        &[
            ("locum policy check", "find mistakes, and rules without effect"),
            ("locum policy test", "run the examples of the policy"),
            ("locum policy explain \"command(cargo add regex)\"", "see which rule decides"),
            ("locum policy import --from claude .claude/settings.json", "convert other settings"),
        ],
    ),
    (
        "locum policy explain",
        &[
            ("locum policy explain \"edit(src/main.rs)\"", "name the rule that decides"),
            ("locum policy explain --mode ask \"command(cargo test)\"", "ask in another mode"),
            ("locum policy explain --at HEAD \"read(.env)\"", "ask the committed policy"),
        ],
    ),
    (
        "locum trigger explain",
        &[(
            "locum trigger explain --event-name issue_comment --event event.json",
            "see whether an event would start a run, and why",
        )],
    ),
    (
        "locum session",
        &[
            ("locum session list", "find a session"),
            ("locum session show 0199", "read it, by the start of its ID"),
            ("locum session resume 0199 --max-turns +20", "let it go on with more turns"),
            ("locum session approve 0199 all", "approve what it waits for"),
        ],
    ),
    ("locum config", &[("locum config show", "see every setting, its value and its source")]),
    ("locum models", &[("locum models list", "see profiles, limits and prices")]),
    (
        "locum completions",
        &[
            ("locum completions bash >> ~/.bashrc", "complete in bash"),
            ("locum completions zsh >> ~/.zshrc", "complete in zsh"),
            ("locum completions fish > ~/.config/fish/completions/locum.fish", "complete in fish"),
        ],
    ),
    (
        "locum man",
        &[
            ("locum man | man -l -", "read the page of the program"),
            ("locum man --dir ~/.local/share/man/man1", "write the pages of all commands"),
        ],
    ),
];

/// Returns the command line.
pub fn command() -> Command {
    adorned(Cli::command(), "locum")
}

fn adorned(command: Command, path: &str) -> Command {
    let examples = EXAMPLES.iter().find(|(of, _)| *of == path).map(|(_, lines)| *lines);
    let own = command.get_after_help().map(ToString::to_string);
    let shown = examples.map(|lines| examples_text(&command, lines));
    let after: Vec<String> = shown.into_iter().chain(own).collect();
    let command = if after.is_empty() { command } else { command.after_help(after.join("\n\n")) };
    command.mut_args(|argument| completed(path, argument)).mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        // NOTE: `locum help policy check` is enough; each list would have one more line.
        adorned(below, &path).disable_help_subcommand(true)
    })
}

fn examples_text(command: &Command, lines: &[(&str, &str)]) -> String {
    let header = command.get_styles().get_header();
    let lines = lines.iter().map(|(line, what)| format!("  {line}\n      {what}"));
    format!("{header}Examples:{header:#}\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Gives an argument what a shell completes it with.
fn completed(path: &str, argument: Arg) -> Arg {
    let first = path.split(' ').nth(1).unwrap_or_default();
    let candidates = match (first, argument.get_id().as_str()) {
        (_, "mode") | ("modes", "slug" | "slugs") => candidates::modes,
        ("session", "id") => candidates::sessions,
        ("job", "name") | (_, "job") => candidates::jobs,
        ("run" | "job" | "models", "model" | "profile") => candidates::profiles,
        ("policy", "asked") => candidates::intents,
        _ => return argument,
    };
    argument.add(ArgValueCandidates::new(candidates))
}
