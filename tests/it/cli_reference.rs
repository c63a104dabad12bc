//! `docs/reference-cli.md` is what clap knows of the command line. `INSTA_UPDATE=always` writes it
//! anew, as it does for snapshots.

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory};
use locum::cli::args::Cli;
use pretty_assertions::assert_eq;

use crate::docs::{read, root};

const PAGE: &str = "docs/reference-cli.md";

const HEAD: &str = "# Command line

This page is generated from the program. `locum COMMAND --help` prints the same. Results go to standard output,
everything else to standard error. [Outcomes and exit codes](outcomes.md) and [JSON](json.md) have pages of their own.
";

/// Longest line, as in every other page.
const COLUMNS: usize = 120;

#[test]
fn the_page_of_the_command_line_is_what_the_program_takes() {
    let mut command = Cli::command();
    command.build();
    let mut leaves = Vec::new();
    collect(&command, "locum", &mut leaves);
    let mut page = format!("{HEAD}\n## Commands\n\n| command | what it does |\n|---|---|\n");
    for (name, leaf) in &leaves {
        let about = leaf.get_about().map(ToString::to_string).unwrap_or_default();
        page.push_str(&format!("| [`{name}`](#{}) | {about} |\n", name.replace(' ', "-")));
    }
    page.push_str("\n## Options of every command\n\n");
    for argument in command.get_arguments().filter(|argument| argument.is_global_set()) {
        page.push_str(&entry(argument));
    }
    for (name, leaf) in &leaves {
        page.push_str(&section(name, leaf));
    }
    let wanted = page.trim_end().to_owned() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        std::fs::write(root().join(PAGE), &wanted).unwrap();
    }
    assert_eq!(read(PAGE), wanted, "INSTA_UPDATE=always writes {PAGE} anew");
}

fn collect<'a>(command: &'a Command, name: &str, leaves: &mut Vec<(String, &'a Command)>) {
    for below in
        command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        let name = format!("{name} {}", below.get_name());
        if below.has_subcommands() {
            collect(below, &name, leaves);
        } else {
            leaves.push((name, below));
        }
    }
}

fn section(name: &str, command: &Command) -> String {
    let own = |argument: &&Arg| {
        !argument.is_global_set()
            && !argument.is_hide_set()
            && !matches!(argument.get_id().as_str(), "help" | "version")
    };
    let arguments: Vec<&Arg> = command.get_arguments().filter(own).collect();
    let usage = arguments.iter().filter(|argument| argument.is_positional()).map(|argument| {
        let shown = argument.to_string();
        if argument.is_last_set() {
            return format!("[-- {}]", shown.replace('[', "<").replace(']', ">"));
        }
        if argument.is_required_set() { shown } else { shown.replace('<', "[").replace('>', "]") }
    });
    let options = arguments.iter().any(|argument| !argument.is_positional());
    let usage: Vec<String> = std::iter::once(name.to_owned())
        .chain(options.then(|| "[OPTIONS]".to_owned()))
        .chain(usage)
        .collect();
    let about = command.get_long_about().or(command.get_about()).unwrap().to_string();
    let mut text = format!("\n## {name}\n\n{}\n```text\n{}\n```\n", prose(&about), usage.join(" "));
    for alias in command.get_visible_aliases() {
        let place = name.rsplit_once(' ').map_or("", |(place, _)| place);
        text.push_str(&format!("\n`{place} {alias}` is the same.\n"));
    }
    if !arguments.is_empty() {
        text.push('\n');
    }
    for argument in arguments {
        text.push_str(&entry(argument));
    }
    text
}

/// One argument as an item of a list.
fn entry(argument: &Arg) -> String {
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let takes = argument.get_action().takes_values();
    let values = takes.then(|| argument.get_value_names()).flatten().unwrap_or_default();
    let values: String = values.iter().map(|name| format!(" <{name}>")).collect();
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let shown = if names.is_empty() {
        argument.to_string()
    } else {
        format!("{}{values}", names.join(", "))
    };
    let help = argument.get_long_help().or(argument.get_help()).unwrap().to_string();
    let mut text = format!("- `{shown}`: {}", sentence(&help));
    let possible: Vec<PossibleValue> =
        if takes { argument.get_possible_values() } else { Vec::new() };
    let possible: Vec<String> = possible
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !possible.is_empty() {
        text.push_str(&format!(" One of {}.", possible.join(", ")));
    }
    let default = argument.get_default_values().iter().map(|value| value.to_string_lossy());
    let default: Vec<String> = default.map(|value| format!("`{value}`")).collect();
    if takes && !default.is_empty() {
        text.push_str(&format!(" Default: {}.", default.join(", ")));
    }
    let aliases = argument.get_visible_aliases().unwrap_or_default();
    for alias in aliases {
        text.push_str(&format!(" `--{alias}` is the same."));
    }
    wrap(&text, "  ")
}

/// A help text in one paragraph, with a full stop.
fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.ends_with(['.', ':', '?', '!']) { text } else { text + "." }
}

fn prose(text: &str) -> String {
    text.split("\n\n").map(|part| wrap(&sentence(part), "")).collect::<Vec<_>>().join("\n") + "\n"
}

fn wrap(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().unwrap();
        if !line.trim().is_empty() && line.chars().count() + word.chars().count() + 1 > COLUMNS {
            lines.push(format!("{indent}{word}"));
        } else if line.is_empty() {
            line.push_str(word);
        } else {
            line.push_str(&format!(" {word}"));
        }
    }
    lines.join("\n") + "\n"
}
