//! The part of the server that speaks GraphQL: threads on lines of a pull request.

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

    /// Returns the ids of the comments whose threads are resolved.
    pub fn resolved(&self) -> Vec<u64> {
        self.world.lock().unwrap().resolved.clone()
    }
}

/// Answers a query about threads, or resolves one.
pub(super) fn answer(world: &mut World, body: &Value) -> (u16, Value) {
    let query = body["query"].as_str().unwrap_or_default();
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
