//! Long answers of tools: the model is shown their beginning and their end, and can read the rest.
//!
//! In: the redacted answer of a call. Out: at most [`RESULT_LIMIT_BYTES`] of it, and the whole kept
//! beside the journal under a number, `output://3`. `read_file` and `search_files` open it for the
//! task that got the answer and for those above it. It is the run's own text: the policy said yes
//! to the call that it came from.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::session::journal::Journal;
use crate::session::live::Session;
use crate::session::state::SessionState;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use crate::tools::dispatch;
use crate::tools::kept_output::{KeptOutput, OUTPUT_SCHEME, OutputReader};
use locum_base::id::TaskId;
use locum_base::text::ClippedText;
use locum_base::tool::ToolName;

/// Most bytes that a model is shown of the answer of a command, a search, a list, an edit or an MCP
/// server, and of any call that failed.
pub const RESULT_LIMIT_BYTES: usize = 16 * 1024;

/// Most bytes of the line in it that says what is left out.
const LEFT_OUT_LINE_LIMIT_BYTES: usize = 256;

/// Most answers that a session keeps whole.
pub const OUTPUTS_LIMIT: usize = 500;
/// Most bytes of all answers that a session keeps whole.
pub const OUTPUTS_LIMIT_BYTES: usize = 32 * 1024 * 1024;

impl Session<'_> {
    /// Shortens a long answer and keeps the whole.
    pub(crate) fn shorten(
        &self,
        waiting: &WaitingCall,
        observation: Observation,
    ) -> Result<Observation, Stop> {
        let text = &observation.text;
        // What went wrong is never worth more, whichever tool it was.
        let is_whole = !observation.is_error && !is_shortened(dispatch::meant(&waiting.call));
        if text.len() <= RESULT_LIMIT_BYTES || is_whole {
            return Ok(observation);
        }
        let outputs = &self.state.outputs;
        let kept: usize = outputs.iter().map(|(_, output)| output.bytes).sum();
        let fits =
            outputs.len() < OUTPUTS_LIMIT && kept.saturating_add(text.len()) <= OUTPUTS_LIMIT_BYTES;
        let number = u32::try_from(outputs.len() + 1).ok().filter(|_| fits);
        let output = number.map(|number| {
            let hash = self.journal.keep(text.as_bytes())?;
            Ok::<_, Stop>(KeptOutput { number, hash, bytes: text.len() })
        });
        let output = output.transpose()?;
        let lost_bytes = observation.lost_bytes;
        let how = output.as_ref().map_or_else(String::new, |output| {
            let kept = match lost_bytes {
                0 => "all".to_owned(),
                lost => format!("all but {lost} of them"),
            };
            format!("; read_file shows {kept} with the path {OUTPUT_SCHEME}{}", output.number)
        });
        let limit_bytes = RESULT_LIMIT_BYTES - LEFT_OUT_LINE_LIMIT_BYTES;
        let text = ClippedText::shortened(text, (limit_bytes, lost_bytes), &how).text;
        Ok(Observation { text, output, ..observation })
    }

    /// Returns what a task reads kept answers with: its own and those of the tasks below it.
    pub(crate) fn output_reader(&self, id: TaskId) -> OutputReader {
        let folder = self.journal.folder().to_owned();
        let known: BTreeMap<u32, String> = self
            .state
            .outputs
            .iter()
            .filter(|(owner, _)| is_within(&self.state, *owner, id))
            .map(|(_, output)| (output.number, output.hash.clone()))
            .collect();
        Arc::new(move |number| {
            let bytes = Journal::kept_in(&folder, known.get(&number)?).ok()?;
            String::from_utf8(bytes).ok()
        })
    }
}

/// Answers that have no other way to be read in parts. Tools of MCP servers are called by names of
/// their own as well.
fn is_shortened(tool: Option<ToolName>) -> bool {
    tool.is_none_or(|tool| dispatch::answers(tool).shortened)
}

/// Whether a task is another one or below it.
fn is_within(state: &SessionState, task: TaskId, above: TaskId) -> bool {
    let mut next = Some(task);
    while let Some(id) = next {
        if id == above {
            return true;
        }
        next = state.task(id).and_then(|task| task.parent);
    }
    false
}
