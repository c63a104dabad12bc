//! `resolve`: from settings and the environment to the two models of a run, each with the key it
//! may use.
//!
//! In: profiles, pointers, the environment as a map, the model asked for by flag, and which
//! settings the repository wrote. Out: two [`Chosen`] models or what is missing. A key goes only to
//! a host it is tied to: one a person named together with it (user configuration, environment,
//! flags) or the provider's own; a repository's configuration can tie nothing. It contacts nobody.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use crate::address::{self, is_loopback, origin};
use crate::catalogue::{Catalogue, HostWays, Limits};
use crate::profile::{Home, ModelSettings, Pointer, Profile, Provider};
use crate::proxy::Proxy;
use locum_base::secret::Secret;

/// The environment variable that names a profile or a model.
pub const MODEL_VARIABLE: &str = "LOCUM_MODEL";

/// What a choice of models depends on besides the settings.
#[derive(Clone, Copy, Debug)]
pub struct ModelFacts<'a> {
    /// The environment.
    pub env: &'a BTreeMap<String, String>,
    /// A profile or model asked for by flag or input: stronger than everything else.
    pub asked: Option<&'a str>,
    /// The settings whose value the repository's configuration gave, as dotted paths below
    /// `models`: `profiles.fast.base_url`.
    pub from_repository: &'a BTreeSet<String>,
}

/// The models of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// For the root task.
    pub main: Chosen,
    /// For sub-tasks; equal to `main` unless a pointer says otherwise.
    pub task: Chosen,
    /// The other pointers that say something, by name; but for `image`, which nothing waits for.
    pub others: BTreeMap<&'static str, Chosen>,
    /// Who draws pictures, or why nobody does; `None` where the pointer says nothing.
    pub image: Option<Result<Chosen, ProfileError>>,
}

/// One model that is ready to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The profile's name; the model's name where there is no profile.
    pub name: String,
    /// The profile, its `base_url` filled in.
    pub profile: Profile,
    /// The key, where the host needs one.
    pub key: Option<Secret>,
    /// What the model can take and what it costs.
    pub limits: Limits,
    /// What the host differs in.
    pub ways: HostWays,
    /// The proxy that stands before its host.
    pub proxy: Option<Proxy>,
    /// The models that stand in for it, in order.
    pub spares: Vec<Chosen>,
    /// What a person should know: a guessed window, a missing price, a key that travels in the
    /// clear.
    pub notes: Vec<String>,
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing names a model.
    #[error("no model is configured")]
    NoModel,
    /// Several profiles and nothing that chooses one.
    #[error("several models are configured ({0}) and no pointer says which one to use")]
    NoPointer(String),
    /// A pointer names a profile that is not there.
    #[error("`models.pointers.{pointer}` names the profile `{name}`, which does not exist")]
    UnknownProfile {
        /// The pointer.
        pointer: &'static str,
        /// What it names.
        name: String,
        /// The profile that was probably meant.
        near: Option<String>,
    },
    /// The variable that should hold the key is not there or empty.
    #[error(
        "model `{name}`: the environment variable `{variable}`, which should hold the key, is \
         {state}"
    )]
    NoKey {
        /// The profile or model.
        name: String,
        /// The variable.
        variable: String,
        /// `not set`, `empty` or what else is wrong with it.
        state: &'static str,
    },
    /// An address that is none.
    #[error("model `{name}`: `base_url` `{url}` {problem}")]
    BaseUrl {
        /// The profile or model.
        name: String,
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The repository's configuration would send requests or a key to a host nobody tied them to.
    #[error("model `{name}`: the repository's configuration may not {what}")]
    NotTied {
        /// The profile or model.
        name: String,
        /// What it tried.
        what: String,
    },
    /// A number outside its range, a header that is not allowed.
    #[error("model `{name}`: {problem}")]
    Profile {
        /// The profile or model.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The compiled-in catalogue is broken.
    #[error("{0}")]
    Catalogue(String),
}

impl ProfileError {
    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoModel => format!(
                "set OPENAI_API_KEY and {MODEL_VARIABLE} in the environment (OPENAI_BASE_URL too \
                 for a server other than OpenAI's; {MODEL_VARIABLE}=anthropic:MODEL and \
                 ANTHROPIC_API_KEY for Anthropic's), or describe a profile under \
                 `models.profiles` in the configuration"
            ),
            Self::NoPointer(_) => {
                format!("set `models.pointers.main`, `--model` or {MODEL_VARIABLE} to one of them")
            }
            Self::UnknownProfile { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::UnknownProfile { near: None, .. } => {
                "describe it under `models.profiles`, or take the pointer out".to_owned()
            }
            Self::NoKey { variable, .. } => {
                format!(
                    "set {variable}; in a workflow: `env: {{ {variable}: ${{{{ secrets.{variable} \
                     }}}} }}`, from a secret that exists"
                )
            }
            Self::BaseUrl { .. } => {
                "give the address the API starts at, such as `https://api.openai.com/v1`".to_owned()
            }
            Self::NotTied { .. } => "name host and key variable together in the user \
                                     configuration, or set OPENAI_BASE_URL and OPENAI_API_KEY in \
                                     the environment: a repository can use hosts and keys a \
                                     person tied together, and the providers' own"
                .to_owned(),
            Self::Profile { .. } => "correct the profile".to_owned(),
            Self::Catalogue(_) => "this is a bug: please report it".to_owned(),
        }
    }
}

