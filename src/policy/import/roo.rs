//! Roo Code and Kilo Code: lists of command prefixes, the longer one wins, a tie denies; and
//! switches for what needs no click.
//!
//! In: exported settings or an editor's settings files. Out: rules in a draft. What the settings
//! say about other tools than commands becomes rules where the policy has a word for it, and a note
//! where it has none.

use crate::import::{DraftRule, ImportedSettings, PolicyDraft};
use crate::schema::CommandLimits;
use crate::words;
use locum_base::text::single_blanks;
use locum_files::position::Position;
use locum_files::yaml::{MapEntry, YamlNode, YamlValue};

/// Commands that are allowed where no list is given.
const DEFAULT_ALLOWED: &[&str] = &["git log", "git diff", "git show"];
/// Keys of an editor's settings file start with one of these.
const PREFIXES: &[&str] = &["", "roo-cline.", "kilo-code."];
/// Switches without a counterpart in a policy, and what to use instead.
const WITHOUT_A_WORD: &[(&str, &str)] = &[
    ("alwaysAllowReadOnlyOutsideWorkspace", "nothing outside the repository is read by tools"),
    ("alwaysAllowWriteOutsideWorkspace", "nothing outside the repository is written"),
    (
        "alwaysAllowWriteProtected",
        "a protected path is opened by a rule that names it in full with `protected: true`",
    ),
    ("alwaysAllowMcp", "each tool of an MCP server is allowed by name, with `mcp(server/tool)`"),
    ("alwaysAllowBrowser", "each address is allowed by name, with `browse(...)`"),
    ("alwaysAllowFollowupQuestions", "see `questions` in the policy"),
    ("alwaysApproveResubmit", "models are asked again by themselves"),
];
/// Keys that are not about permissions, and where the same is written for Locum.
const ELSEWHERE: &[(&str, &str)] = &[
    ("customModes", "they belong into `.roomodes` or `.locum/modes.yml`"),
    ("customModePrompts", "write them into `customModePrompts` of `.locum/modes.yml`"),
    ("customInstructions", "write them into `instructions` of your own configuration"),
    ("language", "write it into `language` of `.locum/config.yml`"),
    (
        "autoCondenseContextPercent",
        "write it as `condense_percent` of each profile in `.locum/config.yml`",
    ),
    ("profileThresholds", "write each as `condense_percent` of its profile in `.locum/config.yml`"),
    (
        "condensingApiConfigId",
        "name the profile in `models.pointers.condense` of `.locum/config.yml`",
    ),
    ("maxConcurrentFileReads", "write it into `concurrent_reads` of `.locum/config.yml`"),
];
/// Keys that are carried over, or mean the same here without a word.
const CARRIED: &str = "\
    allowedCommands deniedCommands autoApprovalEnabled alwaysAllowReadOnly alwaysAllowWrite \
    alwaysAllowExecute alwaysAllowModeSwitch alwaysAllowSubtasks alwaysAllowUpdateTodoList \
    allowedMaxRequests allowedMaxCost commandExecutionTimeout providerProfiles \
    globalSettings";

/// Most keys named in one note.
const NAMED: usize = 12;

