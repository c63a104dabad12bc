//! What a hook answers: by its exit code, or in the JSON it prints.
//!
//! In: how it ended and what it printed. Out: a [`HookWord`]. Pure. Whatever it says, it never
//! allows what the policy refused: it is asked about what the policy allows already. Output that
//! may have been a no and cannot be read is never taken for a yes.
//!
//! Source: <https://docs.claude.com/en/docs/claude-code/hooks>.

use serde_json::Value;

use crate::tools::CommandStreams;
use crate::tools::hooks::HookEvent;
use locum_base::text::head;
use locum_sandbox::exec::Exit;

/// The code by which a hook blocks.
const BLOCKS: i32 = 2;

/// Most bytes of what a hook says that are passed on.
pub const SAID_LIMIT_BYTES: usize = 4 * 1024;

/// What a hook says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookWord {
    /// Nothing.
    GoesOn,
    /// Something that the model is to know besides.
    Says(String),
    /// No, and why.
    Blocks(String),
    /// A person is to decide, and why.
    Asks(String),
    /// It failed, with the first line of its errors: nothing is blocked.
    Fails(String),
    /// What it decides cannot be read, and why.
    Unreadable(String),
    /// It did not run to its end, and why.
    DidNotRun(String),
}

/// Reads what a hook says.
pub fn read(event: HookEvent, exit: Exit, streams: &CommandStreams) -> HookWord {
    match exit {
        Exit::Code(0) => printed(event, streams),
        Exit::Code(BLOCKS) if event.decides() => HookWord::Blocks(said(&streams.errors)),
        Exit::Code(code @ (126 | 127)) => {
            let why = first_line(&streams.errors);
            HookWord::DidNotRun(format!("it could not start its program (exit {code}): {why}"))
        }
        Exit::Code(code) => {
            HookWord::Fails(format!("exit {code}: {}", first_line(&streams.errors)))
        }
        Exit::Signal(signal) => HookWord::DidNotRun(format!("it was ended by signal {signal}")),
        Exit::TimedOut => HookWord::DidNotRun("it took too long and was killed".to_owned()),
        Exit::TooManyProcesses => {
            HookWord::DidNotRun("it started too many processes and was killed".to_owned())
        }
    }
}

/// Reads what it printed. Output that never was JSON counts where a session or a prompt begins:
/// there the model reads it. Of output that begins like JSON nobody knows what it would decide.
fn printed(event: HookEvent, streams: &CommandStreams) -> HookWord {
    let output = streams.output.trim_start_matches(is_before_json).trim_end();
    let is_cut = streams.omitted_bytes > 0;
    let answer = serde_json::from_str::<Value>(output).ok();
    let answer = answer.filter(|answer| answer.is_object() && !is_cut);
    let Some(answer) = answer else {
        if begins_like_json(output, is_cut) && event.decides() {
            let why = if is_cut {
                let count = streams.omitted_bytes;
                format!("its output begins like JSON, and {count} bytes of it were not kept")
            } else {
                "its output begins like JSON but is not one JSON object".to_owned()
            };
            return HookWord::Unreadable(why);
        }
        let is_read = matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit);
        return if is_read && !output.is_empty() {
            HookWord::Says(said(output))
        } else {
            HookWord::GoesOn
        };
    };
    let own = answer.get("hookSpecificOutput").unwrap_or(&Value::Null);
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).map(said).unwrap_or_default()
    };
    let ends = matches!(event, HookEvent::Stop | HookEvent::SubagentStop);
    if event.decides() && !ends && answer.get("continue") == Some(&Value::Bool(false)) {
        return HookWord::Blocks(text(&answer, "stopReason"));
    }
    let word = |value: &Value, name: &str| {
        let word = value.get(name).filter(|word| event.decides() && !word.is_null())?;
        Some(word.as_str().map_or_else(|| word.to_string(), str::to_owned))
    };
    match word(own, "permissionDecision").as_deref() {
        Some("deny") => return HookWord::Blocks(text(own, "permissionDecisionReason")),
        Some("ask") => return HookWord::Asks(text(own, "permissionDecisionReason")),
        Some("allow") | None => {}
        Some(word) => return HookWord::Blocks(unknown("permissionDecision", word)),
    }
    match word(&answer, "decision").as_deref() {
        Some("block") => {
            let reason = text(&answer, "reason");
            if event != HookEvent::PostToolUse {
                return HookWord::Blocks(reason);
            }
            // The call was made: what there is to know of it is not lost with the objection.
            let context = text(own, "additionalContext");
            return HookWord::Blocks(format!("{reason}\n{context}").trim().to_owned());
        }
        Some("approve" | "allow") | None => {}
        Some(word) => return HookWord::Blocks(unknown("decision", word)),
    }
    // What it would change was not judged.
    if event == HookEvent::PreToolUse && own.get("updatedInput").is_some_and(Value::is_object) {
        return HookWord::Blocks(
            "it would change the call, which hooks may not do here".to_owned(),
        );
    }
    match text(own, "additionalContext") {
        context if context.is_empty() => HookWord::GoesOn,
        context => HookWord::Says(context),
    }
}

