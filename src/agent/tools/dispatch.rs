//! Dispatch: what a model wrote becomes a checked [`CheckedCall`], a permitted `CheckedCall`
//! becomes an [`Observation`].
//!
//! Nothing happens between: `parse` looks at paths but changes nothing, the policy decides on the
//! call's intents, and only `perform` has effects, each under the permit. Texts are redacted and
//! bounded here, once for every tool. What is particular to a tool is in its [`Tool`].

use serde_json::{Map, Value, json};
use tracing::debug;

use crate::tools::aliases::{self, CalledTool, MappedArguments, unknown};
use crate::tools::arguments::CallFields;
use crate::tools::flow::verdict::CheckVerdict;
use crate::tools::peer_words::PeerWords;
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::shown_text::shown_name;
use crate::tools::tool::{AnswerTraits, LeftOut, Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use crate::tools::{background, browser, command, files, flow, mcp, memory, search, skill, web};
use locum_base::chat::{ToolCall, ToolSpec};
use locum_base::text::{ClippedText, head};
use locum_base::tool::{Availability, ToolName};
use locum_base::unmatched_tool::UnmatchedTool;
use locum_modes::{Mode, access};
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::kind::RuleKind;

/// Most bytes of one observation; tools have their own, smaller limits. Commands have the policy's.
pub const OBSERVATION_LIMIT_BYTES: usize = 128 * 1024;

/// Room for what is said of a command beside its output.
const BESIDE_OUTPUT_LIMIT_BYTES: usize = 16 * 1024;

/// Longest headline, in bytes.
const HEADLINE_LIMIT_BYTES: usize = 120;

/// Makes a variant of [`CheckedCall`] of each tool in the table, and asks its [`Tool`] for the
/// rest.
macro_rules! calls {
    ($($tool:ident, $name:literal, $availability:expr, $kind:ty, $peers:tt;)+) => {
        /// A checked call: known tool of this mode, valid arguments, resolved paths.
        #[derive(Clone, Debug)]
        pub enum CheckedCall {
            $(
                #[doc = concat!("A call of `", $name, "`.")]
                $tool($kind),
            )+
        }

        impl CheckedCall {
            /// Returns which tool this is.
            pub fn tool(&self) -> ToolName {
                match self { $(Self::$tool(_) => ToolName::$tool,)+ }
            }

            /// Returns true when it changes nothing and steers nothing, so that calls like it may
            /// run in parallel.
            pub fn only_reads(&self) -> bool {
                match self { $(Self::$tool(call) => call.only_reads(),)+ }
            }

            /// Returns what the one file a call edits would hold after it, given what it holds
            /// now; `None` for other calls, for a patch, which shows itself, and where it would
            /// fail.
            pub fn content_after(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
                match self { $(Self::$tool(call) => call.content_after(before),)+ }
            }

            /// Returns the same call without what is refused, where the rest makes sense alone.
            pub fn without(&self, refused: &dyn Fn(&Intent) -> Option<String>) -> Option<Self> {
                match self { $(Self::$tool(call) => call.without(refused).map(Self::$tool),)+ }
            }

            /// Returns what the call names and does not do. Who only asks whether a call may be
            /// made must refuse it for these.
            pub fn left_out(&self) -> Vec<LeftOut> {
                match self { $(Self::$tool(call) => call.left_out(),)+ }
            }

            fn whole_headline(&self) -> String {
                match self { $(Self::$tool(call) => call.headline(),)+ }
            }

            fn check(
                tool: ToolName,
                arguments: CallFields,
                context: ToolContext<'_>,
            ) -> Result<Self, CallError> {
                match tool {
                    $(ToolName::$tool => <$kind>::parse(arguments, context).map(Self::$tool),)+
                }
            }
        }

        impl Act for CheckedCall {
            fn intents(&self) -> Vec<Intent> {
                match self { $(Self::$tool(call) => call.intents(),)+ }
            }
        }

        /// Returns what calls of a tool act on.
        pub fn effect(tool: ToolName) -> ToolEffect {
            match tool { $(ToolName::$tool => <$kind>::EFFECT,)+ }
        }

        /// Returns what is particular to the answers of a tool.
        pub(crate) fn answers(tool: ToolName) -> AnswerTraits {
            match tool { $(ToolName::$tool => <$kind>::ANSWERS,)+ }
        }

        /// Returns the kind of rule a tool needs, where it is not that of its group.
        pub(crate) fn own_rule(tool: ToolName) -> Option<RuleKind> {
            match tool { $(ToolName::$tool => <$kind>::RULE,)+ }
        }

        /// Returns what has to be there for a tool.
        pub(crate) fn needs(tool: ToolName) -> Option<ToolNeed> {
            match tool { $(ToolName::$tool => <$kind>::NEEDS,)+ }
        }

        /// Returns what other agents call the parameters of a tool.
        pub(crate) fn peer_words(tool: ToolName) -> &'static PeerWords {
            match tool { $(ToolName::$tool => &<$kind>::PEERS,)+ }
        }

        fn spec(tool: ToolName) -> ToolSpec {
            match tool { $(ToolName::$tool => spec_of::<$kind>(tool),)+ }
        }

        fn edited(
            tool: ToolName,
            arguments: CallFields,
            context: ToolContext<'_>,
        ) -> Vec<ResolvedPath> {
            match tool { $(ToolName::$tool => <$kind>::edited(arguments, context),)+ }
        }

        async fn act(
            permit: &Permit<CheckedCall>,
            context: ToolContext<'_>,
        ) -> Result<Observation, CallError> {
            match permit.act() {
                $(CheckedCall::$tool(call) => call.perform(permit, context).await,)+
            }
        }
    };
}

