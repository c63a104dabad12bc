//! `Pattern`: the part of a rule that says what it is about, `edit(src/**)`; one kind for every
//! kind of intent.
//!
//! In: a pattern as written. Out: whether it matches an intent. Commands are matched by words here;
//! what their options do is decided in `command`.

use crate::command::refused_words::{self, RuleEnd};
use crate::command::word;
use crate::command_text::{self, NamedCommand};
use crate::glob::{LetterCase, PathGlob, folded, name_matches_in};
use crate::intent::{Intent, PUBLICATIONS, PublicationKind};
use crate::kind::RuleKind;
use crate::memory::{ENTRY_NAME_LIMIT, is_entry_name};
use crate::query_text;
use crate::urls::pattern::UrlPattern;
use locum_base::secret::view::is_invisible;
use locum_files::fields::nearest;

/// Every kind of intent that a pattern can be of.
pub const KINDS: &[&str] = &[
    "read",
    "edit",
    "command",
    "command-prefix",
    "command-text",
    "script",
    "fetch",
    "search",
    "browse",
    "mcp",
    "mode",
    "delegate",
    "expert",
    "memory",
    "publish",
];

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What kind of thing.
    pub(crate) kind: RuleKind,
    /// Which of its kind.
    pub(crate) subject: PatternSubject,
}

/// Which things of a kind a pattern is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternSubject {
    /// `read(src/**)`, `edit(src/**)`
    Path(PathGlob),
    /// `command(cargo test:*)`, `command-text(cargo test)`, `script(cargo fmt && cargo test)`
    Command(CommandPattern),
    /// `fetch(docs.rs)`, `browse(localhost:8080)`
    Url(UrlPattern),
    /// `search(rust *)`
    Query(String),
    /// `mcp(time/*)`, `mode(code)`, `delegate(code)`, `expert(careful)`, `memory(read/build-*)`
    Name(String),
    /// `publish(comment)`; `None` is `publish(*)`.
    Publication(Option<PublicationKind>),
}

/// Words of one simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    /// The words it starts with; none for `command(*)` and for a whole script.
    pub words: Vec<String>,
    /// Whether further words may follow (`:*`).
    pub open: bool,
    /// How it is compared.
    pub form: CommandForm,
}

/// How a pattern is compared with commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandForm {
    /// `command(...)`: word by word.
    Words,
    /// `command-prefix(...)`: these words, then anything that does not start another program by
    /// name. Verbs and interpreters that no table knows are included. For policies imported from
    /// tools that know no options.
    Prefix,
    /// `command-text(...)`: as a prefix, but the words joined by single blanks, as they are judged
    /// or as they are written, start with this text, whatever the case. Allowing needs the text to
    /// end with a word; refusing does not.
    Text(String),
    /// `script(...)`: a whole script, letter for letter.
    Script(String),
}

impl Pattern {
    /// Returns the paths it is about, where it is about paths.
    pub(crate) fn paths(&self) -> Option<&PathGlob> {
        let PatternSubject::Path(glob) = &self.subject else { return None };
        Some(glob)
    }

    /// Returns the commands it is about, where it is about commands.
    pub(crate) fn command(&self) -> Option<&CommandPattern> {
        let PatternSubject::Command(command) = &self.subject else { return None };
        Some(command)
    }

    /// Returns what all that it matches starts with, in one case: the name of a folder, a program.
    pub(crate) fn start(&self) -> Option<String> {
        match self.command() {
            Some(CommandPattern {
                form: CommandForm::Text(_) | CommandForm::Script(_), ..
            }) => None,
            Some(command) => command.words.first().map(|program| folded(program)),
            None => self.paths().and_then(PathGlob::start).map(str::to_owned),
        }
    }

