//! `browser_action` through the binary: a bug on a page is found, fixed, and seen fixed. Without a
//! Chromium, or a sandbox that holds it, nothing is tested here, and that is said.

use locum_agent::tools::browser::program;
use pretty_assertions::assert_eq;

use crate::support::stage::{Ran, Stage};

/// Serves `src/page.html` at every path.
const SERVER: &str = r#"
use Socket; $| = 1;
socket(L, AF_INET, SOCK_STREAM, 0) or die $!; setsockopt(L, SOL_SOCKET, SO_REUSEADDR, 1);
bind(L, sockaddr_in(4000, INADDR_LOOPBACK)) or die $!; listen(L, 20) or die $!;
print "listening\n";
while (accept(C, L)) {
    1 while defined($_ = <C>) && $_ ne "\r\n";
    local $/; open(F, "<", "src/page.html"); my $text = <F>; close F;
    print C "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n$text"; close C;
}
"#;

const PAGE: &str = "<!doctype html><title>Sum</title>\n\
    <button style=\"position:fixed; left:0; top:0; width:200px; height:100px\"\n  \
    onclick=\"document.getElementById('sum').textContent = add(2, 3)\">Add</button>\n\
    <p id=sum style=\"margin-top:200px\">nothing yet</p>\n\
    <script>function ad(a, b) { return a + b; }</script>\n";

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                      [\"read(**)\", \"edit(src/**)\", \"command(perl server.pl)\", \
                      \"browse(http://localhost:4000)\"]\n";

const SCRIPT: &str = r#"version: 1
tasks:
  - mode: code
    turns:
      - calls: [{ tool: execute_command, args: { command: "perl server.pl", background: true } }]
      - calls: [{ tool: command_output, args: { id: 1, until: "listening" } }]
      - calls: [{ tool: browser_action, args: { action: launch, url: "http://localhost:4000/" } }]
      - calls: [{ tool: browser_action, args: { action: click, coordinate: "100,50" } }]
      - calls: [{ tool: browser_action, args: { action: launch, url: "http://localhost:4001/" } }]
      - calls: [{ tool: search_and_replace, args: { path: src/page.html, search: "function ad(", replace: "function add(" } }]
      - calls: [{ tool: browser_action, args: { action: launch, url: "http://localhost:4000/" } }]
      - calls: [{ tool: browser_action, args: { action: click, coordinate: "100,50" } }]
      - calls: [{ tool: attempt_completion, args: { result: "The sum is shown." } }]
"#;

#[test]
fn a_bug_on_a_page_is_found_fixed_and_seen_fixed() {
    let stage = Stage::with(&[
        (".locum/policy.yml", POLICY),
        ("server.pl", SERVER),
        ("src/page.html", PAGE),
    ]);
    let ran = stage.play(SCRIPT, &["--mode", "code"]);
    if program::find(None, None).is_err() {
        eprintln!("skipped: there is no Chromium here");
        return;
    }
    let answers: Vec<String> = stage
        .answers()
        .into_iter()
        .filter_map(|(tool, text)| (tool == "browser_action").then_some(text))
        .collect();
    if answers.iter().all(|answer| answer.contains("unknown tool")) {
        eprintln!("skipped: there is no whole sandbox here");
        return;
    }
    let [opened, broken, refused, reopened, fixed] = answers.as_slice() else {
        panic!("{ran:?}\n{answers:#?}");
    };
    let shows = |answer: &str, text: &str| {
        assert!(answer.contains(&format!("- text \"{text}\"")), "{text}\n{answer}");
    };
    assert!(opened.contains("Title: Sum") && opened.contains("- button \"Add\" ["), "{opened}");
    shows(opened, "nothing yet");
    assert!(broken.contains("uncaught: ReferenceError: add is not defined"), "{broken}");
    shows(broken, "nothing yet");
    assert!(refused.contains("no rule allows `browse(http://localhost:4001/)`"), "{refused}");
    shows(reopened, "nothing yet");
    assert!(!fixed.contains("uncaught"), "{fixed}");
    shows(fixed, "5");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(stage.read("checkout/src/page.html").contains("function add("));
}

#[test]
fn the_user_names_a_browser_and_a_repository_cannot() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    let own = stage.path("own/chrome");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::copy("/bin/true", &own).unwrap();
    let ran = |words: &[&str], program: &str| -> Ran {
        stage.locum(words).env("LOCUM_BROWSER__PROGRAM", program).output().unwrap().into()
    };
    let own = own.canonicalize().unwrap().display().to_string();
    let found = &ran(&["doctor", "--json"], &own).json()["browser"];
    assert_eq!(found["program"], own.as_str());
    assert!(found["version"].as_str().unwrap().starts_with("true"), "{found}");
    let shown = ran(&["doctor"], &own).out;
    assert!(shown.lines().any(|line| line.starts_with("browser ") && line.contains(&own)));
    let prompt = &["modes", "show", "code", "--prompt", "--json"];
    let offers = |program: &str| ran(prompt, program).out.contains("\"browser_action\"");
    assert_eq!(offers(&own), found["contained"] == true);
    let missing = ran(&["doctor"], "/no/such/chrome").out;
    assert!(missing.contains("`browser.program` is `/no/such/chrome`"), "{missing}");
    assert!(!offers("/no/such/chrome"));
    stage.write("checkout/.locum/config.yml", "browser: { program: /bin/true }\n");
    let refused = stage.run(&["config", "show"]);
    assert!(refused.code == Some(2) && refused.err.contains("browser"), "{refused:?}");
}

#[test]
fn without_a_network_of_its_own_no_page_is_opened() {
    let script = "version: 1\ntasks:\n  - mode: code\n    turns:\n      - calls: [{ tool: \
                  browser_action, args: { action: launch, url: \"http://localhost:4000/\" } }]\n      \
                  - calls: [{ tool: attempt_completion, args: { result: r } }]\n";
    let [_, stage] = Stage::in_both_worlds(|| Stage::with(&[(".locum/policy.yml", POLICY)]));
    let ran = stage.play(script, &["--mode", "code"]);
    if program::find(None, None).is_err() {
        eprintln!("skipped: there is no Chromium here");
        return;
    }
    let answers = stage.answers();
    let (_, answer) = answers.iter().find(|(tool, _)| tool == "browser_action").unwrap();
    assert!(answer.contains("no network of its own. Nothing was opened."), "{ran:?}\n{answer}");
}
