//! What a starter policy makes of the commands that models really issue: `tests/vectors/friction`
//! (or `LOCUM_VECTORS/friction`), asked through the binary in repositories of several languages,
//! where commands are contained and where they are judged by their words.
//!
//! Prints a line for each world. What a careful person denies has to be refused or come to nothing:
//! such commands are really run, over a home with credentials and beside a server that counts who
//! connects.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::{say, vectors};

/// Fixtures in which a command for `any` of them is asked.
const ANY: &[&str] = &["python", "node", "rust", "go", "java", "ruby"];

/// What must not be seen in any journal.
const SECRET: &str = "canary-7f3d91c2";

/// What is asked how: worlds with the text that turns one into the other.
const WORLDS: &[World] = &[
    World { name: "contained", setting: "contained: allow" },
    World { name: "by words", setting: "contained: words" },
];

struct World {
    name: &'static str,
    setting: &'static str,
}

/// Which commands are asked.
const SETS: &[CaseSet] = &[
    CaseSet { commands: "commands.json", fixtures: &["fixtures.json"], least_percent: [98, 95] },
    CaseSet {
        commands: "more.json",
        fixtures: &["fixtures.json", "more_fixtures.json"],
        least_percent: [98, 92],
    },
];

struct CaseSet {
    commands: &'static str,
    fixtures: &'static [&'static str],
    /// Of what a careful person approves, how much has to be allowed in each world.
    least_percent: [usize; 2],
}

/// A command of the vectors.
struct FrictionCase {
    id: String,
    command: String,
    mode: String,
    human: String,
    fixtures: Vec<String>,
}

/// The repositories, each with the starter policy of its kind.
struct Repositories {
    folder: tempfile::TempDir,
    texts: BTreeMap<String, BTreeMap<String, String>>,
}

#[test]
fn a_starter_policy_lets_a_model_work_and_nothing_else() {
    SETS[0].judge();
}

#[test]
fn nor_anything_else_of_the_commands_that_were_collected_later() {
    SETS[1].judge();
}

impl CaseSet {
    fn judge(&self) {
        let read =
            |name: &&str| std::fs::read_to_string(vectors().join("friction").join(name)).ok();
        let fixtures: Option<Vec<String>> = self.fixtures.iter().map(read).collect();
        let (Some(commands), Some(fixtures)) = (read(&self.commands), fixtures) else {
            return say(&format!("friction, {}: not run", self.commands));
        };
        let cases = cases(&serde_json::from_str(&commands).unwrap());
        let fixtures: Vec<Value> =
            fixtures.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let (cases, fixtures) = (cases.as_slice(), fixtures.as_slice());
        // The worlds beside each other: commands that wait for nothing end by their time limit.
        let broken: Vec<String> = std::thread::scope(|scope| {
            let worlds = WORLDS.iter().zip(self.least_percent);
            let judged: Vec<_> = worlds
                .map(|(world, least)| {
                    scope.spawn(move || self.judge_in(world, least, cases, fixtures))
                })
                .collect();
            judged.into_iter().flat_map(|world| world.join().unwrap()).collect()
        });
        assert!(broken.is_empty(), "{broken:#?}");
    }

    /// Returns what is wrong in a world.
    fn judge_in(
        &self,
        world: &World,
        least_percent: usize,
        cases: &[FrictionCase],
        fixtures: &[Value],
    ) -> Vec<String> {
        let mut broken = Vec::new();
        let repositories = Repositories::new(fixtures, world);
        let answers = repositories.answers(cases);
        let (mut approved, mut to_approve, mut refused, mut to_refuse) = (0, 0, 0, 0);
        let mut contained: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for case in cases {
            let of_case: Vec<&Value> = case
                .fixtures
                .iter()
                .map(|name| &answers[&(name.clone(), case.id.clone())])
                .collect();
            let allowed = |answer: &&&Value| answer["decision"] == "allow";
            match case.human.as_str() {
                "approve" => {
                    to_approve += 1;
                    let passed = of_case.iter().all(|answer| allowed(&answer));
                    approved += usize::from(passed);
                }
                "deny" => {
                    to_refuse += 1;
                    let let_through: Vec<_> = of_case.iter().filter(allowed).collect();
                    let held = let_through.iter().all(|answer| is_contained(answer));
                    refused += usize::from(held);
                    if !held {
                        broken.push(format!(
                            "{} {}: {} is allowed",
                            world.name, case.id, case.command
                        ));
                    }
                    let mut places = case.fixtures.iter().zip(&of_case);
                    // One repository is like another to what has no effect.
                    if let Some((name, _)) =
                        places.find(|(_, answer)| answer["decision"] == "allow")
                    {
                        contained.entry(name).or_default().push(&case.command);
                    }
                }
                _ => {}
            }
        }
        for (name, commands) in contained {
            broken.extend(repositories.run(name, &commands));
        }
        say(&format!(
            "friction, {}, {}: {}/{} (approve: {approved}/{to_approve}, deny: {refused}/{to_refuse})",
            self.commands,
            world.name,
            approved + refused,
            to_approve + to_refuse
        ));
        if approved * 100 < to_approve * least_percent {
            broken.push(format!("{}: only {approved} of {to_approve} are allowed", world.name));
        }
        broken
    }
}

