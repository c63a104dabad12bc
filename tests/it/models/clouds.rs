//! Models at clouds, without a long-lived key: Amazon Bedrock signs, Google Vertex and Azure
//! exchange. A server on this machine checks each part, and refuses what is wrong.

use locum_base::secret::Secret;
use locum_models::ModelError;
use locum_models::credentials::sigv4::{AwsKeys, sign};
use locum_models::profile::Provider;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use url::Url;

use crate::models::identity::{Job, TOKEN, granted, jwt, refused};
use crate::models::protocol::{stream, words};
use crate::support::model_server::{Answer, Asked, Piece};

const MODEL: &str = "us.anthropic.claude-sonnet-5-5-v1:0";
const AWS: &[(&str, &str)] = &[
    ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "ROOT"),
    ("AWS_ACCESS_KEY_ID", "ASIATESTKEY"),
    ("AWS_SECRET_ACCESS_KEY", "secret-of-the-test"),
    ("AWS_SESSION_TOKEN", "session-of-the-test"),
    ("AWS_REGION", "eu-west-1"),
];

/// The checksum of gzip and of Amazon's frames, bit by bit.
fn crc32(bytes: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_be_bytes()
}

/// Anthropic's events as Bedrock sends them.
fn frames(events: &[String]) -> Answer {
    use base64::Engine as _;
    let frame = |event: &String| {
        let payload =
            json!({ "bytes": base64::engine::general_purpose::STANDARD.encode(event) }).to_string();
        let total = u32::try_from(payload.len() + 16).unwrap();
        let mut frame = [total.to_be_bytes(), [0; 4]].concat();
        frame.extend(crc32(&frame));
        frame.extend(payload.bytes());
        frame.extend(crc32(&frame));
        Piece::Bytes(frame)
    };
    Answer {
        status: 200,
        headers: vec![("content-type".into(), "application/vnd.amazon.eventstream".into())],
        pieces: events.iter().map(frame).collect(),
    }
}

/// Signs what came once more, and compares.
fn is_signed(asked: &Asked) -> bool {
    let keys = AwsKeys {
        access_key_id: "ASIATESTKEY".into(),
        secret: Secret::new("secret-of-the-test"),
        session_token: Some(Secret::new("session-of-the-test")),
        region: "eu-west-1".into(),
    };
    let host = asked.header("host").unwrap();
    let url: Url = format!("http://{host}{}", asked.path).parse().unwrap();
    let date: jiff::Timestamp =
        jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", asked.header("x-amz-date").unwrap())
            .unwrap()
            .in_tz("UTC")
            .unwrap()
            .timestamp();
    let post = (&url, asked.header("content-type").unwrap(), asked.body.as_bytes());
    sign(&keys, "bedrock", post, date)
        .iter()
        .all(|(name, value)| asked.header(name) == Some(value.as_str()))
}

#[test]
fn bedrock_gets_signed_requests_and_answers_in_frames() {
    let answer = |asked: &Asked| {
        let denied = json!({ "message": "The security token included in the request is invalid." });
        Some(if is_signed(asked) {
            frames(&words(Provider::Anthropic))
        } else {
            Answer::json(403, &denied)
        })
    };
    let mut job = Job::new(Provider::Anthropic, answer, AWS);
    let reply = job.ask_twice(&format!("bedrock:{MODEL}")).unwrap().unwrap();
    assert!(!reply.text.is_empty() && reply.usage.is_some(), "{reply:?}");
    let asked = job.server.asked();
    assert_eq!(asked.len(), 2);
    let path = "/model/us.anthropic.claude-sonnet-5-5-v1%3A0/invoke-with-response-stream";
    assert_eq!(asked[0].path, path);
    let body = asked[0].json();
    assert_eq!(
        (&body["anthropic_version"], &body["model"], &body["stream"]),
        (&json!("bedrock-2023-05-31"), &Value::Null, &Value::Null)
    );
    // Whole replies are another operation, which answers in JSON.
    let whole = |_: &Asked| {
        let content = json!([{ "type": "text", "text": "hi" }]);
        let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
        let message = json!({ "type": "message", "content": content, "stop_reason": "end_turn", "usage": usage });
        Some(Answer::json(200, &message))
    };
    let mut job = Job::new(Provider::Anthropic, whole, AWS);
    job.is_whole = true;
    assert_eq!(job.ask_twice(&format!("bedrock:{MODEL}")).unwrap().unwrap().text, "hi");
    let path = path.replace("-with-response-stream", "");
    assert_eq!(job.server.asked()[0].path, path);
    // Another secret signs another way.
    let mut job = Job::new(Provider::Anthropic, answer, AWS);
    job.env.insert("AWS_SECRET_ACCESS_KEY".into(), "another-secret".into());
    let error = job.ask_twice(&format!("bedrock:{MODEL}")).unwrap().unwrap_err();
    assert!(matches!(error, ModelError::Unauthorized { .. }), "{error}");
    assert!(error.to_string().contains("security token included in the request is invalid"));
}

