//! `events`: who may start what. Each case becomes the payload the forge would send and the answers
//! it would give; both go through the product's own parser and gate.

use locum::run::request::{JobFacts, RequestFacts, decide};
use locum_forge::event;
use locum_forge::{Permission, PullRequest};
use locum_policy::Policy;
use locum_policy::schema::Triggers;
use serde_json::{Value, json};

use crate::Judged;

const NOW: &str = "2026-01-02T04:00:00Z";

pub(crate) fn judge(case: &Value, document: &Value) -> Judged {
    let decided = decide_case(case, &document["defaults"]);
    let expected: Vec<&str> = match case["accept"].as_array() {
        Some(accepted) => {
            accepted.iter().filter_map(Value::as_str).chain(case["expect"].as_str()).collect()
        }
        None => case["expect"].as_str().into_iter().collect(),
    };
    let (got, why) = match &decided {
        Ok(true) => ("run_readonly", String::new()),
        Ok(false) => ("run", String::new()),
        Err(why) => ("skip", why.clone()),
    };
    if expected.contains(&got) {
        Judged::Pass
    } else {
        Judged::Fail(format!("{got} {why} instead of {expected:?}: {}", case["reason"]))
    }
}

/// Returns whether the run would be read-only, or why there is none.
fn decide_case(case: &Value, defaults: &Value) -> Result<bool, String> {
    let trigger =
        event::parse(case["event"].as_str().unwrap(), &payload(case, defaults).to_string())
            .map_err(|error| error.to_string())?;
    let permission = |actor: &Value| match actor["permission"].as_str().unwrap_or("none") {
        error if error.starts_with("__error") => Err(error.to_owned()),
        word => Permission::from_words(word, Some(word))
            .ok_or_else(|| format!("unknown permission `{word}`")),
    };
    let pull_request = pull_request(case);
    let modes = ["orchestrator", "architect", "code", "ask", "review"].map(str::to_owned);
    let restarted_by = case["triggering_actor"]["login"]
        .as_str()
        .map(|login| (login, permission(&case["triggering_actor"])));
    let known = RequestFacts {
        job: JobFacts {
            now: NOW.parse().unwrap(),
            repository: defaults["repository"].as_str().unwrap(),
            default_branch: defaults["default_branch"].as_str().unwrap(),
            git_ref: case["ref"].as_str().unwrap_or("refs/heads/main"),
        },
        own_login: defaults["bot_login"].as_str(),
        permission: permission(&case["actor"]),
        restarted_by,
        pull_request: pull_request.as_ref(),
        recent_runs: case["config"]["runs_so_far"]
            .as_u64()
            .map_or(0, |count| u32::try_from(count).unwrap()),
        modes: &modes,
        profiles: &[],
    };
    let triggers = triggers(case, defaults);
    decide(&trigger, triggers.as_ref(), &known)
        .map(|request| request.read_only)
        .map_err(|refused| refused.to_string())
}

