//! A small server that speaks GitHub's REST API on 127.0.0.1: it keeps what it is sent, answers
//! like the real one, and records every request with headers and body, so that tests check the very
//! requests made. Faults can be queued.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Request, Response};
use serde_json::{Value, json};

#[path = "github_graph.rs"]
mod graph;

/// A running server; it ends with the runtime.
pub struct GitHubServer {
    /// Where its API starts.
    pub url: String,
    world: Arc<Mutex<World>>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// `POST`.
    pub method: String,
    /// Path and query, without what the API's address starts with.
    pub path: String,
    /// Headers, names in small letters.
    pub headers: Vec<(String, String)>,
    /// JSON body, or null.
    pub body: Value,
}

/// An answer to give instead of the real one, once or for ever.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Requests it is for: the start of `METHOD path`.
    pub to: String,
    /// Status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: String,
    /// Whether the request takes effect all the same.
    pub performed: bool,
    /// Whether it is given every time.
    pub lasts: bool,
}

/// Requests that wait for their answer until the test opens it.
pub struct Gate {
    reached: std::sync::mpsc::Receiver<()>,
    open: tokio::sync::watch::Sender<bool>,
}

impl Gate {
    /// Waits until a request stands before it.
    pub fn wait(&self) {
        self.reached.recv().unwrap();
    }

    /// Lets every request pass from now on.
    pub fn open(&self) {
        self.open.send(true).unwrap();
    }
}

/// Where requests wait: the start of `METHOD path`, who is told, and what opens it.
type ClosedGate = (String, std::sync::mpsc::Sender<()>, tokio::sync::watch::Receiver<bool>);

/// Answers what is asked of `git/...` in a repository: method, the rest of the path, body.
pub type GitDatabase = Box<dyn Fn(&str, &[&str], &Value) -> (u16, Value) + Send>;

/// What the server knows.
#[derive(Default)]
struct World {
    prefix: String,
    login: Option<String>,
    kind: String,
    permissions: Vec<(String, Value)>,
    issues: Vec<Value>,
    pulls: Vec<Value>,
    comments: Vec<Value>,
    review_comments: Vec<Value>,
    reactions: Vec<Value>,
    reviews: Vec<Value>,
    /// Comments whose threads are resolved.
    resolved: Vec<u64>,
    discussed: Vec<Value>,
    runs: Vec<Value>,
    jobs: Vec<Value>,
    check_runs: Vec<Value>,
    check_ends: Vec<Value>,
    files: Vec<Value>,
    commits: Vec<Value>,
    milestones: Vec<Value>,
    /// What `GET /repos/OWNER/NAME/events` lists, latest first.
    events: Vec<Value>,
    alerts: Vec<Value>,
    attachments: Vec<Attachment>,
    git: Option<GitDatabase>,
    requests: Vec<Recorded>,
    faults: VecDeque<Fault>,
    gates: Vec<ClosedGate>,
    loses_every: Option<usize>,
    next_id: u64,
    now: String,
}

/// What people attached to their texts.
struct Attachment {
    /// Path at the server, outside of the API.
    path: String,
    /// Where the server sends whoever asks; `None` for the bytes.
    location: Option<String>,
    bytes: Vec<u8>,
}

impl Recorded {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl GitHubServer {
    /// Starts a server whose API lies below `prefix` (empty, or `/api/v3` as on Enterprise
    /// servers). Needs a tokio runtime.
    pub async fn start(prefix: &str) -> Self {
        let now = "2026-01-02T03:00:00Z".to_owned();
        let world = World {
            prefix: prefix.to_owned(),
            kind: "Bot".to_owned(),
            next_id: 100,
            now,
            ..World::default()
        };
        let world = Arc::new(Mutex::new(world));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{prefix}", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(world.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, world }
    }

    /// Says who the token belongs to; without it `GET /user` is refused as for an App's token.
    pub fn sign_in(&self, login: &str, kind: &str) {
        let mut world = self.world.lock().unwrap();
        world.login = Some(login.to_owned());
        world.kind = kind.to_owned();
    }

    /// Sets the answer about a person's permission.
    pub fn permit(&self, login: &str, answer: Value) {
        self.world.lock().unwrap().permissions.push((login.to_owned(), answer));
    }

