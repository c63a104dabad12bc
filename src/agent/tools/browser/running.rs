//! `Browser`: a Chromium that runs, with the one page it shows.
//!
//! In: what is to be done with the page, and who decides on its requests. Out: that it was done and
//! the page has come to rest, or why not. What a page tries besides (windows, downloads,
//! dialogs) is prevented and reported.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::env::RunEnv;
use crate::tools::browser::devtools::{
    BrowserError, DevTools, DevToolsEvent, DevToolsMessage, FRAMING,
};
use crate::tools::browser::grace_period::{GRACE_LIMIT, GracePeriod};
use crate::tools::browser::layout::PageLayout;
use crate::tools::browser::outline::FrameTree;
use crate::tools::browser::page::PageRecord;
use crate::tools::browser::requests::RequestGuard;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::schema::{CommandLimits, CommandNetwork, SandboxSetting};
use locum_sandbox::exec::dialogue::{Dialogue, TalkingProgram};
use locum_sandbox::network::proxy::NetworkProxy;
use locum_sandbox::{CommandReach, Sandbox, SharedNetwork};

/// How large its window is at first, in pixels.
pub(super) const FIRST_SIZE: (u32, u32) = (900, 600);

/// Longest wait for one answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// How long nothing happens before a page counts as at rest.
const QUIET: Duration = Duration::from_millis(400);

/// Most frames whose content is shown.
const FRAMES_LIMIT: usize = 8;

/// Its own sandbox takes namespaces that it cannot make inside of ours, which holds it instead.
/// Nothing is asked of Google, and nothing is kept. Frames of other sites are part of the page, so
/// that one conversation sees all of it.
const OPTIONS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-back-forward-cache",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints",
    "--disable-site-isolation-trials",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
];

/// Gives it the pipes where it looks for them (3 and 4), and what the sandbox says of its proxy.
const START: &str = "exec \"$0\" --proxy-server=\"$HTTPS_PROXY\" --user-data-dir=\"$HOME/browser\" \
    \"$@\" about:blank 3<&0 4>&1 </dev/null >/dev/null";

/// See the module.
pub(super) struct Browser {
    tools: DevTools,
    network: Option<SharedNetwork>,
    /// The conversation with the page.
    session: String,
    /// The page, by the name that its main frame has as well.
    target: String,
    /// What it did and said.
    pub(super) page: PageRecord,
    /// How large its window is.
    pub(super) size: (u32, u32),
    /// What it ran in; removed after it.
    _around: (Sandbox, tempfile::TempDir),
}

/// Where and with what a browser starts.
pub(super) struct BrowserStart<'s> {
    /// Its program.
    pub(super) program: &'s Path,
    /// The act that the permit is for.
    pub(super) intent: Intent,
    /// What it reaches hosts through.
    pub(super) proxy: NetworkProxy,
    /// The network of what it is to find at `127.0.0.1`.
    pub(super) network: Option<&'s SharedNetwork>,
}

/// Returns an environment whose programs are also those of the browser's own folder: in there is
/// what it is made of, and a sandbox shows it.
fn with_folder_of(program: &Path, env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut env = env.clone();
    let path = env.entry("PATH".to_owned()).or_default();
    if let Some(folder) = program.parent() {
        *path = format!("{path}:{}", folder.display());
    }
    env
}

impl Browser {
    /// Starts one with an empty page.
    pub(super) async fn start(
        permit: &Permit<impl Act>,
        start: BrowserStart<'_>,
        run: RunEnv<'_>,
        guard: &mut RequestGuard<'_>,
    ) -> Result<Self, BrowserError> {
        let over = |error: &dyn std::fmt::Display| BrowserError::Over(error.to_string());
        // Whatever commands may, it is held to its own rules.
        let limits = CommandLimits {
            sandbox: SandboxSetting::Required,
            network: CommandNetwork::Listed,
            timeout: run.policy.settings().commands.timeout,
            ..CommandLimits::default()
        };
        let env = with_folder_of(start.program, run.env);
        let sandbox = run.sandbox.beside(&limits, &env).map_err(|error| over(&error))?;
        let folder = tempfile::Builder::new().prefix("locum-browser-").tempdir();
        let folder = folder.map_err(|error| over(&error))?;
        let program = start.program.to_string_lossy().into_owned();
        let size = format!("--window-size={},{}", FIRST_SIZE.0, FIRST_SIZE.1);
        let words: Vec<String> = ["/bin/sh", "-c", START, &program, &size]
            .into_iter()
            .chain(OPTIONS.iter().copied())
            .map(str::to_owned)
            .collect();
        let talking = TalkingProgram {
            intent: start.intent,
            framing: FRAMING,
            words: &words,
            folder: folder.path().to_owned(),
            env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
            sandbox: &sandbox,
            reach: CommandReach { network: start.network, ..CommandReach::nothing(folder.path()) },
            proxy: Some(start.proxy),
        };
        let dialogue = Dialogue::start(permit, talking).map_err(|error| over(&error))?;
        // At `127.0.0.1` it would find the runner itself, or nothing.
        let network = dialogue.network().ok_or_else(|| {
            let why = "this machine gives it no namespaces, and so no network of its own";
            BrowserError::Over(why.to_owned())
        })?;
        let mut browser = Self {
            tools: DevTools::over(dialogue),
            network: Some(network),
            session: String::new(),
            target: String::new(),
            page: PageRecord::default(),
            size: FIRST_SIZE,
            _around: (sandbox, folder),
        };
        browser.attach(guard).await?;
        Ok(browser)
    }

