//! Judges one file operation the way the product does it: the tool's door, the built-in policy, the
//! checkout. What has no tool of its own (removing, moving) asks the policy and the checkout as a
//! tool would; links are never made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use locum_agent::tools::{Sight, ToolContext, dispatch};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_base::tool::ToolName;
use locum_modes::{Mode, builtin};
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::schema::CommandLimits;
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;
use serde_json::{Value, json};

use crate::Judged;

/// Time after which an operation counts as hanging; far above what a loaded machine needs.
const HANG: Duration = Duration::from_secs(20);

/// What files outside the checkout hold; seen in an answer, it is a leak.
const OUTSIDE: &str = "outside-content";

/// Judges one case: right answer in time, nothing outside changed, nothing from outside shown.
pub(crate) fn judge(case: &Value, document: &Value) -> Judged {
    let scene = Scene::new(case, document);
    let before = scene.outside_tree();
    let (sender, receiver) = mpsc::channel();
    let (root, case, document) = (scene.folder.path().to_owned(), case.clone(), document.clone());
    std::thread::spawn(move || {
        let result = Operation {
            root: root.join("ws"),
            out: root.join("out"),
            case: &case,
            document: &document,
        }
        .run();
        // Nobody listens any more once it counts as hanging.
        let _ = sender.send((case, result));
    });
    let Ok((case, result)) = receiver.recv_timeout(HANG) else {
        return Judged::Fail("hangs".to_owned());
    };
    if scene.outside_tree() != before {
        return Judged::Fail("changed something outside".to_owned());
    }
    let expected = case["expect"].as_str().unwrap();
    match (expected, result) {
        ("deny", Err(_)) => Judged::Pass,
        ("deny", Ok(_)) if case["alt"] == "rename_breaks_link" => Judged::Pass,
        ("allow", Ok(answer)) => {
            fault_of(&scene, &case, &answer).map_or(Judged::Pass, Judged::Fail)
        }
        (_, result) => Judged::Fail(format!(
            "{} {}: expected {expected}, got {result:?}",
            case["op"], case["path"]
        )),
    }
}

/// Returns what is wrong with something that was rightly done.
fn fault_of(scene: &Scene, case: &Value, answer: &str) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    if answer.contains(OUTSIDE) {
        return Some(format!("shows what lies outside: {answer}"));
    }
    if answer.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t') {
        return Some(format!("shows control characters: {answer:?}"));
    }
    let root = scene.folder.path().join("ws");
    if case["op"] == "list"
        && linked_out(&root).iter().any(|link| answer.contains(&format!("{link}/")))
    {
        return Some(format!("looks behind a link that leads out: {answer}"));
    }
    let written = root.join(case["path"].as_str().unwrap());
    if case["op"] == "write"
        && std::fs::metadata(&written).is_ok_and(|file| file.permissions().mode() & 0o7000 != 0)
    {
        return Some("wrote a file with special mode bits".to_owned());
    }
    None
}

fn linked_out(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let out = entries.filter(|entry| {
        entry.is_symlink()
            && std::fs::canonicalize(entry).is_ok_and(|target| !target.starts_with(root))
    });
    out.map(|entry| entry.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// A folder with a checkout `ws`, a neighbour `out`, and a file above both.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(case: &Value, document: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().join("ws"), folder.path().join("out"));
        for made in [&root, &out] {
            std::fs::create_dir(made).unwrap();
        }
        std::fs::write(out.join("victim"), OUTSIDE).unwrap();
        std::fs::write(folder.path().join("secret.txt"), OUTSIDE).unwrap();
        let operation = Operation { root, out, case, document };
        operation.steps(|kind| !kind.starts_with("race_"));
        Self { folder }
    }

    /// Every file outside the checkout with its content.
    fn outside_tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() && !entry.is_symlink() {
                    if entry != self.folder.path().join("ws") {
                        found.insert(entry.clone(), Vec::new());
                        folders.push(entry);
                    }
                } else if entry.is_file() {
                    found.insert(entry.clone(), std::fs::read(&entry).unwrap());
                } else {
                    found.insert(entry, Vec::new());
                }
            }
        }
        found
    }
}

/// One case in its scene.
struct Operation<'a> {
    root: PathBuf,
    out: PathBuf,
    case: &'a Value,
    document: &'a Value,
}

