//! `locum init` beside what is there already: a workflow that starts runs under another name, a
//! policy with the wrong ending, more folders than a policy opens, and flags that would open
//! nothing.

use pretty_assertions::assert_eq;

use crate::support::stage::{ACTION, Ran, Stage};

const USUAL: &str = "checkout/.github/workflows/locum.yml";
const OTHER: &str = "checkout/.github/workflows/agent.yml";

fn init(stage: &Stage, flags: &[&str]) -> Ran {
    stage.run(&[&["init", "--no-check", "--action", ACTION], flags].concat())
}

/// Why the Action is not ready.
fn problems(stage: &Stage) -> Vec<String> {
    let report: Ran = stage.locum(&["doctor", "--json"]).output().unwrap().into();
    let listed = report.json()["action"].clone();
    let problems = listed.as_array().unwrap().iter();
    problems.map(|problem| problem.as_str().unwrap().to_owned()).collect()
}

/// A repository whose workflow of `locum init` has another name.
fn renamed() -> Stage {
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    init(&stage, &["--provider", "anthropic", "--label", "locum"]);
    stage.commit("as init wrote it");
    stage.git(&["mv", ".github/workflows/locum.yml", ".github/workflows/agent.yml"]);
    stage.commit("another name");
    stage
}

#[test]
fn a_workflow_that_starts_runs_is_found_under_another_name() {
    let stage = renamed();
    let shown = init(&stage, &[]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert_eq!(stage.names("checkout/.github/workflows"), ["agent.yml"]);
    assert!(!shown.out.contains("gpt-") && !shown.out.contains("OPENAI"), "{shown:?}");
    let updated = init(&stage, &["--update"]);
    assert_eq!(updated.out, "updated .github/workflows/agent.yml\n", "{updated:?}");
    assert!(stage.read(OTHER).starts_with("# .github/workflows/agent.yml: starts locum on "));
    let again = init(&stage, &[]);
    assert!(again.err.contains("Nothing to change"), "{again:?}");
    // One that is made by hand is shown a difference, and no second one is written.
    let by_hand = "on:\n  issue_comment: { types: [created] }\njobs:\n  a:\n    runs-on: \
                   ubuntu-24.04\n    steps:\n      - uses: actions/checkout@v5\n      - uses: \
                   acme/locum@v1\n        with: { api-key: \"${{ secrets.OPENAI_API_KEY }}\" }\n";
    let stage = Stage::with(&[("src/a.sh", "true\n"), (".github/workflows/bot.yaml", by_hand)]);
    let ran = init(&stage, &[]);
    assert!(ran.out.starts_with("wrote .locum/policy.yml\n"), "{ran:?}");
    assert!(ran.out.contains("--- a/.github/workflows/bot.yaml\n"), "{ran:?}");
    assert!(!ran.err.contains("does not use the Action"), "{ran:?}");
    assert_eq!(stage.names("checkout/.github/workflows"), ["bot.yaml"]);
    // GitHub starts none of these.
    for name in ["bot.yml.disabled", "disabled/bot.yml"] {
        let path = format!(".github/workflows/{name}");
        let stage = Stage::with(&[("src/a.sh", "true\n"), (path.as_str(), by_hand)]);
        let ran = init(&stage, &[]);
        assert!(ran.out.contains("wrote .github/workflows/locum.yml\n"), "{ran:?}");
    }
    // One for other events leaves the usual file to be written.
    let release = by_hand.replace("issue_comment: { types: [created] }", "release:");
    let stage = Stage::with(&[("src/a.sh", "true\n"), (".github/workflows/bot.yaml", &release)]);
    init(&stage, &[]);
    assert_eq!(stage.names("checkout/.github/workflows"), ["bot.yaml", "locum.yml"]);
}

#[test]
fn doctor_names_two_workflows_that_one_event_starts() {
    let stage = renamed();
    assert_eq!(problems(&stage), Vec::<String>::new());
    let workflow = stage.read(OTHER);
    stage.write(USUAL, &workflow);
    stage.commit("two workflows");
    let found = problems(&stage);
    let begin = "`.github/workflows/agent.yml` and `.github/workflows/locum.yml` both start a run \
                 on `issue_comment`, `pull_request_review_comment`, `pull_request_review`, \
                 `issues`, `pull_request`: delete one";
    assert!(found.len() == 1 && found[0].starts_with(begin), "{found:?}");
    // Each of these asks for something else, or does something of its own.
    let other_words = workflow.replace("'/locum'", "'/bot'").replace("'locum'", "'bot'");
    let model = "          model: ";
    let own_task = workflow.replace(model, &format!("          prompt: Look.\n{model}"));
    for changed in [other_words, own_task] {
        assert_ne!(changed, workflow);
        stage.write(USUAL, &changed);
        stage.commit("a change");
        let found = problems(&stage);
        assert!(found.iter().all(|problem| !problem.contains("both start")), "{found:?}");
    }
}

#[test]
fn a_misspelt_input_is_likened_to_one_with_the_same_letters() {
    let stage = renamed();
    let workflow = stage.read(OTHER).replace("          model: ", "          modle: ");
    stage.write(OTHER, &workflow);
    stage.commit("a change");
    let found = problems(&stage).join("\n");
    assert!(found.contains("`modle` is no input of the Action; did you mean `model`?"), "{found}");
}

#[test]
fn flags_that_open_nothing_or_end_an_expression_are_refused() {
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    for (flags, expected) in [
        (["--edit", ".github/**"], "`.github/**` opens nothing, as `.github` is protected"),
        (["--edit", ".github"], "`.github/**` opens nothing"),
        (["--edit", "/etc"], "`/etc` is not a glob of files"),
        (["--label", "x ${{ y }}"], "`x ${{ y }}` is not the name of a label"),
    ] {
        stage.write("checkout/.github/dependabot.yml", "version: 2\n");
        let ran = init(&stage, &flags);
        assert!(ran.code == Some(2) && ran.err.contains(expected), "{flags:?}: {ran:?}");
    }
    assert!(!stage.path("checkout/.locum").exists());
    let ran = init(&stage, &["--edit", "src/**", "--label", "it's"]);
    assert!(ran.err.contains("`gh label create 'it'\\''s'`"), "{ran:?}");
}

#[test]
fn a_provider_that_announced_its_end_is_told() {
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    let told = "GitHub retired GitHub Models on 2026-07-30";
    let ran = init(&stage, &["--provider", "github"]);
    assert!(ran.code == Some(0) && ran.err.contains(told), "{ran:?}");
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    assert!(!init(&stage, &["--provider", "anthropic"]).err.contains(told));
}

#[test]
fn a_policy_with_the_wrong_ending_gets_no_second_one_beside_it() {
    let policy = "version: 1\nrules:\n  - allow: \"read(**)\"\n";
    let stage = Stage::with(&[("src/a.sh", "true\n"), (".locum/policy.yaml", policy)]);
    let ran = init(&stage, &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("`git mv .locum/policy.yaml .locum/policy.yml`"), "{ran:?}");
    assert_eq!(stage.names("checkout/.locum"), ["policy.yaml"]);
}

#[test]
fn folders_that_stay_closed_and_what_the_tests_lack_are_said() {
    let names: Vec<String> = (0..42).map(|number| format!("f{number:02}/a.sh")).collect();
    let ci = "on: push\njobs:\n  test:\n    steps:\n      - run: make test\n        \
              env: { APP_ENV: t }\n";
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "true\n")).collect();
    files.extend([("Makefile", "test:\n\ttrue\n"), (".github/workflows/ci.yml", ci)]);
    let ran = init(&Stage::with(&files), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for part in [
        "Runs may not edit `f40/**`, `f41/**`: `locum init` opens a limited number of folders.",
        "note: `make test` has `APP_ENV` at .github/workflows/ci.yml:5, and commands of a run do \
         not have it\n  hint: if the tests need it, add it",
    ] {
        assert!(ran.err.contains(part), "{part}: {ran:?}");
    }
}

