//! The words of a command: verb or mode, flags, what is decided. Mistakes of users who may ask are
//! posted.

use crate::run::request::{
    DecisionRequest, DecisionTarget, Request, RequestFacts, RequestRefusal, RequestedAction,
    RequestedChecks, posted,
};
use locum_agent::session::recorded::PersonDecision;
use locum_forge::command::flag::Flag;
use locum_forge::command::verb::Verb;
use locum_forge::command::{self, CommentCommand};
use locum_policy::glob::PathGlob;
use locum_policy::schema::events::{ALL_CHECKS, POLICY_CHECK};

/// What `fix`, `fix all` and `explain` mean about findings.
const FIX_ANSWERED: &str = "Mend what the answered comment of the review reports, if it holds.";
const FIX_ALL: &str = "Mend every finding of the earlier reviews of this pull request that still \
                       holds; say of each what you did, or why it does not hold.";
const EXPLAIN_ANSWERED: &str = "Explain what the answered comment of the review reports: how it \
                                goes wrong, and what would mend it. Say so if it does not hold.";

/// Reads a command. `is_answer` says that its comment answers one on a line of a pull request.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read_command(
    request: &mut Request,
    command: &CommentCommand,
    (known, is_answer): (&RequestFacts<'_>, bool),
) -> Result<(), RequestRefusal> {
    for (name, value) in &command.flags {
        read_flag(request, (name, value.as_deref()), known)?;
    }
    let verb = command.known_verb();
    let decides = verb.is_some_and(Verb::decides);
    if let Some(flag) = flag_behind(&command.text).filter(|_| !decides) {
        let why = format!(
            "the flag `{flag}` stands behind the task, where it would do nothing; write flags \
             before it"
        );
        return Err(posted("command", &why));
    }
    request.text = command.text.clone();
    match (command.verb.as_deref(), verb) {
        (None, _) if is_lone_word(&command.text) => Err(unknown(&command.text, known)),
        (None, _) => Ok(()),
        (Some(_), Some(verb)) if decides => {
            check_no_flag(command)?;
            request.action = RequestedAction::Decide(said(verb, &command.text)?);
            Ok(())
        }
        (Some(mode), _) if known.modes.iter().any(|known| known == mode) => {
            if request.mode.as_ref().is_some_and(|named| named != mode) {
                return Err(posted("command", "more than one mode is named"));
            }
            request.mode = Some(mode.to_owned());
            Ok(())
        }
        (Some(_), Some(verb)) => read_verb(request, command, verb, (known, is_answer)),
        (Some(mode @ ("code" | "ask" | "review")), None) => known_mode(mode, known).map(drop),
        (Some(word), None) => read_word(request, command, word, known),
    }
}

/// Reads a flag with its value.
fn read_flag(
    request: &mut Request,
    (name, value): (&str, Option<&str>),
    known: &RequestFacts<'_>,
) -> Result<(), RequestRefusal> {
    let Some(flag) = Flag::parse(name) else { return Err(unknown_flag(name)) };
    let value = match (flag.takes_value(), value) {
        (true, Some(value)) => value,
        (false, None) => "",
        (true, None) => return Err(posted("command", &format!("`--{name}` needs a value"))),
        (false, Some(_)) => return Err(posted("command", &format!("`--{name}` takes no value"))),
    };
    let flags = &mut request.flags;
    match flag {
        Flag::DryRun => flags.dry_run = true,
        Flag::NewPullRequest => flags.new_pull_request = true,
        Flag::Mode => request.mode = Some(known_mode(value, known)?),
        Flag::Model if known.profiles.iter().any(|known| known == value) => {
            flags.model = Some(value.to_owned());
        }
        Flag::Model => return Err(unknown_profile(value, known.profiles)),
        Flag::Budget => flags.budget_usd = Some(dollars(value)?),
        Flag::Paths => flags.paths = patterns(value)?,
    }
    Ok(())
}