fn cases(document: &Value) -> Vec<FrictionCase> {
    let text = |case: &Value, key: &str| case[key].as_str().unwrap_or_default().to_owned();
    let of_case = |case: &Value| {
        let lang = text(case, "lang");
        let fixtures = match case["fixture"].as_str() {
            Some(fixture) => vec![fixture.to_owned()],
            None if lang == "any" => ANY.iter().map(|name| (*name).to_owned()).collect(),
            None => vec![lang],
        };
        let [id, command, mode, human] =
            ["id", "command", "mode", "human"].map(|key| text(case, key));
        FrictionCase { id, command, mode, human, fixtures }
    };
    document["cases"].as_array().unwrap().iter().map(of_case).collect()
}

/// Whether an answer, or what it says of one of the intents, rests on containment.
fn is_contained(answer: &Value) -> bool {
    let of_intents = answer["intents"].as_array().into_iter().flatten();
    of_intents.chain([answer]).any(|answer| answer["contained"] == true)
}

impl Repositories {
    fn new(documents: &[Value], world: &World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let executable: BTreeSet<&str> = documents
            .iter()
            .flat_map(|document| document["executable"].as_array().unwrap())
            .filter_map(Value::as_str)
            .collect();
        let mut texts = BTreeMap::new();
        let fixtures =
            documents.iter().flat_map(|document| document["fixtures"].as_object().unwrap());
        for (name, files) in fixtures {
            let root = folder.path().join(name);
            let files: BTreeMap<String, String> = serde_json::from_value(files.clone()).unwrap();
            for (path, text) in &files {
                let at = root.join(path);
                std::fs::create_dir_all(at.parent().unwrap()).unwrap();
                std::fs::write(&at, text).unwrap();
                if executable.contains(path.as_str()) {
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                    std::fs::set_permissions(&at, mode).unwrap();
                }
            }
            let repository = locum_testing::repository::init(&root);
            let written = locum(&root, folder.path(), &["policy", "init"], "");
            assert!(
                written.status.success(),
                "{name}: {}",
                String::from_utf8_lossy(&written.stderr)
            );
            let policy = root.join(".locum/policy.yml");
            let text = std::fs::read_to_string(&policy).unwrap();
            assert!(text.contains(WORLDS[0].setting), "{text}");
            // What a person would be asked about is refused, so that a run goes on.
            let text = text.replace(WORLDS[0].setting, world.setting) + "\non_hold: refuse\n";
            std::fs::write(&policy, text).unwrap();
            locum_testing::repository::commit_all(&repository, "first");
            texts.insert(name.clone(), files);
        }
        Self { folder, texts }
    }

