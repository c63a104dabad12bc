//! Pages in a real Chromium, held to the rules. Without one, or without a sandbox, nothing is
//! tested here, and that is said.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::program;
use crate::env::RunEnv;
use crate::tools::background::BackgroundCommands;
use crate::tools::dispatch;
use crate::tools::fixture::ToolFixture;
use crate::tools::{CallError, EffectInputs, Observation, ToolContext, VisionSupport};
use locum_base::chat::ToolCall;
use locum_base::tool::{ToolGroup, ToolName};
use locum_modes::GroupEntry;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_sandbox::network::Connector;
use locum_testing::network::{RecordingTransport, serve};

const POLICY: &str = "version: 1\nrules:\n  - allow: ['browse(http://shop.example)', \
                      'browse(http://docs.example/guide/**)', 'browse(http://localhost:4000)']\n";

const SHOP: &str = r#"<!doctype html><title>Shop</title><h1>Things</h1>
<label>Name <input id=q></label>
<select aria-label=Size><option>Small<option>Large</select>
<button onclick="document.querySelector('#n').textContent='sold'; mistake()">Buy</button> <p id=n>none</p>
<button onclick="window.open('/window')">Window</button>
<button onclick="if (confirm('Sure?')) document.title='deleted'">Delete</button>
<button onmouseover="document.title='seen'">Hover</button> <a href="/file" download>Save</a>
<a href="http://evil.example/?stolen">Away</a> <a href="/second">Second</a>
<iframe src="/frame"></iframe><img src="http://ads.example/pixel.png">
<script>
console.warn('ready', { items: 2 });
fetch('http://docs.example/guide/a').catch(() => 0); fetch('http://docs.example/private').catch(() => 0);
fetch('/missing').catch(() => 0);
new Worker(URL.createObjectURL(new Blob(["fetch('http://evil.example/worker').catch(() => 0)"])));
document.querySelector('select').onchange = e => console.log('size', e.target.value);
</script>"#;

/// A page that goes on requesting what no rule allows.
const TICKS: &str =
    "<script>setInterval(() => fetch('http://ads.example/tick').catch(() => 0), 20)</script>";

/// Fields of all kinds.
const FIELDS: &str = r#"<!doctype html><title>Fields</title>
<input aria-label=Search onkeyup="document.title='found ' + this.value">
<input aria-label=Num type=number> <input aria-label=Vol type=range min=0 max=10>
<input aria-label=Day type=date> <input aria-label=Fixed readonly value=ro>
<input aria-label=Off disabled> <button>Push</button> <input aria-label=File type=file>
<input aria-label=Box type=checkbox> <textarea aria-label=Lines></textarea>
<input aria-label=Held value=held> <div contenteditable role=textbox aria-label=Rich>rich</div>
<iframe srcdoc="<input aria-label=Inner>"></iframe>"#;

/// What does something when it is clicked, and is no control.
const HANDLERS: &str = r#"<!doctype html><title>Handlers</title><style>.p { cursor: pointer }</style>
<div onclick="document.title='menu'">Open menu</div><ul><li id=l>One</li></ul>
<div class=p><b>Deep</b></div><div onmouseover="document.title='over'">Over</div><p>Plain</p>
<script>
l.addEventListener('click', () => document.title = 'one');
document.addEventListener('click', e => { if (e.target.matches('.p, .p *')) document.title = 'deep' });
</script>"#;

/// A page that is all field.
const FIELD: &str = "<textarea aria-label=Text style='position:fixed; inset:0'></textarea>";

/// A page that writes more into its address than anybody reads.
const WIDE: &str = "<script>history.pushState(0, '', '/wide?' + '-'.repeat(3000))</script>";

/// A browser with a server behind all hosts, and calls of a model.
struct BrowserFixture {
    tools: ToolFixture,
    program: PathBuf,
    requests: mpsc::Receiver<String>,
    _connected: mpsc::Receiver<SocketAddr>,
}

fn page(html: &str) -> Vec<u8> {
    let length = html.len();
    let head = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html";
    format!("{head}\r\nContent-Length: {length}\r\n\r\n{html}").into_bytes()
}

