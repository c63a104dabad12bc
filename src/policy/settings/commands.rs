//! Reads `commands`: how they run, and what they may read outside the repository.

use crate::command::parse;
use crate::edit_command::{EditCommand, FILE_PLACE};
use crate::glob::PathGlob;
use crate::schema::{
    CommandEdits, CommandLimits, CommandNetwork, ContainedCommands, Expansions, RepositoryHooks,
    SandboxSetting,
};
use crate::settings::variables::VARIABLE;
use locum_files::section::{Mapping, Section};
use locum_files::shape::{
    AtLeastOne, ByteSize, NumberWithin, OneOf, OneOrMany, ParsedText, TimeSpan,
};

pub(super) fn commands(section: &mut Section<'_>) -> CommandLimits {
    let mut found = CommandLimits::default();
    section.set("timeout", "Wall time of one command.", TimeSpan, &mut found.timeout);
    section.set(
        "output",
        "Bytes of output kept of one command.",
        ByteSize,
        &mut found.output_bytes,
    );
    let network = OneOf(&[
        ("off", CommandNetwork::Off),
        ("false", CommandNetwork::Off),
        ("policy", CommandNetwork::Listed),
        ("open", CommandNetwork::Open),
    ]);
    section.set(
        "network",
        "What commands reach: nothing, the hosts under `network`, or everything.",
        network,
        &mut found.network,
    );
    section.set(
        "env",
        "Environment variables passed on to commands, by name.",
        OneOrMany(VARIABLE),
        &mut found.env,
    );
    let about = "Scripts above it are held: a pipe counts 0.3, a redirection 0.2, an `if` 0.3, \
                 more than 100 bytes 0.1.";
    section.set(
        "max_complexity",
        about,
        NumberWithin { least: 0.0, most: 1.0 },
        &mut found.max_complexity,
    );
    let sandbox = OneOf(&[
        ("required", SandboxSetting::Required),
        ("best-effort", SandboxSetting::BestEffort),
        ("off", SandboxSetting::Off),
        ("false", SandboxSetting::Off),
    ]);
    section.set("sandbox", "What has to be around commands.", sandbox, &mut found.sandbox);
    let expansions = OneOf(&[
        ("off", Expansions::Off),
        ("false", Expansions::Off),
        ("allow", Expansions::Allow),
    ]);
    section.set(
        "expansions",
        "Whether scripts may hold variables, globs, substitutions and loops.",
        expansions,
        &mut found.expansions,
    );
    let contained =
        OneOf(&[("words", ContainedCommands::Words), ("allow", ContainedCommands::Allow)]);
    section.set(
        "contained",
        "Whether scripts need a rule for their words where all they can do is held and judged.",
        contained,
        &mut found.contained,
    );
    let edits = OneOf(&[("ruled", CommandEdits::Ruled), ("checkout", CommandEdits::Checkout)]);
    section.set(
        "edits",
        "Whether files that commands write are judged as edits.",
        edits,
        &mut found.edits,
    );
    let about = "Build output that is in the checkout at the end although git ignores it, by path.";
    found.outputs = section.key("outputs", about, OneOrMany(OUTPUT)).unwrap_or_default();
    let about =
        "Fast checks, such as of syntax, whose first lines come back with an edit where they fail.";
    found.after_edit = section
        .key("after_edit", about, OneOrMany(Mapping("after_edit", edit_command)))
        .unwrap_or_default()
        .into_iter()
        .flatten()
        .collect();
    let hooks = OneOf(&[
        ("on", RepositoryHooks::On),
        ("off", RepositoryHooks::Off),
        ("false", RepositoryHooks::Off),
    ]);
    let about = "Whether the hooks in `.claude/settings.json` run, each judged as a command.";
    section.set("hooks", about, hooks, &mut found.hooks);
    let about = "Absolute folders that commands may read; after a `!`, what of them they may not.";
    for outside in section.key("reads", about, OneOrMany(OUTSIDE)).unwrap_or_default() {
        match outside {
            ReadsEntry::Opened(glob) => found.reads.push(glob),
            ReadsEntry::TakenOut(glob) => found.unread.push(glob),
        }
    }
    found
}

fn edit_command(section: &mut Section<'_>) -> Option<EditCommand> {
    let files = section.required("files", "Files whose edits it follows.", AtLeastOne(OUTPUT));
    let about = "The command; `{file}` stands for the edited file.";
    let run = section.required("run", about, RUN);
    Some(EditCommand { files: files?, run: run? })
}

