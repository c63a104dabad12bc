//! `PageRecord`: what a page did and said since it was last asked: its address, whether it still
//! loads, its console, requests that failed, and what was prevented.
//!
//! In: events of the browser. Out: lines for a model, bounded. All of it is the page's own text.

use std::collections::BTreeSet;

use serde_json::Value;

use locum_base::text::{head, single_blanks};

/// Most lines of each kind that are kept between two answers; the last ones.
const LINES_LIMIT: usize = 40;

/// Longest line, in bytes.
const LINE_LIMIT_BYTES: usize = 400;

/// Requests that go on by design, or whose end is reported elsewhere (scripts of workers): they are
/// not waited for.
const GO_ON: &[&str] = &["WebSocket", "EventSource", "Ping", "Media", "Other"];

/// See the module.
#[derive(Debug, Default)]
pub(super) struct PageRecord {
    /// The page's address.
    pub(super) address: String,
    /// The address that an error is shown in place of, where one is.
    pub(super) failed_address: Option<String>,
    /// What it wrote to its console, and its errors.
    pub(super) console: RecentLines,
    /// Requests that failed.
    pub(super) network: RecentLines,
    /// Whether a download was begun, which is prevented.
    pub(super) began_download: bool,
    /// What it tried to do and was prevented from.
    pub(super) prevented: RecentLines,
    /// Frames that load.
    loading: BTreeSet<String>,
    /// Requests that have no whole answer yet, with their addresses.
    requests: Vec<(String, String)>,
}

/// The last lines of something.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RecentLines {
    lines: Vec<String>,
    lost: usize,
}

impl RecentLines {
    pub(super) fn push(&mut self, line: &str) {
        let plain = single_blanks(line);
        let cut = head(&plain, LINE_LIMIT_BYTES);
        self.lines.push(if cut.len() < plain.len() { format!("{cut}…") } else { plain });
        if self.lines.len() > LINES_LIMIT {
            self.lines.remove(0);
            self.lost += 1;
        }
    }

    /// Returns them, with how many there were before, and forgets them.
    pub(super) fn take(&mut self) -> Vec<String> {
        let Self { lines, lost } = std::mem::take(self);
        let before = (lost > 0).then(|| format!("({lost} before)"));
        before.into_iter().chain(lines).collect()
    }
}

impl PageRecord {
    /// Whether something of it is on its way.
    pub(super) fn is_busy(&self) -> bool {
        !self.loading.is_empty() || !self.requests.is_empty()
    }

    /// Whether a frame of it loads.
    pub(super) fn is_loading(&self) -> bool {
        !self.loading.is_empty()
    }

    /// Returns the numbers of the requests that have no whole answer yet.
    pub(super) fn pending_requests(&self) -> impl Iterator<Item = &String> {
        self.requests.iter().map(|(id, _)| id)
    }

    /// Says what is still on its way.
    pub(super) fn unfinished(&self) -> Option<String> {
        self.is_busy().then(|| match self.requests.first() {
            Some((_, address)) => format!("still waiting for {}", head(address, LINE_LIMIT_BYTES)),
            None => "still loading".to_owned(),
        })
    }