/// Whether a letter may stand before JSON: blanks, and the mark that some programs begin text with.
fn is_before_json(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// Whether an output, without what may stand before JSON, begins like an object or a list of
/// objects. Of one that was cut, more blanks may have stood there than were kept.
fn begins_like_json(output: &str, is_cut: bool) -> bool {
    let in_list = output.strip_prefix('[');
    output.starts_with('{')
        || in_list.is_some_and(|rest| is_cut || rest.trim_start().starts_with('{'))
}

/// A word that a guard may mean as a no.
fn unknown(field: &str, word: &str) -> String {
    format!("its `{field}` is `{}`, which is not known", head(word, 100))
}

fn said(text: &str) -> String {
    head(text.trim(), SAID_LIMIT_BYTES).to_owned()
}

fn first_line(text: &str) -> &str {
    head(text.trim().lines().next().unwrap_or("(no errors)"), SAID_LIMIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{HookWord, read};
    use crate::tools::CommandStreams;
    use crate::tools::hooks::HookEvent;
    use locum_sandbox::exec::Exit;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_hook_blocks_by_its_code_or_its_json_and_goes_on_otherwise() {
        let own = |inner: &str| format!(r#"{{ "hookSpecificOutput": {{ {inner} }} }}"#);
        let blocks = |why: &str| HookWord::Blocks(why.to_owned());
        let [pre, post] = [HookEvent::PreToolUse, HookEvent::PostToolUse];
        let stop = HookEvent::Stop;
        let [session, prompt] = [HookEvent::SessionStart, HookEvent::UserPromptSubmit];
        let [begins, ends] = [HookEvent::SubagentStart, HookEvent::SubagentStop];
        let says = |text: &str| HookWord::Says(text.to_owned());
        let block = || r#"{ "decision": "block", "reason": "r" }"#.to_owned();
        let with_context = |reason: &str| {
            let own = r#""hookSpecificOutput": { "additionalContext": "c" }"#;
            format!(r#"{{ "decision": "block", {reason} {own} }}"#)
        };
        for (event, code, output, expected) in [
            (pre, 0, String::new(), HookWord::GoesOn),
            (pre, 0, "looks fine".to_owned(), HookWord::GoesOn),
            (pre, 2, r#"{ "decision": "approve" }"#.to_owned(), blocks("why not")),
            (pre, 1, String::new(), HookWord::Fails("exit 1: why not".to_owned())),
            (pre, 0, r#"{ "decision": "block", "reason": "r" }"#.to_owned(), blocks("r")),
            (pre, 0, r#"{ "decision": "approve", "reason": "r" }"#.to_owned(), HookWord::GoesOn),
            (
                pre,
                0,
                own(r#""permissionDecision": "deny", "permissionDecisionReason": "r""#),
                blocks("r"),
            ),
            (
                pre,
                0,
                own(r#""permissionDecision": "ask", "permissionDecisionReason": "r""#),
                HookWord::Asks("r".to_owned()),
            ),
            (pre, 0, own(r#""permissionDecision": "allow""#), HookWord::GoesOn),
            (
                pre,
                0,
                own(r#""permissionDecision": "block""#),
                blocks("its `permissionDecision` is `block`, which is not known"),
            ),
            (
                pre,
                0,
                r#"{ "decision": "deny" }"#.to_owned(),
                blocks("its `decision` is `deny`, which is not known"),
            ),
            (
                pre,
                0,
                own(r#""permissionDecision": ["deny"]"#),
                blocks("its `permissionDecision` is `[\"deny\"]`, which is not known"),
            ),
            (pre, 0, r#"{ "decision": null }"#.to_owned(), HookWord::GoesOn),
            (pre, 0, format!("\u{feff}\n{}", block()), blocks("r")),
            (session, 0, "{ a }".to_owned(), says("{ a }")),
            (
                pre,
                0,
                own(r#""permissionDecision": "allow", "updatedInput": { "command": "ls" }"#),
                blocks("it would change the call, which hooks may not do here"),
            ),
            (pre, 0, r#"{ "continue": false, "stopReason": "r" }"#.to_owned(), blocks("r")),
            (stop, 0, r#"{ "continue": false, "stopReason": "r" }"#.to_owned(), HookWord::GoesOn),
            (pre, 0, own(r#""additionalContext": "c""#), HookWord::Says("c".to_owned())),
            (session, 0, "branch: main\n".to_owned(), says("branch: main")),
            (session, 0, "3".to_owned(), says("3")),
            (session, 0, String::new(), HookWord::GoesOn),
            (session, 0, own(r#""additionalContext": "c""#), says("c")),
            (session, 0, block(), HookWord::GoesOn),
            (session, 2, String::new(), HookWord::Fails("exit 2: why not".to_owned())),
            (session, 0, r#"{ "continue": false }"#.to_owned(), HookWord::GoesOn),
            (prompt, 0, "as of today".to_owned(), says("as of today")),
            (prompt, 0, block(), blocks("r")),
            (prompt, 0, r#"{ "continue": false, "stopReason": "r" }"#.to_owned(), blocks("r")),
            (prompt, 2, "more".to_owned(), blocks("why not")),
            (post, 0, block(), blocks("r")),
            (post, 0, with_context(r#""reason": "r","#), blocks("r\nc")),
            (post, 0, with_context(""), blocks("c")),
            (pre, 0, with_context(r#""reason": "r","#), blocks("r")),
            (begins, 0, "plain".to_owned(), HookWord::GoesOn),
            (begins, 0, own(r#""additionalContext": "c""#), says("c")),
            (begins, 2, String::new(), HookWord::Fails("exit 2: why not".to_owned())),
            (ends, 0, "plain".to_owned(), HookWord::GoesOn),
            (ends, 0, block(), blocks("r")),
            (ends, 2, String::new(), blocks("why not")),
            (ends, 0, r#"{ "continue": false }"#.to_owned(), HookWord::GoesOn),
        ] {
            let errors = "why not\nmore".to_owned();
            let streams = CommandStreams { output, errors, omitted_bytes: 0 };
            let word = read(event, Exit::Code(code), &streams);
            let word = match word {
                HookWord::Blocks(why) => HookWord::Blocks(why.replace("\nmore", "")),
                other => other,
            };
            assert_eq!(word, expected, "{code} {}", streams.output);
        }
    }

    #[test]
    fn what_begins_like_json_and_is_not_one_whole_object_cannot_be_read() {
        let [session, begins] = [HookEvent::SessionStart, HookEvent::SubagentStart];
        let [pre, prompt] = [HookEvent::PreToolUse, HookEvent::UserPromptSubmit];
        let [post, stop] = [HookEvent::PostToolUse, HookEvent::Stop];
        let is_unreadable = |event, output: &str, omitted_bytes| {
            let output = output.to_owned();
            let streams = CommandStreams { output, omitted_bytes, ..CommandStreams::default() };
            matches!(read(event, Exit::Code(0), &streams), HookWord::Unreadable(_))
        };
        let block = r#"{ "decision": "block", "reason": "r" }"#;
        let gap = "[... 9 bytes left out ...]";
        for (output, omitted_bytes, expected) in [
            ("{ decision: block }".to_owned(), 0, true),
            (format!("{block}\nmore"), 0, true),
            (format!("{block}\n{block}"), 0, true),
            (format!("\n [ {block} ]"), 0, true),
            (r#"{ "decision": "bl"#.to_owned(), 0, true),
            (format!("\u{feff}{{ \"reason\": \"\n{gap}\n\" }}"), 9, true),
            // What is not there may have stood in any place.
            (block.to_owned(), 9, true),
            (format!("\n\n{gap}\n"), 9, true),
            (block.to_owned(), 0, false),
            ("looks fine".to_owned(), 0, false),
            ("[warning] looks fine".to_owned(), 0, false),
            (format!("looks\n{gap}\nfine"), 9, false),
        ] {
            for event in [pre, prompt, post, stop] {
                assert_eq!(is_unreadable(event, &output, omitted_bytes), expected, "{output}");
            }
            // Nothing is decided there.
            for event in [session, begins] {
                assert!(!is_unreadable(event, &output, omitted_bytes), "{output}");
            }
        }
    }

    #[test]
    fn a_hook_that_does_not_run_to_its_end_did_not_run() {
        for exit in [
            Exit::Code(126),
            Exit::Code(127),
            Exit::Signal(9),
            Exit::TimedOut,
            Exit::TooManyProcesses,
        ] {
            let word = read(HookEvent::PreToolUse, exit, &CommandStreams::default());
            assert!(matches!(word, HookWord::DidNotRun(_)), "{exit:?}");
        }
    }
}
