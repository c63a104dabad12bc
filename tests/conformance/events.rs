//! `events`: who may start what. Each case becomes the payload the forge would send and the answers
//! it would give; both go through the product's own parser and gate.

use std::collections::BTreeMap;

use locum::run::request::permission::PermissionAnswer;
use locum::run::request::{
    EVENT_AGE_LIMIT, JobFacts, RUNS_PER_HOUR, Request, RequestFacts, decide,
};
use locum_forge::event;
use locum_forge::{ForgePermission, PullRequest};
use locum_policy::Policy;
use locum_policy::schema::Triggers;
use regex::Regex;
use serde_json::{Value, json};

use crate::Judged;
use crate::field::Field;

const NOW: &str = "2026-01-02T04:00:00Z";

/// What may come of an event.
const ANSWERS: &[(&str, &str)] =
    &[("run", "run"), ("run_readonly", "run_readonly"), ("skip", "skip")];

pub(crate) fn judge(case: &Field<'_>, file: &Field<'_>) -> Result<Judged, String> {
    // A class of reasons, in words of its own.
    case.at("why").is_prose();
    let mut expected = vec![case.at("expect").word(ANSWERS)?];
    for accepted in case.at("accept").given().map_or(Ok(Vec::new()), |accept| accept.items())? {
        expected.push(accepted.word(ANSWERS)?);
    }
    let scene = Scene::read(case, &file.at("defaults"))?;
    let (got, why) = match &scene.decided {
        Ok(request) if request.read_only => ("run_readonly", String::new()),
        Ok(_) => ("run", String::new()),
        Err(why) => ("skip", why.clone()),
    };
    if !expected.contains(&got) {
        return Ok(Judged::Fail(format!(
            "{got} {why} instead of {expected:?}: {}",
            case.at("reason").text()?
        )));
    }
    Ok(match extra_fault(case, &scene)? {
        Some(fault) => Judged::Fail(fault),
        None => Judged::Pass,
    })
}

/// Returns what is wrong by the case's note, which asks for more than the answer.
fn extra_fault(case: &Field<'_>, scene: &Scene) -> Result<Option<String>, String> {
    let Some(note) = case.at("note").given().map(|note| note.text()).transpose()? else {
        return Ok(None);
    };
    if note == "decisions equal those of the base policy" {
        let base = case.at("policy").text()? == "changed_in_head";
        return if base {
            Ok(None)
        } else {
            Err("only a policy that the head changed can be expressed".to_owned())
        };
    }
    let absent =
        Regex::new("^prompt must not contain '(.+)'$").map_err(|error| error.to_string())?;
    let absent = absent
        .captures(note)
        .and_then(|found| found.get(1))
        .ok_or_else(|| format!("the note `{note}` cannot be expressed"))?;
    // Everything a prompt is made of is in the request.
    let shown = format!("{:?}", scene.decided);
    Ok(shown.contains(absent.as_str()).then(|| format!("`{}` is in {shown}", absent.as_str())))
}

/// A case that was decided.
struct Scene {
    /// The request, or why there is none.
    decided: Result<Request, String>,
}

impl Scene {
    fn read(case: &Field<'_>, defaults: &Field<'_>) -> Result<Self, String> {
        limits(case, defaults)?;
        let name = case.at("event").text()?;
        let trigger = event::parse(name, &payload(case, defaults)?.to_string());
        let triggers = triggers(case, defaults)?;
        let pull_request = pull_request(case)?;
        let modes = ["orchestrator", "architect", "code", "ask", "review"].map(str::to_owned);
        let recent_runs =
            case.at("config").at("runs_so_far").given().map_or(Ok(0), |count| count.count())?;
        let job = JobFacts {
            now: NOW.parse().map_err(|error| format!("{error}"))?,
            repository: defaults.at("repository").text()?,
            default_branch: defaults.at("default_branch").text()?,
            git_ref: case
                .at("ref")
                .given()
                .map_or(Ok("refs/heads/main"), |git_ref| git_ref.text())?,
            has_task: false,
        };
        let known = RequestFacts {
            job,
            own_login: Some(defaults.at("bot_login").text()?),
            permission: permission(&case.at("actor"))?,
            restarted_by: restarted_by(case)?,
            pull_request: pull_request.as_ref(),
            changed_paths: None,
            recent_runs: u32::try_from(recent_runs).map_err(|error| error.to_string())?,
            policy: "policy.yml",
            modes: &modes,
            profiles: &[],
        };
        let decided = trigger.map_err(|error| error.to_string()).and_then(|trigger| {
            decide(&trigger, triggers.as_ref(), &known).map_err(|refused| refused.to_string())
        });
        unheard_of(case, decided.is_err())?;
        Ok(Self { decided })
    }
}

