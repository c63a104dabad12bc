//! GitHub's database of git objects over a real repository: blobs, trees, commits and refs, as the
//! REST API has them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Oid, Repository, Signature};
use serde_json::{Value, json};

use crate::action::fixture::ActionFixture;
use crate::support::github::GitDatabase;

/// Serves the fixture's remote; `signs` says whether commits of this token are signed.
pub(crate) fn serve(fixture: &ActionFixture, signs: bool) {
    let folder = fixture.stage.path("remotes/acme/app.git");
    let database: GitDatabase = Box::new(move |method, rest, body| {
        let repository = Repository::open_bare(&folder).unwrap();
        let parts: Vec<String> = rest.iter().map(|part| decoded(part)).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        answer(&repository, method, &parts, body, signs)
            .unwrap_or_else(|| (404, json!({ "message": "Not Found" })))
    });
    fixture.server.serve_git(database);
}

fn decoded(part: &str) -> String {
    url::form_urlencoded::parse(format!("x={part}").as_bytes()).next().unwrap().1.into_owned()
}

fn answer(
    git: &Repository,
    method: &str,
    rest: &[&str],
    body: &Value,
    signs: bool,
) -> Option<(u16, Value)> {
    match (method, rest) {
        ("POST", ["blobs"]) => {
            let content = STANDARD.decode(body["content"].as_str()?).ok()?;
            Some((201, json!({ "sha": git.blob(&content).ok()?.to_string() })))
        }
        ("POST", ["trees"]) => Some((201, json!({ "sha": tree(git, body)?.to_string() }))),
        ("POST", ["commits"]) => {
            let tree = git.find_tree(oid(&body["tree"])?).ok()?;
            let parents: Vec<_> = body["parents"]
                .as_array()?
                .iter()
                .filter_map(|parent| git.find_commit(oid(parent)?).ok())
                .collect();
            let who = Signature::now("locum-bot", "bot@example.org").ok()?;
            let made = git
                .commit(
                    None,
                    &who,
                    &who,
                    body["message"].as_str()?,
                    &tree,
                    &parents.iter().collect::<Vec<_>>(),
                )
                .ok()?;
            let reason = if signs { "valid" } else { "unsigned" };
            Some((
                201,
                json!({ "sha": made.to_string(), "verification": { "verified": signs, "reason": reason } }),
            ))
        }
        ("GET", ["commits", sha]) => {
            let commit = git.find_commit(Oid::from_str(sha).ok()?).ok()?;
            let parents: Vec<Value> =
                commit.parent_ids().map(|parent| json!({ "sha": parent.to_string() })).collect();
            Some((
                200,
                json!({ "sha": sha, "tree": { "sha": commit.tree_id().to_string() }, "parents": parents }),
            ))
        }
        ("GET", ["ref", name @ ..]) => {
            let target = git.find_reference(&format!("refs/{}", name.join("/"))).ok()?.target()?;
            Some((200, json!({ "object": { "sha": target.to_string() } })))
        }
        ("POST", ["refs"]) => {
            let made = git.reference(body["ref"].as_str()?, oid(&body["sha"])?, false, "api");
            Some(made.map_or_else(
                |_| (422, json!({ "message": "Reference already exists" })),
                |_| (201, json!({})),
            ))
        }
        ("PATCH", ["refs", name @ ..]) => {
            let (new, mut there) =
                (oid(&body["sha"])?, git.find_reference(&format!("refs/{}", name.join("/"))).ok()?);
            if body["force"] != true && !git.graph_descendant_of(new, there.target()?).ok()? {
                return Some((422, json!({ "message": "Update is not a fast forward" })));
            }
            there.set_target(new, "api").ok()?;
            Some((200, json!({})))
        }
        _ => None,
    }
}

fn tree(git: &Repository, body: &Value) -> Option<Oid> {
    let base = git.find_tree(oid(&body["base_tree"])?).ok()?;
    let mut update = TreeUpdateBuilder::new();
    for entry in body["tree"].as_array()? {
        let path = entry["path"].as_str()?;
        let mode = match entry["mode"].as_str()? {
            "100755" => FileMode::BlobExecutable,
            "120000" => FileMode::Link,
            _ => FileMode::Blob,
        };
        match (entry["content"].as_str(), oid(&entry["sha"])) {
            (Some(content), _) => update.upsert(path, git.blob(content.as_bytes()).ok()?, mode),
            (None, Some(blob)) => update.upsert(path, blob, mode),
            (None, None) => update.remove(path),
        };
    }
    update.create_updated(git, &base).ok()
}

fn oid(value: &Value) -> Option<Oid> {
    Oid::from_str(value.as_str()?).ok()
}