    /// Reads a pattern.
    ///
    /// # Errors
    /// A sentence saying what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (kind, inner) = split(text)?;
        if let Some(unseen) = text.chars().find(|letter| is_invisible(*letter)) {
            return Err(format!(
                "pattern holds U+{:04X}, an invisible character",
                u32::from(unseen)
            ));
        }
        let (kind, subject) = match kind {
            "read" => (RuleKind::Read, PatternSubject::Path(PathGlob::parse(inner)?)),
            "edit" => (RuleKind::Edit, PatternSubject::Path(PathGlob::parse(inner)?)),
            "command" => {
                (RuleKind::Command, PatternSubject::Command(CommandPattern::parse(inner)?))
            }
            "command-prefix" => {
                (RuleKind::Command, PatternSubject::Command(CommandPattern::prefix(inner)?))
            }
            "command-text" => {
                (RuleKind::Command, PatternSubject::Command(CommandPattern::text(inner)?))
            }
            "script" => {
                (RuleKind::Command, PatternSubject::Command(CommandPattern::script(inner)?))
            }
            "fetch" => (RuleKind::Fetch, PatternSubject::Url(fetched(inner)?)),
            "search" => {
                (RuleKind::Search, PatternSubject::Query(query_text::parse_pattern(inner)?))
            }
            "browse" => (RuleKind::Browse, PatternSubject::Url(UrlPattern::parse(inner)?)),
            "mcp" => (RuleKind::Mcp, PatternSubject::Name(mcp(inner)?)),
            "mode" => (RuleKind::Mode, PatternSubject::Name(name(inner, "mode")?)),
            "delegate" => (RuleKind::Delegate, PatternSubject::Name(name(inner, "mode")?)),
            "expert" => (RuleKind::Expert, PatternSubject::Name(name(inner, "profile")?)),
            "memory" => {
                let (kind, entry) = memory(inner)?;
                (kind, PatternSubject::Name(entry))
            }
            "publish" => (RuleKind::Publish, PatternSubject::Publication(publication(inner)?)),
            other => {
                let near = suggestion(other, KINDS, "kinds are");
                return Err(format!("unknown kind of pattern `{other}`; {near}"));
            }
        };
        Ok(Self { kind, subject })
    }

    /// Returns true when the pattern is about this intent. A command intent is a whole script and
    /// matches no pattern: its simple commands are matched one by one with
    /// [`CommandPattern::matches`].
    pub fn matches(&self, intent: &Intent, case: LetterCase) -> bool {
        RuleKind::of(intent) == Some(self.kind)
            && match (&self.subject, intent) {
                (PatternSubject::Path(glob), Intent::Read(path) | Intent::Edit(path)) => {
                    glob.matches(path, case)
                }
                (PatternSubject::Url(pattern), Intent::Fetch(url) | Intent::Browse(url)) => {
                    pattern.matches(url, case)
                }
                (PatternSubject::Query(pattern), Intent::Search(query)) => {
                    query_text::matches(pattern, query, case)
                }
                (PatternSubject::Name(pattern), Intent::Mcp { server, tool }) => {
                    name_matches_in(case, pattern, &format!("{server}/{tool}"))
                }
                (
                    PatternSubject::Name(pattern),
                    Intent::Mode(name)
                    | Intent::Delegate(name)
                    | Intent::Expert(name)
                    | Intent::MemoryRead(name)
                    | Intent::MemoryWrite(name),
                ) => name_matches_in(case, pattern, name),
                (PatternSubject::Publication(wanted), Intent::Publish(publication)) => {
                    wanted.is_none_or(|wanted| wanted == *publication)
                }
                (_, _) => false,
            }
    }

    /// Returns true when everything the other pattern matches is matched by this one, as far as the
    /// texts show it.
    pub fn covers(&self, other: &Self) -> bool {
        self.kind == other.kind
            && match (&self.subject, &other.subject) {
                (PatternSubject::Path(one), PatternSubject::Path(two)) => one.covers(two),
                (PatternSubject::Url(one), PatternSubject::Url(two)) => one.covers(two),
                (PatternSubject::Query(one), PatternSubject::Query(two)) => {
                    query_text::covers(one, two)
                }
                (PatternSubject::Command(one), PatternSubject::Command(two)) => {
                    one == two
                        || (one.form == CommandForm::Words
                            && one.open
                            && !matches!(two.form, CommandForm::Script(_))
                            && two.words.starts_with(&one.words))
                }
                (PatternSubject::Name(one), PatternSubject::Name(two)) => {
                    let head = one
                        .strip_suffix('*')
                        .filter(|head| self.kind == RuleKind::Mcp || head.is_empty());
                    one == two || head.is_some_and(|head| two.starts_with(head))
                }
                (PatternSubject::Publication(one), PatternSubject::Publication(two)) => {
                    one.is_none() || one == two
                }
                (_, _) => false,
            }
    }
}

