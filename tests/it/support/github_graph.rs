//! The part of the server that speaks GraphQL: threads on lines of a pull request, and discussions.

use serde_json::{Value, json};

use super::{GitHubServer, World};

impl GitHubServer {
    /// Changes the first comment of an issue or pull request.
    pub fn change_comment(&self, number: u64, body: &str) {
        let mut world = self.world.lock().unwrap();
        let comment = world.comments.iter_mut().find(|comment| comment["number"] == number);
        comment.unwrap()["body"] = json!(body);
    }

    /// Adds a comment by someone to a thread on a line; returns its id.
    pub fn answer_on_line(&self, number: u64, to: u64, login: &str, body: &str) -> u64 {
        let mut world = self.world.lock().unwrap();
        let mut comment = world.comment(number, login, "User", body);
        comment["in_reply_to_id"] = json!(to);
        let id = comment["id"].as_u64().unwrap();
        world.review_comments.push(comment);
        id
    }

    /// Adds a comment by someone to a discussion, or an answer to one; returns its id.
    pub fn discuss(&self, number: u64, below: Option<u64>, login: &str, body: &str) -> u64 {
        let mut world = self.world.lock().unwrap();
        let mut comment = world.comment(number, login, "User", body);
        comment["below"] = json!(below);
        let id = comment["id"].as_u64().unwrap();
        world.discussed.push(comment);
        id
    }

    /// Returns what was said in a discussion: what each stands below, its text, its reactions.
    pub fn discussed(&self, number: u64) -> Vec<(Option<u64>, String, Value)> {
        let world = self.world.lock().unwrap();
        let said = world.discussed.iter().filter(|one| one["number"] == number);
        let text = |one: &Value| one["body"].as_str().unwrap().to_owned();
        said.map(|one| (one["below"].as_u64(), text(one), one["reactions"].clone())).collect()
    }

    /// Puts a label on a pull request.
    pub fn label_pull(&self, number: u64, label: &str) {
        let mut world = self.world.lock().unwrap();
        let pull = world.pulls.iter_mut().find(|pull| pull["number"] == number).unwrap();
        pull["labels"] = json!([{ "name": label }]);
    }

    /// Returns the ids of the comments whose threads are resolved.
    pub fn resolved(&self) -> Vec<u64> {
        self.world.lock().unwrap().resolved.clone()
    }
}

/// Answers a query about threads, or resolves one.
pub(super) fn answer(world: &mut World, body: &Value) -> (u16, Value) {
    let query = body["query"].as_str().unwrap_or_default();
    if query.contains("viewer {") {
        let login = world.login.clone().unwrap_or_else(|| "github-actions[bot]".to_owned());
        return (
            200,
            json!({ "data": { "viewer": { "login": login, "databaseId": 41_898_282 } } }),
        );
    }
    if query.contains("iscussion") || query.contains("Reaction(") {
        return discussion(world, query, &body["variables"]);
    }
    if query.contains("resolveReviewThread") {
        let id = body["variables"]["id"].as_str().and_then(|id| id.strip_prefix("T_"));
        let id = id.and_then(|id| id.parse::<u64>().ok());
        let known = |comment: &&Value| id.is_some_and(|id| comment["id"] == id);
        if world.review_comments.iter().find(known).is_none() {
            let error = json!({ "type": "NOT_FOUND", "message": "Could not resolve to a node" });
            return (200, json!({ "data": { "resolveReviewThread": null }, "errors": [error] }));
        }
        world.resolved.extend(id);
        let thread = json!({ "isResolved": true });
        return (200, json!({ "data": { "resolveReviewThread": { "thread": thread } } }));
    }
    let number = &body["variables"]["number"];
    let all: Vec<Value> = world
        .review_comments
        .iter()
        .filter(|comment| comment["number"] == *number && comment["in_reply_to_id"].is_null())
        .map(|first| thread(world, first))
        .collect();
    let (skip, size) = (body["variables"]["after"].as_str(), 50);
    let skip: usize = skip.and_then(|cursor| cursor.parse().ok()).unwrap_or_default();
    let nodes: Vec<&Value> = all.iter().skip(skip).take(size).collect();
    let page =
        json!({ "hasNextPage": all.len() > skip + size, "endCursor": (skip + size).to_string() });
    let threads = json!({ "pageInfo": page, "nodes": nodes });
    (200, json!({ "data": { "repository": { "pullRequest": { "reviewThreads": threads } } } }))
}

