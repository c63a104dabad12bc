//! Finds the commands of a script in its text and puts something around each.
//!
//! In: a text and its tree. Out: the wrapped text and its steps. The tree says where a command
//! begins and what stands around it; where it ends is read off the tokens, since a tree does not
//! place redirections. Anything doubtful makes it give up.

use brush_parser::ast::{self, SourceLocation as _};
use brush_parser::{Token, tokenize_str};

use crate::command::steps::dialect::{ShellDialect, StagePlace};
use crate::command::steps::{STEPS_LIMIT, ScriptStep, stops_at_failure};
use crate::command::word::literal;

/// Most characters and keywords that open a level, outside quotes.
const OPENERS_LIMIT: usize = 12;
/// Most substitutions, into which the tokens are looked for by recursion.
const SUBSTITUTIONS_LIMIT: usize = 30;
/// Deepest nesting of commands that are wrapped.
const DEPTH_LIMIT: usize = 3;
/// Longest text that a step is shown with, in characters.
const LABEL_LIMIT_CHARS: usize = 60;

/// Commands that say nothing by how they end, or never come back.
const SILENT: &[&str] = &[
    ":", "true", "echo", "printf", "exit", "return", "break", "continue", "exec", "set", "export",
    "local", "declare", "readonly", "unset", "shift", "trap", "wait",
];

/// Commands that are a question where something follows that depends on them.
const QUESTIONS: &[&str] = &["[", "test", "command", "which", "type", "hash", "false"];

/// A text with something around its commands.
pub(super) struct WrappedScript {
    pub(super) text: String,
    pub(super) steps: Vec<ScriptStep>,
}

/// A token that is no part of a here-document.
struct PlacedToken {
    operator: Option<String>,
    word: String,
    /// In characters.
    start: usize,
    end: usize,
}

/// A command in the text, by characters.
#[derive(Clone, Copy)]
struct CommandSpan {
    start: usize,
    end: usize,
}

pub(super) struct StepFinder<'s> {
    text: &'s str,
    dialect: ShellDialect,
    stops: bool,
    /// Where each character begins, in bytes, and where the last one ends.
    offsets: Vec<usize>,
    tokens: Vec<PlacedToken>,
    /// What is put in, by byte; in the order it is put in where that is the same.
    inserts: Vec<(usize, String)>,
    steps: Vec<ScriptStep>,
}

/// What stands around a list of commands.
#[derive(Clone, Copy)]
struct ListContext {
    /// False where the script itself asks how they end.
    reported: bool,
    depth: usize,
}

impl<'s> StepFinder<'s> {
    /// Wraps the commands of a text; `None` where that cannot be done surely.
    pub(super) fn wrap(
        text: &'s str,
        program: &ast::Program,
        dialect: ShellDialect,
    ) -> Option<WrappedScript> {
        let mut offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        offsets.push(text.len());
        let (tokens, inserts) = (placed_tokens(text)?, Vec::new());
        let stops = stops_at_failure(text);
        let steps = Vec::new();
        let mut finder = Self { text, dialect, stops, offsets, tokens, inserts, steps };
        for complete in &program.complete_commands {
            finder.list(complete, ListContext { reported: true, depth: 0 })?;
        }
        finder.finish()
    }

    fn finish(mut self) -> Option<WrappedScript> {
        self.inserts.sort_by_key(|(at, _)| *at);
        let (mut text, mut done) = (String::with_capacity(self.text.len() * 2), 0);
        for (at, inserted) in &self.inserts {
            text.push_str(self.text.get(done..*at)?);
            text.push_str(inserted);
            done = *at;
        }
        text.push_str(self.text.get(done..)?);
        Some(WrappedScript { text, steps: self.steps })
    }