impl CommandPattern {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self { words: Vec::new(), open: true, form: CommandForm::Words });
        }
        let (text, open) = text.strip_suffix(":*").map_or((text, false), |head| (head, true));
        let words = word::split(text)?;
        if words.is_empty() {
            return Err(
                "command pattern names no program; `command(*)` means every command".to_owned()
            );
        }
        if words.iter().any(|word| word == "*") {
            return Err(format!(
                "command pattern `{text}`: a `*` among the words is not a wildcard; end the \
                 pattern with `:*`"
            ));
        }
        Ok(Self { words, open, form: CommandForm::Words })
    }

    fn prefix(text: &str) -> Result<Self, String> {
        let words = if text == "*" { Vec::new() } else { Self::parse(text)?.words };
        Ok(Self { words, open: true, form: CommandForm::Prefix })
    }

    fn text(text: &str) -> Result<Self, String> {
        let words: Vec<String> = text.split_ascii_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return Err(
                "command pattern names no program; `command(*)` means every command".to_owned()
            );
        }
        Ok(Self { words, open: true, form: CommandForm::Text(text.to_lowercase()) })
    }

    fn script(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("script pattern is empty".to_owned());
        }
        Ok(Self {
            words: Vec::new(),
            open: false,
            form: CommandForm::Script(text.trim().to_owned()),
        })
    }

    /// Returns true when a simple command's words match. `LetterCase::Ignored` is for rules that
    /// refuse.
    pub fn matches(&self, words: &[String], case: LetterCase) -> bool {
        self.matches_command(NamedCommand::from(words), case)
    }

    /// As [`Self::matches`], where it is also known how the words are written.
    pub(crate) fn matches_command(&self, command: NamedCommand<'_>, case: LetterCase) -> bool {
        let words = command.words;
        let end = match &self.form {
            CommandForm::Script(_) => return false,
            CommandForm::Text(_) => RuleEnd::Letters,
            CommandForm::Words if !self.open => RuleEnd::Nothing,
            CommandForm::Prefix | CommandForm::Words => RuleEnd::Words,
        };
        match (&self.form, case) {
            (CommandForm::Text(text), LetterCase::Exact) => {
                command_text::spelled_out(text, command).is_some()
            }
            (CommandForm::Text(text), LetterCase::Ignored) => {
                command_text::refuses(text, command)
                    || refused_words::begin(&self.words, words, end)
            }
            (_, LetterCase::Ignored) => refused_words::begin(&self.words, words, end),
            (_, LetterCase::Exact) if end == RuleEnd::Nothing => words == self.words,
            (_, LetterCase::Exact) => words.starts_with(&self.words),
        }
    }

    /// Returns how many words of a command that it matches it spells out.
    pub(crate) fn spelled_out(&self, command: NamedCommand<'_>) -> usize {
        match &self.form {
            CommandForm::Text(text) => command_text::spelled_out(text, command).unwrap_or_default(),
            CommandForm::Words | CommandForm::Prefix | CommandForm::Script(_) => self.words.len(),
        }
    }

    /// Returns true when a whole script, [bare](command_text::bare), may be the one written here:
    /// blanks, quotes and the case of letters aside. For rules that refuse.
    pub(crate) fn is_like_script(&self, bare: &str) -> bool {
        let CommandForm::Script(wanted) = &self.form else { return false };
        command_text::bare(wanted) == bare
    }

    /// Returns true when a whole script is the one written here.
    pub fn is_script(&self, text: &str) -> bool {
        matches!(&self.form, CommandForm::Script(wanted) if wanted == text.trim())
    }
}

/// A pattern for addresses that are fetched: one that could only ever be refused is a mistake.
fn fetched(text: &str) -> Result<UrlPattern, String> {
    let pattern = UrlPattern::parse(text)?;
    match pattern.forbidden() {
        Some(why) => Err(format!("address `{text}` is never fetched: {why}")),
        None => Ok(pattern),
    }
}

fn split(text: &str) -> Result<(&str, &str), String> {
    let wrong =
        || format!("pattern `{text}` is not of the form `kind(...)`, for example `edit(src/**)`");
    let (kind, rest) = text.split_once('(').ok_or_else(wrong)?;
    let open = || format!("pattern `{text}` has no `)` at its end");
    let inner = rest.strip_suffix(')').ok_or_else(open)?;
    Ok((kind, if kind == "command-text" { inner } else { inner.trim() }))
}

fn name(text: &str, what: &str) -> Result<String, String> {
    let plain = !text.is_empty()
        && text.chars().all(|letter| {
            letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '*' | '?')
        });
    if plain { Ok(text.to_owned()) } else { Err(format!("`{text}` is not the name of a {what}")) }
}

/// What stands before the address of a resource of an MCP server, in place of a tool:
/// `mcp(docs/resource:file:///guide/*)`.
pub const RESOURCE: &str = "resource:";

/// What stands before the name of a prompt of an MCP server: `mcp(docs/prompt:review)`.
pub const PROMPT: &str = "prompt:";

fn mcp(text: &str) -> Result<String, String> {
    let (server, tool) = text.split_once('/').ok_or_else(|| {
        format!("`{text}` is not of the form `server/tool`; `server/*` means every tool")
    })?;
    if server.is_empty()
        || tool.is_empty()
        || (tool.contains('/') && !tool.starts_with(RESOURCE))
        || text.chars().any(|letter| letter.is_whitespace() || letter.is_control())
    {
        return Err(format!("`{text}` is not of the form `server/tool`"));
    }
    Ok(text.to_owned())
}

