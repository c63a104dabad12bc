//! `resolve`: from settings and the environment to the two models of a run, each with the key it
//! may use.
//! In: profiles, pointers, the environment as a map, the model requested by flag, and which
//! settings the repository wrote. Out: two [`ChosenModel`]s or what is missing. A key goes only to
//! a host it is tied to: the provider's own, or one that the user named together with it in
//! configuration, environment or flags. A repository's configuration can tie nothing. No server is
//! contacted.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use crate::address::origin;
use crate::catalogue::{Catalogue, HostWays, ModelLimits};
use crate::credentials::{self, Credential};
use crate::profile::{ModelSettings, Pointer, Profile, Provider, ProviderApi};
use crate::proxy::{ProxySettings, variable_value};
use locum_base::secret::Secret;
use locum_base::tool::ToolName;

use base_url::{base_url, parse_base_url};
use notes::notes;
use price::guarded_limits;
pub use profile_error::ProfileError;

mod base_url;
mod inferred;
mod notes;
mod price;
mod profile_error;
mod tool_models;

/// The environment variable that names a profile or a model.
pub const MODEL_VARIABLE: &str = "LOCUM_MODEL";

/// What a choice of models depends on besides the settings.
#[derive(Clone, Copy, Debug)]
pub struct ModelFacts<'a> {
    /// Variables that hold keys and addresses.
    pub env: &'a BTreeMap<String, String>,
    /// A profile or model requested by flag or input: stronger than everything else.
    pub asked: Option<&'a str>,
    /// The settings whose value the repository's configuration gave, as dotted paths below
    /// `models`: `profiles.fast.base_url`.
    pub from_repository: &'a BTreeSet<String>,
}

/// The models of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedModels {
    /// For the root task.
    pub main: ChosenModel,
    /// For sub-tasks; equal to `main` unless a pointer says otherwise.
    pub task: ChosenModel,
    /// The other pointers that say something, by name; but for `image` and `embed`, which nothing
    /// waits for.
    pub others: BTreeMap<&'static str, ChosenModel>,
    /// The image model, or why there is none; `None` where the pointer says nothing.
    pub image: Option<Result<ChosenModel, ProfileError>>,
    /// The embedding model, or why there is none; `None` where the pointer says nothing.
    pub embed: Option<Result<ChosenModel, ProfileError>>,
}

/// One model that is ready to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenModel {
    /// The profile's name; the model's name where it has no profile.
    pub name: String,
    /// The profile, its `base_url` filled in.
    pub profile: Profile,
    /// The key, where the host needs one.
    pub key: Option<Secret>,
    /// The variable the key was read from.
    pub key_variable: Option<String>,
    /// What stands in for a key: the job's own identity.
    pub credential: Option<Credential>,
    /// What the model can take and what it costs.
    pub limits: ModelLimits,
    /// Opt-in tools that the model is offered.
    pub included_tools: Vec<ToolName>,
    /// What the host differs in.
    pub ways: HostWays,
    /// The proxy that stands before its host.
    pub proxy: Option<ProxySettings>,
    /// Its fallbacks, in order.
    pub fallbacks: Vec<ChosenModel>,
    /// What the user should know: a guessed window, a missing price, a key that travels
    /// unencrypted.
    pub notes: Vec<String>,
}

/// Chooses the models of a run.
///
/// The root task's is the one requested by flag, else by `LOCUM_MODEL`, else by `pointers.main`,
/// else the only profile there is, else the catalogue's model of the provider whose key is the only
/// one set. A name without a profile, given by flag or variable, is a model at `OPENAI_BASE_URL`
/// with the key in `OPENAI_API_KEY`. With a provider before a colon it is a model there:
/// `anthropic:claude-opus-5`. Without `OPENAI_BASE_URL`, the provider follows from the name as its
/// maker gives it (`claude-`, `gemini-`, `gpt-`), else from the only key, else it is OpenAI.
///
/// # Errors
/// When no model is configured, a pointer dangles, a key is missing or may not go where it would.
pub fn resolve(
    settings: &ModelSettings,
    facts: &ModelFacts<'_>,
) -> Result<ResolvedModels, ProfileError> {
    let resolver = ModelResolver::new(settings, facts)?;
    let main = match facts
        .asked
        .filter(|name| !name.trim().is_empty())
        .or_else(|| variable_value(facts.env, MODEL_VARIABLE))
    {
        Some(name) => resolver.named(name.trim())?,
        None => match resolver.pointed("main", &settings.pointers.main)? {
            Some(chosen) => chosen,
            None => resolver.only_profile()?,
        },
    };
    let task = resolver.pointed("task", &settings.pointers.task)?.unwrap_or_else(|| main.clone());
    let mut others = BTreeMap::new();
    for (pointer, names) in settings
        .pointers
        .each()
        .into_iter()
        .filter(|(pointer, _)| !matches!(*pointer, "main" | "task" | "image" | "embed"))
    {
        others.extend(resolver.pointed(pointer, names)?.map(|chosen| (pointer, chosen)));
    }
    let (image, embed) = (resolver.image_model(), resolver.embedding_model());
    Ok(ResolvedModels { main, task, others, image: image.transpose(), embed: embed.transpose() })
}