    /// Adds an issue.
    pub fn add_issue(&self, issue: Value) {
        self.world.lock().unwrap().issues.push(issue);
    }

    /// Adds a pull request.
    pub fn add_pull(&self, pull: Value) {
        self.world.lock().unwrap().pulls.push(pull);
    }

    /// Changes a part of a pull request.
    pub fn change_pull(&self, number: u64, pointer: &str, value: Value) {
        let mut world = self.world.lock().unwrap();
        let pull = world.pulls.iter_mut().find(|pull| pull["number"] == number).unwrap();
        *pull.pointer_mut(pointer).unwrap() = value;
    }

    /// Changes a part of an issue.
    pub fn change_issue(&self, number: u64, key: &str, value: Value) {
        let mut world = self.world.lock().unwrap();
        let issue = world.issues.iter_mut().find(|issue| issue["number"] == number).unwrap();
        issue[key] = value;
    }

    /// Closes a pull request; with a time, it was merged then.
    pub fn close_pull(&self, number: u64, merged_at: Option<&str>) {
        let mut world = self.world.lock().unwrap();
        let pull = world.pulls.iter_mut().find(|pull| pull["number"] == number).unwrap();
        pull["state"] = json!("closed");
        pull["merged_at"] = json!(merged_at);
    }

    /// Sets the time at which comments are written from now on.
    pub fn set_time(&self, now: &str) {
        self.world.lock().unwrap().now = now.to_owned();
    }

    /// Adds a comment by someone to an issue or pull request; returns its id.
    pub fn add_comment(&self, number: u64, login: &str, kind: &str, body: &str) -> u64 {
        let mut world = self.world.lock().unwrap();
        let comment = world.comment(number, login, kind, body);
        let id = comment["id"].as_u64().unwrap();
        world.comments.push(comment);
        id
    }

    /// Gives the last comment on an issue or pull request another text.
    pub fn change_last_comment(&self, number: u64, body: &str) {
        let mut world = self.world.lock().unwrap();
        let of_thread = |comment: &&mut Value| comment["number"] == number;
        world.comments.iter_mut().rfind(of_thread).unwrap()["body"] = json!(body);
    }

    /// Says what every pull request changes: `filename` and `patch` of each file.
    pub fn change_files(&self, files: &[Value]) {
        self.world.lock().unwrap().files = files.to_vec();
    }

    /// Says which commits every pull request has: `sha` and `commit.message` of each.
    pub fn change_commits(&self, commits: &[Value]) {
        self.world.lock().unwrap().commits = commits.to_vec();
    }

    /// Adds an open alert of `code-scanning` or `dependabot`.
    pub fn add_alert(&self, source: &str, mut alert: Value) {
        alert["source"] = json!(source);
        self.world.lock().unwrap().alerts.push(alert);
    }

    /// Adds an open milestone.
    pub fn add_milestone(&self, number: u64, title: &str) {
        let milestone = json!({ "number": number, "title": title, "state": "open" });
        self.world.lock().unwrap().milestones.push(milestone);
    }

    /// Adds an event to those that are listed, as GitHub lists it.
    pub fn add_event(&self, kind: &str, login: &str, payload: Value) {
        let event = json!({ "type": kind, "actor": { "login": login }, "payload": payload });
        self.world.lock().unwrap().events.insert(0, event);
    }

    /// Keeps an attachment at a path outside of the API; returns its address. With a location,
    /// whoever asks for it is sent there.
    pub fn attach(&self, path: &str, location: Option<&str>, bytes: &[u8]) -> String {
        let mut world = self.world.lock().unwrap();
        let (location, bytes) = (location.map(str::to_owned), bytes.to_vec());
        world.attachments.push(Attachment { path: path.to_owned(), location, bytes });
        format!("{}{path}", self.url.trim_end_matches(&world.prefix))
    }

    /// Gives the repository a database of git objects.
    pub fn serve_git(&self, git: GitDatabase) {
        self.world.lock().unwrap().git = Some(git);
    }

    /// Says how a workflow run is: `in_progress`, or how it ended.
    pub fn add_run(&self, id: u64, end: Option<&str>) {
        let status = if end.is_some() { "completed" } else { "in_progress" };
        let run = json!({ "id": id, "status": status, "conclusion": end });
        let runs = &mut self.world.lock().unwrap().runs;
        runs.retain(|known| known["id"] != id);
        runs.push(run);
    }

