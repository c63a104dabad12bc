//! `SearchEngine`: the search engine that a run may ask, and how its API is spoken to.
//!
//! In: the settings and the environment; later a query, and the body of an answer. Out: an engine
//! with its key, or why there is none; a request; results. Nothing is sent here.
//!
//! What the APIs take and answer: <https://api-dashboard.search.brave.com/app/documentation>,
//! <https://docs.tavily.com/documentation/api-reference/endpoint/search> and
//! <https://docs.searxng.org/dev/search_api.html>.

mod provider;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::search_engine::provider::{ProviderRequest, ProviderSearch};

use locum_base::chat::Usage;
use locum_base::secret::Secret;
use locum_models::accounting::PricedUsage;
use locum_models::catalogue::Catalogue;
use locum_models::profile::{Price, Profile, Provider};
use locum_policy::urls::{Scheme, WebUrl};
use locum_sandbox::network::exchange::HttpMethod;

/// Which search engine is asked, as the settings say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Whose API is spoken; `None` where there is no search.
    pub engine: Option<EngineKind>,
    /// Where the API starts; the engine's own address where it has one.
    pub url: Option<String>,
    /// The variable that holds the key; the engine's own where it has one.
    pub api_key_env: Option<String>,
    /// The model that searches, where the engine is a provider of models; one that the catalogue
    /// knows if absent.
    pub model: Option<String>,
}

/// Whose API is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
    /// An instance of SearXNG.
    Searxng,
    /// The search of Anthropic's API.
    Anthropic,
    /// The search of OpenAI's API.
    Openai,
    /// The search of the Gemini API.
    Gemini,
}

/// Who decides where the API is. A repository may not decide where a key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlAuthor {
    /// The repository, which writes the address.
    Repository,
    /// The repository, which names an engine where the user's own file names a key or an address:
    /// those may be another engine's.
    RepositoryEngine,
    /// The user, or nobody: then it is the engine's own.
    Person,
}

/// A search engine that can be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchEngine {
    api: EngineApi,
    url: WebUrl,
    key: Option<Secret>,
}

/// How an engine is asked.
#[derive(Clone, Debug, PartialEq)]
enum EngineApi {
    Brave,
    Tavily,
    Searxng,
    /// A model of a provider, which searches.
    Model(SearchModel),
}

/// A model that searches.
#[derive(Clone, Debug, PartialEq)]
struct SearchModel {
    search: ProviderSearch,
    name: String,
    price: Option<Price>,
}

/// One request to an engine's API.
#[derive(Debug)]
pub(crate) struct EngineRequest {
    /// Its whole address.
    pub(crate) url: WebUrl,
    /// Its method and body.
    pub(crate) method: HttpMethod,
    /// What it sends along, the key among it.
    pub(crate) headers: Vec<(String, Secret)>,
}

/// What is asked of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedResults<'w> {
    /// The words: all that is sent of what a model wrote, because the policy judges them alone.
    pub(crate) query: &'w str,
    /// Most results it shall give.
    pub(crate) most: usize,
}

/// A page that an engine found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchResult {
    /// Its title, as the engine gives it.
    pub(crate) title: String,
    /// Its address, as the engine gives it.
    pub(crate) url: String,
    /// What it says about the query, as the engine gives it.
    pub(crate) snippet: String,
}

impl EngineApi {
    /// Returns how the engine that the settings name is asked.
    fn of(kind: EngineKind, settings: &SearchSettings) -> Result<Self, String> {
        let plain = |api: Self| match &settings.model {
            None => Ok(api),
            Some(_) => {
                Err("only an engine with models takes `web_search.model`; take it out".to_owned())
            }
        };
        let model = |search| SearchModel::find(search, settings.model.as_deref()).map(Self::Model);
        match kind {
            EngineKind::Brave => plain(Self::Brave),
            EngineKind::Tavily => plain(Self::Tavily),
            EngineKind::Searxng => plain(Self::Searxng),
            EngineKind::Anthropic => model(ProviderSearch::Anthropic),
            EngineKind::Openai => model(ProviderSearch::Openai),
            EngineKind::Gemini => model(ProviderSearch::Gemini),
        }
    }