locum_base::tool_table!(calls);

impl CheckedCall {
    /// Returns one line for readers: `edit src/lib.rs`, `run cargo test`.
    pub fn headline(&self) -> String {
        let text = self.whole_headline();
        let line = head(text.lines().next().unwrap_or_default(), HEADLINE_LIMIT_BYTES);
        if line.len() < text.len() { format!("{line}...") } else { line.to_owned() }
    }
}

/// Returns the tools a mode offers to the model, with their schemas.
pub fn specs(offered: &[ToolName]) -> Vec<ToolSpec> {
    offered.iter().map(|tool| spec(*tool)).collect()
}

fn spec_of<T: Tool>(tool: ToolName) -> ToolSpec {
    ToolSpec {
        name: tool.to_string(),
        description: T::DESCRIPTION.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": T::properties(),
            "required": T::REQUIRED,
            "additionalProperties": false
        }),
    }
}

/// Checks what the model wrote.
///
/// # Errors
/// A sentence for the model: unknown tool, tool not offered, malformed or missing arguments, path
/// outside. Which tools there are is for the caller to add: not all that are offered are shown.
pub fn parse(
    call: &ToolCall,
    offered: &[ToolName],
    context: ToolContext<'_>,
) -> Result<CheckedCall, CallError> {
    let tool = find(call, offered, context)?;
    let call = CheckedCall::check(tool, arguments(tool, call)?.0, context)?;
    call.intents()
        .iter()
        .try_for_each(|intent| access::check_intent(context.mode, tool, intent))
        .map_err(|error| CallError(error.to_string()))?;
    Ok(call)
}

/// Returns the tool that a call means, by its name and, where that leaves it open, its arguments.
pub fn meant(call: &ToolCall) -> Option<ToolName> {
    let named = ToolName::called(&call.name)?;
    let fields = CallFields::parse(named, &call.arguments).map(CallFields::into_fields);
    Some(fields.map_or(named, |fields| aliases::meant(named, &call.name, &fields)))
}

/// Returns the edit that the mode's own restriction keeps a call from making, and the mode's words;
/// for calls that [`parse`] refused.
pub fn restricted(call: &ToolCall, context: ToolContext<'_>) -> Option<(Intent, String)> {
    let tool = meant(call)?;
    let (arguments, _) = arguments(tool, call).ok()?;
    edited(tool, arguments, context).into_iter().find_map(|place| {
        let error = place.check_edit(tool, context).err()?;
        Some((Intent::Edit(place.real), error.0))
    })
}

/// Returns the files that a call edits, as it names them, and where they really lie.
pub(crate) fn edited_places(call: &ToolCall, context: ToolContext<'_>) -> Vec<ResolvedPath> {
    let arguments = |tool| Some((tool, arguments(tool, call).ok()?.0));
    let read = meant(call).and_then(arguments);
    read.map_or_else(Vec::new, |(tool, arguments)| edited(tool, arguments, context))
}