    /// Takes an event of the page; `main` is its main frame.
    pub(super) fn take_in(&mut self, method: &str, params: &Value, main: &str) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
        let id = || text("/requestId").unwrap_or_default().to_owned();
        match method {
            "Page.frameNavigated" if text("/frame/id") == Some(main) => {
                let (url, end) = (text("/frame/url"), text("/frame/urlFragment"));
                self.address = format!("{}{}", url.unwrap_or_default(), end.unwrap_or_default());
                self.failed_address = text("/frame/unreachableUrl").map(str::to_owned);
            }
            "Page.navigatedWithinDocument" if text("/frameId") == Some(main) => {
                self.address = text("/url").unwrap_or_default().to_owned();
            }
            "Page.frameStartedLoading" => {
                self.loading.extend(text("/frameId").map(str::to_owned));
            }
            "Page.frameStoppedLoading" | "Page.frameDetached" => {
                self.loading.remove(text("/frameId").unwrap_or_default());
            }
            "Runtime.consoleAPICalled" => {
                let kind = text("/type").unwrap_or("log");
                let arguments = params.get("args").and_then(Value::as_array);
                let said: Vec<String> = arguments.into_iter().flatten().map(shown).collect();
                self.console.push(&format!("{kind}: {}", said.join(" ")));
            }
            "Runtime.exceptionThrown" => {
                let thrown = text("/exceptionDetails/exception/description");
                let words = thrown.or(text("/exceptionDetails/text")).unwrap_or("an exception");
                self.console.push(&format!(
                    "uncaught: {}{}",
                    words.lines().next().unwrap_or_default(),
                    place(params.get("exceptionDetails"))
                ));
            }
            // Failed requests are listed as such.
            "Log.entryAdded" if text("/entry/source") != Some("network") => {
                let level = text("/entry/level").unwrap_or("info");
                let line = format!("{level}: {}", text("/entry/text").unwrap_or_default());
                self.console.push(&line);
            }
            "Log.entryAdded"
                if text("/entry/text").is_some_and(|text| text.contains("WebSocket")) =>
            {
                self.network.push(text("/entry/text").unwrap_or_default());
            }
            "Network.requestWillBeSent"
                if !GO_ON.iter().any(|kind| text("/type") == Some(kind)) =>
            {
                let address = text("/request/url").unwrap_or_default().to_owned();
                let id = id();
                self.requests.retain(|(known, _)| *known != id);
                if address.starts_with("http") {
                    self.requests.push((id, address));
                }
            }
            "Network.responseReceived" => {
                let status = params.pointer("/response/status").and_then(Value::as_u64);
                let address = text("/response/url").unwrap_or_default();
                // Browsers ask for it by themselves.
                let is_icon = address.ends_with("/favicon.ico");
                if let Some(status) = status.filter(|status| *status >= 400 && !is_icon) {
                    self.network.push(&format!("{status} {address}"));
                }
            }
            "Network.loadingFinished" => self.ended(&id()).iter().for_each(drop),
            "Network.loadingFailed" => {
                let id = id();
                let address = self.ended(&id);
                let why = text("/errorText").unwrap_or("failed");
                let is_canceled = params.get("canceled").and_then(Value::as_bool) == Some(true);
                // What the rules refuse is listed as such.
                if !is_canceled && !why.contains("BLOCKED_BY_CLIENT") {
                    self.network.push(&format!("{why} {}", address.unwrap_or_default()));
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, id: &str) -> Option<String> {
        let at = self.requests.iter().position(|(known, _)| known == id)?;
        Some(self.requests.remove(at).1)
    }
}

/// Returns a value that a page wrote to its console, as a console would.
fn shown(argument: &Value) -> String {
    match argument.get("value") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => preview(argument).unwrap_or_else(|| {
            let text = argument.get("description").or_else(|| argument.get("type"));
            let text = text.and_then(Value::as_str).unwrap_or_default();
            text.lines().next().unwrap_or_default().to_owned()
        }),
    }
}

/// Returns what a page shows of an object.
fn preview(argument: &Value) -> Option<String> {
    let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
    let preview = argument.get("preview")?;
    if preview.get("subtype").and_then(Value::as_str) == Some("error") {
        return None;
    }
    let is_list = preview.get("subtype").and_then(Value::as_str) == Some("array");
    let properties = preview.get("properties")?.as_array()?.iter().map(|property| {
        let value = text(property, "value").unwrap_or_default();
        if is_list {
            value
        } else {
            format!("{}: {value}", text(property, "name").unwrap_or_default())
        }
    });
    let all = properties.collect::<Vec<_>>().join(", ");
    Some(if is_list { format!("[{all}]") } else { format!("{{{all}}}") })
}

/// Returns where in the page something happened.
fn place(details: Option<&Value>) -> String {
    let line = details.and_then(|details| details.get("lineNumber")).and_then(Value::as_u64);
    let url = details.and_then(|details| details.get("url")).and_then(Value::as_str);
    match (url.filter(|url| !url.is_empty()), line) {
        (Some(url), Some(line)) => format!(" ({url}:{})", line + 1),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::{PageRecord, RecentLines};

    fn after(events: &[(&str, serde_json::Value)]) -> PageRecord {
        let mut page = PageRecord::default();
        events.iter().for_each(|(method, params)| page.take_in(method, params, "M"));
        page
    }

    #[test]
    fn console_and_exceptions_are_lines() {
        let mut page = after(&[
            (
                "Runtime.consoleAPICalled",
                json!({ "type": "error", "args": [
                    { "type": "string", "value": "bad\n  thing" },
                    { "type": "number", "value": 3 },
                    { "type": "object", "description": "Object",
                      "preview": { "properties": [{ "name": "a", "value": "1" }] } },
                    { "type": "object", "subtype": "error", "description": "Error: x\n    at y",
                      "preview": { "subtype": "error", "properties": [] } },
                    { "type": "undefined" },
                ] }),
            ),
            (
                "Runtime.exceptionThrown",
                json!({ "exceptionDetails": { "text": "Uncaught", "lineNumber": 2,
                    "url": "http://localhost/a.js",
                    "exception": { "description": "ReferenceError: f is not defined\n  at a" } } }),
            ),
            (
                "Log.entryAdded",
                json!({ "entry": { "source": "network", "level": "error",
                "text": "Failed to load resource" } }),
            ),
            (
                "Log.entryAdded",
                json!({ "entry": { "source": "security", "level": "warning",
                "text": "mixed" } }),
            ),
        ]);
        assert_eq!(
            page.console.take(),
            [
                "error: bad thing 3 {a: 1} Error: x undefined",
                "uncaught: ReferenceError: f is not defined (http://localhost/a.js:3)",
                "warning: mixed",
            ]
        );
        assert_eq!(page.console.take(), Vec::<String>::new());
    }

    #[test]
    fn requests_are_waited_for_and_told_when_they_fail() {
        let sent = |id: &str, kind: &str| {
            (
                "Network.requestWillBeSent",
                json!({ "requestId": id, "type": kind,
                "request": { "url": format!("http://h/{id}") } }),
            )
        };
        let ended = |id: &str| ("Network.loadingFinished", json!({ "requestId": id }));
        let failed = |id: &str, why: &str| {
            ("Network.loadingFailed", json!({ "requestId": id, "errorText": why }))
        };
        let response =
            json!({ "requestId": "a", "response": { "url": "http://h/a", "status": 404 } });
        let mut page = after(&[
            sent("a", "Document"),
            sent("b", "Image"),
            sent("c", "WebSocket"),
            sent("d", "XHR"),
            ("Network.responseReceived", response),
            ended("a"),
            failed("b", "net::ERR_BLOCKED_BY_CLIENT"),
        ]);
        assert_eq!(page.unfinished().as_deref(), Some("still waiting for http://h/d"));
        assert_eq!(page.network.take(), ["404 http://h/a"]);
        let failed = failed("d", "net::ERR_CONNECTION_REFUSED");
        page.take_in(failed.0, &failed.1, "M");
        assert_eq!(page.network.take(), ["net::ERR_CONNECTION_REFUSED http://h/d"]);
        assert!(!page.is_busy());
    }

    #[test]
    fn only_the_main_frame_has_the_address() {
        let navigated = |id: &str, url: &str| {
            (
                "Page.frameNavigated",
                json!({ "frame": { "id": id, "url": url, "urlFragment": "#x" } }),
            )
        };
        let mut page = after(&[
            navigated("M", "http://h/"),
            navigated("F", "http://other/"),
            ("Page.frameStartedLoading", json!({ "frameId": "F" })),
        ]);
        assert_eq!((&*page.address, page.is_busy()), ("http://h/#x", true));
        page.take_in("Page.frameDetached", &json!({ "frameId": "F" }), "M");
        page.take_in("Page.navigatedWithinDocument", &json!({ "frameId": "M", "url": "/b" }), "M");
        assert_eq!((&*page.address, page.is_busy()), ("/b", false));
        let failed = json!({ "frame": { "id": "M", "url": "chrome-error://chromewebdata/",
            "unreachableUrl": "http://h/gone" } });
        page.take_in("Page.frameNavigated", &failed, "M");
        assert_eq!(page.failed_address.as_deref(), Some("http://h/gone"));
    }

    #[test]
    fn many_and_long_lines_are_cut() {
        let mut lines = RecentLines::default();
        (0..50).for_each(|number| lines.push(&format!("{number} {}", "x".repeat(1000))));
        let taken = lines.take();
        assert_eq!((taken.len(), &*taken[0]), (41, "(10 before)"));
        assert!(taken[1].starts_with("10 ") && taken[1].len() < 410 && taken[1].ends_with('…'));
    }
}