    /// Adds a job of an attempt of a workflow run, with its log, which is stored elsewhere.
    pub fn add_job(&self, (run, attempt): (u64, u64), job: Value, log: &str) {
        let number = job["id"].as_u64().unwrap();
        let mut job = job;
        (job["run_id"], job["run_attempt"]) = (json!(run), json!(attempt));
        let stored = self.attach(&format!("/stored/{number}"), None, log.as_bytes());
        let path = format!("/repos/acme/app/actions/jobs/{number}/logs");
        self.attach(&path, Some(&stored), b"");
        self.world.lock().unwrap().jobs.push(job);
    }

    /// Adds a check of an app's suite.
    pub fn add_check_run(&self, suite: u64, check: Value) {
        let mut check = check;
        check["suite"] = json!(suite);
        self.world.lock().unwrap().check_runs.push(check);
    }

    /// Says how a workflow run, or the suite of an app, ended on a commit.
    pub fn end_checks(&self, commit: &str, end: Value) {
        let mut end = end;
        end["head_sha"] = json!(commit);
        self.world.lock().unwrap().check_ends.push(end);
    }

    /// Takes back how checks ended.
    pub fn forget_checks(&self) {
        self.world.lock().unwrap().check_ends.clear();
    }

    /// Returns the check runs as they are now.
    pub fn check_runs(&self) -> Vec<Value> {
        self.world.lock().unwrap().check_runs.clone()
    }

    /// Returns the comments on lines of a pull request.
    pub fn review_comments(&self, number: u64) -> Vec<Value> {
        let world = self.world.lock().unwrap();
        world.review_comments.iter().filter(|one| one["number"] == number).cloned().collect()
    }

    /// Returns the reviews that were submitted.
    pub fn reviews(&self) -> Vec<Value> {
        self.world.lock().unwrap().reviews.clone()
    }

    /// Queues an answer to give instead of the real one.
    pub fn fail(&self, fault: Fault) {
        self.world.lock().unwrap().faults.push_back(fault);
    }

    /// Takes back every answer that was queued.
    pub fn heal(&self) {
        self.world.lock().unwrap().faults.clear();
    }

    /// Loses every so-many-th answer from now on: what was asked for took effect all the same.
    pub fn lose_every(&self, nth: usize) {
        self.world.lock().unwrap().loses_every = Some(nth);
    }

    /// Lets the next request that begins so, `METHOD path`, wait until the test opens the gate.
    pub fn close_gate(&self, to: &str) -> Gate {
        let (tell, reached) = std::sync::mpsc::channel();
        let (open, opened) = tokio::sync::watch::channel(false);
        self.world.lock().unwrap().gates.push((to.to_owned(), tell, opened));
        Gate { reached, open }
    }

    /// Returns every request so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.world.lock().unwrap().requests.clone()
    }

    /// Returns the requests that changed something, as `METHOD path`.
    pub fn writes(&self) -> Vec<String> {
        self.requests()
            .iter()
            .filter(|request| {
                let asks = request.body["query"].as_str().unwrap_or_default();
                request.method != "GET" && !asks.starts_with("query")
            })
            .map(|request| format!("{} {}", request.method, request.path))
            .collect()
    }

