//! [`Editing`]: a checked call of a tool that changes a part of one file.

use std::fmt::Debug;
use std::marker::PhantomData;

use serde_json::Value;

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit::file_edit::FileEdit;
use crate::tools::peer_words::PeerWords;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A tool whose calls change a part of the file that `path` names.
pub(crate) trait EditTool: Clone + Debug {
    /// The tool, which modes restrict by this name.
    const NAME: ToolName;

    /// Description that models read.
    const DESCRIPTION: &'static str;

    /// The parameters that have to be given.
    const REQUIRED: &'static [&'static str];

    /// What `path` names, for a sentence about a call that lacks it.
    const FILE: &'static str = "the file, relative to the repository root";

    /// What other agents call its parameters.
    const PEERS: PeerWords = PeerWords::NONE;

    /// Returns a JSON Schema for each parameter, by name.
    fn properties() -> Value;

    /// Takes the change out of the arguments.
    ///
    /// # Errors
    /// A sentence for the model.
    fn change(arguments: &mut CallFields) -> Result<FileChange, CallError>;
}

/// A checked call of a tool that changes a part of one file.
#[derive(Clone, Debug)]
pub struct Editing<T>(FileEdit, PhantomData<T>);

impl<T: EditTool> Tool for Editing<T> {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const REQUIRED: &'static [&'static str] = T::REQUIRED;
    const PEERS: PeerWords = T::PEERS;
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        T::properties()
    }

    /// Checks the arguments and the mode's restriction.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place = arguments.place("path", T::FILE, context)?;
        let change = T::change(&mut arguments)?;
        arguments.finish()?;
        change.check().map_err(|error| CallError(format!("Nothing was changed: {error}.")))?;
        Ok(Self(FileEdit::checked(T::NAME, place, change, context)?, PhantomData))
    }

    fn intents(&self) -> Vec<Intent> {
        self.0.intents()
    }

    fn headline(&self) -> String {
        self.0.headline()
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        self.0.perform(permit, context)
    }

    fn content_after(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        self.0.content_after(before)
    }
}
