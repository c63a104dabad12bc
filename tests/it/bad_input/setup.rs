//! Settings and repositories that are wrong: usage, exit code 2, the whole message compared;
//! nothing is begun and nothing is changed.

use std::os::unix::ffi::OsStrExt;

use pretty_assertions::assert_eq;

use crate::support::stage::{Ran, Stage};

const FILES: &[(&str, &str)] = &[("README.md", "# It\n")];
const MODEL: &[(&str, &str)] = &[("LOCUM_MODEL", "gpt-4.1"), ("OPENAI_API_KEY", "sk-of-the-test")];

/// Runs and expects exactly these lines on standard error beside excerpts of files, exit code 2,
/// and that nothing happened.
fn check(stage: &Stage, arguments: &[&str], variables: &[(&str, &str)], expected: &[&str]) {
    let before = stage.checkout_state();
    let ran: Ran = stage.locum(arguments).envs(variables.iter().copied()).output().unwrap().into();
    let excerpt = |line: &&str| line.starts_with("  ");
    let said: Vec<String> = ran
        .err
        .lines()
        .filter(|line| !excerpt(line))
        .map(|line| line.replace(stage.path("").to_str().unwrap(), "STAGE/"))
        .collect();
    assert_eq!(said, expected, "{arguments:?}");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
    assert_eq!(stage.checkout_state(), before, "{arguments:?}");
    assert_eq!(
        stage.names("state"),
        Vec::<String>::new(),
        "{arguments:?}: a run that cannot start leaves no session"
    );
}

#[test]
fn no_model_or_no_key_names_the_variables() {
    let stage = Stage::with(FILES);
    let none = [
        "error: models: no model is configured",
        "hint: set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY in the environment; \
         LOCUM_MODEL names another model than the provider's usual one, OPENAI_BASE_URL another \
         server; or describe a profile under `models.profiles` in the configuration; in a \
         workflow, the action's inputs `model` and `api-key` do the same",
    ];
    check(&stage, &["run", "x"], &[], &none);
    let two = [
        "error: models: no model is configured",
        "hint: ANTHROPIC_API_KEY and GEMINI_API_KEY are set: say which model to ask, as in \
         LOCUM_MODEL=claude-sonnet-5-5",
    ];
    check(&stage, &["run", "x"], &[("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k")], &two);
    let half = [
        "error: models: `anthropic:` names no model",
        "hint: write the model's name after the colon, as in `anthropic:claude-sonnet-5-5`",
    ];
    check(&stage, &["run", "x"], &[("LOCUM_MODEL", "anthropic:")], &half);
    // The name of another maker's model is a model of that maker.
    let other = [
        "error: models: model `claude-opus-5-5`: the environment variable `ANTHROPIC_API_KEY`, \
         which should hold the key, is not set",
        "hint: only OPENAI_API_KEY is set: set ANTHROPIC_API_KEY, or ask a model of that key, as \
         in LOCUM_MODEL=openai-responses:gpt-6.1-terra; for a gateway that serves both, set \
         OPENAI_BASE_URL and OPENAI_API_KEY",
    ];
    let variables = [("LOCUM_MODEL", "claude-opus-5-5"), ("OPENAI_API_KEY", "k")];
    check(&stage, &["run", "x"], &variables, &other);
    let hint = "hint: set OPENAI_API_KEY; in a workflow, the action's input `api-key` or `env: { \
                OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }} }` sets it, from a secret that \
                exists: see the repository's Settings, Secrets and variables, Actions";
    let of_key = |what: &str| {
        format!(
            "error: models: model `gpt-4.1`: the environment variable `OPENAI_API_KEY`, which \
             should hold the key, {what}"
        )
    };
    for (key, what) in [
        (None, "is not set"),
        (Some(""), "is empty"),
        (Some("two words"), "is not a key: it holds blanks or other characters no key has"),
    ] {
        let variables: Vec<(&str, &str)> = [("LOCUM_MODEL", "gpt-4.1")]
            .into_iter()
            .chain(key.map(|key| ("OPENAI_API_KEY", key)))
            .collect();
        check(&stage, &["run", "x"], &variables, &[&of_key(what), hint]);
    }
}

#[test]
fn a_key_that_is_no_text_is_no_key() {
    let stage = Stage::with(FILES);
    let key = std::ffi::OsStr::from_bytes(b"sk-\xff\xfe");
    let ran: Ran = stage
        .locum(&["run", "x"])
        .env("LOCUM_MODEL", "gpt-4.1")
        .env("OPENAI_API_KEY", key)
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.err.contains("`OPENAI_API_KEY`, which should hold the key, is not set"),
        "{}",
        ran.err
    );
}