/// Limits that are no settings have to be those of the product.
fn limits(case: &Field<'_>, defaults: &Field<'_>) -> Result<(), String> {
    let config = case.at("config");
    config.entries()?;
    let runs = config
        .at("max_runs_per_issue_per_hour")
        .given()
        .map_or(Ok(u64::from(RUNS_PER_HOUR)), |runs| runs.count())?;
    let hours = defaults.at("max_event_age_hours").count()?;
    if runs != u64::from(RUNS_PER_HOUR) || i64::try_from(hours) != Ok(EVENT_AGE_LIMIT.as_hours()) {
        return Err(format!("the limits {runs} runs and {hours} hours cannot be set"));
    }
    Ok(())
}

/// What only matters to events nothing runs for: it is nowhere to be told, so the answer must be
/// that nothing runs.
fn unheard_of(case: &Field<'_>, refused: bool) -> Result<(), String> {
    let review = case
        .at("config")
        .at("auto_review_forks")
        .given()
        .map_or(Ok(false), |review| review.flag())?;
    let workspace = case
        .at("workspace_head")
        .given()
        .map(|head| head.word(&[("base", ()), ("head", ())]))
        .transpose()?;
    if (review || workspace.is_some()) && !refused {
        return Err("something runs, and where the checkout stands cannot be told".to_owned());
    }
    Ok(())
}

/// What the forge answers about somebody.
fn permission(actor: &Field<'_>) -> Result<PermissionAnswer, String> {
    let word = actor.at("permission").given().map_or(Ok("none"), |word| word.text())?;
    if word.starts_with("__error") {
        return Ok(PermissionAnswer::Unknown(word.to_owned()));
    }
    Ok(match ForgePermission::from_words(word, Some(word)) {
        Some(permission) => PermissionAnswer::Known(permission),
        None => PermissionAnswer::Unknown(format!("unknown permission `{word}`")),
    })
}

type Restarted<'a> = Option<(&'a str, PermissionAnswer)>;

/// Who started the job again: the actor where nobody else is named.
fn restarted_by<'a>(case: &Field<'a>) -> Result<Restarted<'a>, String> {
    let attempt = case.at("run_attempt").given().map_or(Ok(1), |attempt| attempt.count())?;
    let Some(again) = case.at("triggering_actor").given() else { return Ok(None) };
    if attempt < 2 {
        return Err("somebody started the first attempt again".to_owned());
    }
    Ok(Some((again.at("login").text()?, permission(&again)?)))
}

