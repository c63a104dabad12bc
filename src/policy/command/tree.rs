//! The tree of a script: only what can be judged before it runs; every word is already literal.
//!
//! In: nothing; it is built by `parse`. Out: the simple commands and redirections in it, and text
//! for a shell in which every word is quoted, so that what was judged is what runs. It holds no
//! rule.

use std::fmt::Write as _;

/// A list of and-or lists: `a && b; c`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandList(pub Vec<AndOr>);

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOr {
    /// The pipeline that runs whatever follows.
    pub first: Pipeline,
    /// Those that follow.
    pub rest: Vec<(ListOperator, Pipeline)>,
}

/// How a pipeline follows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOperator {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Whether its exit status is turned round by `!`.
    pub negated: bool,
    /// At least one, in the order of the pipe.
    pub commands: Vec<ShellCommand>,
}

/// One member of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellCommand {
    /// A program and its words.
    Simple(SimpleCommand),
    /// `( ... )`
    Subshell(CommandList, Vec<Redirect>),
    /// `{ ...; }`
    Group(CommandList, Vec<Redirect>),
    /// `if ...; then ...; else ...; fi`: condition and body of each arm, then the last body.
    If(Vec<(CommandList, CommandList)>, Option<CommandList>, Vec<Redirect>),
}

/// A program, its words and its redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Variables set for it alone, by name and value.
    pub variables: Vec<(String, String)>,
    /// The words; the first names the program.
    pub words: Vec<String>,
    /// In the order they are written, as the shell applies them.
    pub redirects: Vec<Redirect>,
    /// How the words are written that are not known, in their order.
    pub unknown: Vec<String>,
    /// All words as they are written, with their quotes.
    pub written: Vec<String>,
    /// The whole command as it is written, with single blanks; empty for a keyword.
    pub source: String,
}

/// A redirection whose target is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// Reads a file.
    Input {
        /// Descriptor, 0 unless given.
        fd: u32,
        /// The file as written.
        path: String,
    },
    /// Writes a file, from its start or at its end.
    Output {
        /// Descriptor, 1 unless given.
        fd: u32,
        /// The file as written.
        path: String,
        /// Whether it is added to the end.
        append: bool,
    },
    /// Joins a descriptor to another.
    Duplicate {
        /// The descriptor that changes.
        fd: u32,
        /// The one it becomes.
        to: u32,
    },
    /// Literal text as input.
    Text(String),
    /// Reads or writes a file whose name a shell works out.
    WorkedOut {
        /// The descriptor and the operator behind it, such as `1>>`.
        operator: String,
        /// The name as a shell is given it.
        word: String,
        /// Every file that it may be, where it is written. What is read is judged beside it.
        written: Vec<String>,
    },
    /// Text as input in which a shell works words out, as it is given it.
    Template(String),
}

impl Redirect {
    /// Returns true for one that writes a file.
    pub fn writes(&self) -> bool {
        match self {
            Self::Output { .. } => true,
            Self::WorkedOut { written, .. } => !written.is_empty(),
            Self::Input { .. } | Self::Duplicate { .. } | Self::Text(_) | Self::Template(_) => {
                false
            }
        }
    }
}

impl CommandList {
    /// Returns every simple command, in order.
    pub fn simple_commands(&self) -> Vec<&SimpleCommand> {
        let mut found = Vec::new();
        self.visit(&mut |command| {
            if let ShellCommand::Simple(simple) = command {
                found.push(simple);
            }
        });
        found
    }

    /// Returns every redirection, in order.
    pub fn redirects(&self) -> Vec<&Redirect> {
        let mut found = Vec::new();
        self.visit(&mut |command| {
            found.extend(match command {
                ShellCommand::Simple(simple) => &simple.redirects,
                ShellCommand::Subshell(_, redirects)
                | ShellCommand::Group(_, redirects)
                | ShellCommand::If(_, _, redirects) => redirects,
            });
        });
        found
    }

    /// Returns the simple command that stands at its end, outside pipes and brackets.
    pub fn last_command(&self) -> Option<&SimpleCommand> {
        let AndOr { first, rest } = self.0.last()?;
        match rest.last().map_or(first, |(_, last)| last).commands.as_slice() {
            [ShellCommand::Simple(simple)] => Some(simple),
            _ => None,
        }
    }