    /// Returns where it starts, and the variable that usually holds its key; `None` where there is
    /// no key. A provider's key belongs to the place that the environment names for the provider.
    fn own(&self, env: &BTreeMap<String, String>) -> Option<(String, &'static str)> {
        match self {
            Self::Brave => {
                Some(("https://api.search.brave.com/res/v1".to_owned(), "BRAVE_API_KEY"))
            }
            Self::Tavily => Some(("https://api.tavily.com".to_owned(), "TAVILY_API_KEY")),
            Self::Searxng => None,
            Self::Model(SearchModel { search, .. }) => {
                let home = search.provider().home()?;
                let named = env.get(home.url_variable).map(|url| url.trim());
                let named = named.filter(|url| !url.is_empty());
                let url = named.map_or(home.url.to_owned(), |url| search.versioned(url));
                Some((url, home.key_variable))
            }
        }
    }
}

impl UrlAuthor {
    /// Returns the setting of the repository that decides, after the variable that may.
    fn of_repository(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Repository => Some(("LOCUM_WEB_SEARCH__URL", "web_search.url")),
            Self::RepositoryEngine => Some(("LOCUM_WEB_SEARCH__ENGINE", "web_search.engine")),
            Self::Person => None,
        }
    }
}

impl SearchEngine {
    /// Finds the engine that the settings name; `None` where they name none.
    ///
    /// # Errors
    /// A sentence without a full stop that says why it cannot be asked.
    pub fn find(
        settings: &SearchSettings,
        env: &BTreeMap<String, String>,
        url_by: UrlAuthor,
    ) -> Result<Option<Self>, String> {
        let Some(kind) = settings.engine else {
            let others = [&settings.url, &settings.api_key_env, &settings.model];
            let rest = others.into_iter().any(Option::is_some);
            return if rest { Err("`web_search.engine` is not set".to_owned()) } else { Ok(None) };
        };
        let api = EngineApi::of(kind, settings)?;
        let Some((own_url, own_variable)) = api.own(env) else {
            return Self::without_key(api, settings).map(Some);
        };
        if let Some((variable, setting)) = url_by.of_repository() {
            return Err(format!(
                "a repository does not decide where a key goes; set `{variable}` in the workflow \
                 instead of `{setting}`"
            ));
        }
        let url = checked(settings.url.as_deref().unwrap_or(&own_url))?;
        if url.destination().is_some_and(|destination| destination.scheme == Scheme::Http) {
            return Err(format!("`{url}` is not encrypted, and a key would be sent to it"));
        }
        let variable = settings.api_key_env.as_deref().unwrap_or(own_variable);
        let key = env.get(variable).map(|key| key.trim()).filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| format!("`{variable}` is not set"))?;
        if key.chars().any(|letter| !letter.is_ascii_graphic()) {
            return Err(format!("`{variable}` holds what no key holds"));
        }
        Ok(Some(Self { api, url, key: Some(Secret::new(key)) }))
    }

    /// Returns an engine for tests, wherever it is.
    #[cfg(test)]
    pub(crate) fn unchecked(kind: EngineKind, url: &str, key: Option<&str>) -> Self {
        let settings = SearchSettings { engine: Some(kind), ..SearchSettings::default() };
        let api = EngineApi::of(kind, &settings).unwrap();
        Self { api, url: WebUrl::parse(url), key: key.map(Secret::new) }
    }

    fn without_key(api: EngineApi, settings: &SearchSettings) -> Result<Self, String> {
        if settings.api_key_env.is_some() {
            return Err("SearXNG takes no key; take out `web_search.api_key_env`".to_owned());
        }
        let url = settings.url.as_deref();
        let url = url.ok_or("`web_search.url` is not set; it names the instance of SearXNG")?;
        Ok(Self { api, url: checked(url)?, key: None })
    }

    /// Returns where its API starts.
    pub fn url(&self) -> &WebUrl {
        &self.url
    }

    /// Returns its key.
    pub fn key(&self) -> Option<&Secret> {
        self.key.as_ref()
    }

    /// Returns what a refusal of the engine to answer usually means.
    pub(crate) fn when_forbidden(&self) -> &'static str {
        match self.api {
            EngineApi::Brave | EngineApi::Tavily | EngineApi::Model(_) => {
                "it does not accept the key of this run"
            }
            EngineApi::Searxng => {
                "its `search.formats` do not list `json`, or its bot limiter blocks automated \
                 requests"
            }
        }
    }

    /// Returns the request for a query.
    pub(crate) fn request(&self, wanted: WantedResults<'_>) -> EngineRequest {
        let WantedResults { query, most } = wanted;
        let key = |before: &str| {
            Secret::new(
                self.key
                    .as_ref()
                    .map_or_else(String::new, |key| format!("{before}{}", key.expose())),
            )
        };
        let accept = ("accept".to_owned(), Secret::new("application/json"));
        match &self.api {
            EngineApi::Brave => {
                let most = most.to_string();
                let parameters = [
                    ("q", query),
                    ("count", &most),
                    ("result_filter", "web"),
                    ("text_decorations", "false"),
                ];
                EngineRequest {
                    url: self.url.call("/web/search", &parameters),
                    method: HttpMethod::Get,
                    headers: vec![accept, ("x-subscription-token".to_owned(), key(""))],
                }
            }
            EngineApi::Tavily => {
                let body = json!({
                    "query": query,
                    "max_results": most,
                    "search_depth": "basic",
                });
                EngineRequest {
                    url: self.url.call("/search", &[]),
                    method: HttpMethod::Post(body.to_string()),
                    headers: vec![accept, ("authorization".to_owned(), key("Bearer "))],
                }
            }
            EngineApi::Model(SearchModel { search, name, .. }) => {
                let ProviderRequest { path, headers, key_header: (header, before), body } =
                    search.request(name, query);
                let own =
                    headers.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
                let with_key = [accept, (header.to_owned(), key(before))];
                EngineRequest {
                    url: self.url.call(&path, &[]),
                    method: HttpMethod::Post(body.to_string()),
                    headers: with_key.into_iter().chain(own).collect(),
                }
            }
            EngineApi::Searxng => EngineRequest {
                url: self.url.call("/search", &[("q", query), ("format", "json")]),
                method: HttpMethod::Get,
                headers: vec![accept],
            },
        }
    }

    /// Returns the model that searched for an answer, and what it used up; `None` where none did.
    pub(crate) fn model_use(&self, body: &[u8]) -> Option<(&str, PricedUsage)> {
        let EngineApi::Model(SearchModel { search, name, price }) = &self.api else {
            return None;
        };
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let counted = search.usage(&answer);
        // What is not counted is about what is read.
        let size = u64::try_from(body.len() / 4).unwrap_or(u64::MAX);
        let usage = counted.unwrap_or(Usage { input: size, ..Usage::default() });
        let priced = PricedUsage::of(usage, *price);
        let usage = PricedUsage { is_estimate: priced.is_estimate || counted.is_none(), ..priced };
        Some((name, usage))
    }

    /// Reads the results out of an answer.
    ///
    /// # Errors
    /// A sentence without a full stop that says what is wrong with it.
    pub(crate) fn results(&self, body: &[u8]) -> Result<Vec<SearchResult>, String> {
        let answer: Value =
            serde_json::from_slice(body).map_err(|error| format!("it is not JSON: {error}"))?;
        let (list, snippet) = match &self.api {
            EngineApi::Model(model) => return model.search.results(&answer),
            // Where nothing was found, there is no `web`.
            EngineApi::Brave if answer.is_object() && answer.get("web").is_none() => {
                return Ok(Vec::new());
            }
            EngineApi::Brave => (answer.pointer("/web/results"), "description"),
            EngineApi::Tavily | EngineApi::Searxng => (answer.get("results"), "content"),
        };
        let list = list.and_then(Value::as_array).ok_or("it has no list of results")?;
        let text = |one: &Value, name: &str| {
            one.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let result = |one: &Value| SearchResult {
            title: text(one, "title"),
            url: text(one, "url"),
            snippet: text(one, snippet),
        };
        Ok(list.iter().map(result).collect())
    }
}

impl SearchModel {
    /// Finds the model that searches: the named one, else the provider's in the catalogue.
    fn find(search: ProviderSearch, named: Option<&str>) -> Result<Self, String> {
        let (catalogue, provider) = (Catalogue::built_in()?, search.provider());
        let usual = || {
            let mut defaults = catalogue.defaults().map(|(_, name)| Provider::before(name));
            defaults.find(|(of, _)| *of == provider).map(|(_, model)| model)
        };
        let name = named.or_else(usual).ok_or("`web_search.model` is not set")?.to_owned();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!("`web_search.model` cannot be `{name}`"));
        }
        let profile = Profile { provider, ..Profile::new(name.clone()) };
        Ok(Self { search, price: catalogue.limits(&profile).price, name })
    }
}

fn checked(text: &str) -> Result<WebUrl, String> {
    let text = text.trim();
    let url = WebUrl::parse(text);
    match url.forbidden() {
        Some(why) => Err(format!("`web_search.url` cannot be asked: {why}")),
        None if text.contains(['?', '#']) => Err("`web_search.url` has a query or a fragment, \
            which calls of the API would not keep; write where the API starts, without it"
            .to_owned()),
        None => Ok(url),
    }
}

#[cfg(test)]
mod tests;
