//! The words of a command: verb or mode, flags, what is decided. Mistakes of users who may ask are
//! posted.

use crate::run::request::{
    DecisionRequest, DecisionTarget, Request, RequestFacts, RequestRefusal, RequestedAction, posted,
};
use locum_agent::session::recorded::PersonDecision;
use locum_forge::command::{self, CommentCommand};

/// Verbs reserved for later; until then they are answered, not read as the start of a sentence.
const RESERVED_VERBS: &[&str] = &["cancel", "retry", "triage"];

pub(super) fn read_command(
    request: &mut Request,
    command: &CommentCommand,
    known: &RequestFacts<'_>,
) -> Result<(), RequestRefusal> {
    for (flag, value) in &command.flags {
        let value = value.as_deref();
        match (flag.as_str(), value) {
            ("dry-run", None) => request.flags.dry_run = true,
            ("new-pr", None) => request.flags.new_pull_request = true,
            ("mode", Some(mode)) => request.mode = Some(known_mode(mode, known)?),
            ("model", Some(model)) if known.profiles.iter().any(|known| known == model) => {
                request.flags.model = Some(model.to_owned())
            }
            ("model", Some(model)) => {
                return Err(posted("command", &format!("there is no model profile `{model}`")));
            }
            ("budget", Some(budget)) => request.flags.budget_usd = Some(dollars(budget)?),
            ("paths", Some(paths)) => {
                request.flags.paths = paths
                    .split(',')
                    .map(|path| path.trim().to_owned())
                    .filter(|path| !path.is_empty())
                    .collect()
            }
            ("dry-run" | "new-pr", Some(_)) => {
                return Err(posted("command", &format!("`--{flag}` takes no value")));
            }
            ("mode" | "model" | "budget" | "paths", None) => {
                return Err(posted("command", &format!("`--{flag}` needs a value")));
            }
            (_, _) => return Err(posted("command", &format!("there is no flag `--{flag}`"))),
        }
    }
    request.text = command.text.clone();
    match command.verb.as_deref() {
        None => {}
        Some(verb @ ("approve" | "deny" | "answer")) => {
            if let Some((flag, _)) = command.flags.first() {
                return Err(posted("command", &format!("`{verb}` takes no flag `--{flag}`")));
            }
            request.action = RequestedAction::Decide(said(verb, &command.text)?);
        }
        Some(mode) if known.modes.iter().any(|known| known == mode) => {
            if request.mode.as_ref().is_some_and(|named| named != mode) {
                return Err(posted("command", "more than one mode is named"));
            }
            request.mode = Some(mode.to_owned());
        }
        Some("help") => request.action = RequestedAction::Help,
        Some("status") => request.action = RequestedAction::Status,
        Some("rebase") => request.action = RequestedAction::Rebase,
        Some("fix") => {}
        Some("plan") if request.mode.is_none() => {
            request.mode = Some(known_mode("architect", known)?)
        }
        Some("plan") => {}
        Some(verb @ ("code" | "ask" | "review")) => {
            return Err(posted("command", &format!("there is no mode `{verb}`")));
        }
        Some(verb) if RESERVED_VERBS.contains(&verb) => {
            return Err(posted("command", &format!("`{verb}` is not known")));
        }
        Some(_) => request.text = command.whole_text(),
    }
    Ok(())
}

/// Reads a decision: the names or `all`, then a reason, a note or an answer.
fn said(verb: &str, text: &str) -> Result<DecisionRequest, RequestRefusal> {
    let (target, rest) = target_of(text);
    let rest = rest.trim().to_owned();
    let no_note = String::new();
    match (verb, target) {
        ("answer", Some(DecisionTarget::Named(ids))) if ids.len() == 1 => Ok(DecisionRequest {
            target: DecisionTarget::Named(ids),
            word: PersonDecision::Answer { text: rest },
            note: no_note,
        }),
        ("answer", Some(DecisionTarget::Named(_))) => {
            Err(posted("command", "each question needs an answer of its own"))
        }
        ("answer", _) => Ok(DecisionRequest {
            target: DecisionTarget::OnlyQuestion,
            word: PersonDecision::Answer { text: text.trim().to_owned() },
            note: no_note,
        }),
        (verb, None) => Err(posted(
            "command",
            &format!(
                "`{verb}` needs the name of what waits, as the run's comment gives it, or `all`"
            ),
        )),
        ("approve", Some(target)) => {
            Ok(DecisionRequest { target, word: PersonDecision::Approve, note: rest })
        }
        (_, Some(target)) => Ok(DecisionRequest {
            target,
            word: PersonDecision::Deny { reason: rest },
            note: no_note,
        }),
    }
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
    let known = known.modes.iter().any(|known| known == mode);
    if known {
        Ok(mode.to_owned())
    } else {
        Err(posted("command", &format!("there is no mode `{mode}`")))
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
