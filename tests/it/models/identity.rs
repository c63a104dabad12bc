//! No long-lived key: a job's identity is exchanged for a token at a server that checks every part
//! of the exchange. Each success stands beside its refusal.

use std::collections::{BTreeMap, BTreeSet};

use locum_base::chat::{Message, Reply};
use locum_models::ModelError;
use locum_models::build::build;
use locum_models::profile::{ModelSettings, Provider};
use locum_models::resolve::{ChosenModel, ModelFacts, ProfileError, resolve};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::models::ask_model;
use crate::models::protocol::{stream, words};
use crate::support::model_server::{Answer, Asked, ModelServer};

const JWT: &str = "eyJ0ZXN0Ijox.eyJzdWIiOiJyZXBvOm8vciJ9.c2lnbmF0dXJlLW9m";
pub(crate) const TOKEN: &str = "token-of-the-exchange-1";

/// Variables of a job with `id-token: write`, all at one server.
pub(crate) struct Job {
    pub(crate) server: ModelServer,
    pub(crate) env: BTreeMap<String, String>,
    /// Whether whole replies are requested.
    pub(crate) is_whole: bool,
}

impl Job {
    /// A job whose server answers exchanges by `exchange` and all else with a reply of `provider`.
    pub(crate) fn new(
        provider: Provider,
        mut exchange: impl FnMut(&Asked) -> Option<Answer> + Send + 'static,
        env: &[(&str, &str)],
    ) -> Self {
        let server = ModelServer::start_with(move |asked| {
            if asked.path.starts_with("/identity?") {
                return identity(asked);
            }
            exchange(asked).unwrap_or_else(|| stream(&words(provider)))
        });
        let root = server.base_url.trim_end_matches("/v1").to_owned();
        let own = [
            ("ACTIONS_ID_TOKEN_REQUEST_URL", "ROOT/identity?api-version=2.0"),
            ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "request-token-of-the-job"),
        ];
        let env = own
            .iter()
            .chain(env)
            .map(|(name, value)| ((*name).to_owned(), value.replace("ROOT", &root)));
        Self { env: env.collect(), server, is_whole: false }
    }

    /// Asks the model twice with one connection, as a run would.
    pub(crate) fn ask_twice(&self, model: &str) -> Result<Result<Reply, ModelError>, ProfileError> {
        let chosen = self.chosen(model)?;
        assert_eq!(chosen.key, None, "no key is needed");
        Ok(ask_both(&chosen))
    }

    /// Asks a model that has a key.
    pub(crate) fn ask_twice_with_key(&self, model: &str) -> Result<Reply, ModelError> {
        let chosen = self.chosen(model).unwrap();
        assert!(chosen.key.is_some() && chosen.credential.is_none(), "a key wins");
        ask_both(&chosen)
    }

    fn chosen(&self, model: &str) -> Result<ChosenModel, ProfileError> {
        let facts =
            ModelFacts { env: &self.env, asked: Some(model), from_repository: &BTreeSet::new() };
        let mut chosen = resolve(&ModelSettings::default(), &facts)?.main;
        chosen.profile.stream = !self.is_whole;
        Ok(chosen)
    }

    pub(crate) fn paths(&mut self) -> Vec<String> {
        self.server.asked().iter().map(|asked| asked.path.clone()).collect()
    }
}

fn ask_both(chosen: &ChosenModel) -> Result<Reply, ModelError> {
    let model = build(chosen, None).unwrap();
    let message = [Message::User { text: "go".into() }];
    ask_model(&*model, &message).0.and_then(|_| ask_model(&*model, &message).0)
}

/// What GitHub answers to a job that asks for its identity.
fn identity(asked: &Asked) -> Answer {
    assert_eq!(asked.header("authorization"), Some("Bearer request-token-of-the-job"));
    let audience = asked.path.split("audience=").nth(1).unwrap();
    Answer::json(200, &json!({ "value": format!("{JWT}.{audience}"), "count": 1 }))
}

/// The identity for an audience as it stands in a query.
pub(crate) fn jwt(audience: &str) -> String {
    format!("{JWT}.{audience}")
}

pub(crate) fn granted(lifetime_s: u64) -> Answer {
    let answer = json!({ "access_token": TOKEN, "token_type": "Bearer", "expires_in": lifetime_s });
    Answer::json(200, &answer)
}

pub(crate) fn refused() -> Answer {
    let words = json!({ "error": "invalid_grant", "error_description": format!("no rule for {}", jwt("x")) });
    Answer::json(401, &words)
}

const ANTHROPIC: &[(&str, &str)] = &[
    ("ANTHROPIC_BASE_URL", "ROOT"),
    ("ANTHROPIC_FEDERATION_RULE_ID", "fdrl_1"),
    ("ANTHROPIC_ORGANIZATION_ID", "org-1"),
    ("ANTHROPIC_SERVICE_ACCOUNT_ID", "svac_1"),
    ("ANTHROPIC_WORKSPACE_ID", "wrkspc_1"),
];

fn anthropic(asked: &Asked, lifetime_s: u64) -> Option<Answer> {
    if asked.path != "/v1/oauth/token" {
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
        assert_eq!(asked.header("x-api-key"), None);
        assert!(asked.header("anthropic-beta").unwrap().starts_with("oauth-2025-04-20"));
        return None;
    }
    assert_eq!(asked.header("anthropic-beta"), Some("oauth-2025-04-20,oidc-federation-2026-04-01"));
    assert_eq!(
        asked.json(),
        json!({
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": jwt("https%3A%2F%2Fapi.anthropic.com"),
            "federation_rule_id": "fdrl_1",
            "organization_id": "org-1",
            "service_account_id": "svac_1",
            "workspace_id": "wrkspc_1",
        })
    );
    Some(granted(lifetime_s))
}

