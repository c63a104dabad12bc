//! What a task that begins with a slash comes to: the command's text with the arguments in it, and
//! the commands whose output it includes. In: the task and the command's text; out: parts in order.
//! Runs nothing: the run does, under the policy, or says why not.
//!
//! Arguments are put in once and never looked into again: an argument with `$1` or `` !`x` `` in it
//! stays as it is.

/// Longest arguments, in bytes.
pub const ARGUMENTS_LIMIT_BYTES: usize = 64 * 1024;

/// A task that begins with a slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlashInvocation<'t> {
    /// Name after the slash.
    pub name: &'t str,
    /// Text after the name.
    pub arguments: &'t str,
}

/// A part of a task's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskPart {
    /// Text to insert as it is.
    Text(String),
    /// In place of the output of this command: `` !`git status` ``.
    Output(String),
}

/// Returns the command that a task calls: `/name` at its start, then blanks or nothing. `None` for
/// other tasks, those that begin with a path (`/etc/hosts`) and those that begin with `\/` among
/// them.
pub fn parse_invocation(task: &str) -> Option<SlashInvocation<'_>> {
    let rest = task.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
    let is_name = name.starts_with(char::is_alphanumeric) && name.chars().all(fits);
    is_name.then(|| SlashInvocation { name, arguments: arguments.trim() })
}

/// A task that calls a prompt of an MCP server: `/mcp:SERVER:PROMPT` or `/mcp__SERVER__PROMPT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPrompt<'t> {
    /// Name of the server.
    pub server: &'t str,
    /// Name of its prompt.
    pub prompt: &'t str,
    /// Text after the name.
    pub arguments: &'t str,
}

/// Returns the prompt of a server that a task calls; `None` for other commands.
pub fn parse_server_prompt<'t>(call: &SlashInvocation<'t>) -> Option<ServerPrompt<'t>> {
    let (server, prompt) = match call.name.strip_prefix("mcp:") {
        Some(rest) => rest.split_once(':')?,
        None => call.name.strip_prefix("mcp__")?.split_once("__")?,
    };
    let is_whole = !server.is_empty() && !prompt.is_empty();
    is_whole.then_some(ServerPrompt { server, prompt, arguments: call.arguments })
}

impl ServerPrompt<'_> {
    /// Returns the task as a model reads it. The prompt is got by a tool, under the policy: its
    /// text is the server's, and stands nowhere among our own words.
    pub fn task(&self) -> String {
        let Self { server, prompt, arguments } = self;
        let with = match *arguments {
            "" => String::new(),
            words => format!(" with `args` as follows: {words}\n\n"),
        };
        let end = if with.is_empty() { ". " } else { "" };
        format!(
            "Get the prompt `{prompt}` of the MCP server `{server}` by `get_mcp_prompt`{with}{end}\
             Then do what it describes, within the rules of this run."
        )
    }
}

/// Returns a task that calls no command as it is meant: `\/` at its start is a slash.
pub fn parse_plain(task: &str) -> TaskPart {
    let task = task.trim();
    TaskPart::Text(
        task.strip_prefix("\\/").map_or_else(|| task.to_owned(), |rest| format!("/{rest}")),
    )
}

/// Returns a command's text with its arguments: `$ARGUMENTS` all of them, `$1` to `$9` one each, as
/// a shell would part them; where the text has a place for neither, they follow it. `\$` is a
/// dollar.
pub fn fill(body: &str, arguments: &str) -> Vec<TaskPart> {
    let words = words_of(arguments);
    let mut parts: Vec<TaskPart> = Vec::new();
    let mut has_place = false;
    for (text, is_command) in split_commands(body) {
        let (filled, filled_in) = put_in(text, arguments, &words);
        has_place |= filled_in;
        match (parts.last_mut(), is_command) {
            (_, true) => parts.push(TaskPart::Output(filled)),
            (Some(TaskPart::Text(last)), false) => last.push_str(&filled),
            (_, false) => parts.push(TaskPart::Text(filled)),
        }
    }
    if !has_place && !arguments.is_empty() {
        parts.push(TaskPart::Text(format!("\n\nArguments: {arguments}")));
    }
    parts
}

/// Cuts a text at `` !`command` ``; inside a fence of code nothing is cut. The flag says which
/// pieces are commands.
fn split_commands(body: &str) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let mut in_fence = false;
    for line in body.split_inclusive('\n') {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            in_fence = !in_fence;
        }
        let mut rest = line;
        while let Some((before, command, after)) = (!in_fence).then(|| next_command(rest)).flatten()
        {
            pieces.extend([(before, false), (command, true)]);
            rest = after;
        }
        pieces.push((rest, false));
    }
    pieces.retain(|(text, is_command)| *is_command || !text.is_empty());
    pieces
}

fn next_command(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = line.split_once("!`")?;
    let (command, after) = rest.split_once('`')?;
    // A word right before the mark, or one more backtick, makes it something else.
    let stands_alone = before
        .chars()
        .next_back()
        .is_none_or(|last| last.is_whitespace() || matches!(last, '(' | '[' | ':' | '*' | '|'));
    (stands_alone && !command.trim().is_empty()).then_some((before, command.trim(), after))
}