impl BrowserFixture {
    fn new() -> Option<Self> {
        let mut tools = ToolFixture::new(&[("a.txt", "x")]);
        let Some(program) = program::find(None, None)
            .ok()
            .filter(|_| tools.with_context(|all| all.run.sandbox.holds()))
        else {
            eprintln!("skipped: there is no Chromium here, or no whole sandbox to hold it");
            return None;
        };
        let redirect =
            "HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n";
        let saved = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\
                     Content-Disposition: attachment; filename=a\r\nContent-Length: 1\r\n\r\nx";
        let button = |number: u32| format!("<p><button>Button {number}.</button>");
        let long: String = (0..2000).map(button).collect();
        let (server, requests) = serve(vec![
            ("GET / ", page(SHOP)),
            ("GET /frame ", page("<button onclick=\"console.log('in a frame')\">Framed</button>")),
            ("GET /second ", page("<title>Second</title><p>More")),
            ("GET /guide/", page("a guide")),
            ("GET /file ", page("a file")),
            ("GET /saved ", saved.into()),
            ("GET /ticks ", page(TICKS)),
            ("GET /field ", page(FIELD)),
            ("GET /wide ", page(WIDE)),
            ("GET /fields ", page(FIELDS)),
            ("GET /handlers ", page(HANDLERS)),
            ("GET /long", page(&long)),
            ("GET /away ", redirect.into()),
        ]);
        let (wire, connected) = RecordingTransport::new(server, &[]);
        tools.connector = Connector::new(Arc::new(wire));
        tools.mode.groups.push(GroupEntry {
            group: ToolGroup::Browser,
            file_regex: None,
            description: None,
        });
        Some(Self { tools, program, requests, _connected: connected })
    }

    /// Lets `steps` call the tool, one call after the other.
    fn calls(&self, steps: impl AsyncFnOnce(&Calls<'_>)) {
        let commands = BackgroundCommands::default();
        let policy = Policy::parse(POLICY, "policy.yml").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        self.tools.with_context(|context| {
            let run = RunEnv { policy: &policy, browser: Some(&self.program), ..context.run };
            let given = EffectInputs { background: Some(&commands), ..context.given };
            let context = ToolContext { run, given, vision: self.tools.vision, ..context };
            runtime.block_on(steps(&Calls { context, policy: &policy }));
        });
    }
}

/// What calls are made in.
struct Calls<'c> {
    context: ToolContext<'c>,
    policy: &'c Policy,
}

impl Calls<'_> {
    async fn call(&self, arguments: Value) -> Observation {
        let (context, arguments) = (self.context, arguments.to_string());
        let call = ToolCall { id: "1".into(), name: "browser_action".into(), arguments };
        let parsed = match dispatch::parse(&call, ToolName::ALL, context) {
            Ok(parsed) => parsed,
            Err(CallError(text)) => return Observation::failed(text),
        };
        let facts = Facts { mode: context.mode.slug.clone(), ..Facts::default() };
        match self.policy.admit(parsed, &facts) {
            Ok(permit) => dispatch::perform(permit, context).await,
            Err(refusal) => Observation::refused("refused", refusal),
        }
    }
}

/// How often a page is looked at until it has said something.
const LOOKS: usize = 50;

impl Calls<'_> {
    /// Makes a call, and looks at the page until the answers say all of this; returns them. A busy
    /// machine takes its time, and a page counts as at rest before all of it has begun.
    async fn answers(&self, arguments: Value, words: &[&str]) -> String {
        let mut answers = self.call(arguments).await.text;
        for words in words {
            let mut looks = 0;
            while !answers.contains(words) {
                looks += 1;
                assert!(looks < LOOKS, "{words}\n{answers}");
                answers.push_str(&self.call(json!({ "action": "look" })).await.text);
            }
        }
        answers
    }
}

/// Returns the number of the element in whose line this stands.
fn number(text: &str, element: &str) -> u64 {
    let line = text.lines().find(|line| line.contains(element)).unwrap_or_else(|| panic!("{text}"));
    line.split(['[', ']']).nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_page_is_read_and_used_by_the_numbers_of_its_elements() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let launch = json!({ "action": "launch", "url": "http://shop.example/" });
        let shown = [
            "URL: http://shop.example/\n",
            "Title: Shop",
            "warning: ready {items: 2}",
            "404 http://shop.example/missing",
            "- heading \"Things\" level=1",
            "- textbox \"Name\" [",
            "- text \"none\"",
            "- Iframe\n  - button \"Framed\" [",
            "[material: a page in a browser; origin: shop.example]",
        ];
        let opened = it.answers(launch, &shown).await;
        let of = |element: &str| number(&opened, element);
        let click = |element: &str| json!({ "action": "click", "element": of(element) });
        it.answers(click("\"Buy\""), &["- text \"sold\"", "mistake is not defined"]).await;
        it.answers(click("\"Framed\""), &["log: in a frame"]).await;
        let name = of("textbox \"Name\"");
        let named = json!({ "action": "type", "element": name, "text": "Ada" });
        it.answers(named, &["value=\"Ada\" focused"]).await;
        it.call(json!({ "action": "press", "text": "Control+A" })).await;
        let named = json!({ "action": "type", "text": "Bob" });
        it.answers(named, &["value=\"Bob\" focused"]).await;
        let size = of("combobox \"Size\"");
        let large = json!({ "action": "type", "element": size, "text": "large" });
        it.answers(large, &["log: size Large", "chosen"]).await;
        let none = it.call(json!({ "action": "type", "element": size, "text": "huge" })).await;
        assert!(none.is_error && none.text.contains("the list has no such entry"), "{}", none.text);
        it.answers(click("\"Second\""), &["URL: http://shop.example/second\n"]).await;
        let gone = it.call(click("\"Buy\"")).await;
        assert!(gone.is_error && gone.text.contains("is not there"), "{}", gone.text);
    });
}