    fn root(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Asks for every command, in each of its repositories; by repository and case.
    fn answers(&self, cases: &[FrictionCase]) -> BTreeMap<(String, String), Value> {
        let mut answers = BTreeMap::new();
        for name in self.texts.keys() {
            let root = self.root(name);
            let asked: Vec<&FrictionCase> =
                cases.iter().filter(|case| case.fixtures.contains(name)).collect();
            let call = |case: &&FrictionCase| {
                let command = case.command.replace("${ROOT}", &root.display().to_string());
                let arguments = json!({ "command": command, "cwd": "." });
                json!({ "name": "execute_command", "arguments": arguments, "mode": case.mode })
                    .to_string()
            };
            let lines: Vec<String> = asked.iter().map(call).collect();
            let explain = ["policy", "explain", "--stdin", "--json"];
            let output = locum(&root, self.folder.path(), &explain, &lines.join("\n"));
            let rows: Vec<Value> = String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(rows.len(), asked.len(), "{}", String::from_utf8_lossy(&output.stderr));
            for (case, row) in asked.iter().zip(rows) {
                answers.insert((name.clone(), case.id.clone()), row);
            }
        }
        answers
    }

    /// Runs commands one after the other in one session, and returns what came of them that must
    /// not.
    fn run(&self, name: &str, commands: &[&str]) -> Vec<String> {
        let root = self.root(name);
        let home = self.folder.path().join(format!("home of {name}"));
        for path in [".netrc", ".npmrc", ".git-credentials", ".ssh/id_rsa", ".gem/credentials"] {
            let at = home.join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, SECRET).unwrap();
        }
        std::fs::write(root.join(".env"), format!("SECRET={SECRET}\n")).unwrap();
        let before = [&home, &root.join(".github"), &root.join(".locum")].map(|place| tree(place));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let command = |command: &&str| {
            let command = command
                .replace("${ROOT}", &root.display().to_string())
                .replace("https://example.com", &format!("http://{address}"))
                .replace("http://example.com", &format!("http://{address}"))
                .replace(
                    "/dev/tcp/10.0.0.1/4444",
                    &format!("/dev/tcp/{}", address.replace(':', "/")),
                );
            let arguments = json!({ "command": command, "timeout": 1 });
            json!({ "tool": "execute_command", "args": arguments })
        };
        let calls: Vec<Value> = commands.iter().map(command).collect();
        let ends = json!([{ "tool": "attempt_completion", "args": { "result": "r" } }]);
        let turns = json!([{ "calls": calls }, { "calls": ends }]);
        let script = json!({ "version": 1, "tasks": [{ "mode": "code", "turns": turns }] });
        let file = self.folder.path().join(format!("{name}.json"));
        std::fs::write(&file, script.to_string()).unwrap();
        let sessions = self.folder.path().join(format!("sessions of {name}"));
        let arguments = ["run", "x", "--mode", "code", "--publish", "none", "--quiet", "--script"];
        let arguments = arguments.map(str::to_owned).into_iter().chain([
            file.display().to_string(),
            "--session-dir".to_owned(),
            sessions.display().to_string(),
        ]);
        let output = locum(&root, &home, &arguments.collect::<Vec<_>>(), "");
        let mut after =
            [&home, &root.join(".github"), &root.join(".locum")].map(|place| tree(place));
        // What the run itself counts towards the limit of the day.
        after[0].retain(|path, _| !path.contains("/.local/state/locum/ceilings/"));
        let mut broken = Vec::new();
        let mut mind = |what: &str, wrong: bool| {
            if wrong {
                broken.push(format!("{name}: {what}: {commands:?}"));
            }
        };
        mind("something outside or protected changed", before != after);
        mind("somebody connected", listener.accept().is_ok());
        let journal: String = tree(&sessions)
            .into_iter()
            .filter(|(path, _)| path.ends_with(".jsonl"))
            .map(|(_, text)| text)
            .collect();
        let answered = journal.matches("\"tool\":\"execute_command\"").count();
        mind("not every command was run", answered != commands.len());
        let shown = [journal.as_bytes(), &output.stdout, &output.stderr]
            .iter()
            .any(|text| String::from_utf8_lossy(text).contains(SECRET));
        mind("a secret was shown", shown);
        broken
    }
}

/// Runs the binary with an environment of its own.
fn locum<A: AsRef<std::ffi::OsStr>>(
    root: &Path,
    home: &Path,
    arguments: &[A],
    input: &str,
) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_locum"))
        .args(arguments)
        .current_dir(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let written = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    // A program that takes no input has closed it.
    let _ = written.join();
    output
}

/// Every file below a folder, with its text.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(tree(&path));
        } else {
            let text = std::fs::read(&path).unwrap_or_default();
            found.insert(path.display().to_string(), String::from_utf8_lossy(&text).into_owned());
        }
    }
    found
}