pub(super) fn read(files: &[ImportedSettings<'_>], draft: &mut PolicyDraft) {
    let allowed = joined(files, "allowedCommands", draft, ListedCommands::Allowed);
    let allowed =
        allowed.unwrap_or_else(|| DEFAULT_ALLOWED.iter().map(|text| (*text).to_owned()).collect());
    let denied = joined(files, "deniedCommands", draft, ListedCommands::Denied).unwrap_or_default();
    let is = |key: &str, wanted: bool| {
        last(files, key).is_some_and(|found| found.node.value == YamlValue::Bool(wanted))
    };
    // What needed approval there is held here.
    let asks = is("autoApprovalEnabled", false);
    let decision = |key: &str| if asks || is(key, false) { "hold" } else { "allow" };
    draft.rule(decision("alwaysAllowReadOnly"), "read(**)".to_owned());
    for one in &allowed {
        draft.rule(decision("alwaysAllowExecute"), pattern(one));
    }
    for one in &denied {
        let carved = allowed
            .iter()
            .filter(|other| is_longer(other, one))
            .map(|other| pattern(other))
            .collect();
        draft.rules.push(DraftRule {
            decision: "deny",
            patterns: vec![pattern(one)],
            except: carved,
            ..DraftRule::default()
        });
    }
    for (key, pattern) in [
        ("alwaysAllowWrite", "edit(**)"),
        ("alwaysAllowModeSwitch", "mode(*)"),
        ("alwaysAllowSubtasks", "delegate(*)"),
    ] {
        // A switch that is written down and off asks; one that is not there says nothing.
        if is(key, true) || is(key, false) {
            draft.rule(decision(key), pattern.to_owned());
        }
    }
    draft.commands.push(("max_complexity", "1.0".to_owned()));
    draft.commands.push(("expansions", "allow".to_owned()));
    limits(files, draft);
    left_out(files, draft);
}

/// A value and the file it stands in.
struct LocatedNode<'n> {
    origin: &'n str,
    node: &'n YamlNode,
}

/// What the file holds: an export has its settings below a key.
fn entries<'n>(file: &'n ImportedSettings<'_>) -> &'n [MapEntry] {
    file.root
        .get("globalSettings")
        .and_then(YamlNode::entries)
        .or_else(|| file.root.entries())
        .unwrap_or_default()
}

fn plain_key(key: &str) -> &str {
    PREFIXES.iter().skip(1).find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key)
}

fn all<'n>(
    files: &'n [ImportedSettings<'_>],
    key: &'n str,
) -> impl DoubleEndedIterator<Item = LocatedNode<'n>> {
    let in_file = move |file: &'n ImportedSettings<'_>| {
        let entry = entries(file)
            .iter()
            .find(|entry| plain_key(&entry.key) == key && entry.node.value != YamlValue::Null)?;
        Some(LocatedNode { origin: file.origin, node: &entry.node })
    };
    files.iter().filter_map(in_file)
}

/// The last file's word counts.
fn last<'n>(files: &'n [ImportedSettings<'_>], key: &'n str) -> Option<LocatedNode<'n>> {
    all(files, key).next_back()
}

/// Lists of all files together; `None` when no file has one.
fn joined(
    files: &[ImportedSettings<'_>],
    key: &str,
    draft: &mut PolicyDraft,
    listed: ListedCommands,
) -> Option<Vec<String>> {
    let mut found: Option<Vec<String>> = None;
    for list in all(files, key) {
        let texts = draft.texts(list.origin, Some(list.node), key);
        let texts = texts.into_iter().filter_map(|(text, place)| {
            let text = usable(list.origin, text, place, draft)?;
            spaced(list.origin, text, place, draft, listed)
        });
        let mut texts: Vec<String> = texts.collect();
        let known = found.get_or_insert_default();
        texts.retain(|one| !known.contains(one));
        known.append(&mut texts);
    }
    found
}

/// Which of the lists a command stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListedCommands {
    Allowed,
    Denied,
}

/// Returns a command as it is compared there: between words stands one blank, and none in front. A
/// prefix with more matches nothing; a refusal is carried over without them.
fn spaced(
    origin: &str,
    text: String,
    place: Position,
    draft: &mut PolicyDraft,
    listed: ListedCommands,
) -> Option<String> {
    // Between quotes, blanks are part of a word.
    if text.contains('"') || !(text.starts_with(' ') || text.contains("  ")) {
        return Some(text);
    }
    if listed == ListedCommands::Allowed {
        let note = format!("the command `{text}`, whose blanks no command has");
        draft.note(origin, place, note);
        return None;
    }
    let end = if text.ends_with(' ') { " " } else { "" };
    let plain = single_blanks(&text) + end;
    draft.changed(origin, place, format!("the command `{text}` is denied as `{plain}`"));
    Some(plain)
}