/// Reads what a pattern about the memory says: what is done, and with which entries.
fn memory(text: &str) -> Result<(RuleKind, String), String> {
    let wrong = || {
        format!(
            "`{text}` is not of the form `read/NAME` or `write/NAME`; `read/*` means every note"
        )
    };
    let (verb, entry) = text.split_once('/').ok_or_else(wrong)?;
    let kind = match verb {
        "read" => RuleKind::MemoryRead,
        "write" => RuleKind::MemoryWrite,
        _ => return Err(wrong()),
    };
    if !is_entry_name(&entry.replace(['*', '?'], "x")) {
        return Err(format!(
            "`{entry}` is not the name of a note: small letters, digits and `-`, at most \
             {ENTRY_NAME_LIMIT}"
        ));
    }
    Ok((kind, entry.to_owned()))
}

fn publication(text: &str) -> Result<Option<PublicationKind>, String> {
    if text == "*" {
        return Ok(None);
    }
    let found = PUBLICATIONS.iter().find(|(word, _)| *word == text).map(|(_, found)| Some(*found));
    found.ok_or_else(|| {
        let words: Vec<&str> = PUBLICATIONS.iter().map(|(word, _)| *word).collect();
        let near = suggestion(text, &words, "one of");
        format!("`{text}` cannot be published; {near}")
    })
}

/// Returns the word that a wrong one was meant to be, or all there are.
pub(crate) fn suggestion(wrong: &str, words: &[&str], listed: &str) -> String {
    nearest(wrong, words).map_or_else(
        || format!("{listed}: {}", words.join(", ")),
        |word| format!("did you mean `{word}`?"),
    )
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use crate::glob::LetterCase;
    use crate::intent::{Intent, PublicationKind};
    use crate::query_text::SearchQuery;
    use pretty_assertions::assert_eq;
    fn check(pattern: &str, intent: &Intent, expected: bool) {
        assert_eq!(
            Pattern::parse(pattern).unwrap().matches(intent, LetterCase::Exact),
            expected,
            "{pattern} {intent:?}"
        );
    }

    #[test]
    fn matches_names() {
        let tool = Intent::Mcp { server: "time".to_owned(), tool: "now".to_owned() };
        check("mcp(time/*)", &tool, true);
        check("mcp(time/later)", &tool, false);
        check("mode(*)", &Intent::Mode("code".to_owned()), true);
        check("mode(code)", &Intent::Mode("coder".to_owned()), false);
        check("mode(code)", &Intent::Delegate("code".to_owned()), false);
        check("expert(deep-*)", &Intent::Expert("deep-1".to_owned()), true);
        check("expert(deep-*)", &Intent::Expert("cheap".to_owned()), false);
        check("mode(deep)", &Intent::Expert("deep".to_owned()), false);
        let (read, write) =
            (Intent::MemoryRead("build-x".to_owned()), Intent::MemoryWrite("build-x".to_owned()));
        check("memory(read/build-*)", &read, true);
        check("memory(read/test-*)", &read, false);
        check("memory(read/*)", &write, false);
        check("memory(write/*)", &write, true);
        check("memory(write/build)", &write, false);
        check("publish(*)", &Intent::Publish(PublicationKind::Label), true);
        let query = Intent::Search(SearchQuery::new("  rust   async book", None));
        check("search(**)", &query, true);
        check("search(rust *)", &query, true);
        check("search(rust  async book)", &query, true);
        check("search(Rust *)", &query, false);
        check("search(rust)", &query, false);
        check("search(*rust)", &query, false);
        check("publish(comment)", &Intent::Publish(PublicationKind::Label), false);
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, message) in [
            ("edti(src)", "did you mean `edit`?"),
            ("edit src", "not of the form"),
            ("edit(/etc)", "absolute"),
            ("command()", "names no program"),
            ("command(:*)", "names no program"),
            ("command(git * push)", "not a wildcard"),
            ("command(echo $X:*)", "plain words"),
            ("mcp(time)", "server/tool"),
            ("fetch(ftp://x)", "only https"),
            ("fetch(http://localhost:8080)", "never fetched"),
            ("publish(tweet)", "cannot be published"),
            ("search( )", "search pattern is empty"),
            ("mode(a b)", "not the name"),
            ("memory(*)", "not of the form `read/NAME`"),
            ("memory(delete/x)", "not of the form `read/NAME`"),
            ("memory(read/../x)", "not the name of a note"),
            ("memory(write/)", "not the name of a note"),
            ("read(.env\u{200b})", "U+200B, an invisible character"),
            ("command(git\u{2060} push:*)", "U+2060"),
        ] {
            let error = Pattern::parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