    /// Returns its network, once, for what is to be found in it.
    pub(super) fn take_network(&mut self) -> Option<SharedNetwork> {
        self.network.take()
    }

    /// Begins the conversation with the page. Requests are held up before anything can make one.
    async fn attach(&mut self, guard: &mut RequestGuard<'_>) -> Result<(), BrowserError> {
        let all = json!({ "patterns": [{ "urlPattern": "*" }] });
        self.of_browser("Fetch.enable", &all, guard).await?;
        let deny = json!({ "behavior": "deny", "eventsEnabled": true });
        self.of_browser("Browser.setDownloadBehavior", &deny, guard).await?;
        let targets = self.of_browser("Target.getTargets", &json!({}), guard).await?;
        let infos = targets.get("targetInfos").and_then(Value::as_array);
        let is_page = |info: &&Value| info.get("type").and_then(Value::as_str) == Some("page");
        let target =
            infos.into_iter().flatten().find(is_page).and_then(|info| info.get("targetId"));
        let target = target.and_then(Value::as_str);
        let none = || BrowserError::Over("it has no page".to_owned());
        self.target = target.ok_or_else(none)?.to_owned();
        let wanted = json!({ "targetId": self.target, "flatten": true });
        let attached = self.of_browser("Target.attachToTarget", &wanted, guard).await?;
        let session = attached.get("sessionId").and_then(Value::as_str);
        self.session = session.ok_or_else(none)?.to_owned();
        let others = json!({ "discover": true });
        self.of_browser("Target.setDiscoverTargets", &others, guard).await?;
        for domain in ["Page", "Runtime", "Network", "Log", "DOM", "Accessibility"] {
            self.ask(&format!("{domain}.enable"), &json!({}), guard).await?;
        }
        // A page is tried again after each change of its files.
        let no_cache = json!({ "cacheDisabled": true });
        self.ask("Network.setCacheDisabled", &no_cache, guard).await?;
        self.resize(FIRST_SIZE, guard).await
    }