#[test]
fn doctor_notes_files_with_mistakes_that_only_their_own_commands_meet() {
    let stage = renamed();
    let notes = |stage: &Stage| stage.run(&["doctor", "--json"]).json()["notes"].to_string();
    assert!(!notes(&stage).contains("lists every mistake"), "{}", notes(&stage));
    stage.write("checkout/.locum/commands/fix.md", "---\ndescription: x\n---\n");
    stage.write("checkout/.locum/policy-tests.yml", "cases: []\n");
    let found = notes(&stage);
    for part in [
        ".locum/commands/fix.md",
        "`locum commands validate` lists every mistake",
        ".locum/policy-tests.yml:1:1: ",
        "`locum policy test` lists every mistake",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
}

#[test]
fn a_workflow_with_the_action_that_is_no_yaml_gets_no_second_one_beside_it() {
    let broken = "on: issue_comment\njobs:\n  a: [\n    steps: acme/locum@v1\n";
    let stage = Stage::with(&[("src/a.sh", "true\n"), (".github/workflows/bot.yml", broken)]);
    for flags in [&[][..], &["--force"]] {
        let ran = init(&stage, flags);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let begin = "error: .github/workflows/bot.yml:";
        assert!(ran.err.contains(begin), "{ran:?}");
        assert!(ran.err.contains("hint: mend it, or delete it"), "{ran:?}");
        assert_eq!(stage.names("checkout/.github/workflows"), ["bot.yml"]);
        assert!(!stage.path("checkout/.locum").exists());
    }
    // One that does not name the Action starts no run, and one of the usual name gets no second.
    let other = broken.replace("acme/locum", "acme/other");
    stage.write("checkout/.github/workflows/bot.yml", &other);
    let ran = init(&stage, &[]);
    assert!(ran.code == Some(0) && ran.err.contains("it is not YAML"), "{ran:?}");
    let stage = Stage::with(&[("src/a.sh", "true\n"), (".github/workflows/locum.yml", broken)]);
    assert_eq!(init(&stage, &[]).code, Some(0));
    assert_eq!(stage.names("checkout/.github/workflows"), ["locum.yml"]);
    // A file of comments alone is YAML, and starts nothing.
    let comment = "# uses: acme/locum@v1\n";
    let stage = Stage::with(&[("src/a.sh", "true\n"), (".github/workflows/bot.yml", comment)]);
    assert_eq!(init(&stage, &[]).code, Some(0));
}

#[test]
fn workflows_that_cannot_be_read_are_not_counted_as_none() {
    let stage = renamed();
    stage.write("checkout/.github/workflows/ci.yml", b"on: push # \xff\n");
    let ran = init(&stage, &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("error: .github/workflows/ci.yml:1:12: is not UTF-8"), "{ran:?}");
    assert_eq!(stage.names("checkout/.github/workflows"), ["agent.yml", "ci.yml"]);
    // A commit's file has a bound.
    stage.write("checkout/.github/workflows/ci.yml", &"# x\n".repeat(300_000));
    stage.commit("a long workflow");
    let found = problems(&stage).join("\n");
    assert!(found.contains(".github/workflows/ci.yml: "), "{found}");
    assert!(!found.contains("no workflow that uses Locum"), "{found}");
    // What GitHub does not start is not read.
    stage.git(&["mv", ".github/workflows/ci.yml", ".github/workflows/ci.txt"]);
    stage.commit("no workflow");
    assert_eq!(problems(&stage), Vec::<String>::new());
    assert_eq!(init(&stage, &[]).code, Some(0));
}