fn usable(origin: &str, text: String, place: Position, draft: &mut PolicyDraft) -> Option<String> {
    if text.trim().is_empty() {
        draft.note(origin, place, "an empty command, which matches nothing");
        return None;
    }
    if text.contains(|letter: char| letter.is_control()) {
        draft.note(
            origin,
            place,
            format!("the command `{}`, which holds a control character", text.escape_debug()),
        );
        return None;
    }
    Some(text.to_lowercase())
}

fn pattern(text: &str) -> String {
    if text == "*" { "command-prefix(*)".to_owned() } else { format!("command-text({text})") }
}

/// Whether an allowed prefix is a longer one of the same commands, so that it wins over a denied
/// one. Lengths are counted as JavaScript does; `*` counts as one letter.
fn is_longer(allowed: &str, denied: &str) -> bool {
    let length = |text: &str| text.encode_utf16().count();
    length(allowed) > length(denied) && (denied == "*" || allowed.starts_with(denied))
}

fn limits(files: &[ImportedSettings<'_>], draft: &mut PolicyDraft) {
    for (key, name) in [("allowedMaxRequests", "turns"), ("allowedMaxCost", "cost_usd")] {
        let Some(LocatedNode { origin, node }) = last(files, key) else { continue };
        if let YamlValue::Number(number) = &node.value {
            draft.budget.push((name, number.clone()));
        } else {
            draft.note(origin, node.place, format!("`{key}`, which is not a number"));
        }
    }
    let key = "commandExecutionTimeout";
    let Some(LocatedNode { origin, node }) = last(files, key) else { return };
    let number = if let YamlValue::Number(number) = &node.value { number.as_str() } else { "" };
    match number.parse::<u32>() {
        Ok(0) => {
            let usual = CommandLimits::default().timeout.as_secs();
            let change = format!("`{key}` of 0, without a limit: commands end after {usual} s");
            draft.changed(origin, node.place, change);
        }
        Ok(seconds) => draft.commands.push(("timeout", format!("{seconds}s"))),
        Err(_) => {
            let note = format!("`{key}`, which is not a whole number of seconds");
            draft.note(origin, node.place, note);
        }
    }
}

/// Names every key that is not carried over: those that allow something one by one, the editor's
/// own all together.
fn left_out(files: &[ImportedSettings<'_>], draft: &mut PolicyDraft) {
    for file in files {
        let mut others = Vec::new();
        for entry in entries(file) {
            let key = plain_key(&entry.key);
            let on = entry.node.value == YamlValue::Bool(true);
            let mut said = WITHOUT_A_WORD.iter().filter(|_| on).chain(ELSEWHERE);
            match said.find(|(name, _)| *name == key) {
                Some((_, why)) => {
                    draft.note(file.origin, entry.key_place, format!("`{key}`: {why}"));
                }
                None if words::holds(CARRIED, key)
                    || WITHOUT_A_WORD.iter().any(|(name, _)| *name == key) => {}
                None if key.starts_with("alwaysAllow")
                    || key.contains("allowlist")
                    || key.contains("Allowlist") =>
                {
                    draft.note(file.origin, entry.key_place, format!("`{}`", key.escape_debug()));
                }
                None => others.push(entry),
            }
        }
        if let Some(first) = others.first() {
            let names: Vec<String> = others
                .iter()
                .take(NAMED)
                .map(|entry| format!("`{}`", entry.key.escape_debug()))
                .collect();
            let more = if others.len() > NAMED {
                format!(" and {} more", others.len() - NAMED)
            } else {
                String::new()
            };
            draft.note(
                file.origin,
                first.key_place,
                format!("what is not about permissions: {}{more}", names.join(", ")),
            );
        }
    }
}
