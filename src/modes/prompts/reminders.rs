//! What the session says to a model that went wrong, or whose call was interrupted: one short text
//! for each occasion, always with what to do next. Decides nothing: when each is said is the
//! session's matter.

use crate::prompts::task::{UntrustedText, fenced};
use locum_base::image::Image;
use locum_base::text::counted;
use locum_policy::budget::Budget;

/// Said to a reply that called no tool.
pub const NO_TOOL_CALLED: &str = "You called no tool. Nobody reads what you say between calls: go \
                                  on by calling a tool, and call attempt_completion when the task \
                                  is done or cannot be done.";

/// Said to a reply that reached the output limit before it called a tool.
pub const REPLY_CUT: &str = "Your reply reached the output limit before it called a tool. Say \
                             less, and write large files in several smaller steps.";

/// Said to a reply that used up what was left of the budget before it called a tool.
pub const REPLY_CUT_BY_BUDGET: &str = "Your reply was cut before it called a tool: it could get \
                                       no longer with what was left of the budget. Call \
                                       attempt_completion now, in few words: what is done, what \
                                       is not, what is unverified.";

/// Said to a reply that the provider's filter stopped.
pub const REPLY_FILTERED: &str =
    "The provider's filter stopped your reply. Go on in another way, by calling a tool.";

/// Gives a task the rules file of a folder it works in.
pub fn rules_nearby(file: &str, folder: &str, text: &str) -> String {
    format!(
        "Standing instructions for work below `{folder}/`, from the repository's \
         `{file}`:\n\n{text}"
    )
}

/// Warns a task that its budget is nearly used up; `used` says of what.
pub fn budget_low(used: &str) -> String {
    format!(
        "The budget is nearly used up: {used}. Start nothing new. Finish what is under way, check \
         it, and call attempt_completion with what is done, what is not, and what is unverified."
    )
}

/// Asks a task, once, to end with what it has; `left` says what is left of its budget.
pub fn budget_ends(left: &str) -> String {
    format!(
        "The budget ends: {left} left, and what you found is lost when they are used up. Call \
         attempt_completion now: what is done, what is not, what is unverified, and what comes \
         next."
    )
}

/// Warns a task that a change more may end it; `used` says of what.
pub fn changes_full(used: &str) -> String {
    format!(
        "The budget for changes is full: {used}. Going past it ends the task at once, without a \
         result. Change no more than you have to, check what there is, and call \
         attempt_completion with what is done and what is not."
    )
}

/// Tells a task that was stopped that it goes on; `rest` is what it may spend from here.
pub fn goes_on(rest: &str) -> String {
    format!(
        "The run was stopped and goes on now. From here you may spend: {rest}. Go on with the task."
    )
}

/// Tells a sub-task, or a task that goes on, what it may spend.
pub fn may_spend(budget: &Budget) -> String {
    let Budget { turns, tool_calls, tokens, cost_usd, minutes, .. } = budget;
    let dollars = if *cost_usd > 0.0 { format!("{cost_usd:.2} dollars, ") } else { String::new() };
    format!("{turns} turns, {tool_calls} tool calls, {tokens} tokens, {dollars}{minutes} minutes")
}

/// Answers a call that reached the output limit before it was whole.
pub const CALL_CUT: &str = "This call was cut short by the output limit and was not performed. \
                            Make it smaller, in several steps if need be.";

/// Answers a call after which the provider's filter stopped the reply: it may not be whole.
pub const CALL_FILTERED: &str = "The provider's filter stopped the reply at this call, which was \
                                 not performed. Go on in another way.";

/// Answers a call that was made too often: `cycle` calls (1 for a single one) were repeated `times`
/// times in a row, and nothing came of it.
pub fn repeated(cycle: usize, times: usize) -> String {
    let what = if cycle == 1 {
        "this same call".to_owned()
    } else {
        format!("this same round of {cycle} calls")
    };
    format!(
        "Not performed: {what} was made {times} times in a row, with the same result each time. \
         Try another approach, or end with attempt_completion and say what stands in the way."
    )
}

/// Answers a completion next to a call of the same reply that failed.
pub const COMPLETION_TOO_EARLY: &str = "The task was not ended, because another call of the same \
                                        reply failed. Look at its result first.";

/// Answers a completion next to a command of the same reply that did not succeed, once.
pub const COMPLETION_BESIDE_FAILURE: &str = "The task was not ended, because a command of the \
                                             same reply did not succeed. Look at its output first. \
                                             If the task is done all the same, complete again.";

/// Answers a completion whose result ends with a question, once.
pub const COMPLETION_ASKS: &str = "The task was not ended, because its result ends with a question, \
                                   and nobody answers it there. Say what you found and decided; \
                                   call `ask_followup_question` for what only people can decide. \
                                   The same result again ends the task.";