/// Reads the policy of the case as the product does; `None` where that fails.
fn triggers(case: &Field<'_>, defaults: &Field<'_>) -> Result<Option<Triggers>, String> {
    let tier = defaults.at("min_permission").word(&[("write", "maintainer")])?;
    let config = case.at("config");
    let listed = config.at("allow_users").given().map_or(Ok(Vec::new()), |users| users.texts())?;
    let mut ids = BTreeMap::new();
    for (login, id) in
        config.at("allow_user_ids").given().map_or(Ok(Vec::new()), |ids| ids.entries())?
    {
        ids.insert(login, id.count()?);
    }
    if let Some(unlisted) = ids.keys().find(|login| !listed.contains(login)) {
        return Err(format!("`{unlisted}` has a number and is not listed"));
    }
    let users: Vec<String> = listed
        .into_iter()
        .map(|login| ids.get(login).map_or_else(|| login.to_owned(), |id| format!("{login}:{id}")))
        .collect();
    let bots = config.at("allow_bots").given().map_or(Ok(Vec::new()), |bots| bots.texts())?;
    let text = format!(
        "version: 1\ntriggers:\n  comment: {{ prefix: {}, tiers: [{tier}] }}\n  label: {{ name: \
         locum, tiers: [{tier}] }}\n  dispatch: {{ tiers: [{tier}] }}\n  assign: {{ login: {}, \
         tiers: [{tier}] }}\n  bots: {{ allow: {} }}\n  users: {{ allow: {} }}\n  forks: \
         read-only\n",
        defaults.at("trigger").text()?,
        json!(defaults.at("bot_login").text()?),
        json!(bots),
        json!(users),
    );
    let policy = |extra: &str| Policy::parse(&format!("{text}{extra}"), ".locum/policy.yml");
    let own = policy("").map_err(|errors| errors.to_string())?;
    let bomb = || {
        (1..12).fold("a0: &a0 [x, x, x]\n".to_owned(), |text, level| {
            let below = format!("*a{}, ", level - 1).repeat(9);
            format!("{text}a{level}: &a{level} [{below}]\n")
        })
    };
    let read = match case.at("policy").given().map(|state| state.text()).transpose()? {
        // What the head has is not what is read.
        None | Some("changed_in_head") => Some(own),
        // No file, or a link in its place: the trusted ref has no text to read.
        Some("missing" | "symlink") => None,
        Some("unknown_key") => policy("alow: []\n").ok(),
        Some("yaml_bomb") => policy(&bomb()).ok(),
        Some(other) => return Err(format!("a policy that is `{other}` cannot be expressed")),
    };
    Ok(read.map(|policy| policy.settings().triggers.clone()))
}

