//! What the schemas say and what the readers read is the same: documents made from a schema are
//! read, documents with anything else in them are refused by both, and everything people are shown
//! is valid.

use std::path::Path;

use crate::support::json_schema::{faults, faults_of_line};
use crate::support::stage::Stage;
use fancy_regex::Regex;
use locum::cli::inspect_args::SchemaWord;
use locum::cli::schema::whole;
use locum::config::environment::Environment;
use locum::config::load::{ConfigFile, Layers, load};
use locum::run::job::Job;
use locum_agent::session::event::Event;
use locum_agent::session::outcome::OutcomeWord;
use locum_files::yaml::YamlDocument;
use locum_models::scripted::script::ModelScript;
use locum_modes::{ModeSource, loader};
use locum_policy::Policy;
use locum_policy::cases::read_cases;
use serde_json::{Map, Value as Json, json};

/// Reads a document as the program does; what it says of examples that do not come out is no matter
/// of shape.
fn refusals(name: SchemaWord, text: &str) -> Vec<String> {
    let said: Vec<String> = match name {
        SchemaWord::Policy => Policy::parse(text, "f")
            .err()
            .map_or_else(Vec::new, |errors| errors.0.iter().map(ToString::to_string).collect()),
        SchemaWord::Job => Job::parse("f", text)
            .err()
            .map_or_else(Vec::new, |errors| errors.iter().map(|one| one.message.clone()).collect()),
        SchemaWord::Config => {
            let file = ConfigFile { origin: "f".to_owned(), text: text.to_owned() };
            let layers = Layers {
                user: None,
                repository: Some(&file),
                environment: &Environment::default(),
                flags: &[],
            };
            let said = load(&layers).err().map_or_else(Vec::new, |errors| {
                errors.0.iter().map(ToString::to_string).collect::<Vec<_>>()
            });
            // Another layer may give what is missing in this one.
            said.into_iter().filter(|line| !line.ends_with("is missing")).collect()
        }
        SchemaWord::PolicyTest => read_cases(text, "f")
            .err()
            .map_or_else(Vec::new, |errors| errors.0.iter().map(ToString::to_string).collect()),
        SchemaWord::Script => ModelScript::parse("f", text).err().map_or_else(Vec::new, |errors| {
            errors.mistakes.iter().map(|one| one.message.clone()).collect()
        }),
        // Nobody writes it.
        SchemaWord::Events => Vec::new(),
        SchemaWord::Modes => {
            let source = ModeSource::Project { file: ".locum/modes.yml".to_owned() };
            let said = loader::parse(text, &source).err().map_or_else(Vec::new, |errors| {
                errors.0.iter().map(|error| error.message.clone()).collect::<Vec<_>>()
            });
            // That slugs and groups stand once is beyond a schema.
            said.into_iter().filter(|line| !line.ends_with("twice")).collect()
        }
    };
    said.into_iter().filter(|line| !line.contains(": example `")).collect()
}