/// Answers a completion after which a check of the repository failed; `last` says that the next
/// completion ends the task whatever its check says.
pub fn check_failed(command: &str, output: &str, last: bool) -> String {
    let output = if output.is_empty() { "(no output)" } else { output };
    let last =
        if last { " The next completion ends the task, whatever the check says." } else { "" };
    format!(
        "The task was not ended: the check `{command}`, which has to succeed, failed. Its last \
         lines:\n\n{output}\n\nIf your changes are the reason, repair it and complete again. If \
         it fails without them too, or you cannot repair it here, complete with status `partial` \
         or `failed` and say why.{last}"
    )
}

/// Answers a call that the policy refused, with the policy's reasons and, where there is any, what
/// would be allowed and what to use instead: whole sentences.
pub fn refused(reasons: &str, instead: &[String]) -> String {
    let last = if instead.is_empty() {
        "Do the task another way, or say in your result what could not be done.".to_owned()
    } else {
        instead.join(" ")
    };
    format!("The policy refused this call: {reasons}. {last}")
}

/// Answers a call that a hook of the repository is against.
pub fn blocked_by_hook(why: &str) -> String {
    format!(
        "This call was not performed: {why}. Do what the hook says, do the task another way, or \
         say in your result what could not be done."
    )
}

/// Tells what a hook of the repository printed before a request: data, as what any program prints.
pub fn context_of_hook(said: &str) -> String {
    let (what, origin) = ("output of a hook", "a program of the repository");
    let output = fenced(&UntrustedText { what, origin, text: said });
    format!("A hook of the repository ran before this request.{output}")
}

/// Follows the answer to a call that a hook of the repository has something against.
pub fn followed_by_hook(why: &str) -> String {
    format!("The call was performed, and {why}")
}

/// Answers a completion that a hook of the repository is against.
pub fn kept_by_hook(why: &str) -> String {
    format!(
        "The task was not ended: {why}\n\nDo what is missing and complete again. If you cannot, \
         complete with status `partial` or `failed` and say why."
    )
}

/// Answers a call that the policy refused for the same reasons as one before.
pub fn refused_again(reasons: &str) -> String {
    format!(
        "The policy refused this call for the same reason as before: {reasons}. Do the task \
         another way, or say in your result what could not be done."
    )
}

/// Stands for a part of a call that the policy refused, among the answers of the other parts.
pub fn left_out(reasons: &str) -> String {
    format!("Left out, because the policy refused it: {reasons}.")
}

/// Answers a held call that a maintainer denied.
pub fn denied_by_person(by: &str, reason: &str) -> String {
    let reason =
        if reason.trim().is_empty() { String::new() } else { format!(": {}", reason.trim()) };
    format!(
        "This call needed a person's yes, and {by} said no{reason}. Do the task another way, or \
         say in your result what could not be done."
    )
}

/// Gives a model the answer to its question.
pub fn answered_by_person(by: &str, text: &str) -> String {
    format!("{by} answered:\n\n{}", text.trim())
}

/// Gives a task what a person wrote while the run was at work, or when they let it go on.
pub fn message_from_person(by: &str, text: &str) -> String {
    format!(
        "{by} writes to you:\n\n{}\n\nTake this up in what you do next. A result you gave before \
         is not final: when this is done too, call attempt_completion again.",
        text.trim()
    )
}

/// Tells a task that it goes on with the conversation of an earlier run, below what a person asks
/// now. `base` is the commit the checkout is at; `has_work` says that it holds what the earlier run
/// changed.
pub fn conversation_goes_on(base: &str, has_work: bool) -> String {
    let work = if has_work { ", with what you changed before and did not publish" } else { "" };
    format!(
        "This was written after the result above, and the conversation goes on in a new run. The \
         checkout is at commit {base}{work}. Others may have changed it since: read a file again \
         before you edit it. A result you gave before is not final: when this is done too, call \
         attempt_completion again."
    )
}

/// Lists the images that follow a person's message; the text goes below that message.
pub fn images_shown(images: &[Image]) -> String {
    let line = |(at, image): (usize, &Image)| format!("{}. {image}", at + 1);
    images_listed(&images.iter().enumerate().map(line).collect::<Vec<_>>())
}

/// As [`images_shown`], with a line for each image.
pub fn images_listed(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let list = lines.join("\n");
    format!("\n\nThe images after this message belong to it, in their order:\n{list}")
}

/// Reports that images of a person's message cannot be shown to the model.
pub fn images_not_shown(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!(
            "\n\n{} with it cannot be shown to you; say so where you would need to see it.",
            counted(count, "image")
        ),
    }
}

/// Answers a call that was under way when the run was killed and that is not performed again.
pub const INTERRUPTED: &str = "The run was interrupted while this call was under way: it may or \
                               may not have been performed, in whole or in part, and it was not \
                               performed again. Check what it did before you go on.";