#[test]
fn what_no_rule_allows_is_not_requested_by_whatever_part_of_a_page() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let opened = it.call(json!({ "action": "launch", "url": "http://shop.example/" })).await;
        let refused = [
            "  http://ads.example/pixel.png: no rule allows",
            "  http://docs.example/private: no rule allows",
            "  http://evil.example/worker: no rule allows",
        ];
        let again = json!({ "action": "launch", "url": "http://shop.example/" });
        let shown = it.answers(again, &refused).await;
        assert!(!opened.is_error && opened.refused.is_some());
        let away = json!({ "action": "click", "element": number(&shown, "\"Away\"") });
        let stolen = "Refused by the policy:\n  http://evil.example/?stolen: no rule allows";
        let away = it.call(away).await.text;
        assert!(away.contains(stolen), "{away}");
        // The page from which it was to lead away is still there.
        let back = it.call(json!({ "action": "look" })).await;
        assert!(!back.is_error && back.text.contains("Title: Shop"), "{}", back.text);
        let away = it.call(json!({ "action": "launch", "url": "http://shop.example/away" })).await;
        assert!(
            away.refused.is_some() && away.text.contains("it leads to `http://evil.example/`"),
            "{}",
            away.text
        );
        let refused = it.call(json!({ "action": "launch", "url": "http://evil.example/" })).await;
        assert_eq!(refused.text, "refused");
        let none = it.call(json!({ "action": "launch", "url": "http://localhost:4000/" })).await;
        assert!(none.text.contains("Nothing listens there"), "{}", none.text);
        let none = it.call(json!({ "action": "look" })).await.text;
        let why = "No page is open, because `http://localhost:4000/` could not be loaded";
        assert!(none.contains(why), "{none}");
    });
    let asked: Vec<String> = fixture.requests.try_iter().collect();
    let asked_for = |words: &str| asked.iter().any(|request| request.contains(words));
    assert!(asked_for("GET /guide/a ") && asked_for("host: docs.example"), "{asked:?}");
    for words in ["evil.example", "ads.example", "/private", "stolen"] {
        assert!(
            !asked_for(&format!("host: {words}")) && !asked_for(&format!("GET {words}")),
            "{asked:?}"
        );
    }
}

#[test]
fn why_a_page_is_not_opened_is_not_what_the_page_before_requested() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let launch = |url: &str| json!({ "action": "launch", "url": url });
        for (address, why) in [
            ("http://localhost:4000/", "net::ERR_CONNECTION_REFUSED. Nothing listens there"),
            ("http://shop.example/away", "it leads to `http://evil.example/`"),
        ] {
            let ticks = launch("http://shop.example/ticks");
            it.answers(ticks, &["http://ads.example/tick: no rule allows"]).await;
            let answer = it.call(launch(address)).await;
            assert!(answer.is_error && answer.text.contains(why), "{}", answer.text);
            assert!(!answer.text.contains("ads.example"), "{}", answer.text);
        }
    });
}

#[test]
fn a_text_is_typed_at_a_point() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        it.call(json!({ "action": "launch", "url": "http://shop.example/field" })).await;
        let typed = json!({ "action": "type", "coordinate": "300x200", "text": "here" });
        it.answers(typed, &["- textbox \"Text\" [", "value=\"here\""]).await;
    });
}

#[test]
fn an_address_that_a_page_makes_long_is_cut() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let opened =
            it.call(json!({ "action": "launch", "url": "http://shop.example/wide" })).await;
        let line = opened.text.lines().find(|line| line.starts_with("URL: ")).unwrap();
        assert!(line.len() < 1100 && line.ends_with('…'), "{line}");
    });
}