#[test]
fn anthropic_takes_the_jobs_identity() {
    let mut job = Job::new(Provider::Anthropic, |asked| anthropic(asked, 600), ANTHROPIC);
    assert!(job.ask_twice("claude-sonnet-5-5").unwrap().is_ok());
    let identity = "/identity?api-version=2.0&audience=https%3A%2F%2Fapi.anthropic.com";
    assert_eq!(
        job.paths(),
        [identity, "/v1/oauth/token", "/v1/messages", "/v1/messages"],
        "a token that lasts is used again"
    );
    let mut job = Job::new(Provider::Anthropic, |asked| anthropic(asked, 60), ANTHROPIC);
    assert!(job.ask_twice("claude-x").unwrap().is_ok());
    let paths = job.paths();
    assert_eq!(paths.len(), 6, "a token that is about to expire is renewed: {paths:?}");
}

#[test]
fn anthropic_refuses_an_identity_without_a_rule() {
    let mut job = Job::new(Provider::Anthropic, |_| Some(refused()), ANTHROPIC);
    let error = job.ask_twice("claude-x").unwrap().unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    let error = error.to_string();
    for words in
        ["refused (401): no rule for", "[invalid_grant]", "the federation rule has to match"]
    {
        assert!(error.contains(words), "{error}");
    }
    assert!(!error.contains(JWT), "{error}");
    assert_eq!(job.paths().len(), 2, "no request follows, and none is repeated");
}

const OPENAI: &[(&str, &str)] = &[
    ("OPENAI_BASE_URL", "ROOT/v1"),
    ("OPENAI_TOKEN_URL", "ROOT/oauth/token"),
    ("OPENAI_IDENTITY_PROVIDER_ID", "idp_1"),
    ("OPENAI_SERVICE_ACCOUNT_ID", "sa_1"),
    ("OPENAI_OIDC_AUDIENCE", "ours"),
];

fn openai(asked: &Asked) -> Option<Answer> {
    if asked.path != "/oauth/token" {
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
        return None;
    }
    assert_eq!(
        asked.json(),
        json!({
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "subject_token": jwt("ours"),
            "identity_provider_id": "idp_1",
            "service_account_id": "sa_1",
        })
    );
    Some(granted(3600))
}

#[test]
fn openai_takes_the_jobs_identity() {
    let mut job = Job::new(Provider::OpenaiResponses, openai, OPENAI);
    assert!(job.ask_twice("openai-responses:gpt-x").unwrap().is_ok());
    assert_eq!(
        job.paths(),
        [
            "/identity?api-version=2.0&audience=ours",
            "/oauth/token",
            "/v1/responses",
            "/v1/responses"
        ]
    );
    let job = Job::new(Provider::OpenaiResponses, |_| Some(refused()), OPENAI);
    let error = job.ask_twice("openai-responses:gpt-x").unwrap().unwrap_err().to_string();
    assert!(error.contains("a mapping of the workload identity provider"), "{error}");
}

#[test]
fn a_token_that_was_withdrawn_is_exchanged_again_once() {
    let mut asked_models = 0;
    let answer = move |asked: &Asked| {
        anthropic(asked, 600).or_else(|| {
            asked_models += 1;
            let error: Value = json!({ "error": { "message": format!("expired {TOKEN}") } });
            (asked_models != 2).then(|| Answer::json(401, &error))
        })
    };
    let mut job = Job::new(Provider::Anthropic, answer, ANTHROPIC);
    let error = job.ask_twice("claude-x").unwrap().unwrap_err().to_string();
    assert!(
        error.contains("refused the credentials that stand in for a key") && !error.contains(TOKEN),
        "{error}"
    );
    // The first request succeeds at its second try; the second one fails twice and ends.
    assert_eq!(job.paths().iter().filter(|path| *path == "/v1/messages").count(), 4);
}

#[test]
fn what_is_missing_is_named_before_anything_is_sent() {
    let without = |env: &[(&str, &str)], left_out: &str| {
        let mut job = Job::new(Provider::Anthropic, |_| Some(refused()), env);
        job.env.remove(left_out);
        let model = if env == ANTHROPIC { "claude-x" } else { "openai:x" };
        let error = job.ask_twice(model).unwrap_err();
        assert_eq!(job.paths(), Vec::<String>::new());
        error.to_string()
    };
    for (env, left_out, words) in [
        (ANTHROPIC, "ACTIONS_ID_TOKEN_REQUEST_URL", "`permissions: id-token: write`"),
        (ANTHROPIC, "ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_ORGANIZATION_ID is not"),
        (OPENAI, "OPENAI_SERVICE_ACCOUNT_ID", "OPENAI_SERVICE_ACCOUNT_ID is not"),
        (OPENAI, "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "`permissions: id-token: write`"),
    ] {
        let error = without(env, left_out);
        assert!(error.contains(words), "{error}");
    }
    // A key that is set wins, and nothing is exchanged.
    let mut job = Job::new(Provider::Anthropic, |_| None, ANTHROPIC);
    job.env.insert("ANTHROPIC_API_KEY".to_owned(), "sk-ant-key".to_owned());
    assert!(job.ask_twice_with_key("claude-x").is_ok());
    assert_eq!(job.paths(), ["/v1/messages", "/v1/messages"]);
}