    /// Returns the bodies of all comments of an issue or pull request, in order.
    pub fn comments(&self, number: u64) -> Vec<String> {
        let world = self.world.lock().unwrap();
        world
            .comments
            .iter()
            .filter(|comment| comment["number"] == number)
            .map(|comment| comment["body"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Returns the pull requests as they are now.
    pub fn pulls(&self) -> Vec<Value> {
        self.world.lock().unwrap().pulls.clone()
    }

    /// Returns the issues as they are now.
    pub fn issues(&self) -> Vec<Value> {
        self.world.lock().unwrap().issues.clone()
    }

    /// Puts a reaction of ours on something.
    pub fn react(&self, to: &str, content: &str) {
        let path = format!("/repos/acme/app/{to}/reactions");
        self.world.lock().unwrap().serve("POST", &path, &json!({ "content": content }));
    }

    /// Returns the reactions, in order, each with the path it was put on.
    pub fn reactions(&self) -> Vec<Value> {
        self.world.lock().unwrap().reactions.clone()
    }
}

impl Fault {
    /// An answer with this status and message.
    pub fn status(to: &str, status: u16, message: &str) -> Self {
        Self {
            to: to.to_owned(),
            status,
            headers: Vec::new(),
            body: json!({ "message": message }).to_string(),
            performed: false,
            lasts: false,
        }
    }

    /// The same with a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same, every time.
    pub fn lasting(mut self) -> Self {
        self.lasts = true;
        self
    }

    /// The same, but the request takes effect.
    pub fn performed(mut self) -> Self {
        self.performed = true;
        self
    }
}

async fn answer(State(world): State<Arc<Mutex<World>>>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 64 * 1024 * 1024).await.unwrap();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let called = format!("{} {}", parts.method, parts.uri);
    let gate = {
        let mut world = world.lock().unwrap();
        let at = world.gates.iter().position(|(to, ..)| called.starts_with(to));
        at.map(|at| world.gates.remove(at))
    };
    if let Some((_, tell, mut opened)) = gate {
        // NOTE: fails when the test has ended.
        let _ = tell.send(());
        let _ = opened.wait_for(|opened| *opened).await;
    }
    let mut world = world.lock().unwrap();
    let whole = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| {
            (name.as_str().to_owned(), value.to_str().unwrap_or_default().to_owned())
        })
        .collect();
    let method = parts.method.as_str().to_owned();
    let attached = world.attachments.iter().find(|attached| attached.path == whole);
    if let Some(Attachment { location, bytes, .. }) = attached {
        let response = match location {
            Some(to) => Response::builder().status(302).header("location", to),
            None => Response::builder().status(200),
        };
        let response = response.body(Body::from(bytes.clone())).unwrap();
        world.requests.push(Recorded { method, path: whole, headers, body });
        return response;
    }
    // Beside the REST API of an Enterprise server.
    let graph = (whole == "/api/graphql").then_some("/graphql");
    let Some(path) = graph.or(whole.strip_prefix(&world.prefix)).map(str::to_owned) else {
        return respond(404, &[], &json!({ "message": "Not Found" }).to_string());
    };
    world.requests.push(Recorded {
        method: method.clone(),
        path: path.clone(),
        headers,
        body: body.clone(),
    });
    let called = format!("{method} {path}");
    let fault = world.faults.iter().position(|fault| called.starts_with(&fault.to));
    let fault = fault.and_then(|at| match world.faults.get(at) {
        Some(fault) if fault.lasts => Some(fault.clone()),
        _ => world.faults.remove(at),
    });
    if let Some(fault) = &fault
        && !fault.performed
    {
        return respond(fault.status, &fault.headers, &fault.body);
    }
    let (status, answer) = world.serve(&method, &path, &body);
    if world.loses_every.is_some_and(|nth| world.requests.len().is_multiple_of(nth)) {
        return respond(502, &[], "lost");
    }
    match fault {
        Some(fault) => respond(fault.status, &fault.headers, &fault.body),
        None if answer.is_null() => respond(status, &[], ""),
        None => respond(status, &[], &answer.to_string()),
    }
}

fn respond(status: u16, headers: &[(String, String)], body: &str) -> Response<Body> {
    let mut response =
        Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body.to_owned())).unwrap()
}

impl World {
    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn comment(&mut self, number: u64, login: &str, kind: &str, body: &str) -> Value {
        let id = self.id();
        let thread = format!("https://api.github.example/repos/a/b/issues/{number}");
        json!({ "id": id, "number": number, "issue_url": thread, "body": body, "html_url": format!("https://github.example/c/{id}"), "created_at": self.now,
            "user": { "login": login, "type": kind } })
    }

    fn own_comment(&mut self, number: u64, body: &Value) -> Value {
        let login = self.login.clone().unwrap_or_else(|| "github-actions[bot]".to_owned());
        let kind = self.kind.clone();
        self.comment(number, &login, &kind, body["body"].as_str().unwrap_or_default())
    }