/// Chooses the models of a run.
///
/// The root task's is the one asked for by flag, else by `LOCUM_MODEL`, else by `pointers.main`,
/// else the only profile there is. A name that is no profile, given by flag or variable, is a model
/// at `OPENAI_BASE_URL` (or OpenAI) with the key in `OPENAI_API_KEY`, or at the provider named
/// before a colon: `anthropic:claude-opus-5`.
///
/// # Errors
/// When no model is configured, a pointer dangles, a key is missing or may not go where it would.
pub fn resolve(settings: &ModelSettings, facts: &ModelFacts<'_>) -> Result<Resolved, ProfileError> {
    let catalogue = Catalogue::built_in().map_err(ProfileError::Catalogue)?;
    let chooser =
        Chooser { settings, facts, catalogue: &catalogue, ties: ties(settings, facts, &catalogue) };
    let main = match facts
        .asked
        .filter(|name| !name.trim().is_empty())
        .or_else(|| variable_value(facts.env, MODEL_VARIABLE))
    {
        Some(name) => chooser.named(name.trim())?,
        None => match chooser.pointed("main", &settings.pointers.main)? {
            Some(chosen) => chosen,
            None => chooser.only_profile()?,
        },
    };
    let task = chooser.pointed("task", &settings.pointers.task)?.unwrap_or_else(|| main.clone());
    let mut others = BTreeMap::new();
    for (pointer, names) in settings
        .pointers
        .each()
        .into_iter()
        .filter(|(pointer, _)| !matches!(*pointer, "main" | "task" | "image"))
    {
        others.extend(chooser.pointed(pointer, names)?.map(|chosen| (pointer, chosen)));
    }
    Ok(Resolved { main, task, others, image: chooser.painter().transpose() })
}

/// A key's variable and the origin (scheme, host, port) it belongs to.
type Tie = (String, String);

/// A model that a mode asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// The mode's slug.
    pub mode: &'a str,
    /// A profile, or a model's name.
    pub name: &'a str,
    /// Whose protocol it speaks, as written.
    pub provider: Option<&'a str>,
    /// Where its provider's API starts.
    pub base_url: Option<&'a str>,
    /// Whether the mode runs without it.
    pub need: Need,
    /// Who wrote it.
    pub written_by: Author,
}

/// Whether a mode runs without the model it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It does not.
    Required,
    /// It does, on the run's own model, where no profile is meant.
    Preferred,
}

/// Chooses the model a mode asks for: the profile of that name, else the pointer of that name, else
/// the one profile whose model has that name (also without the provider before a `/`), else a model
/// described by the wish alone. `None` when nothing but a wish stands behind the name.
///
/// # Errors
/// As [`resolve`]; an address that only the repository wrote is refused unless a person or the
/// catalogue knows its host.
pub fn resolve_wish(
    settings: &ModelSettings,
    facts: &ModelFacts<'_>,
    wish: Wish<'_>,
) -> Result<Option<Chosen>, ProfileError> {
    let catalogue = Catalogue::built_in().map_err(ProfileError::Catalogue)?;
    let name = format!("mode {}", wish.mode);
    let mut from_repository = facts.from_repository.clone();
    if wish.written_by == Author::Repository && wish.base_url.is_some() {
        from_repository.insert(format!("profiles.{name}.base_url"));
    }
    let facts = ModelFacts { from_repository: &from_repository, ..*facts };
    let chooser = Chooser {
        settings,
        facts: &facts,
        catalogue: &catalogue,
        ties: ties(settings, &facts, &catalogue),
    };
    if wish.base_url.is_none() {
        // A pointer's name means the pointer; one that says nothing means the run's own model.
        let pointer =
            settings.pointers.each().into_iter().find(|(pointer, _)| *pointer == wish.name);
        if let Some((pointer, names)) =
            pointer.filter(|_| !settings.profiles.contains_key(wish.name))
        {
            return chooser.pointed(pointer, names);
        }
        let plain = wish.name.rsplit('/').next().unwrap_or(wish.name);
        let is_meant = |(_, profile): &(&String, &Profile)| {
            profile.model == wish.name || profile.model == plain
        };
        let named = settings.profiles.get_key_value(wish.name);
        if let Some((name, profile)) = named.or_else(|| settings.profiles.iter().find(is_meant)) {
            return chooser.choose(name, profile).map(Some);
        }
    }
    if wish.need == Need::Preferred {
        return Ok(None);
    }
    let provider = match wish.provider {
        None => Provider::default(),
        Some(word) => serde_json::from_value(serde_json::Value::from(word)).map_err(|_| {
            ProfileError::Profile {
                name: name.clone(),
                problem: format!("there is no provider `{word}`"),
            }
        })?,
    };
    let profile =
        Profile { provider, base_url: wish.base_url.map(str::to_owned), ..Profile::new(wish.name) };
    chooser.choose(&name, &profile).map(Some)
}