/// Returns values that a schema takes, and values just outside it.
fn samples(schema: &Json) -> (Vec<Json>, Vec<Json>) {
    let strange = json!("no such word ever");
    if let Some(words) = schema.get("enum") {
        return (words.as_array().unwrap().clone(), vec![strange, json!([[]])]);
    }
    if let Some(only) = schema.get("const") {
        return (vec![only.clone()], vec![strange, json!(2)]);
    }
    if let Some(branches) = schema.get("anyOf").filter(|_| schema.get("properties").is_none()) {
        let each: Vec<_> = branches.as_array().unwrap().iter().map(samples).collect();
        let outside = each.iter().flat_map(|(_, outside)| outside.clone());
        let outside: Vec<Json> =
            outside.filter(|value| !faults(schema, value, "").is_empty()).collect();
        return (each.into_iter().flat_map(|(inside, _)| inside).collect(), outside);
    }
    match schema["type"].as_str().unwrap() {
        "string" => match schema.get("examples") {
            Some(Json::Array(examples)) => (examples.clone(), vec![json!(""), json!(["a", []])]),
            _ => match schema.get("pattern").and_then(Json::as_str) {
                Some(pattern) if pattern.contains("+h)") => {
                    (vec![json!("1h30m")], vec![json!("10"), json!("0s"), json!(10)])
                }
                Some(pattern) if pattern.contains("KiB") => {
                    (vec![json!("64KiB")], vec![json!("64 miles")])
                }
                Some(pattern) if pattern.contains("kKM") => {
                    (vec![json!("2k")], vec![json!("2X"), json!("-1")])
                }
                _ => (vec![json!("orchestrator")], vec![json!({ "a": 1 })]),
            },
        },
        "boolean" => (vec![json!(true)], vec![json!("yes"), json!(1)]),
        "integer" | "number" => {
            let bounds = ["minimum", "maximum"].map(|bound| schema.get(bound).cloned());
            let beyond = [-1.0, 1.0]
                .into_iter()
                .zip(&bounds)
                .filter_map(|(step, bound)| Some(json!(bound.as_ref()?.as_f64()? + step)));
            let beyond: Vec<Json> =
                beyond.filter(|value| value.as_f64().unwrap() < 9e15).map(whole_number).collect();
            (bounds.into_iter().flatten().collect(), beyond)
        }
        "array" if schema.get("prefixItems").is_some() => {
            let [(heads, other_heads), (tails, other_tails)] =
                [0, 1].map(|index| samples(&schema["prefixItems"][index]));
            let inside = tails.iter().map(|tail| json!([heads[0], tail])).collect();
            let outside = other_heads
                .iter()
                .map(|head| json!([head, tails[0]]))
                .chain(other_tails.iter().map(|tail| json!([heads[0], tail])));
            (inside, outside.chain([json!([heads[0]])]).collect())
        }
        "array" => {
            let (inside, outside) = samples(&schema["items"]);
            let pair = json!([inside[0], inside[0]]);
            let single = inside.into_iter().map(|value| json!([value]));
            (
                single.chain([pair]).collect(),
                outside.into_iter().map(|value| json!([value])).collect(),
            )
        }
        "object" => objects(schema),
        other => panic!("{other}"),
    }
}

fn whole_number(value: Json) -> Json {
    value
        .as_f64()
        .filter(|number| number.fract() == 0.0)
        .map_or(value, |number| json!(number as i64))
}

/// One object for every value of every key, beside what has to be there; each with something wrong
/// too.
fn objects(schema: &Json) -> (Vec<Json>, Vec<Json>) {
    let (mut inside, mut outside) = (Vec::new(), vec![json!([])]);
    let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
        let Some(values) = schema.get("additionalProperties") else {
            return (vec![json!({}), json!({ "a": 1 })], outside);
        };
        let (good, bad) = samples(values);
        let named = |value: Json| json!({ "orchestrator": value });
        return (
            good.into_iter().map(named).collect(),
            bad.into_iter().map(named).chain(outside).collect(),
        );
    };
    for (key, below) in properties {
        let (good, bad) = samples(below);
        inside.extend(good.into_iter().map(|value| with_needed(schema, properties, key, value)));
        outside.extend(bad.into_iter().map(|value| with_needed(schema, properties, key, value)));
        outside.push(with_needed(schema, properties, key, Json::Null));
    }
    let mut unknown = inside[0].clone();
    unknown["no_such_key"] = json!(1);
    outside.push(unknown);
    (inside, outside)
}

fn with_needed(schema: &Json, properties: &Map<String, Json>, key: &str, value: Json) -> Json {
    let mut object = json!({ key: value });
    let needed = schema.get("required").into_iter().flat_map(|keys| keys.as_array().unwrap());
    for other in needed {
        let other = other.as_str().unwrap();
        if other != key {
            object[other] = samples(&properties[other]).0[0].clone();
        }
    }
    let choices =
        ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)).and_then(Json::as_array);
    let choices: Vec<&str> = choices
        .into_iter()
        .flatten()
        .map(|choice| choice["required"][0].as_str().unwrap())
        .collect();
    if !choices.is_empty() && !choices.contains(&key) {
        // `args` stands only beside `tool`.
        let other = if key == "args" { "tool" } else { choices[0] };
        object[other] = samples(&properties[other]).0[0].clone();
    }
    object
}