    /// Asks something of the page.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        guard: &mut RequestGuard<'_>,
    ) -> Result<Value, BrowserError> {
        let session = self.session.clone();
        self.answered(Some(&session), (method, params), guard).await
    }

    async fn of_browser(
        &mut self,
        method: &str,
        params: &Value,
        guard: &mut RequestGuard<'_>,
    ) -> Result<Value, BrowserError> {
        self.answered(None, (method, params), guard).await
    }

    async fn answered(
        &mut self,
        session: Option<&str>,
        (method, params): (&str, &Value),
        guard: &mut RequestGuard<'_>,
    ) -> Result<Value, BrowserError> {
        let answer = async {
            let number = self.tools.tell(session, method, params).await?;
            loop {
                match self.tools.next().await? {
                    DevToolsMessage::Answer(answered, result) if answered == number => {
                        return result;
                    }
                    DevToolsMessage::Event(event) => self.take_in(event, guard).await?,
                    DevToolsMessage::Answer(..) | DevToolsMessage::Other => {}
                }
            }
        };
        timeout(ANSWER_LIMIT, answer).await.unwrap_or(Err(BrowserError::TooLate(ANSWER_LIMIT)))
    }

    /// Waits until the page has come to rest, or the time is over.
    pub(super) async fn settle(
        &mut self,
        patience: Duration,
        guard: &mut RequestGuard<'_>,
    ) -> Result<(), BrowserError> {
        let (over, graced) = (sleep(patience), sleep(GRACE_LIMIT));
        tokio::pin!(over, graced);
        let mut grace = GracePeriod::default();
        while !grace.is_settled(&self.page) {
            if self.page.is_loading() {
                graced.set(sleep(GRACE_LIMIT));
                grace = GracePeriod::default();
            }
            // An event is always taken in whole.
            let next = tokio::select! {
                biased;
                () = &mut over => return Ok(()),
                () = &mut graced, if grace.is_running() => {
                    grace.end(&self.page);
                    continue;
                }
                next = timeout(QUIET, self.tools.next()) => next,
            };
            match next {
                Ok(Ok(DevToolsMessage::Event(event))) => self.take_in(event, guard).await?,
                Ok(Ok(DevToolsMessage::Answer(..) | DevToolsMessage::Other)) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) if self.page.is_busy() => {}
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Takes an event, and does at once what cannot wait.
    async fn take_in(
        &mut self,
        event: DevToolsEvent,
        guard: &mut RequestGuard<'_>,
    ) -> Result<(), BrowserError> {
        let DevToolsEvent { session, method, params } = event;
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
        match method.as_str() {
            "Fetch.requestPaused" => {
                let id = text("/requestId").unwrap_or_default();
                let is_page = text("/resourceType") == Some("Document")
                    && text("/frameId") == Some(self.target.as_str());
                let address = text("/request/url").unwrap_or_default();
                let (method, params) = if guard.allows(address, is_page) {
                    ("Fetch.continueRequest", json!({ "requestId": id }))
                } else {
                    // Where the page itself is refused, the one before it stays.
                    let why = if is_page { "Aborted" } else { "BlockedByClient" };
                    ("Fetch.failRequest", json!({ "requestId": id, "errorReason": why }))
                };
                self.tools.tell(session.as_deref(), method, &params).await?;
            }
            "Target.targetCreated" => {
                let target = text("/targetInfo/targetId").unwrap_or_default();
                if text("/targetInfo/type") == Some("page") && target != self.target {
                    let close = json!({ "targetId": target });
                    self.tools.tell(None, "Target.closeTarget", &close).await?;
                }
            }
            "Browser.downloadWillBegin" => {
                self.page.began_download = true;
                let from = text("/url").unwrap_or_default();
                self.page.prevented.push(&format!("a download was not made: {from}"));
            }
            _ if session.as_deref() != Some(&self.session) => {}
            "Page.windowOpen" => {
                let url = text("/url").unwrap_or_default();
                self.page.prevented.push(&format!("a new window was not opened: {url}"));
            }
            "Page.javascriptDialogOpening" => {
                let kind = text("/type").unwrap_or("alert");
                let accepts = matches!(kind, "alert" | "beforeunload");
                let params = json!({ "accept": accepts });
                self.tools.tell(session.as_deref(), "Page.handleJavaScriptDialog", &params).await?;
                let said = text("/message").unwrap_or_default();
                let done = if accepts { "was closed" } else { "was answered with Cancel" };
                self.page.prevented.push(&format!("{kind} \"{said}\" {done}"));
            }
            "Inspector.targetCrashed" => {
                return Err(BrowserError::Over("the page crashed".to_owned()));
            }
            _ => self.page.take_in(&method, &params, &self.target),
        }
        Ok(())
    }

    /// Makes its window as large.
    pub(super) async fn resize(
        &mut self,
        (width, height): (u32, u32),
        guard: &mut RequestGuard<'_>,
    ) -> Result<(), BrowserError> {
        let params =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &params, guard).await?;
        self.size = (width, height);
        Ok(())
    }

    /// Returns what the window shows, and what reacts to a mouse.
    pub(super) async fn layout(
        &mut self,
        guard: &mut RequestGuard<'_>,
    ) -> Result<PageLayout, BrowserError> {
        let question = PageLayout::question();
        let snapshot = self.ask("DOMSnapshot.captureSnapshot", &question, guard).await?;
        Ok(PageLayout::parse(&snapshot, self.size))
    }

    /// Returns the trees of the page and of the frames in it.
    pub(super) async fn frames(
        &mut self,
        guard: &mut RequestGuard<'_>,
    ) -> Result<Vec<FrameTree>, BrowserError> {
        let tree = self.ask("Page.getFrameTree", &json!({}), guard).await?;
        let mut names = Vec::new();
        tree.get("frameTree").into_iter().for_each(|tree| below(tree, &mut names));
        let nodes = self.nodes(&json!({}), guard).await?;
        let mut frames = vec![FrameTree { owner: None, nodes }];
        for name in names.iter().take(FRAMES_LIMIT) {
            let frame = json!({ "frameId": name });
            // It may be gone by now, as any part of a page may.
            let Ok(owner) = self.ask("DOM.getFrameOwner", &frame, guard).await else { continue };
            let owner = owner.get("backendNodeId").and_then(Value::as_u64);
            if let (Some(_), Ok(nodes)) = (owner, self.nodes(&frame, guard).await) {
                frames.push(FrameTree { owner, nodes });
            }
        }
        Ok(frames)
    }

    async fn nodes(
        &mut self,
        frame: &Value,
        guard: &mut RequestGuard<'_>,
    ) -> Result<Vec<Value>, BrowserError> {
        let mut answer = self.ask("Accessibility.getFullAXTree", frame, guard).await?;
        Ok(match answer.get_mut("nodes").map(Value::take) {
            Some(Value::Array(nodes)) => nodes,
            _ => Vec::new(),
        })
    }
}

/// Collects the names of the frames in a frame.
fn below(tree: &Value, names: &mut Vec<String>) {
    let children = tree.get("childFrames").and_then(Value::as_array).into_iter().flatten();
    for child in children {
        let name = child.pointer("/frame/id").and_then(Value::as_str);
        names.extend(name.map(str::to_owned));
        below(child, names);
    }
}