    fn list(&mut self, list: &ast::CompoundList, context: ListContext) -> Option<()> {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            match separator {
                ast::SeparatorOperator::Sequence => self.and_or(and_or, context)?,
                // Nobody waits for what runs in the background.
                ast::SeparatorOperator::Async => {}
            }
        }
        Some(())
    }

    fn and_or(&mut self, list: &ast::AndOrList, context: ListContext) -> Option<()> {
        let pipeline = |next: &ast::AndOr| match next {
            ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => pipeline.clone(),
        };
        let pipelines: Vec<ast::Pipeline> = std::iter::once(list.first.clone())
            .chain(list.additional.iter().map(pipeline))
            .collect();
        for (index, pipeline) in pipelines.iter().enumerate() {
            let after = list.additional.get(index..).unwrap_or_default();
            let asked = after.iter().any(|next| matches!(next, ast::AndOr::Or(_)))
                || (!after.is_empty() && is_question(pipeline));
            let reported = context.reported && !asked;
            self.pipeline(pipeline, ListContext { reported, ..context })?;
        }
        Some(())
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, context: ListContext) -> Option<()> {
        if pipeline.timed.is_some() {
            return Some(());
        }
        let reported = context.reported && !pipeline.bang;
        let context = ListContext { reported, ..context };
        if let [command] = pipeline.seq.as_slice() {
            return self.alone(command, context);
        }
        let spans: Vec<CommandSpan> =
            pipeline.seq.iter().map(|command| self.span(command)).collect::<Option<_>>()?;
        let step = if reported { self.step(&spans)? } else { 0 };
        let (first, last) = (spans.first()?, spans.last()?);
        // A here-document does not end inside a substitution.
        let dialect = self.dialect;
        let whole = (dialect == ShellDialect::Bash || !self.has_text(first.start, last.end))
            .then(|| dialect.around_pipe(spans.len()));
        if let Some((before, _)) = &whole {
            self.insert(first.start, before)?;
        }
        for (index, (command, span)) in pipeline.seq.iter().zip(&spans).enumerate() {
            let is_subshell =
                matches!(command, ast::Command::Compound(ast::CompoundCommand::Subshell(_), _));
            let (stage, of, stops) = (index + 1, spans.len(), self.stops);
            let place = StagePlace { step, stage, of, stops, is_subshell };
            let (before, behind) = dialect.around_stage(place);
            self.insert(span.start, &before)?;
            self.within(command, ListContext { reported: false, ..context })?;
            self.insert(span.end, &behind)?;
        }
        match &whole {
            Some((_, behind)) => self.insert(last.end, behind),
            None => Some(()),
        }
    }

    /// A command that is alone in its pipe.
    fn alone(&mut self, command: &ast::Command, context: ListContext) -> Option<()> {
        let is_wrapped = match command {
            ast::Command::Simple(simple) => says_something(simple),
            ast::Command::ExtendedTest(..) => true,
            ast::Command::Compound(..) | ast::Command::Function(_) => false,
        };
        if !is_wrapped || !context.reported {
            return self.within(command, context);
        }
        let span = self.span(command)?;
        let step = self.step(&[span])?;
        let (before, behind) = self.dialect.around_alone(step);
        self.insert(span.start, &before)?;
        self.insert(span.end, &behind)
    }

    /// Goes on inside a command.
    fn within(&mut self, command: &ast::Command, context: ListContext) -> Option<()> {
        let context = ListContext { depth: context.depth + 1, ..context };
        let asked = ListContext { reported: false, ..context };
        let compound = match command {
            ast::Command::Simple(_) | ast::Command::ExtendedTest(..) => return Some(()),
            ast::Command::Function(function) => {
                return self.compound(&function.body.0, asked, asked);
            }
            ast::Command::Compound(compound, _) => compound,
        };
        self.compound(compound, context, asked)
    }

    fn compound(
        &mut self,
        compound: &ast::CompoundCommand,
        context: ListContext,
        asked: ListContext,
    ) -> Option<()> {
        if context.depth > DEPTH_LIMIT {
            return None;
        }
        match compound {
            ast::CompoundCommand::Arithmetic(_) | ast::CompoundCommand::Coprocess(_) => Some(()),
            ast::CompoundCommand::ArithmeticForClause(found) => {
                self.list(&found.body.list, context)
            }
            ast::CompoundCommand::BraceGroup(found) => self.list(&found.list, context),
            ast::CompoundCommand::Subshell(found) => self.list(&found.list, context),
            ast::CompoundCommand::ForClause(found) => self.list(&found.body.list, context),
            ast::CompoundCommand::CaseClause(found) => found
                .cases
                .iter()
                .filter_map(|case| case.cmd.as_ref())
                .try_for_each(|list| self.list(list, context).ok_or(()))
                .ok(),
            ast::CompoundCommand::IfClause(found) => {
                self.list(&found.condition, asked)?;
                self.list(&found.then, context)?;
                for clause in found.elses.iter().flatten() {
                    if let Some(condition) = &clause.condition {
                        self.list(condition, asked)?;
                    }
                    self.list(&clause.body, context)?;
                }
                Some(())
            }
            ast::CompoundCommand::WhileClause(found) | ast::CompoundCommand::UntilClause(found) => {
                self.list(&found.0, asked)?;
                self.list(&found.1.list, context)
            }
        }
    }

    /// Numbers a step.
    fn step(&mut self, spans: &[CommandSpan]) -> Option<usize> {
        let stages = spans.iter().map(|span| self.label(*span)).collect::<Option<_>>()?;
        self.steps.push(ScriptStep { stages });
        Some(self.steps.len()).filter(|count| *count <= STEPS_LIMIT)
    }

    /// Returns how a command is shown.
    fn label(&self, span: CommandSpan) -> Option<String> {
        let written = self.text.get(self.byte(span.start)?..self.byte(span.end)?)?;
        let line = written.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(match line.char_indices().nth(LABEL_LIMIT_CHARS) {
            Some(_) => line.chars().take(LABEL_LIMIT_CHARS - 1).chain(['…']).collect(),
            None => line,
        })
    }

    fn insert(&mut self, at: usize, text: &str) -> Option<()> {
        let at = self.byte(at)?;
        self.inserts.push((at, text.to_owned()));
        Some(())
    }

    fn byte(&self, character: usize) -> Option<usize> {
        self.offsets.get(character).copied()
    }

    /// Whether a here-document begins in a part of the text.
    fn has_text(&self, start: usize, end: usize) -> bool {
        let within = |token: &&PlacedToken| token.start >= start && token.end <= end;
        self.tokens.iter().filter(within).any(|token| is_here_document(token.operator.as_deref()))
    }

    fn span(&self, command: &ast::Command) -> Option<CommandSpan> {
        let location = command.location()?;
        let start = location.start.index;
        let known = match command {
            ast::Command::Compound(compound, _) => compound.location()?.end.index,
            ast::Command::ExtendedTest(..) => location.end.index,
            ast::Command::Simple(_) | ast::Command::Function(_) => start,
        };
        self.end_of_command(start, known).map(|end| CommandSpan { start, end })
    }

    /// Returns where a command ends whose first part ends at `known`: before the next operator that
    /// is no redirection.
    fn end_of_command(&self, start: usize, known: usize) -> Option<usize> {
        let mut end = (known > start).then_some(known);
        let mut depth = 0_usize;
        let from = self.tokens.iter().skip_while(|token| token.start < known.max(start));
        for token in from {
            match token.operator.as_deref() {
                Some("(") => depth += 1,
                Some(")") if depth > 0 => depth -= 1,
                Some(operator) if depth == 0 && !is_redirection(operator) => break,
                Some(_) | None => {}
            }
            end = Some(token.end);
        }
        end.filter(|end| depth == 0 && *end > start)
    }
}