fn check(name: SchemaWord) {
    let schema = whole(name);
    let (inside, outside) = samples(&schema);
    assert!(inside.len() > 10 && outside.len() > 10, "{} {}", inside.len(), outside.len());
    for value in inside {
        assert_eq!(faults(&schema, &value, ""), Vec::<String>::new(), "{value}");
        assert_eq!(refusals(name, &value.to_string()), Vec::<String>::new(), "{value}");
    }
    // A key of the top without anything below it is no modes, and no mistake.
    for value in outside
        .into_iter()
        .filter(|value| name != SchemaWord::Modes || *value != json!({ "customModes": null }))
    {
        assert!(!faults(&schema, &value, "").is_empty(), "the schema takes {value}");
        assert!(!refusals(name, &value.to_string()).is_empty(), "the program takes {value}");
    }
}

#[test]
fn the_schema_of_policies_says_what_is_read() {
    check(SchemaWord::Policy);
}

#[test]
fn the_schema_of_jobs_says_what_is_read() {
    check(SchemaWord::Job);
}

#[test]
fn the_schema_of_scripts_says_what_is_read() {
    check(SchemaWord::Script);
}

#[test]
fn the_schema_of_settings_says_what_a_repository_may_set() {
    check(SchemaWord::Config);
}

#[test]
fn the_schema_of_modes_says_what_is_read() {
    check(SchemaWord::Modes);
}

#[test]
fn lines_of_a_run_are_as_the_schema_of_events_says() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: read_file, args: { path: a.txt \
                  } }]\n      - calls: [{ tool: attempt_completion, args: { result: Read. } }]\n";
    let ran = stage.play(script, &["--output-format", "stream-json"]);
    let lines = ran.json_lines();
    assert!(lines.len() > 5, "{ran:?}");
    for line in &lines {
        assert_eq!(faults_of_line(line), Vec::<String>::new(), "{line}");
    }
    let (report, events) = lines.split_last().unwrap();
    let without = |line: &Json, key: &str| {
        let mut line = line.clone();
        line.as_object_mut().unwrap().shift_remove(key);
        line
    };
    for line in [without(report, "outcome"), without(&events[0], "task"), json!({})] {
        assert!(!faults_of_line(&line).is_empty(), "{line}");
    }
    let mut odd = events[0].clone();
    odd["no_such_key"] = json!(1);
    assert_eq!(faults_of_line(&odd), ["no_such_key: unknown"]);
}

#[test]
fn every_event_and_outcome_is_in_the_schema_and_no_other() {
    // The reader of an enum lists all its words where it meets another.
    let listed = |error: serde_json::Error| {
        let error = error.to_string();
        let (_, words) = error.split_once("expected one of ").unwrap();
        sorted(words.split('`').skip(1).step_by(2))
    };
    let strange = json!("no such word");
    let events = listed(serde_json::from_value::<Event>(json!({ "event": strange })).unwrap_err());
    let outcomes = listed(serde_json::from_value::<OutcomeWord>(strange).unwrap_err());
    let schema = whole(SchemaWord::Events);
    let lines = schema["oneOf"].as_array().unwrap();
    let name = |line: &Json| line.pointer("/properties/event/const").cloned();
    let named: Vec<Json> = lines.iter().filter_map(name).collect();
    assert_eq!(sorted(named.iter().filter_map(Json::as_str)), events);
    let mut met = 0;
    for line in lines {
        for place in ["outcome/enum", "word/enum", "ended_as/anyOf/0/enum"] {
            let Some(words) = line.pointer(&format!("/properties/{place}")) else { continue };
            let words = words.as_array().unwrap().iter().filter_map(Json::as_str);
            assert_eq!(sorted(words), outcomes, "{place}");
            met += 1;
        }
    }
    assert_eq!(met, 3);
}

fn sorted<'w>(words: impl Iterator<Item = &'w str>) -> Vec<String> {
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort_unstable();
    words
}