/// A key's variable and the origin (scheme, host, port) it belongs to.
type KeyOrigin = (String, String);

/// A model that a mode asks for.
#[derive(Clone, Copy, Debug)]
pub struct RequestedModel<'a> {
    /// Slug of the mode.
    pub mode: &'a str,
    /// A profile, or a model's name.
    pub name: &'a str,
    /// Protocol of its server, as written.
    pub provider: Option<&'a str>,
    /// Where its provider's API starts.
    pub base_url: Option<&'a str>,
    /// Whether the mode runs without it.
    pub need: ModelRequirement,
    /// Who wrote it.
    pub written_by: SettingAuthor,
}

/// Whether a mode runs without the model it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelRequirement {
    /// It does not.
    Required,
    /// It does, on the run's own model, where no profile is meant.
    Preferred,
}

/// Chooses the model a mode asks for: the profile of that name, else the pointer of that name, else
/// the one profile whose model has that name (also without the provider before a `/`). Else it is a
/// model described by the request alone; `None` when that says nothing but a name.
///
/// # Errors
/// As [`resolve`]; an address that only the repository wrote is refused unless the user or the
/// catalogue knows its host.
pub fn resolve_requested(
    settings: &ModelSettings,
    facts: &ModelFacts<'_>,
    requested: RequestedModel<'_>,
) -> Result<Option<ChosenModel>, ProfileError> {
    let name = format!("mode {}", requested.mode);
    let mut from_repository = facts.from_repository.clone();
    if requested.written_by == SettingAuthor::Repository && requested.base_url.is_some() {
        from_repository.insert(format!("profiles.{name}.base_url"));
    }
    let facts = ModelFacts { from_repository: &from_repository, ..*facts };
    let resolver = ModelResolver::new(settings, &facts)?;
    if requested.base_url.is_none() {
        // A pointer's name means the pointer; one that says nothing means the run's own model.
        let pointer =
            settings.pointers.each().into_iter().find(|(pointer, _)| *pointer == requested.name);
        if let Some((pointer, names)) =
            pointer.filter(|_| !settings.profiles.contains_key(requested.name))
        {
            return resolver.pointed(pointer, names);
        }
        let plain = requested.name.rsplit('/').next().unwrap_or(requested.name);
        let is_meant = |(_, profile): &(&String, &Profile)| {
            profile.model == requested.name || profile.model == plain
        };
        let named = settings.profiles.get_key_value(requested.name);
        if let Some((name, profile)) = named.or_else(|| settings.profiles.iter().find(is_meant)) {
            return resolver.choose(name, profile).map(Some);
        }
    }
    if requested.need == ModelRequirement::Preferred {
        return Ok(None);
    }
    let provider = match requested.provider {
        None if requested.base_url.is_none() => resolver.inferred(requested.name).0,
        None => Provider::default(),
        Some(word) => Provider::named(word)
            .ok_or_else(|| wrong_profile(&name, format!("there is no provider `{word}`")))?,
    };
    let profile = Profile {
        provider,
        base_url: requested.base_url.map(str::to_owned),
        ..Profile::new(requested.name)
    };
    resolver.choose_as_written(&name, &profile).map(Some)
}

/// Chooses a profile by its name.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_named(
    settings: &ModelSettings,
    facts: &ModelFacts<'_>,
    name: &str,
) -> Result<ChosenModel, ProfileError> {
    ModelResolver::new(settings, facts)?.profile("expert", name)
}

/// Decides whether the key in `variable` may be sent to `url`. What a user wrote may go anywhere;
/// what the repository wrote only where the two are tied together.
pub(crate) fn key_may_go(
    variable: &str,
    url: &Url,
    written_by: SettingAuthor,
    tied: &BTreeSet<KeyOrigin>,
) -> bool {
    match written_by {
        SettingAuthor::Person => true,
        SettingAuthor::Repository => tied.contains(&(variable.to_owned(), origin(url))),
    }
}