#[test]
fn bedrock_takes_a_bearer_token_and_names_what_is_missing() {
    let mut job = Job::new(Provider::Anthropic, |_| Some(frames(&words(Provider::Anthropic))), AWS);
    job.env.insert("AWS_BEARER_TOKEN_BEDROCK".into(), "bedrock-api-key-1".into());
    assert!(job.ask_twice_with_key(&format!("bedrock:{MODEL}")).is_ok());
    assert_eq!(job.server.asked()[0].header("authorization"), Some("Bearer bedrock-api-key-1"));
    for (left_out, words) in [
        ("AWS_ACCESS_KEY_ID", "no AWS credentials are set"),
        ("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY is not"),
        ("AWS_REGION", "AWS_REGION is not set"),
    ] {
        let mut job = Job::new(Provider::Anthropic, |_| None, AWS);
        job.env.remove(left_out);
        let error = job.ask_twice(&format!("bedrock:{MODEL}")).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

const VERTEX: &[(&str, &str)] = &[
    ("GOOGLE_VERTEX_BASE_URL", "ROOT"),
    ("GOOGLE_CLOUD_PROJECT", "acme"),
    ("GOOGLE_CLOUD_LOCATION", "europe-west1"),
];
const IMPERSONATED: &str = "ya29.token-of-the-service-account-0123";

/// A job at Google whose external account lies in a file, as `google-github-actions/auth` writes
/// it.
fn vertex(refusal: Option<&'static str>) -> (Job, tempfile::NamedTempFile) {
    let answer = move |asked: &Asked| match asked.path.as_str() {
        path if refusal == Some(path) => Some(refused()),
        "/sts" => {
            let form: Vec<(String, String)> =
                url::form_urlencoded::parse(asked.body.as_bytes()).into_owned().collect();
            let expected = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                ("audience", "//iam.googleapis.com/projects/1/providers/p"),
                ("scope", "https://www.googleapis.com/auth/cloud-platform"),
                ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
                ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
                ("subject_token", &jwt("google")),
            ];
            assert_eq!(form, expected.map(|(name, value)| (name.into(), value.into())));
            Some(granted(3600))
        }
        "/impersonate" => {
            assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
            assert_eq!(asked.json()["lifetime"], json!("3600s"));
            let until =
                json!({ "accessToken": IMPERSONATED, "expireTime": "2099-01-01T00:00:00Z" });
            Some(Answer::json(200, &until))
        }
        path => {
            let bearer = format!("Bearer {IMPERSONATED}");
            assert_eq!(asked.header("authorization"), Some(bearer.as_str()));
            let is_gemini = path.contains("/google/");
            let provider = if is_gemini { Provider::Gemini } else { Provider::Anthropic };
            Some(stream(&words(provider)))
        }
    };
    let mut job = Job::new(Provider::Anthropic, answer, VERTEX);
    let root = job.server.base_url.trim_end_matches("/v1").to_owned();
    let account = json!({
        "type": "external_account",
        "audience": "//iam.googleapis.com/projects/1/providers/p",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": format!("{root}/sts"),
        "service_account_impersonation_url": format!("{root}/impersonate"),
        "credential_source": {
            "url": format!("{root}/identity?api-version=2.0&audience=google"),
            "headers": { "Authorization": "Bearer request-token-of-the-job" },
            "format": { "type": "json", "subject_token_field_name": "value" },
        },
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), account.to_string()).unwrap();
    let path = file.path().display().to_string();
    job.env.insert("GOOGLE_GHA_CREDS_PATH".into(), path);
    (job, file)
}

#[test]
fn vertex_takes_the_jobs_identity_for_both_makers() {
    let below = "/v1/projects/acme/locations/europe-west1/publishers";
    for (model, path) in [
        ("claude-opus-5-5", format!("{below}/anthropic/models/claude-opus-5-5:streamRawPredict")),
        (
            "gemini-3.8-flash",
            format!("{below}/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse"),
        ),
    ] {
        let (mut job, _file) = vertex(None);
        assert!(job.ask_twice(&format!("vertex:{model}")).unwrap().is_ok(), "{model}");
        let paths = job.paths();
        let identity = "/identity?api-version=2.0&audience=google";
        assert_eq!(paths, [identity, "/sts", "/impersonate", &path, &path]);
    }
    let (mut job, _file) = vertex(None);
    assert!(job.ask_twice("vertex:claude-opus-5-5").unwrap().is_ok());
    let body = job.server.asked()[3].json();
    assert_eq!(
        (&body["anthropic_version"], &body["model"], &body["stream"]),
        (&json!("vertex-2023-10-16"), &Value::Null, &json!(true))
    );
}

#[test]
fn vertex_needs_no_file_in_a_job_of_actions() {
    let answer = |asked: &Asked| match asked.path.as_str() {
        "/sts" => {
            let form: std::collections::BTreeMap<String, String> =
                url::form_urlencoded::parse(asked.body.as_bytes()).into_owned().collect();
            assert_eq!(form["audience"], "//iam.googleapis.com/projects/1/providers/p");
            let own = jwt("https%3A%2F%2Fiam.googleapis.com%2Fprojects%2F1%2Fproviders%2Fp");
            assert_eq!(form["subject_token"], own);
            Some(granted(3600))
        }
        _ => {
            assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
            None
        }
    };
    let pool = [
        ("GOOGLE_WORKLOAD_IDENTITY_PROVIDER", "projects/1/providers/p"),
        ("GOOGLE_TOKEN_URL", "ROOT/sts"),
    ];
    let env: Vec<(&str, &str)> = VERTEX.iter().copied().chain(pool).collect();
    let mut job = Job::new(Provider::Gemini, answer, &env);
    assert!(job.ask_twice("vertex:gemini-x").unwrap().is_ok());
    assert_eq!(job.paths()[1], "/sts");
    // Another server than Google's gets no identity.
    job.env.insert("GOOGLE_TOKEN_URL".into(), "https://evil.example/sts".into());
    let error = job.ask_twice("vertex:gemini-x").unwrap().unwrap_err().to_string();
    assert!(error.contains("not an address of Google's"), "{error}");
    job.env.remove("ACTIONS_ID_TOKEN_REQUEST_TOKEN");
    let error = job.ask_twice("vertex:gemini-x").unwrap_err().to_string();
    assert!(error.contains("`permissions: id-token: write`"), "{error}");
}

#[test]
fn vertex_says_which_step_was_refused() {
    for (path, words) in [
        ("/sts", "the workload identity pool's provider has to accept"),
        ("/impersonate", "`roles/iam.workloadIdentityUser`"),
    ] {
        let (job, _file) = vertex(Some(path));
        let error = job.ask_twice("vertex:gemini-x").unwrap().unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains(TOKEN), "{error}");
    }
    let (mut job, file) = vertex(None);
    std::fs::write(file.path(), r#"{"type":"service_account"}"#).unwrap();
    let error = job.ask_twice("vertex:gemini-x").unwrap().unwrap_err().to_string();
    assert!(error.contains("is not the file of an external account"), "{error}");
    job.env.remove("GOOGLE_CLOUD_PROJECT");
    let error = job.ask_twice("vertex:gemini-x").unwrap_err().to_string();
    assert!(error.contains("GOOGLE_CLOUD_PROJECT is not set"), "{error}");
}

const AZURE: &[(&str, &str)] = &[
    ("AZURE_OPENAI_ENDPOINT", "ROOT/"),
    ("AZURE_AUTHORITY_HOST", "ROOT"),
    ("AZURE_TENANT_ID", "tenant-1"),
    ("AZURE_CLIENT_ID", "client-1"),
];

fn azure(asked: &Asked) -> Option<Answer> {
    if asked.path != "/tenant-1/oauth2/v2.0/token" {
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
        return None;
    }
    let form: Vec<(String, String)> =
        url::form_urlencoded::parse(asked.body.as_bytes()).into_owned().collect();
    let expected = [
        ("grant_type", "client_credentials"),
        ("client_id", "client-1"),
        ("scope", "https://cognitiveservices.azure.com/.default"),
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", &jwt("api%3A%2F%2FAzureADTokenExchange")),
    ];
    assert_eq!(form, expected.map(|(name, value)| (name.into(), value.into())));
    Some(granted(3600))
}

#[test]
fn azure_takes_the_jobs_identity_or_a_key() {
    let mut job = Job::new(Provider::OpenaiResponses, azure, AZURE);
    assert!(job.ask_twice("azure:my-deployment").unwrap().is_ok());
    let path = "/openai/v1/responses";
    assert_eq!(job.paths()[1..], ["/tenant-1/oauth2/v2.0/token", path, path]);
    let job = Job::new(Provider::OpenaiResponses, |_| Some(refused()), AZURE);
    let error = job.ask_twice("azure:d").unwrap().unwrap_err().to_string();
    assert!(error.contains("`api://AzureADTokenExchange`"), "{error}");
    let mut job = Job::new(Provider::OpenaiResponses, |_| None, AZURE);
    job.env.insert("AZURE_OPENAI_API_KEY".into(), "azure-key-1".into());
    assert!(job.ask_twice_with_key("azure:d").is_ok());
    assert_eq!(job.server.asked()[0].header("api-key"), Some("azure-key-1"));
    for (left_out, words) in [
        ("AZURE_CLIENT_ID", "no Azure credentials are set"),
        ("AZURE_TENANT_ID", "AZURE_TENANT_ID is not"),
        ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_ENDPOINT is not set"),
    ] {
        let mut job = Job::new(Provider::OpenaiResponses, azure, AZURE);
        job.env.remove(left_out);
        let error = job.ask_twice("azure:d").unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
