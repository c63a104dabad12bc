//! Walks the tree of a script with expansions: collects its simple commands at any depth and
//! renders, from that same walk, the text a shell is given. What is not judged is not rendered.
//!
//! In: a script. Out: its commands, and text in which words that are known are quoted. The policy
//! judges them elsewhere.

use brush_parser::ast;

use crate::command::limits;
use crate::command::loose::braces;
use crate::command::loose::kept;
use crate::command::loose::sets::{
    harmless_prefix, may_end_before, names_read, starts_with_a_program,
};
use crate::command::loose::variable::{Bindings, ShellVariables, WALKS};
use crate::command::loose::word::{check_variable, parsed};
use crate::command::loose::{LoopValue, LooseCommand, LooseScript, ScriptFeatures, UnknownWord};
use crate::command::neutral::NeutralFolder;
use crate::command::parse::{program, written};
use crate::command::tree::{ScriptRendering, quoted};
use locum_base::path::RepoPath;

/// Deepest nesting of substitutions.
const DEPTH_LIMIT: usize = 3;

/// Most words of loops that are looked at again where their variables are used.
const LISTED_LIMIT: usize = 8;

impl LooseScript {
    /// Reads a script that is already in its [`plain`](crate::command::loose::plain) form.
    ///
    /// # Errors
    /// Names what cannot be judged even so.
    pub fn parse(text: &str, neutral: &NeutralFolder) -> Result<Self, String> {
        limits::check_loose(text)?;
        // What a variable may hold is gathered from the whole script first. A value may be that of
        // another variable, so once more.
        let mut known = Bindings::default();
        for _ in 1..WALKS {
            let mut walker = ScriptWalker::new(text, neutral, known);
            walker.script(text)?;
            known = walker.variables.gathered();
        }
        let mut walker = ScriptWalker::new(text, neutral, known);
        let text = walker.script(text)?;
        let ScriptWalker { found: commands, mut shape, .. } = walker;
        shape.redirects = commands.iter().any(|command| !command.simple.redirects.is_empty());
        if commands.is_empty() {
            Err("the script runs nothing".to_owned())
        } else {
            Ok(Self { commands, text, shape })
        }
    }
}

/// Commands found so far, and the text rendered so far.
pub(super) struct ScriptWalker<'r> {
    found: Vec<LooseCommand>,
    pub(super) shape: ScriptFeatures,
    pub(super) neutral: &'r NeutralFolder,
    pub(super) out: ScriptRendering,
    depth: usize,
    pub(super) variables: ShellVariables,
    /// The folders below which the files lie that the next command reads names of.
    pub(super) names: Option<Vec<String>>,
    /// The variable that the last command set, if it did nothing else.
    pub(super) assigned: Option<String>,
    /// Words of loops that may name what is protected, by the variable.
    listed: Vec<(String, String)>,
}

impl<'r> ScriptWalker<'r> {
    fn new(text: &str, neutral: &'r NeutralFolder, known: Bindings) -> Self {
        Self {
            found: Vec::new(),
            shape: ScriptFeatures::default(),
            neutral,
            out: ScriptRendering::default(),
            depth: 0,
            variables: ShellVariables::of(text, known),
            names: None,
            assigned: None,
            listed: Vec::new(),
        }
    }
}