    /// Returns the only command when the list is one simple command without redirections and
    /// variables.
    pub fn only_command(&self) -> Option<&SimpleCommand> {
        let [AndOr { first: Pipeline { negated: false, commands }, rest }] = self.0.as_slice()
        else {
            return None;
        };
        match commands.as_slice() {
            [ShellCommand::Simple(simple)]
                if rest.is_empty()
                    && simple.redirects.is_empty()
                    && simple.variables.is_empty() =>
            {
                Some(simple)
            }
            _ => None,
        }
    }

    /// Returns true when some pipeline has more than one member.
    pub fn has_pipe(&self) -> bool {
        self.pipelines().any(|pipeline| {
            pipeline.commands.len() > 1
                || pipeline.commands.iter().any(|command| command.lists().any(Self::has_pipe))
        })
    }

    /// Returns true when it branches or groups; `&&` and `||` do not count.
    pub fn has_control_flow(&self) -> bool {
        self.pipelines().any(|pipeline| {
            pipeline.commands.iter().any(|command| !matches!(command, ShellCommand::Simple(_)))
        })
    }

    /// Returns the simple commands whose output flows into this one, the nearest last; none where
    /// something else stands among them.
    pub(super) fn before_in_pipe(&self, simple: &SimpleCommand) -> Vec<&SimpleCommand> {
        for pipeline in self.pipelines() {
            let is_it = |command: &ShellCommand| match command {
                ShellCommand::Simple(found) => std::ptr::eq(found, simple),
                ShellCommand::Subshell(..) | ShellCommand::Group(..) | ShellCommand::If(..) => {
                    false
                }
            };
            if let Some(at) = pipeline.commands.iter().position(is_it) {
                let before = pipeline.commands.iter().take(at).map(|command| match command {
                    ShellCommand::Simple(found) => Some(found),
                    ShellCommand::Subshell(..) | ShellCommand::Group(..) | ShellCommand::If(..) => {
                        None
                    }
                });
                return before.collect::<Option<Vec<_>>>().unwrap_or_default();
            }
            let lists = pipeline.commands.iter().flat_map(ShellCommand::lists);
            let found =
                lists.map(|list| list.before_in_pipe(simple)).find(|found| !found.is_empty());
            if let Some(found) = found {
                return found;
            }
        }
        Vec::new()
    }

    /// Returns text for `sh -c`, every word quoted. `words` may rewrite a command's words.
    pub fn render(&self, words: &dyn Fn(&SimpleCommand) -> Vec<String>) -> String {
        let mut out = ScriptRendering::default();
        render_list(self, words, &mut out);
        out.finish()
    }

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.0.iter().flat_map(|list| {
            std::iter::once(&list.first).chain(list.rest.iter().map(|(_, pipeline)| pipeline))
        })
    }

    fn visit<'t>(&'t self, see: &mut dyn FnMut(&'t ShellCommand)) {
        for command in self.pipelines().flat_map(|pipeline| &pipeline.commands) {
            see(command);
            for list in command.lists() {
                list.visit(see);
            }
        }
    }
}

impl ShellCommand {
    fn lists(&self) -> impl Iterator<Item = &CommandList> {
        let found: Vec<&CommandList> = match self {
            Self::Simple(_) => Vec::new(),
            Self::Subshell(list, _) | Self::Group(list, _) => vec![list],
            Self::If(arms, last, _) => arms
                .iter()
                .flat_map(|(condition, body)| [condition, body])
                .chain(last.as_ref())
                .collect(),
        };
        found.into_iter()
    }
}

/// Text in the making; here-documents wait for the end of their line.
#[derive(Debug, Default)]
pub(super) struct ScriptRendering {
    text: String,
    waiting: Vec<(String, String)>,
}

/// What the line begins with that ends a here-document.
const MARK: &str = "LOCUM_TEXT";

/// Returns a line that ends a here-document and does not stand in it, nor in what a shell makes of
/// it: it joins lines behind a backslash, and may leave out tabs, before it looks for that line.
fn end_of(body: &str) -> String {
    let joined = body.replace(['\\', '\n', '\t'], "");
    let ends = joined.split(MARK).skip(1);
    let longest = ends.map(|end| 1 + end.len() - end.trim_start_matches('_').len()).max();
    format!("{MARK}{}", "_".repeat(longest.unwrap_or(0)))
}

fn render_list(
    list: &CommandList,
    words: &dyn Fn(&SimpleCommand) -> Vec<String>,
    out: &mut ScriptRendering,
) {
    for (index, and_or) in list.0.iter().enumerate() {
        if index > 0 {
            out.end_line();
        }
        render_pipeline(&and_or.first, words, out);
        for (joint, pipeline) in &and_or.rest {
            out.push(match joint {
                ListOperator::And => " && ",
                ListOperator::Or => " || ",
            });
            render_pipeline(pipeline, words, out);
        }
    }
}