/// Returns the text with the arguments put in, and whether it had a place for any.
fn put_in(text: &str, arguments: &str, words: &[String]) -> (String, bool) {
    let mut filled = String::with_capacity(text.len());
    let (mut rest, mut filled_in) = (text, false);
    while let Some((before, after)) = rest.split_once('$') {
        if let Some(before) = before.strip_suffix('\\') {
            filled.push_str(before);
            filled.push('$');
            rest = after;
            continue;
        }
        filled.push_str(before);
        if let Some(after) = after.strip_prefix("ARGUMENTS") {
            filled.push_str(arguments);
            (rest, filled_in) = (after, true);
        } else if let Some((number, after)) = positional(after) {
            filled.push_str(words.get(number - 1).map_or("", String::as_str));
            (rest, filled_in) = (after, true);
        } else {
            filled.push('$');
            rest = after;
        }
    }
    (filled + rest, filled_in)
}

/// Reads what follows a dollar as the number of an argument: one digit that no more of a number or
/// name follows (`$10`, `$5.99`).
fn positional(after: &str) -> Option<(usize, &str)> {
    let digit = after.chars().next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let rest = after.get(1..)?;
    let mut next = rest.chars();
    let goes_on = match next.next() {
        Some('.' | ',') => next.next().is_some_and(|letter| letter.is_ascii_digit()),
        Some(letter) => letter.is_alphanumeric() || letter == '_',
        None => false,
    };
    (!goes_on).then_some((usize::try_from(digit).ok()?, rest))
}

/// Parts arguments at blanks; quotes keep some together.
pub fn words_of(arguments: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote, mut is_open) = (String::new(), None, false);
    for letter in arguments.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '"' | '\'') && !(is_open && letter == '\'') => {
                (quote, is_open) = (Some(letter), true)
            }
            None if letter.is_whitespace() => {
                if is_open {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            Some(_) | None => {
                word.push(letter);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{SlashInvocation, TaskPart, fill, parse_invocation, parse_plain, words_of};
    use pretty_assertions::assert_eq;

    /// Fills a text; commands stand in `<>`.
    fn check(body: &str, arguments: &str, expected: &str) {
        let text_of = |part: TaskPart| match part {
            TaskPart::Text(text) => text,
            TaskPart::Output(command) => format!("<{command}>"),
        };
        assert_eq!(
            fill(body, arguments).into_iter().map(text_of).collect::<String>(),
            expected,
            "{body} {arguments}"
        );
    }

    #[test]
    fn a_task_calls_a_command_by_its_first_word() {
        for (task, expected) in [
            ("/fix", Some(("fix", ""))),
            ("  /fix  issue 12\nnow ", Some(("fix", "issue 12\nnow"))),
            ("/web:test\tx", Some(("web:test", "x"))),
            ("/etc/hosts is wrong", None),
            ("//comment", None),
            ("/ fix", None),
            ("/", None),
            ("\\/fix it", None),
            ("fix /this", None),
            ("/fix, please", None),
        ] {
            assert_eq!(
                parse_invocation(task),
                expected.map(|(name, arguments)| SlashInvocation { name, arguments }),
                "{task}"
            );
        }
        assert_eq!(parse_plain(" \\/fix it "), TaskPart::Text("/fix it".to_owned()));
        assert_eq!(parse_plain("a \\/b"), TaskPart::Text("a \\/b".to_owned()));
    }

    #[test]
    fn arguments_take_their_places() {
        check("Fix $ARGUMENTS.", "a b", "Fix a b.");
        check("Fix $1 in $2, not $3.", "'the test' x", "Fix the test in x, not .");
        check("Fix it.", "soon", "Fix it.\n\nArguments: soon");
        check("Fix it.", "", "Fix it.");
        check(
            "It costs $5.99, $10 or \\$1 and $HOME $1x $",
            "a",
            "It costs $5.99, $10 or $1 and $HOME $1x $\n\nArguments: a",
        );
        check("$1. $1", "a", "a. a");
    }

    #[test]
    fn an_argument_is_not_looked_into_again() {
        check("$1 $2", "$2 $1", "$2 $1");
        check("$ARGUMENTS", "$ARGUMENTS !`rm x`", "$ARGUMENTS !`rm x`");
        check("x", "!`rm x`", "x\n\nArguments: !`rm x`");
    }

    #[test]
    fn commands_are_found_outside_fences() {
        check(
            "- Status: !`git status` and !`git diff $1`\n",
            "HEAD",
            "- Status: <git status> and <git diff HEAD>\n",
        );
        check("!`a`", "", "<a>");
        check("```sh\n!`a`\n```\n!`b`", "", "```sh\n!`a`\n```\n<b>");
        for text in ["wow!`a`", "!``", "!` `", "!`a", "! `a`", "![x](`y`)"] {
            check(text, "", text);
        }
    }

    #[test]
    fn words_are_parted_as_a_shell_would() {
        assert_eq!(words_of(" a \"b c\"  d'e ''"), ["a", "b c", "d'e", ""]);
        assert_eq!(words_of("\"a b"), ["a b"]);
        assert_eq!(words_of(""), Vec::<String>::new());
    }
}