#[test]
fn every_mistake_of_a_file_is_told_with_its_place() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            ".locum/policy.yml",
            "version: 1\nrules: [\n",
            &["error: .locum/policy.yml:2:8: unclosed bracket '['"],
        ),
        (
            ".locum/policy.yml",
            "version: 1\nrulez: []\nrules:\n  - alow: 'read(**)'\n",
            &[
                "error: .locum/policy.yml:2:1: unknown key `rulez`",
                "hint: did you mean `rules`?",
                "error: .locum/policy.yml:4:5: a rule says exactly one of `allow`, `hold`, `deny`",
                "error: .locum/policy.yml:4:5: unknown key `alow`",
                "hint: did you mean `allow`?",
            ],
        ),
        (
            ".locum/config.yml",
            "budget: {\n",
            &["error: .locum/config.yml:1:9: unclosed bracket '{'"],
        ),
        (
            ".locum/config.yml",
            "mod: code\nbudget: { turns: -1 }\n",
            &[
                "error: .locum/config.yml:1:1: unknown key `mod`",
                "hint: did you mean `mode`?",
                "error: .locum/config.yml:2:18: `budget.turns` must be a whole number such as \
                 `400`, `20k` or `2M`, not `-1`",
            ],
        ),
        (
            ".locum/config.yml",
            "language: German\nconcurrent_reads: 33\n",
            &["error: .locum/config.yml:2:19: `concurrent_reads` must be from 1 to 32"],
        ),
        (
            ".locum/config.yml",
            "models: { profiles: { m: { model: m, stream: often } } }\n",
            &[
                "error: .locum/config.yml:1:46: `models.profiles.m.stream` must be `true` or `false`, \
                 not text",
            ],
        ),
        (
            ".locum/modes.yml",
            "customModes: [\n",
            &["error: .locum/modes.yml:1:14: unclosed bracket '['"],
        ),
        (
            ".locum/modes.yml",
            "customModes:\n  - { slug: a b, name: A, roleDefinition: B, groups: [] }\n",
            &[
                "error: .locum/modes.yml:2:13: `customModes.0.slug`: `a b` is not a slug",
                "hint: use the letters a to z, digits and `-`; or let runs go without modes that \
                 have mistakes: `mode_files: lenient` in `.locum/config.yml`",
            ],
        ),
    ];
    for (file, text, expected) in cases {
        let stage = Stage::with(&[(file, text)]);
        check(&stage, &["run", "x"], MODEL, expected);
    }
}

#[test]
fn a_broken_script_is_told_with_its_place() {
    let stage = Stage::with(FILES);
    let given = |text: &str| stage.write("s.yml", text);
    given("version: 1\ntasks:\n  - turns:\n      - cals: []\n");
    let unknown = ["error: ../s.yml:4:9: unknown key `cals`", "hint: did you mean `calls`?"];
    check(&stage, &["run", "x", "--script", "../s.yml"], &[], &unknown);
    check(
        &stage,
        &["run", "x", "--script", "../none.yml"],
        &[],
        &["error: --script: `../none.yml` does not exist", "hint: paths begin in `STAGE/checkout`"],
    );
    check(
        &stage,
        &["run", "x", "--policy", "../none.yml"],
        MODEL,
        &["error: --policy: `../none.yml` does not exist", "hint: paths begin in `STAGE/checkout`"],
    );
}

#[test]
fn flags_and_variables_that_mean_nothing_are_told() {
    let stage = Stage::with(FILES);
    check(
        &stage,
        &["run", "x", "--mode", "cod"],
        MODEL,
        &[
            "error: --mode: there is no mode `cod`",
            "hint: did you mean `code`? known: architect, code, ask, debug, orchestrator, coordinator, \
                 review",
        ],
    );
    check(
        &stage,
        &["run", " "],
        MODEL,
        &["error: TASK: there is no task", "hint: `locum run \"fix the failing test\"`"],
    );
    check(
        &stage,
        &["run", "x", "--max-turns", "0"],
        MODEL,
        &["error: --max-turns: `budget.turns` must be from 1 to 4294967295"],
    );
    let misspelt =
        ["error: LOCUM_MODEE: no setting has this name", "hint: did you mean LOCUM_MODE?"];
    check(&stage, &["run", "x"], &[MODEL, &[("LOCUM_MODEE", "code")]].concat(), &misspelt);
    let shallow = "hint: name a commit, branch or tag that is in this checkout; in Actions, \
                   `fetch-depth: 0` of actions/checkout fetches them all";
    check(
        &stage,
        &["run", "x", "--base", "nope"],
        MODEL,
        &["error: --base: revision `nope` does not exist", shallow],
    );
}

#[test]
fn a_folder_without_a_checkout_is_told_what_it_lacks() {
    let stage = Stage::with(FILES);
    stage.git_in("", &["init", "-q", "--bare", "bare"]);
    stage.git_in("", &["init", "-q", "empty"]);
    let nowhere = "hint: start it in a git checkout, or name one with `--repo DIR`";
    let bare = "hint: clone it and name the clone";
    let empty =
        "hint: commit something first: a run starts from a commit, and its policy is read there";
    let cases = [
        ("home", "error: --repo: `STAGE/home` is not a git repository", nowhere),
        ("bare", "error: --repo: `STAGE/bare` is a bare repository; a checkout is needed", bare),
        ("empty", "error: --repo: the repository has no commit yet", empty),
    ];
    for (folder, what, hint) in cases {
        check(
            &stage,
            &["run", "x", "--repo", stage.path(folder).to_str().unwrap()],
            MODEL,
            &[what, hint],
        );
    }
    check(
        &stage,
        &["run", "x", "--repo", "nowhere"],
        MODEL,
        &[
            "error: --repo: `STAGE/checkout/nowhere` is not a folder",
            "hint: name the folder of a git checkout",
        ],
    );
}

