//! What follows from the only key there is, and from how a maker names its models, where nobody
//! says which provider or model is meant.
//!
//! In: a name, the environment's keys. Out: a provider, a default model of the catalogue, or an
//! error that says what to write. A prefix, a base URL or a profile's own key always wins.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{ChosenModel, MODEL_VARIABLE, ModelResolver, ProfileError};
use crate::profile::{Profile, Provider};
use crate::proxy::variable_value;
use locum_base::secret::Secret;

impl ModelResolver<'_> {
    /// Splits the name of a model that has no profile from its provider.
    pub(super) fn inferred<'n>(&self, name: &'n str) -> (Provider, &'n str) {
        let env = self.facts.env;
        match Provider::of_name(name) {
            None if !Provider::has_own_server(env) => {
                let of_key = self.only_default().map(|(_, model)| Provider::before(model).0);
                (of_key.unwrap_or_default(), name)
            }
            Some(_) | None => Provider::of_request(name, env),
        }
    }

    /// Returns a profile that names a model of Anthropic or Google and no provider, key or address
    /// as one of its maker: no other server is meant.
    pub(super) fn of_its_maker<'p>(&self, profile: &'p Profile) -> Cow<'p, Profile> {
        let says_nothing = profile.provider == Provider::default()
            && profile.base_url.is_none()
            && profile.api_key_env.is_none()
            && !Provider::has_own_server(self.facts.env);
        match Provider::of_maker(&profile.model).filter(|_| says_nothing) {
            Some(provider @ (Provider::Anthropic | Provider::Gemini)) => {
                Cow::Owned(Profile { provider, ..profile.clone() })
            }
            Some(_) | None => Cow::Borrowed(profile),
        }
    }

    /// Chooses the catalogue's model of the only provider that has a key.
    pub(super) fn only_keys_model(&self) -> Result<ChosenModel, ProfileError> {
        let moved = variable_value(self.facts.env, "OPENAI_BASE_URL").is_some();
        let Some((variable, default)) = self.only_default().filter(|_| !moved) else {
            let keys = self.set_keys().into_iter().map(str::to_owned).collect();
            return Err(ProfileError::NoModel { keys, moved });
        };
        let (provider, model) = Provider::before(default);
        let profile = Profile { provider, ..Profile::new(model) };
        let mut chosen = self.choose_as_written(model, &profile)?;
        chosen.notes.insert(
            0,
            format!(
                "no model is named and {variable} is the only key: `{default}` is asked; \
                 {MODEL_VARIABLE} or `--model` names another"
            ),
        );
        Ok(chosen)
    }

    /// Returns the catalogue's model of a provider, without the provider before it.
    pub(super) fn default_model(&self, provider: &str) -> Option<String> {
        let own = Provider::named(provider).and_then(Provider::home)?.key_variable;
        let mut defaults = self.catalogue.defaults();
        let (_, name) = defaults.find(|(variable, _)| *variable == own)?;
        Some(Provider::before(name).1.to_owned())
    }

    /// Reads the key in a variable.
    pub(super) fn read_key(&self, name: &str, variable: &str) -> Result<Secret, ProfileError> {
        let fault = |state| ProfileError::NoKey {
            name: name.to_owned(),
            variable: variable.to_owned(),
            state,
            instead: self
                .only_default()
                .filter(|(key, _)| *key != variable)
                .map(|(key, model)| (key.to_owned(), model.to_owned())),
        };
        let value = self.facts.env.get(variable).ok_or_else(|| fault("not set"))?.trim();
        if value.is_empty() {
            return Err(fault("empty"));
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(fault("not a key: it holds blanks or other characters no key has"));
        }
        Ok(Secret::new(value))
    }

    /// Returns the only provider's key that is set, with the catalogue's model for it; none where
    /// other keys are set, too.
    fn only_default(&self) -> Option<(&'static str, &str)> {
        let keys = self.set_keys();
        let only = keys.first().filter(|_| keys.len() == 1)?;
        self.catalogue.defaults().find(|(variable, _)| variable == only)
    }

    /// Returns the variables of known hosts that hold a key.
    fn set_keys(&self) -> Vec<&str> {
        let is_set = |variable: &&str| {
            // A token of GitHub lies in many environments for other reasons.
            *variable != "GITHUB_TOKEN" && variable_value(self.facts.env, variable).is_some()
        };
        let keys: BTreeSet<&str> =
            self.catalogue.keys().map(|(_, variable)| variable).filter(is_set).collect();
        keys.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pretty_assertions::assert_eq;

    use crate::profile::ModelSettings;
    use crate::resolve::{ModelFacts, resolve};

    const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "a");
    const GEMINI: (&str, &str) = ("GEMINI_API_KEY", "g");
    const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "o");
    const SERVER: (&str, &str) = ("OPENAI_BASE_URL", "https://own.example/v1");

    /// Returns provider, model and key of a run's model, or what is wrong.
    fn main(settings: &str, asked: Option<&str>, env: &[(&str, &str)]) -> String {
        let settings: ModelSettings = serde_yaml::from_str(settings).unwrap();
        let env: BTreeMap<String, String> =
            env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let facts = ModelFacts { env: &env, asked, from_repository: &BTreeSet::new() };
        match resolve(&settings, &facts) {
            Ok(resolved) => {
                let (profile, key) = (resolved.main.profile, resolved.main.key_variable);
                let provider = profile.provider.as_str();
                format!("{provider} {} {}", profile.model, key.unwrap_or_default())
            }
            Err(error) => format!("{error}; {}", error.hint()),
        }
    }

    #[test]
    fn the_only_key_says_which_model_is_asked() {
        for (key, expected) in [
            (ANTHROPIC, "anthropic claude-sonnet-5-5 ANTHROPIC_API_KEY"),
            (GEMINI, "gemini gemini-3.8-flash GEMINI_API_KEY"),
            (OPENAI, "openai-responses gpt-6.1-terra OPENAI_API_KEY"),
        ] {
            assert_eq!(main("{}", None, &[key]), expected);
            assert_eq!(main("{}", None, &[key, ("GITHUB_TOKEN", "t")]), expected);
        }
        for (env, words) in [
            (&[ANTHROPIC, OPENAI][..], "ANTHROPIC_API_KEY and OPENAI_API_KEY are set: say which"),
            (&[OPENAI, SERVER], "OPENAI_BASE_URL names a server: set LOCUM_MODEL"),
            (&[("GROQ_API_KEY", "x")], "GROQ_API_KEY is set: describe a profile of its host"),
            (&[], "set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY"),
        ] {
            let said = main("{}", None, env);
            assert!(said.starts_with("no model is configured; ") && said.contains(words), "{said}");
        }
    }

    #[test]
    fn a_name_says_its_maker_and_a_prefix_or_server_wins() {
        let all = &[ANTHROPIC, GEMINI, OPENAI][..];
        for (name, env, expected) in [
            ("claude-x", all, "anthropic claude-x ANTHROPIC_API_KEY"),
            ("gemini-x", all, "gemini gemini-x GEMINI_API_KEY"),
            ("gpt-x", all, "openai-responses gpt-x OPENAI_API_KEY"),
            ("o3", all, "openai-responses o3 OPENAI_API_KEY"),
            ("o3-mini", all, "openai-responses o3-mini OPENAI_API_KEY"),
            ("o3x", all, "openai o3x OPENAI_API_KEY"),
            ("gpt-oss-120b", all, "openai gpt-oss-120b OPENAI_API_KEY"),
            ("openai:gpt-x", all, "openai gpt-x OPENAI_API_KEY"),
            ("openai:claude-x", all, "openai claude-x OPENAI_API_KEY"),
            ("mine", &[ANTHROPIC], "anthropic mine ANTHROPIC_API_KEY"),
            ("mine", &[ANTHROPIC, GEMINI, OPENAI], "openai mine OPENAI_API_KEY"),
            ("claude-x", &[OPENAI, SERVER], "openai claude-x OPENAI_API_KEY"),
            ("anthropic:claude-x", &[ANTHROPIC, SERVER], "anthropic claude-x ANTHROPIC_API_KEY"),
        ] {
            assert_eq!(main("{}", Some(name), env), expected, "{name}");
        }
    }

    #[test]
    fn a_profile_that_names_no_server_is_asked_at_its_models_maker() {
        let both = &[ANTHROPIC, OPENAI, ("MINE", "m")][..];
        for (profile, env, expected) in [
            ("model: claude-x", both, "anthropic claude-x ANTHROPIC_API_KEY"),
            ("model: gpt-x", both, "openai gpt-x OPENAI_API_KEY"),
            ("model: claude-x", &[OPENAI, SERVER], "openai claude-x OPENAI_API_KEY"),
            ("model: claude-x, api_key_env: MINE", both, "openai claude-x MINE"),
            ("model: claude-x, base_url: 'http://localhost:1'", both, "openai claude-x "),
        ] {
            let settings = format!("{{ profiles: {{ one: {{ {profile} }} }} }}");
            assert_eq!(main(&settings, None, env), expected, "{profile}");
        }
    }

    #[test]
    fn a_wrong_pairing_says_what_to_write() {
        for (name, key, words) in [
            (
                "claude-x",
                OPENAI,
                "only OPENAI_API_KEY is set: set ANTHROPIC_API_KEY, or ask a model of that key, \
                 as in LOCUM_MODEL=openai-responses:gpt-6.1-terra; for a gateway that serves both",
            ),
            (
                "gpt-x",
                ANTHROPIC,
                "only ANTHROPIC_API_KEY is set: set OPENAI_API_KEY, or ask a model of that key, \
                 as in LOCUM_MODEL=anthropic:claude-sonnet-5-5",
            ),
            ("gemini:", OPENAI, "write the model's name after the colon, as in `gemini:gemini-"),
        ] {
            let said = main("{}", Some(name), &[key]);
            assert!(said.contains(words), "{said}");
        }
    }
}