#[test]
fn windows_downloads_and_dialogs_are_prevented_and_reported() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let opened =
            it.call(json!({ "action": "launch", "url": "http://shop.example/" })).await.text;
        let click =
            |element: &str| json!({ "action": "click", "element": number(&opened, element) });
        let window = it.call(click("\"Window\"")).await.text;
        assert!(
            window.contains("a new window was not opened: http://shop.example/window"),
            "{window}"
        );
        let asked = it.call(click("\"Delete\"")).await.text;
        assert!(asked.contains("confirm \"Sure?\" was answered with Cancel"), "{asked}");
        assert!(asked.contains("Title: Shop"), "{asked}");
        it.answers(click("\"Save\""), &["a download was not made: http://shop.example/file"]).await;
        let saved = json!({ "action": "launch", "url": "http://shop.example/saved" });
        it.answers(saved, &["was not opened: it is a download, and none is made here."]).await;
        let next = it.call(json!({ "action": "look" })).await.text;
        assert!(next.contains("Title: Shop") && !next.contains("download"), "{next}");
        let hover = json!({ "action": "hover", "element": number(&opened, "\"Hover\"") });
        it.answers(hover, &["Title: seen"]).await;
    });
}

#[test]
fn a_picture_is_for_models_that_see() {
    let Some(mut fixture) = BrowserFixture::new() else { return };
    for (vision, pictures) in [(VisionSupport::Shown, 1), (VisionSupport::Blind, 0)] {
        fixture.tools.vision = vision;
        fixture.calls(async |it| {
            it.call(json!({ "action": "launch", "url": "http://shop.example/second" })).await;
            it.call(json!({ "action": "resize", "size": "400,300" })).await;
            let seen = it.call(json!({ "action": "screenshot" })).await;
            assert_eq!(seen.images.len(), pictures, "{}", seen.text);
            assert!(seen.text.contains("It is an image 400x300 png"), "{}", seen.text);
            assert!(seen.text.contains("- text \"More\""), "{}", seen.text);
            let closed = it.call(json!({ "action": "close" })).await.text;
            assert_eq!(closed, "The browser is closed.");
            assert_eq!(it.call(json!({ "action": "close" })).await.text, "No browser was open.");
        });
    }
}

#[test]
fn a_long_page_is_shown_where_its_window_is_and_from_an_element_on() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let opened =
            it.call(json!({ "action": "launch", "url": "http://shop.example/long" })).await.text;
        assert!(opened.contains("\"Button 0.\" [") && opened.len() < 20_000, "{opened}");
        assert!(opened.contains("showing 0 to 600"), "{opened}");
        let (_, next) = opened.split_once("`element` ").unwrap();
        let next: u64 = next.split(')').next().unwrap().parse().unwrap();
        let on = it.call(json!({ "action": "look", "element": next })).await.text;
        let last = opened.lines().rev().find(|line| line.contains("Button ")).unwrap();
        let last: u32 = last.split(['.', ' ']).find_map(|word| word.parse().ok()).unwrap();
        assert!(on.contains(&format!("\"Button {}.\" [", last + 1)), "{last} {on}");
        assert!(!on.contains(&format!("\"Button {last}.\" [")), "{last} {on}");
        let scrolled = it.call(json!({ "action": "scroll_down" })).await.text;
        assert!(scrolled.contains("showing 540 to 1140"), "{scrolled}");
        it.call(json!({ "action": "press", "text": "End" })).await;
        let end = it.answers(json!({ "action": "look" }), &["\"Button 1999.\" ["]).await;
        assert!(!end.contains("\"Button 1000.\""), "{end}");
        let gone = it.call(json!({ "action": "look", "element": 999_999_999 })).await;
        assert!(gone.is_error && gone.text.contains("is not on the page"), "{}", gone.text);
    });
}