impl ScriptWalker<'_> {
    /// Reads a script and returns how it is rendered.
    pub(super) fn script(&mut self, text: &str) -> Result<String, String> {
        if self.depth > DEPTH_LIMIT {
            return Err("the script nests substitutions too deeply".to_owned());
        }
        let program =
            program(text).map_err(|_| "the script is not complete shell syntax".to_owned())?;
        self.aside(|walker| {
            for (index, list) in program.complete_commands.iter().enumerate() {
                if index > 0 {
                    walker.out.end_line();
                }
                walker.list(list)?;
            }
            Ok(())
        })
    }

    /// Renders something that stands inside a word or between brackets; its here-documents end
    /// inside.
    fn aside(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<String, String> {
        let outer = std::mem::take(&mut self.out);
        let here = self.variables.here.clone();
        self.depth += 1;
        walk(self)?;
        self.depth -= 1;
        self.variables.here = here;
        Ok(std::mem::replace(&mut self.out, outer).finish())
    }

    pub(super) fn command(&mut self, command: &ast::Command) -> Result<(), String> {
        match command {
            ast::Command::Simple(simple) => {
                self.simple(&braces::command(simple), simple.to_string())
            }
            ast::Command::Compound(compound, redirects) => {
                let mut command = LooseCommand::default();
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect(redirect, &mut command)?;
                }
                // Its parts may not run at all, or not to their end.
                let here = self.variables.here.clone();
                self.compound(compound)?;
                self.variables.here = here;
                self.assigned = None;
                self.out.redirects(&command.simple.redirects);
                if !command.simple.redirects.is_empty() {
                    self.found.push(command);
                }
                Ok(())
            }
            ast::Command::Function(_) => Err("the script defines a function".to_owned()),
            ast::Command::ExtendedTest(found, redirects) => {
                if redirects.as_ref().is_some_and(|list| !list.0.is_empty()) {
                    return Err("the script redirects `[[ ... ]]`".to_owned());
                }
                self.extended_test(&found.expr)
            }
        }
    }

    /// The keyword of a loop or of `case` counts as a command of its own, so that a rule has to
    /// name it.
    fn compound(&mut self, compound: &ast::CompoundCommand) -> Result<(), String> {
        self.shape.flow = true;
        match compound {
            ast::CompoundCommand::Subshell(inner) => self.enclosed("(", &inner.list, ")"),
            ast::CompoundCommand::BraceGroup(inner) => self.enclosed("{", &inner.list, "}"),
            ast::CompoundCommand::ForClause(found) => {
                check_variable(&found.variable_name)?;
                let mut command = LooseCommand::default();
                command.simple.words.push("for".to_owned());
                let (mut rendered, mut list) = (Vec::new(), Vec::new());
                let values = found.values.iter().flatten().cloned().flat_map(braces::words);
                let values: Vec<ast::Word> = values.collect();
                for word in &values {
                    rendered.push(self.word_of_list(&word.value, &mut command)?);
                    list.push((word.value.as_str(), Some(parsed(&word.value)?)));
                }
                self.found.push(command);
                self.note_list(&found.variable_name, &values);
                let values =
                    found.values.as_ref().and_then(|_| self.variables.values_of_list(&list));
                let rendered = if found.values.is_some() {
                    format!(" in {}", rendered.join(" "))
                } else {
                    String::new()
                };
                self.out.push(&format!("for {}{rendered}", found.variable_name));
                self.out.end_line();
                self.variables.set(&found.variable_name, values, true);
                self.enclosed("do", &found.body.list, "done")
            }
            ast::CompoundCommand::WhileClause(found) => self.repeated("while", found),
            ast::CompoundCommand::UntilClause(found) => self.repeated("until", found),
            ast::CompoundCommand::IfClause(found) => self.condition(found),
            ast::CompoundCommand::CaseClause(found) => self.case(found),
            ast::CompoundCommand::Arithmetic(_) | ast::CompoundCommand::ArithmeticForClause(_) => {
                Err("the script uses arithmetic (`((...))`)".to_owned())
            }
            ast::CompoundCommand::Coprocess(_) => Err("the script uses a coprocess".to_owned()),
        }
    }

    /// Notes which words of a loop's list may name what is protected.
    fn note_list(&mut self, name: &str, words: &[ast::Word]) {
        let around = self.listed.clone();
        for word in words {
            let of_loops =
                around.iter().filter_map(|(of, value)| kept::with_value(&word.value, of, value));
            let texts: Vec<String> = std::iter::once(word.value.clone()).chain(of_loops).collect();
            for text in texts {
                self.note_listed(name, text);
            }
        }
    }

    fn note_listed(&mut self, name: &str, text: String) {
        let plain = kept::plain(&text);
        let is_kept = kept::why(&plain, &RepoPath::root()).is_some();
        if !is_kept && !plain.contains(['*', '?']) {
            return;
        }
        // Where there are many, one stands for all of its kind.
        let value = match (self.listed.len() >= LISTED_LIMIT, is_kept) {
            (false, _) => text,
            (true, true) => ".*".to_owned(),
            (true, false) => "*".to_owned(),
        };
        let listed = (name.to_owned(), value);
        if !self.listed.contains(&listed) {
            self.listed.push(listed);
        }
    }

    /// Notes a command.
    pub(super) fn note(&mut self, command: LooseCommand) {
        self.found.push(command);
    }

    fn enclosed(
        &mut self,
        open: &str,
        list: &ast::CompoundList,
        close: &str,
    ) -> Result<(), String> {
        self.part(open, list)?;
        self.out.push(close);
        Ok(())
    }

    fn part(&mut self, keyword: &str, list: &ast::CompoundList) -> Result<(), String> {
        self.out.push(keyword);
        self.out.push(" ");
        self.list(list)?;
        self.out.end_line();
        Ok(())
    }

    /// A part that may not run: what it sets is not surely set behind it.
    fn branch(&mut self, keyword: &str, list: &ast::CompoundList) -> Result<(), String> {
        let here = self.variables.here.clone();
        self.part(keyword, list)?;
        self.variables.here = here;
        Ok(())
    }

    fn repeated(
        &mut self,
        keyword: &str,
        found: &ast::WhileOrUntilClauseCommand,
    ) -> Result<(), String> {
        let names = self.names.take().filter(|_| keyword == "while");
        self.keyword(keyword, std::iter::empty())?;
        self.names = names.filter(|_| starts_with_a_program(&found.0));
        self.part(keyword, &found.0)?;
        self.names = None;
        self.enclosed("do", &found.1.list, "done")
    }

    fn condition(&mut self, found: &ast::IfClauseCommand) -> Result<(), String> {
        self.part("if", &found.condition)?;
        self.branch("then", &found.then)?;
        for clause in found.elses.iter().flatten() {
            match &clause.condition {
                Some(condition) => {
                    self.part("elif", condition)?;
                    self.branch("then", &clause.body)?;
                }
                None => self.branch("else", &clause.body)?,
            }
        }
        self.out.push("fi");
        Ok(())
    }

    fn case(&mut self, found: &ast::CaseClauseCommand) -> Result<(), String> {
        let words = self.keyword(
            "case",
            std::iter::once(&found.value).chain(found.cases.iter().flat_map(|case| &case.patterns)),
        )?;
        let mut words = words.into_iter();
        self.out.push(&format!("case {} in", words.next().unwrap_or_default()));
        for case in &found.cases {
            match case.post_action {
                ast::CaseItemPostAction::ExitCase => {}
                ast::CaseItemPostAction::UnconditionallyExecuteNextCaseItem
                | ast::CaseItemPostAction::ContinueEvaluatingCases => {
                    return Err("the script goes on from one case to the next".to_owned());
                }
            }
            let patterns: Vec<String> = words.by_ref().take(case.patterns.len()).collect();
            self.out.end_line();
            self.out.push(&format!("({}) ", patterns.join("|")));
            if let Some(list) = &case.cmd {
                let here = self.variables.here.clone();
                self.list(list)?;
                self.variables.here = here;
            }
            self.out.end_line();
            self.out.push(";;");
        }
        self.out.end_line();
        self.out.push("esac");
        Ok(())
    }

    /// Notes a keyword with its words; returns how those are rendered.
    fn keyword<'w>(
        &mut self,
        keyword: &str,
        words: impl Iterator<Item = &'w ast::Word>,
    ) -> Result<Vec<String>, String> {
        let mut command = LooseCommand::default();
        command.simple.words.push(keyword.to_owned());
        let rendered =
            words.map(|word| self.word(&word.value, &mut command)).collect::<Result<_, _>>()?;
        self.found.push(command);
        Ok(rendered)
    }

    fn simple(&mut self, found: &ast::SimpleCommand, source: String) -> Result<(), String> {
        let names = self.names.take();
        let here = self.variables.here.clone();
        let mut command = LooseCommand::default();
        let (mut rendered, mut variables) = (Vec::new(), Vec::new());
        for item in found.prefix.iter().flat_map(|prefix| &prefix.0) {
            let program = found.word_or_name.as_ref();
            if let Some(set) = harmless_prefix(item, program, &self.neutral.root) {
                variables.push(set);
                continue;
            }
            let place = WordPosition::Prefix { is_alone: found.word_or_name.is_none() };
            rendered.extend(self.item(item, place, &mut command)?);
        }
        if may_end_before(found) {
            self.variables.here = here;
        }
        command.assignments = command.simple.words.len();
        // What is set stands before the program's name, as words.
        command.simple.written.clone_from(&command.simple.words);
        command.simple.written.extend(written(found));
        command.simple.source = source;
        if let Some(name) = &found.word_or_name {
            rendered.push(self.word(&name.value, &mut command)?);
        }
        for item in found.suffix.iter().flat_map(|suffix| &suffix.0) {
            rendered.extend(self.item(item, WordPosition::Suffix, &mut command)?);
        }
        self.settle(&mut command, &mut rendered);
        let words = command.simple.words.get(command.assignments..).unwrap_or_default();
        for at in 0..words.len() {
            if let (Some(instead), Some(word)) =
                (self.neutral.instead(words, at), rendered.get_mut(at + command.assignments))
            {
                *word = quoted(&instead);
            }
        }
        for (at, added) in self.neutral.added(words).into_iter().rev() {
            let at = (at + command.assignments).min(rendered.len());
            rendered.splice(at..at, added.iter().map(|word| quoted(word)));
        }
        self.note_what_is_set(found, names, &mut command);
        if command.simple.unknown.iter().any(|raw| raw.contains('$')) {
            command.listed.clone_from(&self.listed);
        }
        variables.extend(rendered);
        self.out.push(&variables.join(" "));
        self.out.redirects(&command.simple.redirects);
        self.found.push(command);
        Ok(())
    }

    /// Notes a command that only sets variables: assignments alone, and `read`.
    fn note_what_is_set(
        &mut self,
        found: &ast::SimpleCommand,
        names: Option<Vec<String>>,
        command: &mut LooseCommand,
    ) {
        self.assigned = None;
        if command.refused.is_some() {
            return;
        }
        if found.word_or_name.is_none() {
            command.only_sets = command.assignments > 0;
            let items = found.prefix.iter().flat_map(|prefix| &prefix.0);
            self.assigned = items.last().and_then(|item| match item {
                ast::CommandPrefixOrSuffixItem::AssignmentWord(
                    ast::Assignment { name: ast::AssignmentName::VariableName(name), .. },
                    word,
                    // What follows `|` may have ended well in its place.
                ) if !word.value.contains('|') => Some(name.clone()),
                _ => None,
            });
        } else if command.assignments == 0
            && command.unknown.is_empty()
            && let Some(read) = names_read(&command.simple.words)
        {
            command.only_sets = true;
            let names = names.filter(|_| command.simple.redirects.is_empty());
            let files = |folders| vec![LoopValue::Below(folders)];
            for name in &read {
                let values = names.clone().filter(|_| read.len() == 1).map(files);
                self.variables.set(name, values, true);
            }
        }
    }

    fn item(
        &mut self,
        item: &ast::CommandPrefixOrSuffixItem,
        place: WordPosition,
        command: &mut LooseCommand,
    ) -> Result<Option<String>, String> {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                self.redirect(redirect, command)?;
                Ok(None)
            }
            ast::CommandPrefixOrSuffixItem::Word(word) => self.word(&word.value, command).map(Some),
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                match (place, &assignment.value) {
                    (WordPosition::Prefix { is_alone }, _) => {
                        self.assignment(assignment, word, is_alone, command).map(Some)
                    }
                    (WordPosition::Suffix, ast::AssignmentValue::Scalar(_)) => {
                        self.assigned_word(assignment, word, command).map(Some)
                    }
                    (WordPosition::Suffix, ast::AssignmentValue::Array(_)) => {
                        Err("the script sets an array".to_owned())
                    }
                }
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(
                ast::ProcessSubstitutionKind::Read,
                inner,
            ) => {
                command.push_unknown(UnknownWord::Pipe, "<(...)");
                let inner = self.aside(|walker| walker.list(&inner.list))?;
                Ok(Some(format!("<({inner}\n)")))
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(
                ast::ProcessSubstitutionKind::Write,
                _,
            ) => Err("the script uses a process substitution that is written to".to_owned()),
        }
    }
}

/// Where an item stands: before the program's name, where `a=b` sets a variable, or after it, where
/// it is a word.
#[derive(Clone, Copy)]
enum WordPosition {
    Prefix { is_alone: bool },
    Suffix,
}