/// Writes the case as the forge's payload.
fn payload(case: &Field<'_>, defaults: &Field<'_>) -> Result<Value, String> {
    let text_or = |field: Field<'_>, other: &str| {
        field.given().map_or(Ok(other.to_owned()), |text| text.text().map(str::to_owned))
    };
    let repository = text_or(case.at("repository_in_payload"), defaults.at("repository").text()?)?;
    let told = case.at("issue");
    let body = case.at("body").whole();
    let body_at_event = told.at("body_at_event").given().map_or(body, |body| body.whole());
    // What was written later: the payload holds what was there when it was made, and nothing asks
    // for the rest.
    told.at("body_now").is_prose();
    told.at("updated_after_event").is_prose();
    case.at("later_comments").is_prose();
    let at = happened_at(case)?;
    let merged = told.at("merged").given().map_or(Ok(false), |merged| merged.flag())?;
    let private =
        case.at("repository_private").given().map_or(Ok(false), |private| private.flag())?;
    let issue = json!({
        "number": number(case)?, "title": text_or(told.at("title"), "a title")?, "body": body_at_event,
        "state": told.at("state").text()?, "locked": told.at("locked").flag()?, "user": {"login": "carol"}, "updated_at": at,
        "draft": told.at("draft").given().map_or(Ok(false), |draft| draft.flag())?,
    });
    let actor = case.at("actor");
    let payload = json!({
        "action": case.at("action").text()?,
        "repository": {"full_name": repository, "default_branch": defaults.at("default_branch").text()?, "private": private},
        "sender": {"login": actor.at("login").text()?, "type": actor.at("type").text()?, "id": actor.at("id").whole()},
        "assignee": {"login": case.at("assignee").whole()},
        "comment": {
            "id": 11, "body": body, "html_url": "https://forge.example/c/11", "path": "src/lib.rs", "created_at": at,
            "author_association": case.at("association").text()?,
        },
    });
    let is_pull = told.at("is_pr").flag()?;
    let seen = text_or(told.at("head_sha_at_event"), "aaa")?;
    let about = if case.at("event").text()?.starts_with("pull_request") {
        let part = |which: &str| json!({ "full_name": told.at(&format!("{which}_repo")).whole(), "id": told.at(&format!("{which}_repo_id")).whole() });
        let pull = json!({
            "head": {"sha": seen, "ref": "topic", "repo": part("head")},
            "base": {"ref": "main", "repo": part("base")},
            "merged": merged,
        });
        json!({ "pull_request": with(issue, pull) })
    } else if is_pull {
        if seen != text_or(told.at("head_sha_now"), "aaa")? {
            return Err("a comment does not tell which commit was seen".to_owned());
        }
        let pull = json!({"url": "https://forge.example/p/5", "merged_at": merged.then_some(&at)});
        json!({ "issue": with(issue, json!({ "pull_request": pull })) })
    } else {
        json!({ "issue": issue })
    };
    let label = case.at("label").given().map(|label| label.text()).transpose()?;
    let label = label.map_or(json!({}), |label| json!({ "label": {"name": label} }));
    let inputs =
        case.at("inputs").given().map_or(json!({}), |inputs| json!({ "inputs": inputs.whole() }));
    let run = match case.at("workflow_run").given() {
        None => json!({}),
        Some(run) => {
            let repository = json!({"full_name": run.at("head_repository").text()?});
            json!({ "workflow_run": {
                "id": 9, "name": "CI", "conclusion": "failure",
                "head_sha": "aaa", "head_branch": "topic", "head_repository": repository,
                "actor": {"login": run.at("actor").text()?}, "event": run.at("event").text()?,
            } })
        }
    };
    let kind = match case.at("event").text()? {
        "push" => json!({ "ref": "refs/heads/main", "after": "aaa", "before": "bbb" }),
        "pull_request_review" => json!({ "review": {
            "id": 12, "body": body, "html_url": "https://forge.example/r/12", "submitted_at": at,
            "state": "commented", "author_association": case.at("association").text()?,
        } }),
        _ => json!({}),
    };
    Ok([about, label, inputs, run, kind].into_iter().fold(payload, with))
}

/// Puts the entries of one object into another.
fn with(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

fn number(case: &Field<'_>) -> Result<u64, String> {
    case.at("issue").at("number").given().map_or(Ok(7), |number| number.count())
}

/// The moment of the event: as old as the case says, else a minute.
fn happened_at(case: &Field<'_>) -> Result<String, String> {
    let given = ["age_hours", "event_age_hours"].iter().find_map(|name| case.at(name).given());
    let hours = given.map_or(Ok(0.02), |hours| hours.number())?;
    let now: jiff::Timestamp = NOW.parse().map_err(|error| format!("{error}"))?;
    Ok((now - jiff::SignedDuration::from_secs_f64(hours * 3600.0)).to_string())
}

/// The pull request as the forge would answer now.
fn pull_request(case: &Field<'_>) -> Result<Option<PullRequest>, String> {
    let told = case.at("issue");
    let same = |one: &str, other: &str| told.at(one).whole() == told.at(other).whole();
    let fork = told.at("fork").given().map_or(Ok(false), |fork| fork.flag())?;
    let (by_name, by_number) =
        (same("head_repo", "base_repo"), same("head_repo_id", "base_repo_id"));
    let is_fork = fork || !by_name || !by_number;
    if !told.at("is_pr").flag()? {
        return Ok(None);
    }
    Ok(Some(PullRequest {
        number: number(case)?,
        title: String::new(),
        body: told.at("body_now").given().map_or(Ok(""), |body| body.text())?.to_owned(),
        is_open: told.at("state").text()? == "open",
        head_branch: "topic".to_owned(),
        head_sha: told.at("head_sha_now").given().map_or(Ok("aaa"), |sha| sha.text())?.to_owned(),
        base_branch: "main".to_owned(),
        head_pushed_at: None,
        author: String::new(),
        is_own: false,
        labels: Vec::new(),
        is_fork,
    }))
}