/// Who wrote a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingAuthor {
    /// The user's configuration, the environment, a flag, or the program itself.
    Person,
    /// Configuration that a repository holds.
    Repository,
}

struct ModelResolver<'a> {
    settings: &'a ModelSettings,
    facts: &'a ModelFacts<'a>,
    catalogue: Catalogue,
    ties: TrustedOrigins,
}

/// What belongs together because a user or the catalogue said so.
struct TrustedOrigins {
    keys: BTreeSet<KeyOrigin>,
    /// Where requests may go even when the repository says so.
    origins: BTreeSet<String>,
}

impl<'a> ModelResolver<'a> {
    fn new(settings: &'a ModelSettings, facts: &'a ModelFacts<'a>) -> Result<Self, ProfileError> {
        let catalogue = Catalogue::built_in().map_err(ProfileError::Catalogue)?;
        let ties = ties(settings, facts, &catalogue);
        Ok(Self { settings, facts, catalogue, ties })
    }

    fn named(&self, name: &str) -> Result<ChosenModel, ProfileError> {
        if let Some(profile) = self.settings.profiles.get(name) {
            return self.choose(name, profile);
        }
        let (provider, model) = self.inferred(name);
        if model.trim().is_empty() {
            let provider = provider.as_str();
            let model = self.default_model(provider);
            return Err(ProfileError::NoModelName { name: name.to_owned(), provider, model });
        }
        self.choose_as_written(model, &Profile { provider, ..Profile::new(model) })
    }

    fn pointed(
        &self,
        pointer: &'static str,
        names: &Pointer,
    ) -> Result<Option<ChosenModel>, ProfileError> {
        let mut chosen = names.0.iter().map(|name| self.profile(pointer, name));
        let Some(first) = chosen.next() else { return Ok(None) };
        Ok(Some(ChosenModel { fallbacks: chosen.collect::<Result<_, _>>()?, ..first? }))
    }

    fn profile(&self, pointer: &'static str, name: &str) -> Result<ChosenModel, ProfileError> {
        match self.settings.profiles.get(name) {
            Some(profile) => self.choose(name, profile),
            None => {
                let near = nearest(name, self.settings.profiles.keys());
                Err(ProfileError::UnknownProfile { pointer, name: name.to_owned(), near })
            }
        }
    }

    fn only_profile(&self) -> Result<ChosenModel, ProfileError> {
        // One that embeds texts gives no replies.
        let embed = &self.settings.pointers.embed.0;
        let mut profiles = self.settings.profiles.iter().filter(|(name, _)| !embed.contains(name));
        match (profiles.next(), profiles.next()) {
            (None, _) => self.only_keys_model(),
            (Some((name, profile)), None) => self.choose(name, profile),
            (Some(_), Some(_)) => {
                let names: Vec<&str> = self.settings.profiles.keys().map(String::as_str).collect();
                Err(ProfileError::NoPointer(names.join(", ")))
            }
        }
    }

    fn choose(&self, name: &str, profile: &Profile) -> Result<ChosenModel, ProfileError> {
        self.choose_as_written(name, &self.of_its_maker(profile))
    }

    fn choose_as_written(
        &self,
        name: &str,
        profile: &Profile,
    ) -> Result<ChosenModel, ProfileError> {
        profile.check().map_err(|problem| wrong_profile(name, problem))?;
        let (limits, note) =
            guarded_limits(&self.catalogue, name, profile, self.facts.from_repository);
        let chosen = ChosenModel {
            name: name.to_owned(),
            profile: profile.clone(),
            key: None,
            key_variable: None,
            credential: None,
            limits,
            included_tools: self.catalogue.included_tools(profile),
            ways: HostWays::default(),
            proxy: None,
            fallbacks: Vec::new(),
            notes: note.into_iter().collect(),
        };
        match profile.provider.home() {
            Some(home) => self.at_host(chosen, home),
            None => Ok(chosen),
        }
    }