#[test]
fn a_text_goes_into_the_field_that_is_named_or_nowhere() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let launch = json!({ "action": "launch", "url": "http://shop.example/fields" });
        let opened = it.answers(launch, &["textbox \"Inner\" ["]).await;
        let typed = |text: &str| json!({ "action": "type", "text": text });
        let into = |name: &str, text: &str| {
            let element = number(&opened, &format!("\"{name}\" ["));
            json!({ "action": "type", "element": element, "text": text })
        };
        let nowhere = it.call(typed("x")).await.text;
        assert!(nowhere.contains("nothing that can be typed in has the focus"), "{nowhere}");
        it.answers(into("Num", "12"), &["\"Num\" [", "value=\"12\""]).await;
        for (name, text, words) in [
            ("Vol", "77", "is a slider: write a number from 0 to 10, in steps of 1"),
            ("Day", "next", "write it as 2026-01-31"),
            ("Fixed", "7", "is read-only"),
            ("Off", "7", "is disabled"),
            ("Push", "7", "takes no text: `click` it"),
            ("Box", "7", "takes no text: `click` it"),
            ("File", "/etc/passwd", "chooses files"),
        ] {
            let refused = it.call(into(name, text)).await;
            assert!(refused.is_error && refused.text.contains(words), "{name}: {}", refused.text);
        }
        let page = it.answers(into("Vol", "7"), &["The value was set"]).await;
        assert!(page.contains("\"Num\"") && page.contains("value=\"12\""), "{page}");
        assert!(page.contains("value=\"7\"") && page.contains("value=\"ro\""), "{page}");
        it.answers(into("Day", "2026-01-31"), &["The value was set"]).await;
        it.answers(into("Num", "x"), &["it does not take this text"]).await;
        it.answers(into("Search", "a-B"), &["Title: found a-B"]).await;
        it.answers(into("Search", "\n"), &["line ends were left out"]).await;
        it.answers(into("Search", ""), &["Nothing was typed. To empty a field"]).await;
        it.answers(into("Held", " on"), &["value=\"held on\" focused"]).await;
        it.answers(into("Rich", " text"), &["value=\"rich text\" focused"]).await;
        let long = format!("{}é€ end", "x".repeat(300));
        it.answers(into("Lines", "l1\nl2"), &["value=\"l1 l2\" focused"]).await;
        it.call(json!({ "action": "press", "text": "Control+A" })).await;
        it.answers(typed(&long), &["value=\"xxx"]).await;
        it.answers(into("Inner", "by name"), &["value=\"by name\" focused"]).await;
        it.answers(typed(", by focus"), &["value=\"by name, by focus\" focused"]).await;
    });
}

#[test]
fn what_reacts_to_a_mouse_is_used_and_a_point_beside_everything_says_so() {
    let Some(fixture) = BrowserFixture::new() else { return };
    fixture.calls(async |it| {
        let launch = json!({ "action": "launch", "url": "http://shop.example/handlers" });
        let opened = it.call(launch).await.text;
        let lines: Vec<&str> = opened.lines().collect();
        // The number is on the line above the text.
        let of = |text: &str| {
            let at = lines.iter().position(|line| line.contains(&format!("\"{text}\""))).unwrap();
            number(lines[at - 1], " [")
        };
        for (text, action, title) in [
            ("Open menu", "click", "Title: menu"),
            ("One", "click", "Title: one"),
            ("Deep", "click", "Title: deep"),
            ("Over", "hover", "Title: over"),
        ] {
            let call = json!({ "action": action, "element": of(text) });
            it.answers(call, &[title]).await;
        }
        assert!(opened.contains("\n- text \"Plain\"\n"), "{opened}");
        let click = |point: &str| json!({ "action": "click", "coordinate": point });
        let beside = it.call(click("890,590")).await;
        let words = "No element is at 890,590, only the page itself.";
        assert!(!beside.is_error && beside.text.contains(words), "{}", beside.text);
        let outside = it.call(click("5000,5000")).await;
        let words = "5000,5000 is outside of the window, which is 900x600";
        assert!(outside.is_error && outside.text.contains(words), "{}", outside.text);
    });
}

#[test]
fn calls_that_say_too_little_learn_what_is_missing() {
    let fixture = ToolFixture::new(&[("a.txt", "x")]);
    for (arguments, words) in [
        (json!({}), "needs `action`"),
        (json!({ "action": "fly" }), "`fly` is no action of `browser_action`. Actions are launch,"),
        (json!({ "action": "launch" }), "needs `url` to launch"),
        (json!({ "action": "click" }), "needs `element` to click"),
        (json!({ "action": "click", "coordinate": "here" }), "write a point such as 100,200"),
        (json!({ "action": "type" }), "needs `text` to type"),
        (json!({ "action": "press", "text": "Nothing" }), "`Nothing` is no key"),
        (json!({ "action": "resize", "size": "10,10" }), "each 100 to 3000 pixels"),
        (json!({ "action": "type", "text": "unseen-secret-value" }), "This holds a secret"),
        (json!({ "action": "launch", "url": "http://h/?unseen-secret-value" }), "holds a secret"),
        (json!({ "action": "look" }), "No browser can be used here"),
    ] {
        let parsed = fixture.parse("browser_action", &arguments.to_string(), ToolName::ALL);
        let CallError(text) = parsed.unwrap_err();
        assert!(text.contains(words), "{arguments}: {text}");
    }
}
