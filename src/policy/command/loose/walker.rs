//! Walks the tree of a script with expansions: collects its simple commands at any depth and
//! renders, from that same walk, the text a shell is given. What is not judged is not rendered.
//!
//! In: a script. Out: its commands, and text in which words that are known are quoted. The policy
//! judges them elsewhere.

use brush_parser::ast;

use crate::command::limits;
use crate::command::loose::variable::LoopVariables;
use crate::command::loose::word::check_variable;
use crate::command::loose::{LooseCommand, LooseScript, ScriptFeatures, UnknownWord};
use crate::command::neutral::NeutralFolder;
use crate::command::parse::{add_redirect, program};
use crate::command::tree::{ScriptRendering, quoted};

/// Deepest nesting of substitutions.
const DEPTH_LIMIT: usize = 3;

impl LooseScript {
    /// Reads a script that is already in its [`plain`](crate::command::loose::plain) form.
    ///
    /// # Errors
    /// Names what cannot be judged even so.
    pub fn parse(text: &str, neutral: &NeutralFolder) -> Result<Self, String> {
        limits::check_loose(text)?;
        let (shape, out) = (ScriptFeatures::default(), ScriptRendering::default());
        let bound = LoopVariables::of(text);
        let mut walker = ScriptWalker { found: Vec::new(), shape, neutral, out, depth: 0, bound };
        let text = walker.script(text)?;
        let ScriptWalker { found: commands, mut shape, .. } = walker;
        shape.redirects = commands.iter().any(|command| !command.simple.redirects.is_empty());
        shape.expansions = commands.iter().any(|command| !command.unknown.is_empty());
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
    shape: ScriptFeatures,
    neutral: &'r NeutralFolder,
    out: ScriptRendering,
    depth: usize,
    pub(super) bound: LoopVariables,
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
        self.depth += 1;
        walk(self)?;
        self.depth -= 1;
        Ok(std::mem::replace(&mut self.out, outer).finish())
    }

    fn list(&mut self, list: &ast::CompoundList) -> Result<(), String> {
        for (index, ast::CompoundListItem(and_or, separator)) in list.0.iter().enumerate() {
            if index > 0 {
                self.out.end_line();
            }
            self.pipeline(&and_or.first)?;
            for next in &and_or.additional {
                let (joint, pipeline) = match next {
                    ast::AndOr::And(pipeline) => (" && ", pipeline),
                    ast::AndOr::Or(pipeline) => (" || ", pipeline),
                };
                self.out.push(joint);
                self.pipeline(pipeline)?;
            }
            match separator {
                ast::SeparatorOperator::Sequence => {}
                ast::SeparatorOperator::Async => {
                    self.shape.flow = true;
                    self.out.push(" &");
                }
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) -> Result<(), String> {
        if pipeline.timed.is_some() {
            self.out.push("time ");
        }
        if pipeline.bang {
            self.out.push("! ");
        }
        self.shape.pipes |= pipeline.seq.len() > 1;
        for (index, command) in pipeline.seq.iter().enumerate() {
            if index > 0 {
                self.out.push(" | ");
            }
            self.command(command)?;
        }
        Ok(())
    }

    fn command(&mut self, command: &ast::Command) -> Result<(), String> {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                let mut command = LooseCommand::default();
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    add_redirect(redirect, &mut command.simple.redirects)?;
                }
                self.compound(compound)?;
                self.out.redirects(&command.simple.redirects);
                if !command.simple.redirects.is_empty() {
                    self.found.push(command);
                }
                Ok(())
            }
            ast::Command::Function(_) => Err("the script defines a function".to_owned()),
            ast::Command::ExtendedTest(..) => Err("the script uses `[[ ... ]]`".to_owned()),
        }
    }

    /// A keyword counts as a command of its own, so that a rule has to name it.
    fn compound(&mut self, compound: &ast::CompoundCommand) -> Result<(), String> {
        self.shape.flow = true;
        match compound {
            ast::CompoundCommand::Subshell(inner) => self.enclosed("(", &inner.list, ")"),
            ast::CompoundCommand::BraceGroup(inner) => self.enclosed("{", &inner.list, "}"),
            ast::CompoundCommand::ForClause(found) => {
                check_variable(&found.variable_name)?;
                let values = self.keyword("for", found.values.iter().flatten())?;
                let values = if found.values.is_some() {
                    format!(" in {}", values.join(" "))
                } else {
                    String::new()
                };
                self.out.push(&format!("for {}{values}", found.variable_name));
                self.out.end_line();
                self.bound.enter(&found.variable_name, found.values.as_deref());
                let body = self.enclosed("do", &found.body.list, "done");
                self.bound.leave();
                body
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

    fn repeated(
        &mut self,
        keyword: &str,
        found: &ast::WhileOrUntilClauseCommand,
    ) -> Result<(), String> {
        self.keyword(keyword, std::iter::empty())?;
        self.part(keyword, &found.0)?;
        self.enclosed("do", &found.1.list, "done")
    }

    fn condition(&mut self, found: &ast::IfClauseCommand) -> Result<(), String> {
        self.keyword("if", std::iter::empty())?;
        self.part("if", &found.condition)?;
        self.part("then", &found.then)?;
        for clause in found.elses.iter().flatten() {
            match &clause.condition {
                Some(condition) => {
                    self.part("elif", condition)?;
                    self.part("then", &clause.body)?;
                }
                None => self.part("else", &clause.body)?,
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
                self.list(list)?;
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

    fn simple(&mut self, found: &ast::SimpleCommand) -> Result<(), String> {
        let mut command = LooseCommand::default();
        let mut rendered = Vec::new();
        for item in found.prefix.iter().flat_map(|prefix| &prefix.0) {
            rendered.extend(self.item(item, WordPosition::Prefix, &mut command)?);
        }
        command.assignments = command.simple.words.len();
        if let Some(name) = &found.word_or_name {
            rendered.push(self.word(&name.value, &mut command)?);
        }
        for item in found.suffix.iter().flat_map(|suffix| &suffix.0) {
            rendered.extend(self.item(item, WordPosition::Suffix, &mut command)?);
        }
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
        self.out.push(&rendered.join(" "));
        self.out.redirects(&command.simple.redirects);
        self.found.push(command);
        Ok(())
    }

    fn item(
        &mut self,
        item: &ast::CommandPrefixOrSuffixItem,
        place: WordPosition,
        command: &mut LooseCommand,
    ) -> Result<Option<String>, String> {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                add_redirect(redirect, &mut command.simple.redirects)?;
                Ok(None)
            }
            ast::CommandPrefixOrSuffixItem::Word(word) => self.word(&word.value, command).map(Some),
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                match (place, &assignment.value) {
                    (WordPosition::Prefix, _) => {
                        self.assignment(assignment, word, command).map(Some)
                    }
                    (WordPosition::Suffix, ast::AssignmentValue::Scalar(_)) => {
                        self.word(&word.value, command).map(Some)
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
    Prefix,
    Suffix,
}