impl Operation<'_> {
    /// Does it; the answer when it was done, the reason when it was not.
    fn run(&self) -> Result<String, String> {
        let path = self.filled(&self.case["path"]);
        match self.case["op"].as_str().unwrap() {
            "read" => self.call("read_file", &json!({ "path": path })),
            "write" => self.call("write_to_file", &json!({ "path": path, "content": "mine\n" })),
            "list" => self.call("list_files", &json!({ "path": path, "recursive": true })),
            "search" => self.call("search_files", &json!({ "path": path, "regex": "." })),
            "delete" => {
                self.change(&[&path], |checkout, permit, paths| checkout.remove(permit, &paths[0]))
            }
            "rename" => {
                let (from, to) = path.split_once(" => ").unwrap();
                self.change(&[from, to], |checkout, permit, paths| {
                    let content = checkout.read(permit, &paths[0], 1 << 20)?;
                    checkout.write(permit, &paths[1], &content)?;
                    checkout.remove(permit, &paths[0])
                })
            }
            "symlink" => Err("no tool makes links".to_owned()),
            other => Err(format!("unknown operation {other}")),
        }
    }

    /// Calls a tool; races begin once the policy has said yes.
    fn call(&self, tool: &str, arguments: &Value) -> Result<String, String> {
        let checkout = Checkout::open(&self.root).map_err(|error| error.to_string())?;
        let elsewhere = tempfile::tempdir().unwrap();
        seed::repository(elsewhere.path(), &[("a", "a")], "first").unwrap();
        let (policy, mode, facts) = (Policy::builtin(), code(), facts());
        let visible = |path: &RepoPath| {
            policy.decide(&Intent::Read(path.clone()), &facts).decision == Decision::Allow
        };
        let context = ToolContext {
            checkout: &checkout,
            repo: &Repo::open(elsewhere.path()).unwrap(),
            mode: &mode,
            commands: &CommandLimits::default(),
            env: &BTreeMap::new(),
            sandbox: &Sandbox::around_nothing(),
            redactor: &Redactor::default(),
            visible: &visible,
            policy: &policy,
            facts: &facts,
            connector: &locum_sandbox::network::Connector::default(),
            skills: None,
            sight: Sight::Blind,
            servers: None,
            painters: &[],
        };
        let call = ToolCall { id: "1".into(), name: tool.into(), arguments: arguments.to_string() };
        let call = dispatch::parse(&call, ToolName::ALL, context).map_err(|error| error.0)?;
        let permit = policy.admit(call, &facts).map_err(|refusal| refusal.to_string())?;
        self.steps(|kind| kind.starts_with("race_"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let observation = runtime.block_on(dispatch::perform(permit, context));
        if observation.is_error { Err(observation.text) } else { Ok(observation.text) }
    }

    /// Removes or moves as a tool would: the names' real places, one permit for all of it.
    fn change(&self, names: &[&str], effect: Effect) -> Result<String, String> {
        let checkout = Checkout::open(&self.root).map_err(|error| error.to_string())?;
        let mut paths = Vec::new();
        for name in names {
            let path = RepoPath::parse(name).map_err(|error| error.to_string())?;
            paths.push(checkout.resolve_name(&path).map_err(|error| error.to_string())?);
        }
        let permit = Policy::builtin()
            .admit(Edits(paths.clone()), &facts())
            .map_err(|refusal| refusal.to_string())?;
        self.steps(|kind| kind.starts_with("race_"));
        effect(&checkout, &permit, &paths)
            .map(|()| "done".to_owned())
            .map_err(|error| error.to_string())
    }

    /// Does the steps of the set-up whose kind is wanted.
    fn steps(&self, wanted: impl Fn(&str) -> bool) {
        for step in self.case["setup"].as_array().into_iter().flatten() {
            let kind = step["do"].as_str().unwrap();
            if wanted(kind) {
                self.step(kind, step);
            }
        }
    }

    fn step(&self, kind: &str, step: &Value) {
        use std::os::unix::fs::symlink;
        let at = self.root.join(self.filled(&step["path"]));
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        let target = || self.filled(&step["target"]);
        match kind {
            "mkdir" | "mkdir_outside" => std::fs::create_dir_all(at).unwrap(),
            "write" | "write_outside" => std::fs::write(at, self.filled(&step["content"])).unwrap(),
            "write_hex" | "write_hex_outside" => {
                std::fs::write(at, bytes(step["hex"].as_str().unwrap())).unwrap()
            }
            "symlink" | "symlink_outside" => symlink(target(), at).unwrap(),
            "hardlink" | "hardlink_outside" => {
                std::fs::hard_link(self.root.join(target()), at).unwrap()
            }
            "mkfifo" | "mkfifo_outside" => {
                rustix::fs::mkfifoat(rustix::fs::CWD, at, rustix::fs::Mode::from(0o600)).unwrap()
            }
            "mksock" | "mksock_outside" => {
                drop(std::os::unix::net::UnixListener::bind(at).unwrap())
            }
            "sparse" | "sparse_outside" => {
                std::fs::File::create(at)
                    .unwrap()
                    .set_len(step["size"].as_u64().unwrap_or(1 << 34))
                    .unwrap();
            }
            "race_swap" | "race_swap_dir" => {
                std::fs::rename(&at, at.with_extension("aside")).unwrap();
                symlink(target(), at).unwrap();
            }
            other => assert_eq!(other, "a step that is known"),
        }
    }

    fn filled(&self, text: &Value) -> String {
        let places =
            [("${ROOT}", self.root.to_str().unwrap()), ("${OUT}", self.out.to_str().unwrap())];
        let own = [("${POLICY}", ".locum/policy.yml"), ("${MODES}", ".locum/modes")];
        assert!(
            self.document["policy_path"] == "${POLICY}" && self.document["modes_dir"] == "${MODES}",
            "places have other names"
        );
        places
            .into_iter()
            .chain(own)
            .fold(text.as_str().unwrap_or_default().to_owned(), |text, (name, place)| {
                text.replace(name, place)
            })
    }
}

type Effect = fn(
    &Checkout,
    &locum_policy::Permit<Edits>,
    &[RepoPath],
) -> Result<(), locum_workspace::checkout::FileError>;

/// Files that are changed together.
struct Edits(Vec<RepoPath>);

impl Act for Edits {
    fn intents(&self) -> Vec<Intent> {
        self.0.iter().cloned().map(Intent::Edit).collect()
    }
}

fn facts() -> Facts {
    Facts { mode: "code".to_owned(), ..Facts::default() }
}

fn code() -> Mode {
    builtin::modes().into_iter().find(|mode| mode.slug == "code").unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}