fn thread(world: &World, first: &Value) -> Value {
    let own = world.login.as_deref().unwrap_or("github-actions[bot]");
    let id = first["id"].as_u64().unwrap();
    let down = format!("/pulls/comments/{id}/reactions");
    let votes = world.reactions.iter().filter(|one| {
        one["content"] == "-1" && one["path"].as_str().is_some_and(|path| path.ends_with(&down))
    });
    let comments = world
        .review_comments
        .iter()
        .filter(|comment| comment["id"] == id || comment["in_reply_to_id"] == id)
        .map(|comment| {
            json!({ "databaseId": comment["id"], "viewerDidAuthor": comment["user"]["login"] == own,
                "reactionGroups": [{ "content": "THUMBS_DOWN", "reactors": { "totalCount": votes.clone().count() } }] })
        });
    let comments: Vec<Value> = comments.collect();
    json!({ "id": format!("T_{id}"), "isResolved": world.resolved.contains(&id), "comments": { "nodes": comments } })
}

/// Answers a query about a discussion, or changes something in one.
fn discussion(world: &mut World, query: &str, variables: &Value) -> (u16, Value) {
    let known = |id: &Value| id.as_str()?.strip_prefix("DC_")?.parse::<u64>().ok();
    let missing = || {
        let error = json!({ "type": "NOT_FOUND", "message": "Could not resolve to a node" });
        (200, json!({ "data": null, "errors": [error] }))
    };
    let written = |one: &Value| {
        let comment = json!({ "databaseId": one["id"], "url": one["html_url"] });
        (200, json!({ "data": { "written": { "comment": comment } } }))
    };
    if query.contains("addDiscussionComment") {
        let to = known(&variables["to"]);
        let top = world.discussed.iter().find(|one| one["id"].as_u64() == to);
        // An answer to an answer is refused, as GitHub does.
        let Some(top) = top.filter(|one| one["below"].is_null()) else { return missing() };
        let number = top["number"].as_u64().unwrap();
        let mut comment = world.own_comment(number, variables);
        comment["below"] = json!(to);
        world.discussed.push(comment.clone());
        return written(&comment);
    }
    let id = known(&variables["id"]);
    if let Some(one) = world.discussed.iter_mut().find(|one| one["id"].as_u64() == id) {
        let content = &variables["content"];
        let mut reactions = one["reactions"].as_array().cloned().unwrap_or_default();
        reactions.retain(|reaction| reaction != content);
        if query.contains("updateDiscussionComment") {
            one["body"] = variables["body"].clone();
            return written(one);
        }
        if query.contains("addReaction") {
            reactions.push(content.clone());
        }
        one["reactions"] = json!(reactions);
        return (200, json!({ "data": { "addReaction": { "reaction": { "content": content } } } }));
    }
    if query.contains("mutation") {
        return missing();
    }
    let own = world.login.as_deref().unwrap_or("github-actions[bot]");
    let said = |one: &Value| {
        let reactions = one["reactions"].as_array().into_iter().flatten();
        let groups: Vec<Value> = reactions
            .map(|content| json!({ "content": content, "viewerHasReacted": true }))
            .collect();
        json!({ "id": format!("DC_{}", one["id"]), "databaseId": one["id"], "url": one["html_url"], "body": one["body"],
            "createdAt": one["created_at"], "viewerDidAuthor": one["user"]["login"] == own, "authorAssociation": "NONE",
            "author": { "login": one["user"]["login"], "__typename": one["user"]["type"] }, "reactionGroups": groups })
    };
    let all: Vec<&Value> =
        world.discussed.iter().filter(|one| one["number"] == variables["number"]).collect();
    if all.is_empty() {
        return (200, json!({ "data": { "repository": { "discussion": null } } }));
    }
    let top = |one: &&&Value| {
        let replies: Vec<Value> =
            all.iter().filter(|other| other["below"] == one["id"]).map(|one| said(one)).collect();
        let mut top = said(one);
        let listed = replies.len().saturating_sub(100);
        top["replies"] = json!({ "totalCount": replies.len(), "nodes": replies[listed..] });
        top
    };
    let nodes: Vec<Value> =
        all.iter().filter(|one| one["below"].is_null()).map(|one| top(&one)).collect();
    let page = json!({ "hasNextPage": false, "endCursor": null });
    let discussion = json!({ "id": format!("D_{}", variables["number"]), "comments": { "pageInfo": page, "nodes": nodes } });
    (200, json!({ "data": { "repository": { "discussion": discussion } } }))
}
