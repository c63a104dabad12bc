//! The words of a command: verb or mode, flags, what is decided. Mistakes of users who may ask are
//! posted.

use crate::run::request::{
    DecisionRequest, Request, RequestFacts, RequestRefusal, RequestedAction, posted,
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

/// Reads a decision: the name, then a reason or an answer.
fn said(verb: &str, text: &str) -> Result<DecisionRequest, RequestRefusal> {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = first.to_ascii_lowercase();
    let id = (name.len() == command::QUESTION_DIGITS
        && name.bytes().all(|digit| digit.is_ascii_hexdigit()))
    .then_some(name);
    let rest = rest.trim().to_owned();
    match (verb, id) {
        ("answer", Some(id)) => {
            Ok(DecisionRequest { id: Some(id), word: PersonDecision::Answer { text: rest } })
        }
        ("answer", None) => Ok(DecisionRequest {
            id: None,
            word: PersonDecision::Answer { text: text.trim().to_owned() },
        }),
        (verb, None) => Err(posted(
            "command",
            &format!("`{verb}` needs the name of what waits, as the run's comment gives it"),
        )),
        ("approve", Some(_)) if !rest.is_empty() => Err(posted(
            "command",
            "`approve` takes a name and nothing else: it is a yes to the call as it is shown",
        )),
        ("approve", id) => Ok(DecisionRequest { id, word: PersonDecision::Approve }),
        (_, id) => Ok(DecisionRequest { id, word: PersonDecision::Deny { reason: rest } }),
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