fn is_redirection(operator: &str) -> bool {
    operator.starts_with(['<', '>']) || operator.starts_with("&>")
}

fn is_here_document(operator: Option<&str>) -> bool {
    matches!(operator, Some("<<" | "<<-"))
}

/// Cuts a text into tokens, without the bodies of here-documents.
fn placed_tokens(text: &str) -> Option<Vec<PlacedToken>> {
    let mut found: Vec<PlacedToken> = Vec::new();
    let mut left_out = 0_usize;
    for token in tokenize_str(text).ok()? {
        let placed = match token {
            Token::Operator(operator, at) => PlacedToken {
                operator: Some(operator),
                word: String::new(),
                start: at.start.index,
                end: at.end.index,
            },
            Token::Word(word, at) => {
                PlacedToken { operator: None, word, start: at.start.index, end: at.end.index }
            }
        };
        // A delimiter is followed by the body and by the line that ends it.
        let is_delimiter =
            found.last().is_some_and(|last| is_here_document(last.operator.as_deref()));
        if left_out > 0 {
            left_out -= 1;
            continue;
        }
        left_out = if is_delimiter { 2 } else { 0 };
        found.push(placed);
    }
    Some(found)
}

/// Whether the grammar reads a text in little time: what opens a level is looked at twice.
pub(super) fn is_shallow(text: &str) -> bool {
    let opens = |token: &PlacedToken| match token.operator.as_deref() {
        Some(operator) => operator == "(",
        None => matches!(
            token.word.as_str(),
            "if" | "for" | "while" | "until" | "case" | "select" | "function" | "!" | "{" | "[["
        ),
    };
    let substitutions = ["$(", "${", "$[", "`"].map(|opens| text.matches(opens).count());
    if substitutions.iter().sum::<usize>() > SUBSTITUTIONS_LIMIT {
        return false;
    }
    let count = |tokens: Vec<PlacedToken>| tokens.iter().filter(|token| opens(token)).count();
    placed_tokens(text).map(count).is_some_and(|count| count <= OPENERS_LIMIT)
}