/// Chooses a profile by its name.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_named(
    settings: &ModelSettings,
    facts: &ModelFacts<'_>,
    name: &str,
) -> Result<Chosen, ProfileError> {
    let catalogue = Catalogue::built_in().map_err(ProfileError::Catalogue)?;
    let chooser =
        Chooser { settings, facts, catalogue: &catalogue, ties: ties(settings, facts, &catalogue) };
    chooser.profile("expert", name)
}

/// Decides whether the key in `variable` may be sent to `url`. What a person wrote may go anywhere;
/// what the repository wrote only where the two are tied together.
#[must_use]
pub fn key_may_go(variable: &str, url: &Url, written_by: Author, tied: &BTreeSet<Tie>) -> bool {
    match written_by {
        Author::Person => true,
        Author::Repository => tied.contains(&(variable.to_owned(), origin(url))),
    }
}

/// Who wrote a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The user's configuration, the environment, a flag, or the program itself.
    Person,
    /// The repository's configuration.
    Repository,
}

struct Chooser<'a> {
    settings: &'a ModelSettings,
    facts: &'a ModelFacts<'a>,
    catalogue: &'a Catalogue,
    ties: Ties,
}

/// What belongs together because a person or the catalogue said so.
struct Ties {
    keys: BTreeSet<Tie>,
    /// Where requests may go even when the repository says so.
    origins: BTreeSet<String>,
}

impl Chooser<'_> {
    fn named(&self, name: &str) -> Result<Chosen, ProfileError> {
        if let Some(profile) = self.settings.profiles.get(name) {
            return self.choose(name, profile);
        }
        let (provider, model) = Provider::before(name);
        self.choose(model, &Profile { provider, ..Profile::new(model) })
    }

    fn pointed(
        &self,
        pointer: &'static str,
        names: &Pointer,
    ) -> Result<Option<Chosen>, ProfileError> {
        let mut chosen = names.0.iter().map(|name| self.profile(pointer, name));
        let Some(first) = chosen.next() else { return Ok(None) };
        Ok(Some(Chosen { spares: chosen.collect::<Result<_, _>>()?, ..first? }))
    }

    fn profile(&self, pointer: &'static str, name: &str) -> Result<Chosen, ProfileError> {
        match self.settings.profiles.get(name) {
            Some(profile) => self.choose(name, profile),
            None => {
                let near = nearest(name, self.settings.profiles.keys());
                Err(ProfileError::UnknownProfile { pointer, name: name.to_owned(), near })
            }
        }
    }

    /// Chooses who draws pictures: a protocol in which no picture can be given is refused.
    fn painter(&self) -> Result<Option<Chosen>, ProfileError> {
        let chosen = self.pointed("image", &self.settings.pointers.image)?;
        let every = chosen.iter().flat_map(|first| std::iter::once(first).chain(&first.spares));
        match every.into_iter().find(|chosen| !chosen.profile.provider.gives_images()) {
            Some(Chosen { name, profile, .. }) => {
                let problem = format!(
                    "`pointers.image` names it, and no model gives pictures by `provider: {}`",
                    profile.provider.as_str()
                );
                Err(ProfileError::Profile { name: name.clone(), problem })
            }
            None => Ok(chosen),
        }
    }

    fn only_profile(&self) -> Result<Chosen, ProfileError> {
        let mut profiles = self.settings.profiles.iter();
        match (profiles.next(), profiles.next()) {
            (None, _) => Err(ProfileError::NoModel),
            (Some((name, profile)), None) => self.choose(name, profile),
            (Some(_), Some(_)) => {
                let names: Vec<&str> = self.settings.profiles.keys().map(String::as_str).collect();
                Err(ProfileError::NoPointer(names.join(", ")))
            }
        }
    }

    fn choose(&self, name: &str, profile: &Profile) -> Result<Chosen, ProfileError> {
        profile
            .check()
            .map_err(|problem| ProfileError::Profile { name: name.to_owned(), problem })?;
        match profile.provider.home() {
            Some(home) => self.choose_host(name, profile, home),
            None => {
                let limits = self.catalogue.limits(profile);
                Ok(Chosen {
                    name: name.to_owned(),
                    profile: profile.clone(),
                    key: None,
                    limits,
                    ways: HostWays::default(),
                    proxy: None,
                    spares: Vec::new(),
                    notes: Vec::new(),
                })
            }
        }
    }

    fn choose_host(
        &self,
        name: &str,
        profile: &Profile,
        home: Home,
    ) -> Result<Chosen, ProfileError> {
        let address = base_url(profile, home, self.facts.env);
        let url = parse_base_url(name, &address)?;
        let host = url.host_str().unwrap_or_default();
        let author = |field: &str| {
            let written = self.facts.from_repository.contains(&format!("profiles.{name}.{field}"));
            if written { Author::Repository } else { Author::Person }
        };
        let known = self.catalogue.host(host);
        if author("base_url") == Author::Repository && !self.ties.origins.contains(&origin(&url)) {
            return Err(ProfileError::NotTied {
                name: name.to_owned(),
                what: format!("send requests to `{}`", origin(&url)),
            });
        }
        let from_repository =
            author("base_url") == Author::Repository || author("api_key_env") == Author::Repository;
        let written_by = if from_repository { Author::Repository } else { Author::Person };
        let own = own_key(profile, home, &url, known, self.facts.env);
        let key = match (&profile.api_key_env, own) {
            (Some(variable), _) if !key_may_go(variable, &url, written_by, &self.ties.keys) => {
                let what = format!("send the key in `{variable}` to `{}`", origin(&url));
                return Err(ProfileError::NotTied { name: name.to_owned(), what });
            }
            (Some(variable), _) => Some(read_key(name, self.facts.env, variable)?),
            (None, Some(own)) if !key_may_go(own, &url, written_by, &self.ties.keys) => None,
            (None, Some(own))
                if known.is_some() || variable_value(self.facts.env, own).is_some() =>
            {
                Some(read_key(name, self.facts.env, own)?)
            }
            (None, Some(_) | None) => None,
        };
        let proxy = Proxy::find(self.facts.env, &url, key.is_some());
        let proxy =
            proxy.map_err(|problem| ProfileError::Profile { name: name.to_owned(), problem })?;
        let limits = self.catalogue.limits(profile);
        let notes = notes(profile, &limits, &url, key.is_some(), self.catalogue);
        let profile = Profile { base_url: Some(address), ..profile.clone() };
        let ways = known.cloned().unwrap_or_default();
        Ok(Chosen {
            name: name.to_owned(),
            profile,
            key,
            limits,
            ways,
            proxy,
            spares: Vec::new(),
            notes,
        })
    }
}