/// Reads what a verb asks for that no mode has the name of and that decides nothing.
fn read_verb(
    request: &mut Request,
    command: &CommentCommand,
    verb: Verb,
    (known, is_answer): (&RequestFacts<'_>, bool),
) -> Result<(), RequestRefusal> {
    match verb {
        Verb::Checks if known.pull_request.is_none() => {
            return Err(posted("command", "checks are made of pull requests, and this is none"));
        }
        Verb::Checks => {
            let named = command.text.split([',', ' ', '\n']).filter(|name| !name.is_empty());
            let mut names: Vec<String> = named.map(str::to_owned).collect();
            if names.is_empty() {
                names = [ALL_CHECKS, POLICY_CHECK].map(str::to_owned).to_vec();
            }
            request.checks = RequestedChecks { names, alone: true };
            request.text = String::new();
        }
        Verb::Help => request.action = RequestedAction::Help,
        Verb::Status => request.action = RequestedAction::Status,
        Verb::Rebase => request.action = RequestedAction::Rebase,
        Verb::Stop => request.action = alone(command, RequestedAction::Stop)?,
        Verb::Retry => request.action = alone(command, RequestedAction::Retry)?,
        Verb::Undo => request.action = alone(command, RequestedAction::Undo)?,
        // An answer to a review comment is about that, not about Locum.
        Verb::Explain if is_answer && command.text.is_empty() => {
            if request.mode.is_none() && known.modes.iter().any(|mode| mode == "ask") {
                request.mode = Some("ask".to_owned());
            }
            request.text = EXPLAIN_ANSWERED.to_owned();
        }
        Verb::Explain if explains(command, known) => {
            if !command.text.is_empty() {
                request.mode = Some(known_mode(&command.text, known)?);
            }
            request.text = String::new();
            request.action = RequestedAction::Explain;
        }
        Verb::Explain => return read_word(request, command, verb.as_str(), known),
        Verb::Fix if command.text.is_empty() && is_answer => {
            request.text = FIX_ANSWERED.to_owned();
        }
        Verb::Fix if command.text == "all" => request.text = FIX_ALL.to_owned(),
        Verb::Fix if is_whole(&command.text) => {}
        Verb::Fix => request.text = command.whole_text(),
        Verb::Plan if request.mode.is_none() => {
            request.mode = Some(known_mode("architect", known)?);
        }
        // What decides was read before.
        Verb::Plan | Verb::Approve | Verb::Deny | Verb::Answer => {}
    }
    Ok(())
}

/// Reads a first word that is neither verb nor mode: the beginning of the task.
fn read_word(
    request: &mut Request,
    command: &CommentCommand,
    word: &str,
    known: &RequestFacts<'_>,
) -> Result<(), RequestRefusal> {
    // A word before the name of what waits is a decision that was mistyped, not a task.
    if command.text.is_empty() || target_of(&command.text).0.is_some_and(is_name) {
        return Err(unknown(word, known));
    }
    request.text = command.whole_text();
    Ok(())
}

/// Returns whether a command only asks about Locum, whatever its words: it starts nothing, so no
/// limit on runs stands in its way.
pub(super) fn starts_nothing(command: &CommentCommand, is_answer: bool) -> bool {
    match command.known_verb() {
        Some(Verb::Explain) if command.text.is_empty() => !is_answer,
        Some(verb) if verb.starts_nothing() => true,
        Some(_) | None => {
            command.flags.iter().any(|(name, _)| Flag::parse(name) == Some(Flag::DryRun))
        }
    }
}

/// A verb that says it all is not read as the beginning of a sentence: nobody pays for a run of the
/// task "stop it, please".
fn alone(
    command: &CommentCommand,
    action: RequestedAction,
) -> Result<RequestedAction, RequestRefusal> {
    check_no_flag(command)?;
    if command.text.is_empty() {
        return Ok(action);
    }
    let verb = command.verb.as_deref().unwrap_or_default();
    let why =
        format!("`{verb}` stands alone; a task that begins with this word needs a mode first");
    Err(posted("command", &why))
}

/// Returns the patterns of a list with commas between them.
fn patterns(list: &str) -> Result<Vec<String>, RequestRefusal> {
    let patterns = list.split(',').map(str::trim).filter(|path| !path.is_empty());
    let patterns: Vec<String> = patterns.map(str::to_owned).collect();
    if patterns.is_empty() {
        return Err(posted("command", "`--paths` needs a value"));
    }
    for pattern in &patterns {
        let wrong = |why| posted("command", &format!("`{pattern}` of `--paths`: {why}"));
        PathGlob::parse(pattern).map_err(wrong)?;
    }
    Ok(patterns)
}

/// Whether a text is one word that is no task, such as `thanks_all` or a lone smiley. Other
/// writing systems may put whole sentences without a blank.
fn is_lone_word(text: &str) -> bool {
    let is_word = text.is_ascii() && text.len() <= 100 && !text.contains(char::is_whitespace);
    let is_sign = !text.contains(char::is_alphanumeric);
    !text.is_empty() && (is_word || is_sign) && !is_whole(text)
}

fn check_no_flag(command: &CommentCommand) -> Result<(), RequestRefusal> {
    let Some((flag, _)) = command.flags.first() else { return Ok(()) };
    let verb = command.verb.as_deref().unwrap_or_default();
    Err(posted("command", &format!("`{verb}` takes no flag `--{flag}`")))
}

/// Whether what follows `fix` is a task without it: issues, or a slash command, which stands first.
fn is_whole(text: &str) -> bool {
    let is_issue = |word: &str| {
        let word = word.trim_end_matches([',', '.', ';']);
        let number = word.rsplit_once('#').map_or("", |(_, number)| number);
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number || word.starts_with("https://")
    };
    text.starts_with('/') || text.split_whitespace().all(is_issue)
}

/// `explain` alone, or with a mode, is about Locum; with other words it is a task.
fn explains(command: &CommentCommand, known: &RequestFacts<'_>) -> bool {
    command.text.is_empty() || known.modes.contains(&command.text)
}

fn is_name(target: DecisionTarget) -> bool {
    matches!(target, DecisionTarget::Named(_))
}

/// A single word that is neither verb nor mode is a mistake rather than a task.
fn unknown(word: &str, known: &RequestFacts<'_>) -> RequestRefusal {
    let verbs = Verb::ALL.iter().map(|verb| verb.as_str());
    let all: Vec<&str> = verbs.clone().chain(known.modes.iter().map(String::as_str)).collect();
    let near = near(word, &all);
    let why = format!(
        "there is no verb or mode `{word}`{near} Verbs: {}. Modes: {}. A task of one word needs \
         `fix` first",
        list(&verbs.collect::<Vec<_>>()),
        list(&known.modes.iter().map(String::as_str).collect::<Vec<_>>())
    );
    posted("command", &why)
}

fn unknown_flag(name: &str) -> RequestRefusal {
    let flags: Vec<String> = Flag::ALL.iter().map(|flag| format!("--{}", flag.as_str())).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let near = near(&format!("--{name}"), &flags);
    let why = format!("there is no flag `--{name}`{near} Flags: {}", list(&flags));
    posted("command", &why)
}

fn unknown_profile(model: &str, profiles: &[String]) -> RequestRefusal {
    let all: Vec<&str> = profiles.iter().map(String::as_str).collect();
    let near = near(model, &all);
    let known = if all.is_empty() {
        "The repository configures none".to_owned()
    } else {
        format!("Profiles: {}", list(&all))
    };
    posted("command", &format!("there is no model profile `{model}`{near} {known}"))
}

fn list(words: &[&str]) -> String {
    format!("`{}`", words.join("`, `"))
}

/// Returns the word that may have been meant, to stand behind what is not known.
fn near(word: &str, all: &[&str]) -> String {
    locum_files::fields::nearest(word, all)
        .map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"))
}

/// Returns the flag at the end of the first line of a task, as it is written.
fn flag_behind(text: &str) -> Option<&str> {
    let mut words = text.lines().next()?.split_whitespace().rev();
    let (last, before) = (words.next()?, words.next());
    let takes_value =
        |word: &&str| known_flag(word).is_some_and(Flag::takes_value) && !word.contains('=');
    Some(last).filter(|word| known_flag(word).is_some()).or_else(|| before.filter(takes_value))
}

fn known_flag(word: &str) -> Option<Flag> {
    let flag = command::flag_of(word)?;
    Flag::parse(flag.split_once('=').map_or(flag, |(name, _)| name))
}

/// Reads a decision: the names or `all`, then a reason, a note or an answer.
fn said(verb: Verb, text: &str) -> Result<DecisionRequest, RequestRefusal> {
    let (target, rest) = target_of(text);
    let rest = rest.trim().to_owned();
    let (no_note, always) = (String::new(), false);
    match (verb, target) {
        (Verb::Answer, Some(DecisionTarget::Named(ids))) if ids.len() == 1 => Ok(DecisionRequest {
            target: DecisionTarget::Named(ids),
            word: PersonDecision::Answer { text: rest },
            note: no_note,
            always,
        }),
        (Verb::Answer, Some(DecisionTarget::Named(_))) => {
            Err(posted("command", "each question needs an answer of its own"))
        }
        (Verb::Answer, _) => Ok(DecisionRequest {
            target: DecisionTarget::OnlyQuestion,
            word: PersonDecision::Answer { text: text.trim().to_owned() },
            note: no_note,
            always,
        }),
        (verb, None) => Err(posted(
            "command",
            &format!(
                "`{}` needs the name of what waits, as the run's comment gives it, or `all`",
                verb.as_str()
            ),
        )),
        (Verb::Approve, Some(target)) => {
            let (always, note) = always_of(rest);
            Ok(DecisionRequest { target, word: PersonDecision::Approve, note, always })
        }
        (_, Some(target)) => Ok(DecisionRequest {
            target,
            word: PersonDecision::Deny { reason: rest },
            note: no_note,
            always,
        }),
    }
}

/// Reads `always` off the front of what is said beside a yes: alone on its line, or before a comma.
/// In "always run the tests" it is a part of the note.
fn always_of(note: String) -> (bool, String) {
    let Some(rest) = note.get(..6).filter(|word| word.eq_ignore_ascii_case("always")) else {
        return (false, note);
    };
    let rest = note.get(rest.len()..).unwrap_or_default();
    let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
    let marks = [',', '.', ';', ':', '!'];
    if !line.trim().is_empty() && !line.starts_with(marks) {
        return (false, note);
    }
    let words = format!("{}\n{below}", line.trim_start_matches(marks));
    (true, words.trim().to_owned())
}

/// Reads what a decision is about from the beginning of its text; returns the rest.
fn target_of(text: &str) -> (Option<DecisionTarget>, &str) {
    let (mut ids, mut rest) = (Vec::new(), text.trim_start());
    loop {
        let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        // Copied out of a sentence, a name brings its comma along.
        let name = first.trim_end_matches([',', '.', ':']).to_ascii_lowercase();
        let is_name = name.len() == command::QUESTION_DIGITS
            && name.bytes().all(|digit| digit.is_ascii_hexdigit());
        if is_name {
            ids.push(name);
        } else if ids.is_empty() && name == "all" {
            return (Some(DecisionTarget::AllHolds), after);
        } else {
            let target = (!ids.is_empty()).then_some(DecisionTarget::Named(ids));
            return (target, rest);
        }
        rest = after.trim_start();
    }
}

pub(super) fn known_mode(mode: &str, known: &RequestFacts<'_>) -> Result<String, RequestRefusal> {
    if known.modes.iter().any(|known| known == mode) {
        Ok(mode.to_owned())
    } else {
        let all: Vec<&str> = known.modes.iter().map(String::as_str).collect();
        let near = near(mode, &all);
        let why = format!("there is no mode `{mode}`{near} Modes: {}", list(&all));
        Err(posted("command", &why))
    }
}

fn dollars(text: &str) -> Result<f64, RequestRefusal> {
    let number = text
        .trim_start_matches('$')
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| {
        posted("command", &format!("`--budget` needs dollars above 0, not `{text}`"))
    })
}