/// Reads the policy of the case as the product does; `None` where that fails.
fn triggers(case: &Value, defaults: &Value) -> Option<Triggers> {
    let state = case["policy"].as_str().unwrap_or_default();
    let extra = match state {
        // No file, or a link in its place: the trusted ref has no text to read.
        "missing" | "symlink" => return None,
        "unknown_key" => "alow: []\n".to_owned(),
        "yaml_bomb" => (1..12).fold("a0: &a0 [x, x, x]\n".to_owned(), |text, level| {
            let below = format!("*a{}, ", level - 1).repeat(9);
            format!("{text}a{level}: &a{level} [{below}]\n")
        }),
        _ => String::new(),
    };
    let listed =
        case["config"]["allow_users"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let users: Vec<String> = listed
        .map(|login| match case["config"]["allow_user_ids"][login].as_u64() {
            Some(id) => format!("{login}:{id}"),
            None => login.to_owned(),
        })
        .collect();
    let text = format!(
        "version: 1\ntriggers:\n  comment: {{ prefix: {}, tiers: [maintainer] }}\n  label: {{ \
         name: locum, tiers: [maintainer] }}\n  dispatch: {{ tiers: [maintainer] }}\n  assign: {{ \
         login: {}, tiers: [maintainer] }}\n  bots: {{ allow: {} }}\n  users: {{ allow: {} }}\n  \
         forks: read-only\n{extra}",
        defaults["trigger"].as_str().unwrap(),
        defaults["bot_login"],
        case["config"]["allow_bots"].as_array().map_or_else(|| json!([]), |bots| json!(bots)),
        json!(users),
    );
    let policy = Policy::parse(&text, ".locum/policy.yml");
    assert!(policy.is_ok() || !extra.is_empty(), "{policy:?}");
    policy.ok().map(|policy| policy.settings().triggers.clone())
}

/// Writes the case as the forge's payload.
fn payload(case: &Value, defaults: &Value) -> Value {
    let repository =
        case["repository_in_payload"].as_str().or_else(|| defaults["repository"].as_str());
    let told = &case["issue"];
    let mut issue = json!({
        "number": number(case), "title": told["title"].as_str().unwrap_or("a title"), "body": told["body_at_event"].as_str().or_else(|| case["body"].as_str()),
        "state": told["state"], "locked": told["locked"], "user": {"login": "carol"}, "updated_at": happened_at(case),
    });
    let mut payload = json!({
        "action": case["action"],
        "repository": {"full_name": repository, "default_branch": defaults["default_branch"], "private": case["repository_private"].as_bool().unwrap_or(false)},
        "sender": {"login": case["actor"]["login"], "type": case["actor"]["type"], "id": case["actor"]["id"]},
        "assignee": {"login": case["assignee"]},
        "comment": {"id": 11, "body": case["body"], "html_url": "https://forge.example/c/11", "created_at": happened_at(case), "author_association": case["association"]},
    });
    match case["event"].as_str().unwrap() {
        "pull_request_review_comment" => {
            issue["head"] = json!({"sha": told["head_sha_at_event"].as_str().unwrap_or("aaa")});
            payload["comment"]["path"] = json!("src/lib.rs");
            payload["pull_request"] = issue;
        }
        _ => {
            if told["is_pr"] == true {
                issue["pull_request"] = json!({"url": "https://forge.example/p/5"});
            }
            payload["issue"] = issue;
        }
    }
    if let Some(label) = case["label"].as_str() {
        payload["label"] = json!({"name": label});
    }
    if let Some(inputs) = case["inputs"].as_object() {
        payload["inputs"] = json!(inputs);
    }
    payload
}

fn number(case: &Value) -> u64 {
    case["issue"]["number"].as_u64().unwrap_or(7)
}

/// The moment of the event: as old as the case says, else a minute.
fn happened_at(case: &Value) -> String {
    let hours = ["age_hours", "event_age_hours"]
        .iter()
        .find_map(|name| case[*name].as_f64())
        .unwrap_or(0.02);
    let now: jiff::Timestamp = NOW.parse().unwrap();
    (now - jiff::SignedDuration::from_secs_f64(hours * 3600.0)).to_string()
}

/// The pull request as the forge would answer now.
fn pull_request(case: &Value) -> Option<PullRequest> {
    let told = &case["issue"];
    let ids = (told["head_repo_id"].as_u64(), told["base_repo_id"].as_u64());
    let is_fork = told["fork"] == true || told["head_repo"] != told["base_repo"] || ids.0 != ids.1;
    (told["is_pr"] == true).then(|| PullRequest {
        number: number(case),
        title: String::new(),
        body: String::new(),
        is_open: told["state"] == "open",
        head_branch: "topic".to_owned(),
        head_sha: told["head_sha_now"].as_str().unwrap_or("aaa").to_owned(),
        base_branch: "main".to_owned(),
        base_sha: "bbb".to_owned(),
        is_fork,
    })
}