/// Returns the program of a command, where it is known.
fn program_of(simple: &ast::SimpleCommand) -> Option<String> {
    literal(&simple.word_or_name.as_ref()?.value).ok()
}

/// A variable that is set says something by how the substitution in it ended.
fn says_something(simple: &ast::SimpleCommand) -> bool {
    match &simple.word_or_name {
        None => simple.to_string().contains(['$', '`']),
        Some(_) => program_of(simple).is_none_or(|program| !SILENT.contains(&program.as_str())),
    }
}

/// Whether a pipe only asks something.
fn is_question(pipeline: &ast::Pipeline) -> bool {
    match pipeline.seq.as_slice() {
        [ast::Command::ExtendedTest(..)] => true,
        [ast::Command::Simple(simple)] => {
            let program = program_of(simple);
            program.is_some_and(|program| QUESTIONS.contains(&program.as_str()))
        }
        _ => false,
    }
}

/// Returns the simple commands and tests of a script at any depth, without those of a wrapper.
pub(super) fn commands_of(program: &ast::Program) -> Vec<String> {
    let mut found = Vec::new();
    program.complete_commands.iter().for_each(|list| collect_list(list, &mut found));
    found
}

fn collect_list(list: &ast::CompoundList, found: &mut Vec<String>) {
    for ast::CompoundListItem(and_or, _) in &list.0 {
        let next = and_or.additional.iter().map(|next| match next {
            ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => pipeline,
        });
        for pipeline in std::iter::once(&and_or.first).chain(next) {
            pipeline.seq.iter().for_each(|command| collect(command, found));
        }
    }
}

fn collect(command: &ast::Command, found: &mut Vec<String>) {
    let compound = match command {
        ast::Command::Simple(_) | ast::Command::ExtendedTest(..) => {
            let text = command.to_string();
            if !text.starts_with("__locum") && text != ":" {
                found.push(text);
            }
            return;
        }
        ast::Command::Function(function) => &function.body.0,
        ast::Command::Compound(compound, redirects) => {
            found.extend(redirects.iter().map(ToString::to_string));
            compound
        }
    };
    match compound {
        ast::CompoundCommand::Arithmetic(_) | ast::CompoundCommand::Coprocess(_) => {
            found.push(compound.to_string());
        }
        ast::CompoundCommand::ArithmeticForClause(loop_) => collect_list(&loop_.body.list, found),
        ast::CompoundCommand::BraceGroup(group) => collect_list(&group.list, found),
        ast::CompoundCommand::Subshell(group) => collect_list(&group.list, found),
        ast::CompoundCommand::ForClause(loop_) => {
            let values = loop_.values.iter().flatten().map(|word| word.value.clone());
            found.push(loop_.variable_name.clone());
            found.extend(values);
            collect_list(&loop_.body.list, found);
        }
        ast::CompoundCommand::CaseClause(case) => {
            found.push(case.value.value.clone());
            for item in &case.cases {
                found.extend(item.patterns.iter().map(|word| word.value.clone()));
                item.cmd.iter().for_each(|list| collect_list(list, found));
            }
        }
        ast::CompoundCommand::IfClause(condition) => {
            collect_list(&condition.condition, found);
            collect_list(&condition.then, found);
            for clause in condition.elses.iter().flatten() {
                clause.condition.iter().for_each(|list| collect_list(list, found));
                collect_list(&clause.body, found);
            }
        }
        ast::CompoundCommand::WhileClause(loop_) | ast::CompoundCommand::UntilClause(loop_) => {
            collect_list(&loop_.0, found);
            collect_list(&loop_.1.list, found);
        }
    }
}