#[test]
fn a_session_folder_that_cannot_be_made_is_told_with_what_names_it() {
    let stage = Stage::with(FILES);
    stage.write("script.yml", "version: 1\ntasks: [{ turns: [{ say: x }] }]\n");
    let ran = stage.run(&["run", "x", "--script", "../script.yml", "--session-dir", "/proc/none"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("error: journal `/proc/none/"), "{}", ran.err);
    assert!(
        ran.err.ends_with(
            "hint: sessions are kept where `session_dir` (`--session-dir`) says, else below \
             `state_dir`; name a folder with room that may be written\n"
        ),
        "{}",
        ran.err
    );
}

#[test]
fn no_session_and_no_state_is_kept_in_the_checkout_where_a_run_could_forge_it() {
    let stage = Stage::with(FILES);
    stage.write("script.yml", "version: 1\ntasks: [{ turns: [{ say: x }] }]\n");
    std::os::unix::fs::symlink(stage.path("checkout"), stage.path("link")).unwrap();
    let run = ["run", "x", "--script", "../script.yml"];
    let cure = "move it to a folder outside of the checkout, and name that as `state_dir` in your \
                own settings or in LOCUM_STATE_DIR; where only the sessions are in the checkout, as \
                `session_dir`, LOCUM_SESSION_DIR or `--session-dir`";
    let inside = |setting: &str, folder: &str| {
        [
            format!(
                "error: {setting}: `STAGE/{folder}` is in the checkout, where a run could change \
                 what is kept there"
            ),
            format!("hint: {cure}"),
        ]
    };
    let told = |arguments: &[&str], variables: &[(&str, String)], expected: [String; 2]| {
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        check(&stage, arguments, &variables, &expected.each_ref().map(String::as_str));
    };
    let path = |folder: &str| stage.path(folder).to_str().unwrap().to_owned();
    let in_checkout = [("LOCUM_SESSION_DIR", path("checkout/sess"))];
    let expected = || inside("session_dir", "checkout/sess");
    told(&run, &in_checkout, expected());
    for arguments in [&["session", "resume", "x"], &["session", "restore", "x", "0"][..]] {
        told(arguments, &in_checkout, expected());
    }
    for arguments in [&["session", "list"][..], &["cost"]] {
        let read: Ran = stage.locum(arguments).envs(in_checkout.clone()).output().unwrap().into();
        assert_eq!(read.code, Some(0), "what is there may be looked at: {read:?}");
    }
    told(&[&run[..], &["--session-dir", "sess"]].concat(), &[], expected());
    told(&[&run[..], &["--worktree", "--session-dir", "sess"]].concat(), &[], expected());
    let linked = [("LOCUM_SESSION_DIR", path("link/.git/sess"))];
    told(&run, &linked, inside("session_dir", "link/.git/sess"));
    let behind = [("LOCUM_SESSION_DIR", path("none/../checkout/sess"))];
    told(&run, &behind, inside("session_dir", "none/../checkout/sess"));
    std::os::unix::fs::symlink(stage.path(""), stage.path("checkout/.git/out")).unwrap();
    let leads_out = [("LOCUM_SESSION_DIR", path("checkout/.git/out/sess"))];
    told(&run, &leads_out, inside("session_dir", "checkout/.git/out/sess"));
    let states = [("LOCUM_STATE_DIR", path("checkout/state"))];
    told(&run, &states, inside("state_dir", "checkout/state"));
    let doctor: Ran = stage.locum(&["doctor", "--json"]).envs(in_checkout).output().unwrap().into();
    assert!(doctor.json()["laptop"].to_string().contains("is in the checkout"), "{doctor:?}");

    let beside = [&run[..], &["--session-dir", "../sess"]].concat();
    assert_ne!(stage.run(&beside).code, Some(2));
    assert_eq!(stage.names("sess").len(), 1);
}

#[test]
fn a_detached_checkout_is_worked_in_and_stays_detached() {
    let stage = Stage::with(FILES);
    stage.git(&["checkout", "-q", "--detach"]);
    let (head, commit, _) = stage.checkout_state();
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: write_to_file, args: { \
                  path: new.md, content: \"new\\n\" } }]\n      - calls: [{ tool: \
                  attempt_completion, args: { result: ok } }]\n";
    let ran = stage.play(
        script,
        &[
            "--mode",
            "code",
            "--publish",
            "local",
            "--publish-dir",
            stage.path("postings").to_str().unwrap(),
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.checkout_state(), (head, commit, "?? new.md\n".to_owned()));
}