#[test]
fn everything_people_are_shown_is_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let mut texts: Vec<(String, SchemaWord, String)> = Vec::new();
    for (file, name) in [
        ("config/policy.yml", SchemaWord::Policy),
        ("config/demo/policy.yml", SchemaWord::Policy),
        ("config/examples/policy.yml", SchemaWord::Policy),
        ("config/examples/policy-tests.yml", SchemaWord::PolicyTest),
        ("config/examples/config.yml", SchemaWord::Config),
        ("config/modes.yml", SchemaWord::Modes),
        ("config/examples/modes.yml", SchemaWord::Modes),
        ("config/examples/jobs/update-dependencies.yml", SchemaWord::Job),
    ] {
        texts.push((file.to_owned(), name, read(&root.join(file))));
    }
    let marked =
        Regex::new(r"<!-- (policy|job|config|modes|script) -->\n```yaml\n([\s\S]*?)```").unwrap();
    let entries = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for page in entries.filter(|path| path.is_file()) {
        for found in marked.captures_iter(read(&page).as_str()).map(|found| found.unwrap()) {
            let text = found[2].to_owned();
            let (name, text) = match &found[1] {
                "policy" if !text.contains("version:") => {
                    (SchemaWord::Policy, format!("version: 1\n{text}"))
                }
                "policy" => (SchemaWord::Policy, text),
                "job" => (SchemaWord::Job, text),
                "modes" => (SchemaWord::Modes, text),
                "script" => (SchemaWord::Script, text),
                _ => (SchemaWord::Config, text),
            };
            texts.push((page.display().to_string(), name, text));
        }
    }
    assert!(texts.len() > 10);
    for (place, name, text) in texts {
        let value = YamlDocument::parse(&text).root.unwrap().to_json();
        assert_eq!(faults(&whole(name), &value, ""), Vec::<String>::new(), "{place}");
    }
}

#[test]
fn every_key_says_what_it_is_for() {
    fn bare(schema: &Json, at: &str) -> Vec<String> {
        let properties = schema.get("properties").and_then(Json::as_object);
        let mut found: Vec<String> = properties
            .into_iter()
            .flatten()
            .filter(|(_, below)| below.get("description").is_none())
            .map(|(key, _)| format!("{at}/{key}"))
            .collect();
        match schema {
            Json::Object(entries) => found.extend(
                entries.iter().flat_map(|(key, below)| bare(below, &format!("{at}/{key}"))),
            ),
            Json::Array(items) => found.extend(items.iter().flat_map(|below| bare(below, at))),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
        found
    }
    for name in [
        SchemaWord::Policy,
        SchemaWord::PolicyTest,
        SchemaWord::Job,
        SchemaWord::Config,
        SchemaWord::Modes,
        SchemaWord::Script,
    ] {
        assert_eq!(bare(&whole(name), ""), Vec::<String>::new(), "{name:?}");
    }
}

#[test]
fn tests_of_a_policy_are_read_as_their_schema_says() {
    let schema = whole(SchemaWord::PolicyTest);
    for (text, good) in [
        (
            "- allow: edit(src/a)\n  mode: code\n  trigger: assign\n  tier: maintainer\n  job: \
             j\n  name: n\n",
            true,
        ),
        ("- deny: [{ name: read_file, arguments: { path: a } }, read(a)]\n", true),
        ("- alow: edit(src/a)\n", false),
        ("- mode: code\n", false),
        ("- allow: []\n", false),
        ("- { allow: edit(a), trigger: cron }\n", false),
        ("allow: edit(a)\n", false),
    ] {
        let value = YamlDocument::parse(text).root.unwrap().to_json();
        assert_eq!(
            (
                faults(&schema, &value, "").is_empty(),
                refusals(SchemaWord::PolicyTest, text).is_empty()
            ),
            (good, good),
            "{text}"
        );
    }
}

#[test]
fn a_schema_is_printed_as_json() {
    let stage = Stage::with(&[]);
    let ran = stage.run(&["schema", "policy"]);
    let printed: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(printed, whole(SchemaWord::Policy));
    assert_eq!(printed["properties"]["budget"]["properties"]["tokens"]["default"], json!("2M"));
}