fn render_pipeline(
    pipeline: &Pipeline,
    words: &dyn Fn(&SimpleCommand) -> Vec<String>,
    out: &mut ScriptRendering,
) {
    if pipeline.negated {
        out.push("! ");
    }
    for (index, command) in pipeline.commands.iter().enumerate() {
        if index > 0 {
            out.push(" | ");
        }
        render_command(command, words, out);
    }
}

fn render_command(
    command: &ShellCommand,
    words: &dyn Fn(&SimpleCommand) -> Vec<String>,
    out: &mut ScriptRendering,
) {
    match command {
        ShellCommand::Simple(simple) => {
            for (name, value) in &simple.variables {
                out.push(&format!("{name}={} ", quoted(value)));
            }
            let words: Vec<String> = words(simple).iter().map(|word| quoted(word)).collect();
            out.push(&words.join(" "));
            out.redirects(&simple.redirects);
        }
        ShellCommand::Subshell(list, redirects) => {
            render_part("(", list, words, out);
            out.push(")");
            out.redirects(redirects);
        }
        ShellCommand::Group(list, redirects) => {
            render_part("{", list, words, out);
            out.push("}");
            out.redirects(redirects);
        }
        ShellCommand::If(arms, last, redirects) => {
            for (index, (condition, body)) in arms.iter().enumerate() {
                render_part(if index == 0 { "if" } else { "elif" }, condition, words, out);
                render_part("then", body, words, out);
            }
            if let Some(body) = last {
                render_part("else", body, words, out);
            }
            out.push("fi");
            out.redirects(redirects);
        }
    }
}

fn render_part(
    keyword: &str,
    list: &CommandList,
    words: &dyn Fn(&SimpleCommand) -> Vec<String>,
    out: &mut ScriptRendering,
) {
    out.push(keyword);
    out.push(" ");
    render_list(list, words, out);
    out.end_line();
}

impl ScriptRendering {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match redirect {
                Redirect::Input { fd, path } => self.push(&format!(" {fd}<{}", quoted(path))),
                Redirect::Output { fd, path, append } => {
                    self.push(&format!(
                        " {fd}{}{}",
                        if *append { ">>" } else { ">" },
                        quoted(path)
                    ));
                }
                Redirect::Duplicate { fd, to } => self.push(&format!(" {fd}>&{to}")),
                Redirect::Text(body) => {
                    let mark = end_of(body);
                    self.push(&format!(" <<'{mark}'"));
                    self.waiting.push((mark, body.clone()));
                }
                Redirect::WorkedOut { operator, word, .. } => {
                    self.push(&format!(" {operator}{word}"));
                }
                Redirect::Template(body) => {
                    let mark = end_of(body);
                    self.push(&format!(" <<{mark}"));
                    self.waiting.push((mark, body.clone()));
                }
            }
        }
    }

    pub(super) fn end_line(&mut self) {
        self.text.push('\n');
        for (mark, body) in std::mem::take(&mut self.waiting) {
            let newline = if body.is_empty() || body.ends_with('\n') { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = writeln!(self.text, "{body}{newline}{mark}");
        }
    }

    pub(super) fn finish(mut self) -> String {
        if !self.waiting.is_empty() {
            self.end_line();
        }
        self.text
    }
}

/// Returns a word in single quotes, which no shell looks into.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::{end_of, quoted};
    use pretty_assertions::assert_eq;

    #[test]
    fn no_joined_lines_form_the_end_of_a_here_document() {
        for (body, expected) in [
            ("a\n", "LOCUM_TEXT"),
            ("LOCUM_TEX\nx\n", "LOCUM_TEXT"),
            ("LOCUM_TEXT\n", "LOCUM_TEXT_"),
            ("a LOCUM_TEXT__ b LOCUM_TEXT_\n", "LOCUM_TEXT___"),
            ("LOCUM_\\\nTEXT\n", "LOCUM_TEXT_"),
            ("\tLOCUM\\\n_TEXT_\n", "LOCUM_TEXT__"),
            ("LOCUM_TEXT\\\n_\\\n_\n", "LOCUM_TEXT___"),
        ] {
            assert_eq!(end_of(body), expected, "{body}");
        }
    }

    #[test]
    fn quotes_words_so_that_no_shell_looks_into_them() {
        for (word, expected) in
            [("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$(x)", "'$(x)'"), ("", "''")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