/// Says which arguments of a call were ignored, as a paragraph to put behind its answer; empty for
/// none.
pub fn ignored(call: &ToolCall) -> String {
    let note = |tool| {
        let (_, ignored) = arguments(tool, call).ok()?;
        let properties = properties(tool);
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        Some(unknown::note(tool, &ignored, &known))
    };
    meant(call).and_then(note).unwrap_or_default()
}

/// Returns the arguments of a call in the tool's own words; none where they cannot be read.
pub fn mapped(call: &ToolCall) -> Map<String, Value> {
    let fields = meant(call).and_then(|tool| Some(arguments(tool, call).ok()?.0.into_fields()));
    fields.unwrap_or_default()
}

/// Reads the arguments of a call in the tool's own words, and the names of those ignored.
fn arguments(tool: ToolName, call: &ToolCall) -> Result<(CallFields, Vec<String>), CallError> {
    let called = call.name.trim();
    let fields = CallFields::parse(tool, &call.arguments)?.called(called);
    // What a tool of an MCP server takes, the server says.
    if tool == ToolName::UseMcpTool && called != tool.as_str() {
        return Ok((fields, Vec::new()));
    }
    let properties = properties(tool);
    let only_reads = effect(tool) == ToolEffect::Reads;
    let of =
        CalledTool { tool, called, only_reads, words: peer_words(tool), properties: &properties };
    let mut left_out = Vec::new();
    let fields = fields.mapped(|fields| {
        let MappedArguments { fields, ignored } = aliases::map(of, fields)?;
        left_out = ignored;
        Ok(fields)
    })?;
    Ok((fields, left_out))
}

/// Returns the schemas of a tool's parameters, by name.
fn properties(tool: ToolName) -> Map<String, Value> {
    let mut parameters = spec(tool).parameters;
    // Only checks are offered it; elsewhere it means nothing.
    if tool == ToolName::AttemptCompletion {
        CheckVerdict::add_to(&mut parameters);
    }
    match parameters.get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => properties,
        Some(_) | None => Map::new(),
    }
}

fn find(
    call: &ToolCall,
    offered: &[ToolName],
    context: ToolContext<'_>,
) -> Result<ToolName, CallError> {
    Err(CallError(match meant(call) {
        Some(tool) if is_accepted(tool, offered, context.mode) => return Ok(tool),
        Some(tool) => format!("Tool \"{tool}\" is not allowed in {} mode.", context.mode.slug),
        None => match UnmatchedTool::find(&call.name) {
            Some(unmatched) => {
                let name = shown_name(&call.name);
                format!("There is no tool \"{name}\" here. {}", unmatched.instead)
            }
            None => format!("Unknown tool \"{}\".", shown_name(&call.name)),
        },
    }))
}

/// Returns whether a call of a tool is accepted. Other edits are, wherever files may be changed by
/// blocks: models that were trained on them send them unasked, and they are judged file by file
/// like blocks. So are tools without an effect, and those that only go with another one. None is
/// that the mode denies.
fn is_accepted(tool: ToolName, offered: &[ToolName], mode: &Mode) -> bool {
    let is_edit = tool.denied_with().contains(&ToolName::ApplyDiff);
    let stands_for_blocks = is_edit && offered.contains(&ToolName::ApplyDiff);
    let goes_with = tool.given_with().is_some_and(|other| offered.contains(&other));
    let is_understood =
        stands_for_blocks || goes_with || tool.availability() == Availability::OptInAlways;
    offered.contains(&tool) || (is_understood && !mode.tool_limits.deny(tool))
}

/// Does what was permitted. Never fails: a failure is an observation with `is_error`.
pub async fn perform(permit: Permit<CheckedCall>, context: ToolContext<'_>) -> Observation {
    let observation =
        Box::pin(act(&permit, context)).await.unwrap_or_else(|error| Observation::failed(error.0));
    debug!(failed = observation.is_error, bytes = observation.text.len(), "call performed");
    let output_bytes = context.run.policy.settings().commands.output_bytes;
    let limit_bytes =
        OBSERVATION_LIMIT_BYTES.max(output_bytes.saturating_add(BESIDE_OUTPUT_LIMIT_BYTES));
    let text = context.run.redactor.redact(&observation.text);
    let text = ClippedText::head_tail(&text, limit_bytes).text;
    Observation { text, ..observation }
}

#[cfg(test)]
mod peer_doubts;
#[cfg(test)]
mod peer_edits;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unknown_parameters;
