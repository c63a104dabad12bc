//! [`Steering`]: a checked call of a tool that does nothing itself and asks the session for one
//! thing.

use std::fmt::Debug;
use std::marker::PhantomData;

use serde_json::Value;

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::PeerWords;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Control, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A tool whose calls do nothing but ask the session for one thing.
pub(crate) trait SteeringTool: Clone + Debug {
    /// Description that models read.
    const DESCRIPTION: &'static str;

    /// The parameters that have to be given.
    const REQUIRED: &'static [&'static str];

    /// What other agents call its parameters.
    const PEERS: PeerWords = PeerWords::NONE;

    /// Returns a JSON Schema for each parameter, by name.
    fn properties() -> Value;

    /// Checks the arguments. Whether a mode exists is the session's to say.
    ///
    /// # Errors
    /// A sentence for the model.
    fn parse(arguments: CallFields) -> Result<SteeringCall, CallError>;
}

/// What a call asks the session for.
#[derive(Clone, Debug)]
pub(crate) struct SteeringCall {
    /// What the policy decides on.
    pub(crate) intent: Intent,
    /// What it does, for readers.
    pub(crate) headline: String,
    /// What the model is told.
    pub(crate) said: String,
    /// What the session does.
    pub(crate) control: Control,
}

/// A checked call of a steering tool.
#[derive(Clone, Debug)]
pub struct Steering<T>(SteeringCall, PhantomData<T>);

impl<T> Steering<T> {
    /// Returns what it asks the session for.
    pub(crate) fn control(&self) -> &Control {
        &self.0.control
    }
}

impl<T: SteeringTool> Tool for Steering<T> {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const REQUIRED: &'static [&'static str] = T::REQUIRED;
    const PEERS: PeerWords = T::PEERS;

    fn properties() -> Value {
        T::properties()
    }

    fn parse(arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        Ok(Self(T::parse(arguments)?, PhantomData))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![self.0.intent.clone()]
    }

    fn headline(&self) -> String {
        self.0.headline.clone()
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let control = Some(self.0.control.clone());
        Ok(Observation { control, ..Observation::said(self.0.said.as_str()) })
    }
}