const RUN: ParsedText<String> = ParsedText {
    parse: |text| {
        let sample = text.replace(FILE_PLACE, "a");
        match parse::parse(&sample) {
            _ if text.trim().is_empty() => Err("a check after an edit is empty".into()),
            Err(why) => Err(format!("`{text}` cannot be judged: {why}").into()),
            Ok(_) => Ok(text.to_owned()),
        }
    },
    write: None,
    pattern: "\\S",
    example: "ruff check --select E9 {file}",
};

const OUTPUT: ParsedText<PathGlob> = ParsedText {
    parse: |text| {
        if text.starts_with(['/', '!']) || text.split('/').any(|part| part == "..") {
            return Err(format!("`{text}` is not a path in the repository, such as `dist`").into());
        }
        Ok(PathGlob::parse(text.trim_end_matches('/'))?)
    },
    write: None,
    pattern: "^[^/!].*",
    example: "dist",
};

/// An entry of `commands.reads`.
enum ReadsEntry {
    Opened(PathGlob),
    TakenOut(PathGlob),
}

const OUTSIDE: ParsedText<ReadsEntry> = ParsedText {
    parse: |text| match text.strip_prefix('!') {
        None => Ok(ReadsEntry::Opened(outside_glob(text)?)),
        Some(taken_out) => {
            let inner = taken_out.strip_prefix('/');
            let inner = inner.ok_or_else(|| {
                format!("`{text}` is not an absolute path such as `!/etc/ssl/private/**`")
            })?;
            Ok(ReadsEntry::TakenOut(PathGlob::parse(inner)?))
        }
    },
    write: None,
    pattern: "^!?/.+",
    example: "/etc/ssl/**",
};

/// A pattern of absolute paths. The kernel's own folders hold other processes' secrets and are
/// never opened.
fn outside_glob(text: &str) -> Result<PathGlob, String> {
    let inner = text
        .strip_prefix('/')
        .ok_or_else(|| format!("`{text}` is not an absolute path such as `/etc/ssl/**`"))?;
    let first = inner.split('/').next().unwrap_or_default();
    if ["proc", "sys", "dev", "run"].contains(&first) || first.contains(['*', '?', '[', '{']) {
        return Err(format!(
            "`{text}` is never opened to commands; name a folder such as `/etc/ssl/**`"
        ));
    }
    PathGlob::parse(inner)
}

#[cfg(test)]
mod tests {
    use crate::Policy;
    use crate::schema::RepositoryHooks;
    use pretty_assertions::assert_eq;

    #[test]
    fn hooks_run_unless_they_are_turned_off() {
        let read = |commands: &str| {
            let policy = Policy::parse(&format!("version: 1\ncommands: {commands}\n"), "p");
            policy.map(|policy| policy.settings().commands.hooks == RepositoryHooks::On)
        };
        for (commands, expected) in [
            ("{}", true),
            ("{ hooks: on }", true),
            ("{ hooks: off }", false),
            ("{ hooks: false }", false),
        ] {
            assert_eq!(read(commands).ok(), Some(expected), "{commands}");
        }
        assert!(read("{ hooks: trusted }").is_err());
    }

    #[test]
    fn a_check_after_an_edit_needs_files_and_a_command_that_can_be_judged() {
        let read = |entry: &str| {
            Policy::parse(&format!("version: 1\ncommands: {{ after_edit: {entry} }}\n"), "p")
        };
        for entry in [
            r#"{ files: "**/*.py", run: "ruff check {file}" }"#,
            r#"[{ files: ["a/*", "b"], run: "make check" }]"#,
            "[]",
        ] {
            assert!(read(entry).is_ok(), "{entry}: {:?}", read(entry).err());
        }
        for (entry, expected) in [
            (r#"[{ run: "ruff check {file}" }]"#, "`files` is missing"),
            (r#"[{ files: "**/*.py" }]"#, "`run` is missing"),
            (r#"[{ files: "**/*.py", run: " " }]"#, "is empty"),
            (r#"[{ files: "**/*.py", run: "ruff (" }]"#, "cannot be judged"),
            (r#"[{ files: "/etc/*", run: "cat {file}" }]"#, "is not a path in the repository"),
            (r#"["ruff check {file}"]"#, "after_edit"),
        ] {
            let error = read(entry).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{entry}: {error}");
        }
        let checks = read(r#"{ files: "a", run: "b {file}" }"#).unwrap();
        assert_eq!(checks.settings().commands.after_edit.len(), 1);
    }
}