    /// Adds what a model needs that is asked over the network.
    fn at_host(&self, chosen: ChosenModel, home: ProviderApi) -> Result<ChosenModel, ProfileError> {
        let ChosenModel { name, profile, limits, .. } = &chosen;
        let incomplete = |problem| ProfileError::Credential { name: name.clone(), problem };
        let address = base_url(profile, home, self.facts.env).map_err(incomplete)?;
        let url = parse_base_url(name, &address)?;
        let origin = origin(&url);
        let not_tied = |what: String| Err(ProfileError::NotTied { name: name.clone(), what });
        let in_repository =
            |field: &str| self.facts.from_repository.contains(&format!("profiles.{name}.{field}"));
        let known = self.catalogue.host(url.host_str().unwrap_or_default());
        if in_repository("base_url") && !self.ties.origins.contains(&origin) {
            return not_tied(format!("send requests to `{origin}`"));
        }
        let written_by = if in_repository("base_url") || in_repository("api_key_env") {
            SettingAuthor::Repository
        } else {
            SettingAuthor::Person
        };
        let own = own_key(profile, home, &url, known, self.facts.env);
        let may_go = |variable: &str| key_may_go(variable, &url, written_by, &self.ties.keys);
        let is_set = |variable: &str| variable_value(self.facts.env, variable).is_some();
        // A job's identity stands in for the provider's own key, and goes where that might go.
        let stands_in = profile.api_key_env.is_none()
            && own.is_some_and(|own| own == home.key_variable && may_go(own) && !is_set(own));
        let credential = if stands_in {
            credentials::find(profile.provider, &url, self.facts.env).map_err(incomplete)?
        } else {
            None
        };
        let variable = match (&profile.api_key_env, own) {
            (Some(variable), _) if !may_go(variable) => {
                return not_tied(format!("send the key in `{variable}` to `{origin}`"));
            }
            (Some(variable), _) => Some(variable.clone()),
            (None, Some(own))
                if credential.is_none() && may_go(own) && (known.is_some() || is_set(own)) =>
            {
                Some(own.to_owned())
            }
            (None, Some(_) | None) => None,
        };
        let key = variable.as_deref().map(|variable| self.read_key(name, variable)).transpose()?;
        let has_key = key.is_some() || credential.is_some();
        let proxy = ProxySettings::find(self.facts.env, &url, has_key)
            .map_err(|problem| wrong_profile(name, problem))?;
        let more = notes(profile, limits, &url, has_key, &self.catalogue);
        let notes = chosen.notes.iter().cloned().chain(more).collect();
        let profile = Profile { base_url: Some(address), ..profile.clone() };
        let ways = known.cloned().unwrap_or_default();
        let key_variable = variable;
        Ok(ChosenModel { profile, key, key_variable, credential, ways, proxy, notes, ..chosen })
    }
}

fn wrong_profile(name: &str, problem: String) -> ProfileError {
    ProfileError::Profile { name: name.to_owned(), problem }
}

/// Returns the variable that holds the key of a profile which names none: that of a known host, or
/// the provider's for the place that its own variable names. Any other host gets a key only where
/// one is named for it.
fn own_key<'w>(
    profile: &Profile,
    home: ProviderApi,
    url: &Url,
    known: Option<&'w HostWays>,
    env: &BTreeMap<String, String>,
) -> Option<&'w str> {
    if profile.base_url.is_none()
        || moved_origin(home, env).is_some_and(|named| named == origin(url))
    {
        return Some(home.key_variable);
    }
    known.map(|ways| ways.key.as_str())
}

/// Returns the place the environment names for a provider.
fn moved_origin(home: ProviderApi, env: &BTreeMap<String, String>) -> Option<String> {
    variable_value(env, home.url_variable)
        .and_then(|text| Url::parse(text).ok())
        .map(|url| origin(&url))
}

/// Returns every tie that a user or the catalogue made.
fn ties(settings: &ModelSettings, facts: &ModelFacts<'_>, catalogue: &Catalogue) -> TrustedOrigins {
    let mut keys: BTreeSet<KeyOrigin> = catalogue
        .keys()
        .map(|(host, variable)| (variable.to_owned(), format!("https://{host}")))
        .collect();
    for home in Provider::ALL.into_iter().filter_map(Provider::home) {
        keys.extend(
            moved_origin(home, facts.env).map(|origin| (home.key_variable.to_owned(), origin)),
        );
    }
    let mut origins: BTreeSet<String> = keys.iter().map(|(_, origin)| origin.clone()).collect();
    for (name, profile) in &settings.profiles {
        let by_person =
            |field: &str| !facts.from_repository.contains(&format!("profiles.{name}.{field}"));
        let url = profile
            .base_url
            .as_deref()
            .filter(|_| by_person("base_url"))
            .and_then(|text| Url::parse(text).ok());
        if let Some(url) = url {
            origins.insert(origin(&url));
            let variable = profile.api_key_env.clone().filter(|_| by_person("api_key_env"));
            keys.extend(variable.map(|variable| (variable, origin(&url))));
        }
    }
    TrustedOrigins { keys, origins }
}

fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n String>) -> Option<String> {
    let limit = name.len() / 3 + 1;
    known
        .map(|near| (strsim::osa_distance(name, near), near))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, near)| near.clone())
}

#[cfg(test)]
mod tests;
