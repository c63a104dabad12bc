//! The tree of a script: only what can be judged before it runs; every word is already literal.
//!
//! In: nothing; it is built by `parse`. Out: the simple commands and redirections in it, and text for a shell in which every
//! word is quoted, so that what was judged is what runs. It holds no rule.

use std::fmt::Write as _;

/// A list of and-or lists: `a && b; c`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List(pub Vec<AndOr>);

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOr {
    /// The first pipeline.
    pub first: Pipeline,
    /// Those that follow.
    pub rest: Vec<(Joint, Pipeline)>,
}

/// How a pipeline follows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
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
    /// The commands.
    pub commands: Vec<Command>,
}

/// One member of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A program and its words.
    Simple(Simple),
    /// `( ... )`
    Subshell(List, Vec<Redirect>),
    /// `{ ...; }`
    Group(List, Vec<Redirect>),
    /// `if ...; then ...; else ...; fi`: condition and body of each arm, then the last body.
    If(Vec<(List, List)>, Option<List>, Vec<Redirect>),
}

/// A program, its words and its redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// The words; the first names the program.
    pub words: Vec<String>,
    /// The redirections.
    pub redirects: Vec<Redirect>,
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
}

impl List {
    /// Returns every simple command, in order.
    #[must_use]
    pub fn simple_commands(&self) -> Vec<&Simple> {
        let mut found = Vec::new();
        self.visit(&mut |command| {
            if let Command::Simple(simple) = command {
                found.push(simple);
            }
        });
        found
    }

    /// Returns every redirection, in order.
    #[must_use]
    pub fn redirects(&self) -> Vec<&Redirect> {
        let mut found = Vec::new();
        self.visit(&mut |command| {
            found.extend(match command {
                Command::Simple(simple) => &simple.redirects,
                Command::Subshell(_, redirects) | Command::Group(_, redirects) | Command::If(_, _, redirects) => redirects,
            });
        });
        found
    }

    /// Returns the only command when the list is one simple command without redirections.
    #[must_use]
    pub fn only_command(&self) -> Option<&Simple> {
        let [AndOr { first: Pipeline { negated: false, commands }, rest }] = self.0.as_slice() else { return None };
        match commands.as_slice() {
            [Command::Simple(simple)] if rest.is_empty() && simple.redirects.is_empty() => Some(simple),
            _ => None,
        }
    }

    /// Returns true when some pipeline has more than one member.
    #[must_use]
    pub fn has_pipe(&self) -> bool {
        self.pipelines()
            .any(|pipeline| pipeline.commands.len() > 1 || pipeline.commands.iter().any(|command| command.lists().any(Self::has_pipe)))
    }

    /// Returns true when it decides or groups: `&&` and `||` apart.
    #[must_use]
    pub fn has_control_flow(&self) -> bool {
        self.pipelines().any(|pipeline| pipeline.commands.iter().any(|command| !matches!(command, Command::Simple(_))))
    }

    /// Returns text for `sh -c`, every word quoted. `words` may rewrite a command's words.
    #[must_use]
    pub fn render(&self, words: &dyn Fn(&Simple) -> Vec<String>) -> String {
        let mut out = Rendering { words, text: String::new(), waiting: Vec::new() };
        out.list(self);
        out.finish()
    }

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.0.iter().flat_map(|list| std::iter::once(&list.first).chain(list.rest.iter().map(|(_, pipeline)| pipeline)))
    }

    fn visit<'t>(&'t self, see: &mut dyn FnMut(&'t Command)) {
        for command in self.pipelines().flat_map(|pipeline| &pipeline.commands) {
            see(command);
            for list in command.lists() {
                list.visit(see);
            }
        }
    }
}

impl Command {
    fn lists(&self) -> impl Iterator<Item = &List> {
        let found: Vec<&List> = match self {
            Self::Simple(_) => Vec::new(),
            Self::Subshell(list, _) | Self::Group(list, _) => vec![list],
            Self::If(arms, last, _) => arms.iter().flat_map(|(condition, body)| [condition, body]).chain(last.as_ref()).collect(),
        };
        found.into_iter()
    }
}

/// Text in the making; here-documents wait for the end of their line.
struct Rendering<'w> {
    words: &'w dyn Fn(&Simple) -> Vec<String>,
    text: String,
    waiting: Vec<(String, String)>,
}

impl Rendering<'_> {
    fn list(&mut self, list: &List) {
        for (index, and_or) in list.0.iter().enumerate() {
            if index > 0 {
                self.end_line();
            }
            self.pipeline(&and_or.first);
            for (joint, pipeline) in &and_or.rest {
                self.text.push_str(match joint {
                    Joint::And => " && ",
                    Joint::Or => " || ",
                });
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if pipeline.negated {
            self.text.push_str("! ");
        }
        for (index, command) in pipeline.commands.iter().enumerate() {
            if index > 0 {
                self.text.push_str(" | ");
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => {
                let words: Vec<String> = (self.words)(simple).iter().map(|word| quoted(word)).collect();
                self.text.push_str(&words.join(" "));
                self.redirects(&simple.redirects);
            }
            Command::Subshell(list, redirects) => self.enclosed("(", list, ")", redirects),
            Command::Group(list, redirects) => self.enclosed("{", list, "}", redirects),
            Command::If(arms, last, redirects) => {
                for (index, (condition, body)) in arms.iter().enumerate() {
                    self.part(if index == 0 { "if" } else { "elif" }, condition);
                    self.part("then", body);
                }
                if let Some(body) = last {
                    self.part("else", body);
                }
                self.text.push_str("fi");
                self.redirects(redirects);
            }
        }
    }

    fn enclosed(&mut self, open: &str, list: &List, close: &str, redirects: &[Redirect]) {
        self.part(open, list);
        self.text.push_str(close);
        self.redirects(redirects);
    }

    fn part(&mut self, word: &str, list: &List) {
        self.text.push_str(word);
        self.text.push(' ');
        self.list(list);
        self.end_line();
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match redirect {
                Redirect::Input { fd, path } => self.text.push_str(&format!(" {fd}<{}", quoted(path))),
                Redirect::Output { fd, path, append } => {
                    self.text.push_str(&format!(" {fd}{}{}", if *append { ">>" } else { ">" }, quoted(path)));
                }
                Redirect::Duplicate { fd, to } => self.text.push_str(&format!(" {fd}>&{to}")),
                Redirect::Text(body) => {
                    let mut mark = "LOCUM_TEXT".to_owned();
                    while body.lines().any(|line| line == mark) {
                        mark.push('_');
                    }
                    self.text.push_str(&format!(" <<'{mark}'"));
                    self.waiting.push((mark, body.clone()));
                }
            }
        }
    }

    fn end_line(&mut self) {
        self.text.push('\n');
        for (mark, body) in std::mem::take(&mut self.waiting) {
            let newline = if body.is_empty() || body.ends_with('\n') { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = writeln!(self.text, "{body}{newline}{mark}");
        }
    }

    fn finish(mut self) -> String {
        if !self.waiting.is_empty() {
            self.end_line();
        }
        self.text
    }
}

/// Returns a word in single quotes, which no shell looks into.
#[must_use]
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use pretty_assertions::assert_eq;

    #[test]
    fn quotes_words_so_that_no_shell_looks_into_them() {
        for (word, expected) in [("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$(x)", "'$(x)'"), ("", "''")] {
            assert_eq!(quoted(word), expected);
        }
    }
}