    fn serve(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (place, query) = path.split_once('?').unwrap_or((path, ""));
        let query: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), decode(value)))
            .collect();
        let parts: Vec<&str> = place.trim_start_matches('/').split('/').collect();
        if (method, parts.as_slice()) == ("GET", &["user"]) {
            return match &self.login {
                Some(login) => (200, json!({ "login": login, "type": self.kind })),
                None => (403, json!({ "message": "Resource not accessible by integration" })),
            };
        }
        if (method, parts.as_slice()) == ("POST", &["graphql"]) {
            return graph::answer(self, body);
        }
        let ["repos", owner, name, rest @ ..] = parts.as_slice() else { return not_found() };
        let repository = format!("{owner}/{name}");
        match (method, rest) {
            ("GET", []) => (200, json!({ "full_name": repository, "default_branch": "main" })),
            ("GET", ["events"]) => page(self.events.iter(), &query),
            ("GET", ["collaborators", login, "permission"]) => {
                let login = decode(login);
                let known = self.permissions.iter().find(|(known, _)| *known == login);
                match known {
                    Some((_, answer)) => (200, answer.clone()),
                    // An app may do much here, and is none of those it is asked about.
                    None if login.ends_with("[bot]") => {
                        (404, json!({ "message": format!("{login} is not a user") }))
                    }
                    None => not_found(),
                }
            }
            ("GET", ["issues"]) => {
                let state = query.iter().find(|(key, _)| key == "state");
                let state = state.map_or("open", |(_, value)| value.as_str());
                let wanted = |issue: &&Value| state == "all" || issue["state"] == state;
                page(self.issues.iter().filter(wanted), &query)
            }
            ("POST", ["issues"]) => {
                let id = self.id();
                let mut issue = self.own_comment(id, body);
                for (key, value) in [
                    ("number", json!(id)),
                    ("title", body["title"].clone()),
                    ("state", json!("open")),
                ] {
                    issue[key] = value;
                }
                self.issues.push(issue.clone());
                (201, issue)
            }
            ("PATCH", ["issues", number]) => match edit(&mut self.issues, "number", number, body) {
                (404, _) => edit(&mut self.pulls, "number", number, body),
                edited => edited,
            },
            ("GET", [source, "alerts"]) => {
                page(self.alerts.iter().filter(|alert| alert["source"] == *source), &query)
            }
            ("GET", ["milestones"]) => page(self.milestones.iter(), &query),
            ("POST", ["issues", number, "assignees"]) => self.assign(number_of(number), body),
            ("POST", ["pulls", number, "requested_reviewers"]) => {
                self.ask_for_review(number_of(number), body)
            }
            ("GET", ["issues", "comments"]) => page(self.comments.iter().rev(), &query),
            ("GET", ["pulls", "comments"]) => page(self.review_comments.iter().rev(), &query),
            ("GET", ["actions", "runs", run, "attempts", attempt, "jobs"]) => {
                let of_attempt = |job: &&Value| {
                    job["run_id"] == number_of(run) && job["run_attempt"] == number_of(attempt)
                };
                let jobs: Vec<&Value> = self.jobs.iter().filter(of_attempt).collect();
                (200, json!({ "total_count": jobs.len(), "jobs": jobs }))
            }
            ("POST", ["actions", "runs", run, "rerun-failed-jobs"]) => {
                if self.jobs.iter().any(|job| job["run_id"] == number_of(run)) {
                    (201, Value::Null)
                } else {
                    not_found()
                }
            }
            ("GET", ["check-suites", suite, "check-runs"]) => {
                let of_suite = |check: &&Value| check["suite"] == number_of(suite);
                let checks: Vec<&Value> = self.check_runs.iter().filter(of_suite).collect();
                (200, json!({ "total_count": checks.len(), "check_runs": checks }))
            }
            ("GET", ["actions", "runs"]) => {
                let commit = query.iter().find(|(key, _)| key == "head_sha");
                let commit = commit.map_or("", |(_, value)| value.as_str());
                let ends = self.ends_on(commit, |end| end["app"].is_null());
                (200, json!({ "total_count": ends.len(), "workflow_runs": ends }))
            }
            ("GET", ["commits", commit, "check-suites"]) => {
                let ends = self.ends_on(commit, |end| !end["app"].is_null());
                (200, json!({ "total_count": ends.len(), "check_suites": ends }))
            }
            ("GET", ["commits", commit, "check-runs"]) => {
                let name = query.iter().find(|(key, _)| key == "check_name");
                let wanted = |check: &&Value| {
                    check["head_sha"] == *commit
                        && name.is_none_or(|(_, name)| check["name"] == *name)
                };
                let checks: Vec<&Value> = self.check_runs.iter().filter(wanted).collect();
                (200, json!({ "total_count": checks.len(), "check_runs": checks }))
            }
            ("GET", ["check-runs", id, "annotations"]) => {
                let check = self.check_runs.iter().find(|check| check["id"] == number_of(id));
                let annotations = check.and_then(|check| check["output"]["annotations"].as_array());
                page(annotations.into_iter().flatten(), &query)
            }
            ("POST", ["check-runs"]) => {
                let id = self.id();
                let page = format!("https://github.example/runs/{id}");
                self.check_runs.push(json!({ "id": id, "html_url": page, "head_sha": body["head_sha"], "name": body["name"], "output": {} }));
                self.change_check_run(id, 201, body)
            }
            ("PATCH", ["check-runs", id]) => self.change_check_run(number_of(id), 200, body),
            ("GET", ["actions", "runs", run]) => {
                found(self.runs.iter().find(|known| known["id"] == number_of(run)))
            }
            ("GET", [.., "reactions"]) => {
                page(self.reactions.iter().filter(|reaction| reaction["path"] == *place), &query)
            }
            ("GET", ["issues", number]) => {
                found(self.issues.iter().find(|issue| issue["number"] == number_of(number)))
            }
            ("GET", ["pulls", number]) => {
                found(self.pulls.iter().find(|pull| pull["number"] == number_of(number)))
            }
            ("GET", ["issues", number, "comments"]) => page(
                self.comments.iter().filter(|comment| comment["number"] == number_of(number)),
                &query,
            ),
            ("GET", ["pulls", number, "comments"]) => page(
                self.review_comments
                    .iter()
                    .filter(|comment| comment["number"] == number_of(number)),
                &query,
            ),
            (_, ["git", rest @ ..]) => {
                self.git.as_ref().map_or_else(not_found, |git| git(method, rest, body))
            }
            ("GET", ["pulls", _, "files"]) => page(self.files.iter(), &query),
            ("GET", ["pulls", _, "commits"]) => page(self.commits.iter(), &query),
            ("GET", ["pulls", number, "reviews"]) => page(
                self.reviews.iter().filter(|review| review["number"] == number_of(number)),
                &query,
            ),
            ("POST", ["pulls", number, "reviews"]) => self.review(number_of(number), body),
            ("PUT", ["pulls", _, "reviews", id]) => edit(&mut self.reviews, "id", id, body),
            ("POST", ["issues", number, "comments"]) => self.add(number_of(number), body, false),
            ("POST", ["pulls", number, "comments", to, "replies"]) => {
                let mut body = body.clone();
                body["in_reply_to_id"] = json!(number_of(to));
                self.add(number_of(number), &body, true)
            }
            ("PATCH", ["issues", "comments", id]) => edit(&mut self.comments, "id", id, body),
            ("PATCH", ["pulls", "comments", id]) => edit(&mut self.review_comments, "id", id, body),
            ("PATCH", ["pulls", number]) => edit(&mut self.pulls, "number", number, body),
            ("POST", [.., "reactions"]) => {
                let same =
                    |known: &&Value| known["path"] == *place && known["content"] == body["content"];
                if let Some(known) = self.reactions.iter().find(same) {
                    return (200, known.clone());
                }
                let id = self.id();
                let user = self.own_comment(0, body)["user"].clone();
                let content = &body["content"];
                let reaction = json!({ "id": id, "content": content, "path": place, "user": user });
                self.reactions.push(reaction.clone());
                (201, reaction)
            }
            ("DELETE", [.., "reactions", id]) => {
                self.reactions.retain(|reaction| reaction["id"] != number_of(id));
                (204, Value::Null)
            }
            ("POST", ["issues", number, "labels"]) => {
                self.label(number_of(number), &body["labels"])
            }
            ("GET", ["pulls"]) => {
                let wanted = query
                    .iter()
                    .find(|(key, _)| key == "head")
                    .map(|(_, value)| value.as_str())
                    .unwrap_or_default()
                    .split_once(':')
                    .map(|(_, head)| head.to_owned());
                let state = query.iter().find(|(key, _)| key == "state");
                let state = state.map_or("open", |(_, value)| value.as_str());
                page(
                    self.pulls.iter().rev().filter(|pull| {
                        (state == "all" || pull["state"] == state)
                            && wanted.as_deref().is_none_or(|head| pull["head"]["ref"] == head)
                    }),
                    &query,
                )
            }
            ("POST", ["pulls"]) => self.open_pull(&repository, body),
            _ => not_found(),
        }
    }

    fn ends_on(&self, commit: &str, counts: impl Fn(&Value) -> bool) -> Vec<&Value> {
        let ends = self.check_ends.iter();
        ends.filter(|end| end["head_sha"] == commit && counts(end)).collect()
    }

    fn add(&mut self, number: u64, body: &Value, on_a_line: bool) -> (u16, Value) {
        let Some(text) = body["body"].as_str() else {
            return (422, json!({ "message": "Validation Failed" }));
        };
        if text.chars().count() > 65_536 {
            return (
                422,
                json!({ "message": "Validation Failed", "errors": ["body is too long (maximum is 65536 characters)"] }),
            );
        }
        let mut comment = self.own_comment(number, body);
        comment["in_reply_to_id"] = body["in_reply_to_id"].clone();
        let comments = if on_a_line { &mut self.review_comments } else { &mut self.comments };
        comments.push(comment.clone());
        (201, comment)
    }

    /// Takes a review whose comments are on lines that the pull request's files show.
    fn review(&mut self, number: u64, body: &Value) -> (u16, Value) {
        let shown = |comment: &Value| {
            let file = self.files.iter().find(|file| file["filename"] == comment["path"]);
            let patch = file.and_then(|file| file["patch"].as_str()).unwrap_or_default();
            let mut spans = patch.lines().filter_map(|line| {
                line.strip_prefix("@@ ")?.split(['+', ' ']).nth(2)?.split_once(',')
            });
            let (first, last) = (
                comment["start_line"].as_u64().or(comment["line"].as_u64()),
                comment["line"].as_u64(),
            );
            let within = |(start, count): (&str, &str)| {
                let start = number_of(start);
                first.is_some_and(|first| first >= start)
                    && last.is_some_and(|last| last < start + number_of(count))
            };
            comment["side"] == "RIGHT" && spans.any(within)
        };
        let comments = body["comments"].as_array().cloned().unwrap_or_default();
        if body["event"] != "COMMENT" || !comments.iter().all(shown) {
            return (
                422,
                json!({ "message": "Unprocessable Entity", "errors": ["Pull request review thread line must be part of the diff"] }),
            );
        }
        let mut review = self.own_comment(number, body);
        review["commit_id"] = body["commit_id"].clone();
        review["comments"] = json!(comments);
        for one in comments {
            let mut comment = self.own_comment(number, &one);
            (comment["path"], comment["line"]) = (one["path"].clone(), one["line"].clone());
            self.review_comments.push(comment);
        }
        self.reviews.push(review.clone());
        (200, review)
    }

    /// Changes a check run. Annotations are added to those that are there, 50 at a time, as GitHub
    /// does.
    fn change_check_run(&mut self, id: u64, status: u16, body: &Value) -> (u16, Value) {
        let Some(check) = self.check_runs.iter_mut().find(|check| check["id"] == id) else {
            return not_found();
        };
        let added = body["output"]["annotations"].as_array().cloned().unwrap_or_default();
        if added.len() > 50 || !body["output"]["summary"].is_string() {
            self.check_runs.retain(|check| status != 201 || check["id"] != id);
            return (422, json!({ "message": "Invalid request." }));
        }
        let mut annotations =
            check["output"]["annotations"].as_array().cloned().unwrap_or_default();
        annotations.extend(added);
        for (key, value) in body.as_object().into_iter().flatten() {
            check[key] = value.clone();
        }
        check["output"]["annotations"] = json!(annotations);
        let mut answer = check.clone();
        answer["output"]["annotations_count"] = json!(annotations.len());
        (status, answer)
    }

    fn label(&mut self, number: u64, labels: &Value) -> (u16, Value) {
        let names = labels.as_array().cloned().unwrap_or_default();
        let labels: Value = names.into_iter().map(|name| json!({ "name": name })).collect();
        for thread in self
            .issues
            .iter_mut()
            .chain(self.pulls.iter_mut())
            .filter(|thread| thread["number"] == number)
        {
            thread["labels"] = labels.clone();
        }
        (200, labels)
    }

    /// Leaves out who is no collaborator, as GitHub does.
    fn assign(&mut self, number: u64, body: &Value) -> (u16, Value) {
        let logins = body["assignees"].as_array().cloned().unwrap_or_default();
        let known = logins.iter().filter(|login| {
            self.permissions.iter().any(|(known, _)| Some(known.as_str()) == login.as_str())
        });
        let known: Vec<Value> = known.map(|login| json!({ "login": login })).collect();
        let Some(pull) = self.pulls.iter_mut().find(|pull| pull["number"] == number) else {
            return not_found();
        };
        pull["assignees"] = json!(known);
        (201, pull.clone())
    }

    /// Refuses users that are no collaborators, and teams but `security`, as GitHub does.
    fn ask_for_review(&mut self, number: u64, body: &Value) -> (u16, Value) {
        let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
        let (users, teams) = (list("reviewers"), list("team_reviewers"));
        let is_known = |login: &Value| {
            self.permissions.iter().any(|(known, _)| Some(known.as_str()) == login.as_str())
        };
        if !users.iter().all(is_known) || !teams.iter().all(|team| team == "security") {
            let message = "Reviews may only be requested from collaborators.";
            return (422, json!({ "message": message }));
        }
        let Some(pull) = self.pulls.iter_mut().find(|pull| pull["number"] == number) else {
            return not_found();
        };
        let mut asked = pull["asked"].as_array().cloned().unwrap_or_default();
        asked.extend(users.into_iter().chain(teams));
        pull["asked"] = json!(asked);
        (201, pull.clone())
    }

    fn open_pull(&mut self, repository: &str, body: &Value) -> (u16, Value) {
        if let Some(missing) = ["title", "head", "base"].iter().find(|key| !body[**key].is_string())
        {
            return (
                422,
                json!({ "message": "Validation Failed", "errors": [{ "message": format!("{missing} is missing") }] }),
            );
        }
        let number = self.id();
        let user = self.own_comment(number, body)["user"].clone();
        let pull = json!({ "number": number, "id": number, "state": "open", "user": user, "title": body["title"], "body": body["body"], "draft": body["draft"],
            "html_url": format!("https://github.example/{repository}/pull/{number}"),
            "head": { "ref": body["head"], "sha": "0".repeat(40), "repo": { "id": 1, "full_name": repository } },
            "base": { "ref": body["base"], "sha": "1".repeat(40), "repo": { "id": 1, "full_name": repository } } });
        self.pulls.push(pull.clone());
        (201, pull)
    }
}

fn not_found() -> (u16, Value) {
    (404, json!({ "message": "Not Found" }))
}

fn found(value: Option<&Value>) -> (u16, Value) {
    value.map_or_else(not_found, |value| (200, value.clone()))
}

fn number_of(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

fn page<'a>(all: impl Iterator<Item = &'a Value>, query: &[(String, String)]) -> (u16, Value) {
    let number = |key: &str, otherwise: usize| {
        query
            .iter()
            .find(|(known, _)| known == key)
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(otherwise)
    };
    let (size, page) = (number("per_page", 30), number("page", 1));
    (200, all.skip((page - 1) * size).take(size).cloned().collect())
}

fn edit(all: &mut [Value], key: &str, id: &str, change: &Value) -> (u16, Value) {
    let Some(value) = all.iter_mut().find(|value| value[key] == number_of(id)) else {
        return not_found();
    };
    for (key, new) in change.as_object().into_iter().flatten() {
        if key == "base" {
            value["base"]["ref"] = new.clone();
        } else {
            value[key] = new.clone();
        }
    }
    (200, value.clone())
}

fn decode(text: &str) -> String {
    url::form_urlencoded::parse(format!("x={text}").as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}
