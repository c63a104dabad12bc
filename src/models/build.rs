//! `build`: from a chosen model to one that can be asked.
//!
//! In: what [`resolve`](crate::resolve::resolve) chose, and the text of the script where it is a
//! scripted one. Out: a model. Files are read by the caller.

use crate::Model;
use crate::profile::{Provider, ToolProtocol};
use crate::resolve::ChosenModel;
use crate::scripted::ScriptedModel;
use crate::scripted::script::{ModelScript, ScriptErrors};
use crate::transport::SetupError;
use crate::xml::PromptedToolCalls;
use crate::{anthropic, chat_completions, gemini, responses};

/// Why a model cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The model cannot be reached the way it is configured.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The model takes no number of tokens to think.
    #[error(
        "model `{0}` decides itself how many tokens it thinks: set `reasoning_effort` in place of \
         `thinking_tokens`"
    )]
    ThinkingTokens(String),
    /// The script has a mistake.
    #[error(transparent)]
    Script(#[from] ScriptErrors),
    /// A scripted model was not given its script.
    #[error("model `{0}` is scripted and its script was not read")]
    NoScript(String),
}

impl ChosenModel {
    /// Returns the script a scripted model plays, for the caller to read; `None` for models that
    /// need none.
    pub fn script_file(&self) -> Option<&str> {
        match self.profile.provider {
            Provider::Scripted => Some(&self.profile.model),
            Provider::Openai
            | Provider::OpenaiResponses
            | Provider::Anthropic
            | Provider::Gemini
            | Provider::Bedrock
            | Provider::Vertex
            | Provider::Azure => None,
        }
    }
}

/// Builds a chosen model. `script` is the text of [`ChosenModel::script_file`], where there is one.
///
/// # Errors
/// When the address cannot be used or the script has a mistake.
pub fn build(chosen: &ChosenModel, script: Option<&str>) -> Result<Box<dyn Model>, BuildError> {
    if chosen.profile.thinking_tokens.is_some() && takes_no_number(chosen) {
        return Err(BuildError::ThinkingTokens(chosen.name.clone()));
    }
    let model: Box<dyn Model> = match (chosen.profile.provider, script) {
        (Provider::Openai, _) => chat_completions::prepare(chosen)?,
        (Provider::OpenaiResponses | Provider::Azure, _) => responses::prepare(chosen)?,
        (Provider::Vertex, _) if chosen.profile.model.starts_with("claude-") => {
            anthropic::prepare(chosen)?
        }
        (Provider::Anthropic | Provider::Bedrock, _) => anthropic::prepare(chosen)?,
        (Provider::Gemini | Provider::Vertex, _) => gemini::prepare(chosen)?,
        (Provider::Scripted, Some(text)) => {
            Box::new(ScriptedModel::new(ModelScript::parse(&chosen.profile.model, text)?))
        }
        (Provider::Scripted, None) => return Err(BuildError::NoScript(chosen.name.clone())),
    };
    Ok(match chosen.limits.tool_protocol {
        ToolProtocol::Native => model,
        ToolProtocol::Xml => Box::new(PromptedToolCalls::new(model)),
    })
}

/// Returns true for models of a protocol with numbers that take a word only.
fn takes_no_number(chosen: &ChosenModel) -> bool {
    let model = &chosen.profile.model;
    match chosen.profile.provider {
        Provider::Gemini => gemini::generation(model) >= 3,
        Provider::Vertex if !model.starts_with("claude-") => gemini::generation(model) >= 3,
        Provider::Anthropic | Provider::Bedrock | Provider::Vertex => {
            anthropic::thinks_adaptively(model)
        }
        // Their profiles may not name a number.
        Provider::Openai | Provider::OpenaiResponses | Provider::Azure | Provider::Scripted => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pretty_assertions::assert_eq;

    use super::{BuildError, build};
    use crate::profile::{ModelSettings, Profile, Provider};
    use crate::resolve::{ChosenModel, ModelFacts, resolve};

    fn chosen(profile: Profile) -> ChosenModel {
        let settings = ModelSettings {
            profiles: BTreeMap::from([("one".to_owned(), profile)]),
            ..ModelSettings::default()
        };
        let facts =
            ModelFacts { env: &BTreeMap::new(), asked: None, from_repository: &BTreeSet::new() };
        resolve(&settings, &facts).unwrap().main
    }

    #[test]
    fn a_number_of_tokens_to_think_is_for_models_that_take_one() {
        for (provider, model, is_taken) in [
            (Provider::Anthropic, "claude-sonnet-4-5", true),
            (Provider::Anthropic, "claude-opus-5-5", false),
            (Provider::Gemini, "gemini-2.5-pro", true),
            (Provider::Gemini, "gemini-3.1-pro", false),
        ] {
            let profile = Profile {
                provider,
                thinking_tokens: Some(9000),
                base_url: Some("http://127.0.0.1:9".into()),
                ..Profile::new(model)
            };
            let built = build(&chosen(profile), None);
            assert_eq!(built.is_ok(), is_taken, "{model}");
            let said = built.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(is_taken || said.contains("set `reasoning_effort`"), "{said}");
        }
    }

    #[test]
    fn builds_what_was_chosen() {
        let http = chosen(Profile {
            base_url: Some("http://127.0.0.1:9/v1".into()),
            ..Profile::new("big")
        });
        assert_eq!((build(&http, None).unwrap().label(), http.script_file()), ("one (big)", None));
        let scripted = chosen(Profile { provider: Provider::Scripted, ..Profile::new("play.yml") });
        assert_eq!(scripted.script_file(), Some("play.yml"));
        let script = "version: 1\nname: a play\ntasks: [{ turns: [{ say: hello }] }]\n";
        assert_eq!(build(&scripted, Some(script)).unwrap().label(), "a play");
        assert_eq!(build(&scripted, None).err(), Some(BuildError::NoScript("one".into())));
        let mistake = build(&scripted, Some("version: 1\n")).err().unwrap().to_string();
        assert!(mistake.starts_with("script `play.yml`:1:1"), "{mistake}");
    }
}
