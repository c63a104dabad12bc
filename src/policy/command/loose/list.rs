//! Lists and pipes of a script with expansions: which parts of them surely ran, so that what these
//! set is known behind them.
//!
//! In: lists as the grammar cut them. Out: their commands and their text, and at each place the
//! variables that have a value whichever way the shell came there.

use brush_parser::ast;

use crate::command::loose::sets::printed_names;
use crate::command::loose::variable::SetVariables;
use crate::command::loose::walker::ScriptWalker;

impl ScriptWalker<'_> {
    /// Walks a list of commands.
    pub(super) fn list(&mut self, list: &ast::CompoundList) -> Result<(), String> {
        for (index, ast::CompoundListItem(and_or, separator)) in list.0.iter().enumerate() {
            if index > 0 {
                self.out.end_line();
            }
            let before = self.variables.here.clone();
            let (mut ended_well, mut failed) = self.ends(&and_or.first)?;
            for next in &and_or.additional {
                // What stands behind it goes on from it, or from where it did not run.
                match next {
                    ast::AndOr::And(pipeline) => {
                        self.out.push(" && ");
                        self.variables.here = ended_well;
                        let (both, second_failed) = self.ends(pipeline)?;
                        (ended_well, failed) = (both, failed.and(&second_failed));
                    }
                    ast::AndOr::Or(pipeline) => {
                        self.out.push(" || ");
                        self.variables.here = failed;
                        let (instead, both_failed) = self.ends(pipeline)?;
                        (ended_well, failed) = (ended_well.and(&instead), both_failed);
                    }
                }
            }
            // A list in the background runs in a shell of its own.
            self.variables.here = match separator {
                ast::SeparatorOperator::Sequence => ended_well.and(&failed),
                ast::SeparatorOperator::Async => before,
            };
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

    /// Walks a pipe; returns what is known behind it where it exits with 0, and where it does not.
    fn ends(&mut self, pipeline: &ast::Pipeline) -> Result<(SetVariables, SetVariables), String> {
        let filled = self.pipeline(pipeline)?;
        let failed = self.variables.here.clone();
        filled.iter().for_each(|name| self.variables.fill(name));
        Ok((self.variables.here.clone(), failed))
    }

    /// Walks a pipe; returns the variable that has a value if it exits with 0.
    fn pipeline(&mut self, pipeline: &ast::Pipeline) -> Result<Option<String>, String> {
        if pipeline.timed.is_some() {
            self.out.push("time ");
        }
        if pipeline.bang {
            self.out.push("! ");
        }
        self.shape.pipes |= pipeline.seq.len() > 1;
        let is_alone = pipeline.seq.len() == 1;
        for (index, command) in pipeline.seq.iter().enumerate() {
            if index > 0 {
                self.out.push(" | ");
            }
            if index > 0 {
                self.names = match command {
                    ast::Command::Compound(ast::CompoundCommand::WhileClause(_), None) => {
                        printed_names(pipeline.seq.get(..index).unwrap_or_default())
                    }
                    _ => None,
                };
            }
            // Each member of a pipe runs in a shell of its own.
            let here = self.variables.here.clone();
            self.assigned = None;
            self.command(command)?;
            if !is_alone {
                self.variables.here = here;
            }
        }
        Ok(self.assigned.take().filter(|_| is_alone && !pipeline.bang))
    }
}