/// Returns the variable that holds the key of a profile which names none: that of a known host, or
/// the provider's for the place that its own variable names. Any other host gets a key only where
/// one is named for it.
fn own_key<'w>(
    profile: &Profile,
    home: Home,
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
fn moved_origin(home: Home, env: &BTreeMap<String, String>) -> Option<String> {
    variable_value(env, home.url_variable)
        .and_then(|text| Url::parse(text).ok())
        .map(|url| origin(&url))
}

/// Returns every tie that a person or the catalogue made.
fn ties(settings: &ModelSettings, facts: &ModelFacts<'_>, catalogue: &Catalogue) -> Ties {
    let mut keys: BTreeSet<Tie> = catalogue
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
    Ties { keys, origins }
}

/// Returns the profile's address; where it names none, the place the environment names for the
/// provider, for profiles that use the provider's key, or the provider's own.
fn base_url(profile: &Profile, home: Home, env: &BTreeMap<String, String>) -> String {
    let own_key = profile.api_key_env.as_deref().is_none_or(|name| name == home.key_variable);
    let from_env = variable_value(env, home.url_variable).filter(|_| own_key);
    profile.base_url.as_deref().or(from_env).unwrap_or(home.url).trim().to_owned()
}

fn parse_base_url(name: &str, address: &str) -> Result<Url, ProfileError> {
    let fault = |problem: String| ProfileError::BaseUrl {
        name: name.to_owned(),
        url: address::shown(address),
        problem,
    };
    let url = Url::parse(address).map_err(|err| fault(format!("is not an address: {err}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fault(format!(
            "has the scheme `{}`; only http and https are spoken",
            url.scheme()
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(fault(
            "holds a user name or password; a key belongs in an environment variable".to_owned(),
        ));
    }
    if url.fragment().is_some() {
        return Err(fault("has a `#` part, which no server sees".to_owned()));
    }
    Ok(url)
}

fn read_key(
    name: &str,
    env: &BTreeMap<String, String>,
    variable: &str,
) -> Result<Secret, ProfileError> {
    let fault =
        |state| ProfileError::NoKey { name: name.to_owned(), variable: variable.to_owned(), state };
    let value = env.get(variable).ok_or_else(|| fault("not set"))?.trim();
    if value.is_empty() {
        return Err(fault("empty"));
    }
    if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(fault("not a key: it holds blanks or other characters no key has"));
    }
    Ok(Secret::new(value))
}

fn notes(
    profile: &Profile,
    limits: &Limits,
    url: &Url,
    has_key: bool,
    catalogue: &Catalogue,
) -> Vec<String> {
    let mut notes = Vec::new();
    if limits.guessed {
        notes.push(format!(
            "model `{}` is not in the catalogue of {}: its window is taken to be {} tokens; set \
             `context_window` in its profile",
            profile.model, catalogue.date, limits.context_window
        ));
    }
    if limits.price.is_none() {
        notes.push(format!(
            "model `{}` has no known price: its cost counts as 0; set `price` in its profile",
            profile.model
        ));
    }
    if !has_key && !is_loopback(url) {
        notes.push(format!(
            "no key is sent to `{}`; if it needs one, name its variable in the profile's \
             `api_key_env`",
            origin(url)
        ));
    }
    if has_key && url.scheme() == "http" && !is_loopback(url) {
        notes.push(format!(
            "the key travels to `{}` unencrypted, and through no proxy",
            origin(url)
        ));
    }
    notes
}

/// Returns the value of a variable that is set to something.
fn variable_value<'e>(env: &'e BTreeMap<String, String>, name: &str) -> Option<&'e str> {
    env.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
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
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pretty_assertions::assert_eq;

    use super::{
        Author, Chosen, ModelFacts, Need, ProfileError, Provider, Resolved, Wish, resolve,
        resolve_wish,
    };
    use crate::profile::ModelSettings;

    const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

    struct Case<'a> {
        settings: &'a str,
        env: &'a [(&'a str, &'a str)],
        asked: Option<&'a str>,
        from_repository: &'a [&'a str],
    }

    const NOTHING: Case<'static> =
        Case { settings: "{}", env: &[], asked: None, from_repository: &[] };

    impl Case<'_> {
        fn run(&self) -> Result<Resolved, ProfileError> {
            let settings: ModelSettings = serde_yaml::from_str(self.settings).unwrap();
            let env: BTreeMap<String, String> =
                self.env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            let from_repository: BTreeSet<String> =
                self.from_repository.iter().map(|name| (*name).into()).collect();
            resolve(
                &settings,
                &ModelFacts { env: &env, asked: self.asked, from_repository: &from_repository },
            )
        }

        /// Name, address and key of the root task's model.
        fn main(&self) -> (String, String, Option<String>) {
            let main = self.run().unwrap().main;
            (main.name, main.profile.base_url.unwrap(), main.key.map(|key| key.expose().to_owned()))
        }

        fn fault(&self) -> String {
            let err = self.run().unwrap_err();
            format!("{err}; {}", err.hint())
        }
    }

    fn chosen(name: &str, url: &str, key: Option<&str>) -> (String, String, Option<String>) {
        (name.into(), url.into(), key.map(str::to_owned))
    }

    #[test]
    fn a_key_goes_to_no_host_that_only_the_repository_names() {
        // A host nobody tied anything to, and one that another key belongs to.
        for (host, variable, refused) in [
            (
                "https://evil.example/v1",
                "OPENAI_API_KEY",
                "send requests to `https://evil.example`",
            ),
            (
                OPENAI_BASE_URL,
                "DEPLOY_TOKEN",
                "send the key in `DEPLOY_TOKEN` to `https://api.openai.com`",
            ),
        ] {
            let settings = format!(
                "{{profiles: {{p: {{model: m, base_url: '{host}', api_key_env: {variable}}}}}, \
                 pointers: {{main: p}}}}"
            );
            let env = [(variable, "the-key")];
            let from_repository = ["profiles.p.base_url", "profiles.p.api_key_env"];
            let by_a_person = Case { settings: &settings, env: &env, ..NOTHING };
            assert_eq!(by_a_person.main(), chosen("p", host, Some("the-key")));
            let by_the_repository = Case { from_repository: &from_repository, ..by_a_person };
            let Err(ProfileError::NotTied { what, .. }) = by_the_repository.run() else {
                panic!("{host} gets the key")
            };
            assert_eq!(what, refused);
        }
    }

    #[test]
    fn a_mode_gets_the_model_it_asks_for_and_no_key_goes_where_only_the_repository_says() {
        let settings = "{profiles: {fast: {model: small}, big: {model: opus-4, base_url: 'https://tied.example/v1', api_key_env: TIED_KEY}}, pointers: {main: fast}}";
        let settings: ModelSettings = serde_json::from_value(
            locum_files::yaml::Document::parse(settings).root.unwrap().to_json(),
        )
        .unwrap();
        let env: BTreeMap<String, String> = [("OPENAI_API_KEY", "sk-1"), ("TIED_KEY", "sk-2")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let nothing = BTreeSet::new();
        let facts = ModelFacts { env: &env, asked: None, from_repository: &nothing };
        let found = |name: &str, base_url: Option<&str>, need: Need, written_by: Author| {
            let wish = Wish { mode: "m", name, provider: None, base_url, need, written_by };
            resolve_wish(&settings, &facts, wish).map(|chosen| {
                chosen.map(|chosen| {
                    (
                        chosen.profile.model.clone(),
                        chosen.profile.base_url.clone().unwrap(),
                        chosen.key.is_some(),
                    )
                })
            })
        };
        let model = |name: &str, url: &str, has_key: bool| {
            Ok(Some((name.to_owned(), url.to_owned(), has_key)))
        };
        let (repository, person) = (Author::Repository, Author::Person);
        assert_eq!(
            found("fast", None, Need::Preferred, repository),
            model("small", OPENAI_BASE_URL, true)
        );
        assert_eq!(
            found("anthropic/opus-4", None, Need::Preferred, repository),
            model("opus-4", "https://tied.example/v1", true)
        );
        assert_eq!(found("sonnet", None, Need::Preferred, repository), Ok(None));
        assert_eq!(
            found("new", None, Need::Required, repository),
            model("new", OPENAI_BASE_URL, true)
        );
        for need in [Need::Required, Need::Preferred] {
            let refused = found("new", Some("https://evil.example/v1"), Need::Required, repository);
            assert!(matches!(refused, Err(ProfileError::NotTied { .. })), "{need:?}: {refused:?}");
        }
        assert_eq!(
            found("new", Some("https://tied.example/v2"), Need::Required, repository),
            model("new", "https://tied.example/v2", false)
        );
        assert_eq!(
            found("new", Some("https://own.example/v1"), Need::Required, person),
            model("new", "https://own.example/v1", false)
        );
        let wish = Wish {
            mode: "m",
            name: "x",
            provider: Some("telepathy"),
            base_url: None,
            need: Need::Required,
            written_by: person,
        };
        assert!(
            resolve_wish(&settings, &facts, wish)
                .unwrap_err()
                .to_string()
                .contains("there is no provider `telepathy`")
        );
    }

    #[test]
    fn three_variables_are_enough() {
        let env = &[
            ("OPENAI_API_KEY", "sk-1"),
            ("OPENAI_BASE_URL", "https://llm.example/v1"),
            ("LOCUM_MODEL", "big"),
        ];
        assert_eq!(
            Case { env, ..NOTHING }.main(),
            chosen("big", "https://llm.example/v1", Some("sk-1"))
        );
        assert_eq!(
            Case { env: &[env[0], env[2]], ..NOTHING }.main(),
            chosen("big", "https://api.openai.com/v1", Some("sk-1"))
        );
        assert_eq!(
            Case { env: &[env[1], env[2]], ..NOTHING }.main(),
            chosen("big", "https://llm.example/v1", None)
        );
        let known = &[
            ("OPENAI_API_KEY", "sk-1"),
            ("OPENAI_BASE_URL", "https://openrouter.ai/api/v1"),
            ("LOCUM_MODEL", "big"),
        ];
        assert_eq!(
            Case { env: known, ..NOTHING }.main(),
            chosen("big", "https://openrouter.ai/api/v1", Some("sk-1"))
        );
    }

    #[test]
    fn each_provider_has_its_own_place_and_key() {
        let env = &[
            ("OPENAI_API_KEY", "sk-1"),
            ("OPENAI_BASE_URL", "https://llm.example/v1"),
            ("ANTHROPIC_API_KEY", "ant-1"),
        ];
        let asked = Case { env, asked: Some("anthropic:claude-opus-5"), ..NOTHING };
        assert_eq!(
            asked.main(),
            chosen("claude-opus-5", "https://api.anthropic.com/v1", Some("ant-1"))
        );
        let settings = "{ profiles: { deep: { provider: anthropic, model: claude-opus-5 } } }";
        assert_eq!(
            Case { settings, env, ..NOTHING }.main(),
            chosen("deep", "https://api.anthropic.com/v1", Some("ant-1"))
        );
        let moved = &[env[0], env[2], ("ANTHROPIC_BASE_URL", "https://gate.example")];
        assert_eq!(
            Case { settings, env: moved, ..NOTHING }.main(),
            chosen("deep", "https://gate.example", Some("ant-1"))
        );
        assert!(Case { settings, env: &env[..2], ..NOTHING }.fault().contains("ANTHROPIC_API_KEY"));
        let tagged = Case { env, asked: Some("llama3:8b"), ..NOTHING };
        assert_eq!(tagged.main().0, "llama3:8b");
        let stolen = "{ profiles: { deep: { provider: anthropic, model: a, base_url: \
             'https://evil.example' } } }";
        let stolen = Case {
            settings: stolen,
            env,
            asked: None,
            from_repository: &["profiles.deep.base_url"],
        };
        assert!(matches!(stolen.run(), Err(ProfileError::NotTied { .. })));
    }

    #[test]
    fn names_what_is_missing() {
        let two = "{ profiles: { fast: { model: a }, slow: { model: b } } }";
        for (case, words) in [
            (
                NOTHING,
                "no model is configured; set OPENAI_API_KEY and LOCUM_MODEL in the environment (OPENAI_BASE_URL too",
            ),
            (Case { env: &[("LOCUM_MODEL", " ")], ..NOTHING }, "no model is configured"),
            (
                Case { env: &[("LOCUM_MODEL", "gpt-5")], ..NOTHING },
                "`OPENAI_API_KEY`, which should hold the key, is not set",
            ),
            (
                Case { env: &[("LOCUM_MODEL", "gpt-5"), ("OPENAI_API_KEY", "")], ..NOTHING },
                "is empty; set OPENAI_API_KEY",
            ),
            (
                Case { env: &[("LOCUM_MODEL", "gpt-5"), ("OPENAI_API_KEY", "a b")], ..NOTHING },
                "is not a key",
            ),
            (Case { settings: two, ..NOTHING }, "several models are configured (fast, slow)"),
            (
                Case {
                    settings: "{ profiles: { fast: { model: a } }, pointers: { main: fats } }",
                    ..NOTHING
                },
                "`fats`, which does not exist; did you mean `fast`?",
            ),
            (
                Case {
                    settings: "{ profiles: { fast: { model: a, api_key_env: MINE, base_url: 'http://x.example' } } }",
                    ..NOTHING
                },
                "`MINE`, which should",
            ),
            (
                Case {
                    settings: "{ profiles: { fast: { model: a, base_url: 'ftp://x' } } }",
                    ..NOTHING
                },
                "only http and https",
            ),
            (
                Case {
                    settings: "{ profiles: { fast: { model: a, base_url: 'x/v1' } } }",
                    ..NOTHING
                },
                "is not an address",
            ),
            (
                Case {
                    settings: "{ profiles: { fast: { model: a, base_url: 'https://u:secret@x' } } }",
                    ..NOTHING
                },
                "https://***@x",
            ),
            (
                Case {
                    settings: "{ profiles: { fast: { model: a, temperature: 9 } } }",
                    ..NOTHING
                },
                "`temperature` is outside",
            ),
            (
                Case {
                    settings: "{ profiles: { fast: { model: a, headers: { Authorization: x } } } }",
                    ..NOTHING
                },
                "may not set `Authorization`",
            ),
            (
                Case { settings: "{ profiles: { fast: { model: '' } } }", ..NOTHING },
                "`model` is empty",
            ),
        ] {
            let fault = case.fault();
            assert!(
                fault.contains(words) && !fault.contains("secret@"),
                "{fault}\nshould say {words}"
            );
        }
    }

    #[test]
    fn the_strongest_word_chooses() {
        let settings = "{ profiles: { fast: { model: a, base_url: 'http://localhost:1' }, slow: { model: b, base_url: 'http://localhost:2' } }, \
                        pointers: { main: slow, task: fast } }";
        let names = |case: Case<'_>| {
            case.run().map(|resolved| (resolved.main.name, resolved.task.name)).unwrap()
        };
        assert_eq!(names(Case { settings, ..NOTHING }), ("slow".into(), "fast".into()));
        assert_eq!(
            names(Case { settings, env: &[("LOCUM_MODEL", "fast")], ..NOTHING }),
            ("fast".into(), "fast".into())
        );
        assert_eq!(
            names(Case {
                settings,
                env: &[("LOCUM_MODEL", "fast")],
                asked: Some("slow"),
                ..NOTHING
            }),
            ("slow".into(), "fast".into())
        );
        let one = "{ profiles: { only: { model: a, provider: scripted } } }";
        assert_eq!(names(Case { settings: one, ..NOTHING }), ("only".into(), "only".into()));
    }

    #[test]
    fn a_pointer_names_one_model_or_several() {
        let settings = "{ profiles: { a: { model: x, provider: scripted }, b: { model: y, \
                        provider: scripted } }, pointers: { main: [a, b], task: b, quick: [b] } }";
        let resolved = Case { settings, ..NOTHING }.run().unwrap();
        let names = |chosen: &Chosen| {
            [
                &[chosen.name.clone()][..],
                &chosen.spares.iter().map(|spare| spare.name.clone()).collect::<Vec<_>>(),
            ]
            .concat()
        };
        assert_eq!(
            (names(&resolved.main), names(&resolved.task)),
            (vec!["a".to_owned(), "b".into()], vec!["b".to_owned()])
        );
        assert_eq!(
            resolved
                .others
                .iter()
                .map(|(pointer, chosen)| (*pointer, names(chosen)))
                .collect::<Vec<_>>(),
            [("quick", vec!["b".into()])]
        );
        let asked = Case { settings, asked: Some("a"), ..NOTHING }.run().unwrap();
        assert_eq!(names(&asked.main), ["a"], "who is asked for by flag has nobody to stand in");
        let dangling = "{ profiles: { fast: { model: a, provider: scripted } }, pointers: { main: \
                        [fast, fats] } }";
        assert!(Case { settings: dangling, ..NOTHING }.fault().contains("did you mean `fast`?"));
        let settings: ModelSettings = serde_yaml::from_str(settings).unwrap();
        let (env, nothing) = (BTreeMap::new(), BTreeSet::new());
        let facts = ModelFacts { env: &env, asked: None, from_repository: &nothing };
        let wish = |name| Wish {
            mode: "m",
            name,
            provider: None,
            base_url: None,
            need: Need::Required,
            written_by: Author::Person,
        };
        let found = |name| {
            resolve_wish(&settings, &facts, wish(name)).unwrap().map(|chosen| names(&chosen))
        };
        assert_eq!(
            (found("main"), found("quick"), found("reasoning")),
            (Some(vec!["a".into(), "b".into()]), Some(vec!["b".into()]), None)
        );
    }

    #[test]
    fn a_host_nobody_named_a_key_for_gets_none() {
        let env = &[("OPENAI_API_KEY", "sk-1")];
        let settings = "{ profiles: { own: { model: a, base_url: 'https://own.example/v1' } } }";
        assert_eq!(
            Case { settings, env, ..NOTHING }.main(),
            chosen("own", "https://own.example/v1", None)
        );
        assert!(
            Case { settings, env, ..NOTHING }
                .run()
                .unwrap()
                .main
                .notes
                .join(" ")
                .contains("no key is sent to `https://own.example`")
        );
        let named = "{ profiles: { own: { model: a, base_url: 'https://own.example/v1', \
                     api_key_env: OPENAI_API_KEY } } }";
        assert_eq!(Case { settings: named, env, ..NOTHING }.main().2, Some("sk-1".into()));
        let by_env = &[env[0], ("OPENAI_BASE_URL", "https://own.example/other")];
        assert_eq!(Case { settings, env: by_env, ..NOTHING }.main().2, Some("sk-1".into()));
    }

    #[test]
    fn a_known_host_gets_its_own_key() {
        let settings = "{ profiles: { deep: { model: a, base_url: 'https://api.deepseek.com' } } }";
        let env = &[("OPENAI_API_KEY", "sk-1"), ("DEEPSEEK_API_KEY", "ds-1")];
        assert_eq!(
            Case { settings, env, ..NOTHING }.main(),
            chosen("deep", "https://api.deepseek.com", Some("ds-1"))
        );
        assert!(Case { settings, env: &env[..1], ..NOTHING }.fault().contains("DEEPSEEK_API_KEY"));
    }

    #[test]
    fn a_repository_sends_keys_only_where_they_belong() {
        let case = |url: &str, key: &str, env: &[(&str, &str)], extra: &str| {
            let settings = format!(
                "{{ profiles: {{ p: {{ model: a, base_url: '{url}'{key} }}{extra} }}, pointers: \
                 {{ main: p }} }}"
            );
            let from_repository = if key.is_empty() {
                &["profiles.p.base_url"][..]
            } else {
                &["profiles.p.base_url", "profiles.p.api_key_env"]
            };
            Case { settings: &settings, env, asked: None, from_repository }
                .run()
                .map(|resolved| resolved.main.key.map(|key| key.expose().to_owned()))
        };
        let env = &[
            ("OPENAI_API_KEY", "sk-1"),
            ("GITHUB_TOKEN", "gh-1"),
            ("MINE", "m-1"),
            ("OPENAI_BASE_URL", "https://gate.example/v1"),
        ];
        let person = ", mine: { model: b, base_url: 'https://own.example', api_key_env: MINE }";
        for (url, key, extra, sent) in [
            ("https://api.openai.com/v1", "", "", Some("sk-1")),
            ("https://models.github.ai/inference", ", api_key_env: GITHUB_TOKEN", "", Some("gh-1")),
            ("https://gate.example/other", "", "", Some("sk-1")),
            ("https://own.example/v2", ", api_key_env: MINE", person, Some("m-1")),
            ("https://own.example/v2", "", person, None),
        ] {
            assert_eq!(case(url, key, env, extra), Ok(sent.map(str::to_owned)), "{url}{key}");
        }
        for (url, key, extra) in [
            ("https://evil.example/v1", "", ""),
            ("http://localhost:11434/v1", "", ""),
            ("http://api.openai.com/v1", "", ""),
            ("https://api.openai.com:8443/v1", "", ""),
            ("https://api.openai.com.evil.example/v1", "", ""),
            ("https://api.openai.com/v1", ", api_key_env: GITHUB_TOKEN", ""),
            ("https://own.example/v2", ", api_key_env: GITHUB_TOKEN", person),
            ("https://gate.example.evil.example", ", api_key_env: OPENAI_API_KEY", ""),
        ] {
            let refused = case(url, key, env, extra);
            assert!(
                matches!(refused, Err(ProfileError::NotTied { .. })),
                "{url}{key}: {refused:?}"
            );
        }
    }

    #[test]
    fn a_key_the_repository_names_does_not_follow_a_persons_address() {
        let settings = "{ profiles: { p: { model: a, base_url: 'https://own.example', \
                        api_key_env: GITHUB_TOKEN } } }";
        let env = &[("GITHUB_TOKEN", "gh-1")];
        assert!(
            Case { settings, env, from_repository: &["profiles.p.api_key_env"], ..NOTHING }
                .fault()
                .contains("GITHUB_TOKEN")
        );
        assert_eq!(Case { settings, env, ..NOTHING }.main().2, Some("gh-1".into()));
    }

    #[test]
    fn the_documented_profiles_resolve() {
        let page = include_str!("../../docs/models.md");
        let example = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
        let settings = example.strip_prefix("models:\n").unwrap();
        let env = &[("OPENAI_API_KEY", "sk-1"), ("DEEPSEEK_API_KEY", "ds-1")];
        let resolved = Case { settings, env, ..NOTHING }.run().unwrap();
        assert_eq!(
            (resolved.main.name.as_str(), resolved.task.name.as_str()),
            ("careful", "cheap")
        );
        let own = Case { settings, env, asked: Some("own"), ..NOTHING }.run().unwrap().main;
        assert_eq!((own.limits.context_window, own.notes), (65_536, Vec::<String>::new()));
        let homes = Provider::ALL.into_iter().filter_map(Provider::home);
        for name in homes
            .flat_map(|home| [home.key_variable, home.url_variable])
            .chain([super::MODEL_VARIABLE])
        {
            assert!(page.contains(&format!("| `{name}` |")), "`{name}` is not explained");
        }
    }

    #[test]
    fn says_what_it_had_to_guess() {
        let env = &[
            ("OPENAI_API_KEY", "sk-1"),
            ("OPENAI_BASE_URL", "http://gate.example/v1"),
            ("LOCUM_MODEL", "my-own"),
        ];
        let notes = Case { env, ..NOTHING }.run().unwrap().main.notes.join("\n");
        for words in ["32768 tokens", "no known price", "`http://gate.example` unencrypted"] {
            assert!(notes.contains(words), "{notes}");
        }
        assert_eq!(
            Case { env: &[env[0], ("LOCUM_MODEL", "gpt-5")], ..NOTHING }.run().unwrap().main.notes,
            Vec::<String>::new()
        );
    }
}
