//! Judges one file operation the way the product does it: the tool's door, the built-in policy, the
//! checkout. What has no tool of its own (removing, moving) asks the policy and the checkout as a
//! tool would; links are never made.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use locum_agent::env::RunEnv;
use locum_agent::tools::{ToolContext, dispatch};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_base::tool::ToolName;
use locum_modes::{Mode, builtin};
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;
use serde_json::{Value, json};

use crate::Judged;
use crate::field::Field;

/// Time after which an operation counts as hanging; far above what a loaded machine needs.
const HANG: Duration = Duration::from_secs(20);

/// What files outside the checkout hold; seen in an answer, it is a leak.
const OUTSIDE: &str = "outside-content";

/// Notes that ask for more than the answer; all of it is looked at in every case.
const NOTES: &[(&str, Op)] =
    &[("mode & 0o7000 == 0", Op::Write), ("entries below out/ must not appear", Op::List)];

const OPS: &[(&str, Op)] = &[
    ("read", Op::Read),
    ("write", Op::Write),
    ("list", Op::List),
    ("search", Op::Search),
    ("delete", Op::Delete),
    ("rename", Op::Rename),
    ("symlink", Op::Link),
];

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Read,
    Write,
    List,
    Search,
    Delete,
    Rename,
    Link,
}

/// Judges one case: right answer in time, nothing outside changed, nothing from outside shown.
pub(crate) fn judge(case: &Field<'_>, file: &Field<'_>) -> Result<Judged, String> {
    header(file)?;
    let allow = case.at("expect").word(&[("allow", true), ("deny", false)])?;
    let rename_is_fine = case
        .at("alt")
        .given()
        .map(|alt| alt.word(&[("rename_breaks_link", ())]))
        .transpose()?
        .is_some();
    let op = case.at("op").word(OPS)?;
    if let Some(note) = case.at("note").given()
        && note.word(NOTES)? != op
    {
        return Err(format!(
            "the note `{}` is not looked at where something is {op:?}",
            note.text()?
        ));
    }
    let scene = Scene::new(case).map_err(|error| format!("cannot be set up: {error}"))?;
    let before = scene.outside_tree().map_err(|error| error.to_string())?;
    let (sender, receiver) = mpsc::channel();
    let operation =
        Operation { root: scene.root(), op, path: scene.path.clone(), steps: scene.steps.clone() };
    std::thread::spawn(move || {
        // Nobody listens any more once it counts as hanging.
        let _ = sender.send(operation.run());
    });
    let result = match receiver.recv_timeout(HANG) {
        Ok(result) => result.map_err(|error| format!("cannot be tried: {error}"))?,
        Err(mpsc::RecvTimeoutError::Timeout) => return Ok(Judged::Fail("hangs".to_owned())),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            return Ok(Judged::Fail("panicked".to_owned()));
        }
    };
    if scene.outside_tree().map_err(|error| error.to_string())? != before {
        return Ok(Judged::Fail("changed something outside".to_owned()));
    }
    Ok(match (allow, result) {
        (false, Err(_)) => Judged::Pass,
        (false, Ok(_)) if rename_is_fine => Judged::Pass,
        (true, Ok(answer)) => fault_of(&scene, op, &answer)?.map_or(Judged::Pass, Judged::Fail),
        (_, result) => Judged::Fail(format!(
            "{op:?} {}: expected {}, got {result:?}",
            scene.path,
            case.at("expect").text()?
        )),
    })
}

/// Places have the names known here, and what the set protects is what the product protects by
/// itself.
fn header(file: &Field<'_>) -> Result<(), String> {
    for (key, name) in [
        ("root", "${ROOT}"),
        ("outside", "${OUT}"),
        ("policy_path", "${POLICY}"),
        ("modes_dir", "${MODES}"),
    ] {
        if file.at(key).text()? != name {
            return Err(format!("`{key}` has another name than {name}"));
        }
    }
    let policy = Policy::builtin();
    let open = |pattern: &str, intent: fn(RepoPath) -> Intent| {
        let example = own_places(pattern).replace("**/", "a/").replace("**", "a").replace('*', "a");
        let path = RepoPath::parse(&example).map_err(|error| format!("{example}: {error}"))?;
        let allowed = policy.decide(&intent(path), &facts()).decision == Decision::Allow;
        Ok::<_, String>(allowed.then_some(example))
    };
    for (key, intent) in
        [("deny_write", Intent::Edit as fn(RepoPath) -> Intent), ("deny_read", Intent::Read)]
    {
        for pattern in file.at(key).texts()? {
            if let Some(example) = open(pattern, intent)? {
                return Err(format!("`{key}`: {example} is not protected"));
            }
        }
    }
    Ok(())
}

/// Returns what is wrong with something that was rightly done.
fn fault_of(scene: &Scene, op: Op, answer: &str) -> Result<Option<String>, String> {
    use std::os::unix::fs::PermissionsExt as _;
    if answer.contains(OUTSIDE) {
        return Ok(Some(format!("shows what lies outside: {answer}")));
    }
    if answer.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t') {
        return Ok(Some(format!("shows control characters: {answer:?}")));
    }
    let links = linked_out(&scene.root()).map_err(|error| error.to_string())?;
    if op == Op::List && links.iter().any(|link| answer.contains(&format!("{link}/"))) {
        return Ok(Some(format!("looks behind a link that leads out: {answer}")));
    }
    let written = scene.root().join(&scene.path);
    if op == Op::Write
        && std::fs::metadata(&written).is_ok_and(|file| file.permissions().mode() & 0o7000 != 0)
    {
        return Ok(Some("wrote a file with special mode bits".to_owned()));
    }
    Ok(None)
}

fn linked_out(root: &Path) -> io::Result<Vec<String>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        let leads_out =
            std::fs::canonicalize(entry.path()).is_ok_and(|target| !target.starts_with(root));
        if entry.path().is_symlink() && leads_out {
            out.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(out)
}

/// A folder with a checkout `ws`, a neighbour `out`, and a file above both.
struct Scene {
    folder: tempfile::TempDir,
    /// What is operated on, places filled in.
    path: String,
    /// Every step of the set-up, places filled in.
    steps: Vec<PathStep>,
}

impl Scene {
    fn new(case: &Field<'_>) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut scene = Self { folder, path: String::new(), steps: Vec::new() };
        scene.make().map_err(|error| error.to_string())?;
        scene.path = scene.filled(case.at("path").text()?);
        for step in case.at("setup").items()? {
            scene.steps.push(PathStep::read(&step, &scene)?);
        }
        let root = scene.root();
        scene
            .steps
            .iter()
            .filter(|step| !step.is_race())
            .try_for_each(|step| step.perform(&root))
            .map_err(|error| error.to_string())?;
        Ok(scene)
    }

    fn make(&self) -> io::Result<()> {
        std::fs::create_dir(self.root())?;
        std::fs::create_dir(self.out())?;
        std::fs::write(self.out().join("victim"), OUTSIDE)?;
        std::fs::write(self.folder.path().join("secret.txt"), OUTSIDE)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Puts places where their names stand.
    fn filled(&self, text: &str) -> String {
        let (root, out) = (self.root(), self.out());
        own_places(text)
            .replace("${ROOT}", &root.to_string_lossy())
            .replace("${OUT}", &out.to_string_lossy())
    }

    /// Every file outside the checkout with its content.
    fn outside_tree(&self) -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?.path();
                if entry.is_dir() && !entry.is_symlink() {
                    if entry != self.root() {
                        found.insert(entry.clone(), Vec::new());
                        folders.push(entry);
                    }
                } else if entry.is_file() {
                    found.insert(entry.clone(), std::fs::read(&entry)?);
                } else {
                    found.insert(entry, Vec::new());
                }
            }
        }
        Ok(found)
    }
}

/// Puts the product's own places where their names stand.
fn own_places(text: &str) -> String {
    text.replace("${POLICY}", ".locum/policy.yml").replace("${MODES}", ".locum/modes")
}

/// A step of the set-up: where, and what is there afterwards.
#[derive(Clone)]
struct PathStep {
    at: String,
    makes: Makes,
}

#[derive(Clone)]
enum Makes {
    Folder,
    File(Vec<u8>),
    Sparse(u64),
    Link(String),
    HardLink(String),
    Fifo,
    Socket,
    /// A link in the place of what was there, after the policy was asked.
    Swap(String),
}

impl PathStep {
    fn read(step: &Field<'_>, scene: &Scene) -> Result<Self, String> {
        let target = || Ok::<_, String>(scene.filled(step.at("target").text()?));
        let kind = step.at("do").text()?;
        let makes = match kind.strip_suffix("_outside").unwrap_or(kind) {
            "mkdir" => Makes::Folder,
            "write" => Makes::File(scene.filled(step.at("content").text()?).into_bytes()),
            "write_hex" => Makes::File(bytes(step.at("hex").text()?)?),
            "symlink" => Makes::Link(target()?),
            "hardlink" => Makes::HardLink(target()?),
            "mkfifo" => Makes::Fifo,
            "mksock" => Makes::Socket,
            "sparse" => {
                Makes::Sparse(step.at("size").given().map_or(Ok(1 << 34), |size| size.count())?)
            }
            "race_swap" | "race_swap_dir" => Makes::Swap(target()?),
            other => return Err(format!("the step `{other}` cannot be expressed")),
        };
        Ok(Self { at: scene.filled(step.at("path").text()?), makes })
    }

    fn is_race(&self) -> bool {
        matches!(self.makes, Makes::Swap(_))
    }

    fn perform(&self, root: &Path) -> io::Result<()> {
        use std::os::unix::fs::symlink;
        let at = root.join(&self.at);
        if let Some(folder) = at.parent() {
            std::fs::create_dir_all(folder)?;
        }
        match &self.makes {
            Makes::Folder => std::fs::create_dir_all(at),
            Makes::File(content) => std::fs::write(at, content),
            Makes::Sparse(bytes) => std::fs::File::create(at)?.set_len(*bytes),
            Makes::Link(target) => symlink(target, at),
            Makes::HardLink(target) => std::fs::hard_link(root.join(target), at),
            Makes::Fifo => {
                Ok(rustix::fs::mkfifoat(rustix::fs::CWD, at, rustix::fs::Mode::from(0o600))?)
            }
            Makes::Socket => std::os::unix::net::UnixListener::bind(at).map(drop),
            Makes::Swap(target) => {
                std::fs::rename(&at, at.with_extension("aside"))?;
                symlink(target, at)
            }
        }
    }
}

/// One operation in its scene.
struct Operation {
    root: PathBuf,
    op: Op,
    path: String,
    steps: Vec<PathStep>,
}

impl Operation {
    /// Does it; the outer error says that it could not be tried.
    fn run(&self) -> Result<Done, String> {
        let path = &self.path;
        match self.op {
            Op::Read => self.call("read_file", &json!({ "path": path })),
            Op::Write => self.call("write_to_file", &json!({ "path": path, "content": "mine\n" })),
            Op::List => self.call("list_files", &json!({ "path": path, "recursive": true })),
            Op::Search => self.call("search_files", &json!({ "path": path, "regex": "." })),
            Op::Delete => self.change(&[path], |checkout, permit, paths| {
                paths.iter().try_for_each(|path| checkout.remove(permit, path))
            }),
            Op::Rename => {
                let (from, to) = path.split_once(" => ").ok_or("a new name is missing")?;
                self.change(&[from, to], |checkout, permit, paths| {
                    let [from, to] = paths else { return Ok(()) };
                    let content = checkout.read(permit, from, 1 << 20)?;
                    checkout.write(permit, to, &content)?;
                    checkout.remove(permit, from)
                })
            }
            Op::Link => Ok(Err("no tool makes links".to_owned())),
        }
    }

    /// Calls a tool; races begin once the policy has said yes.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Done, String> {
        let checkout = Checkout::open(&self.root).map_err(|error| error.to_string())?;
        let elsewhere = tempfile::tempdir().map_err(|error| error.to_string())?;
        seed::repository(elsewhere.path(), &[("a", "a")], "first")
            .map_err(|error| error.to_string())?;
        let (policy, mode, facts) = (Policy::builtin(), code()?, facts());
        let visible = |path: &RepoPath| {
            policy.decide(&Intent::Read(path.clone()), &facts).decision == Decision::Allow
        };
        let (env, sandbox) = (BTreeMap::new(), Sandbox::around_nothing());
        let (redactor, connector) = (Redactor::default(), Connector::default());
        let repo = Repo::open(elsewhere.path()).map_err(|error| error.to_string())?;
        let workspace = Workspace { checkout, repo };
        let run = RunEnv::bare(&policy, &env, &sandbox, &redactor, &connector);
        let context = ToolContext::bare(run, &workspace, &mode, &facts, &visible);
        let call = ToolCall { id: "1".into(), name: tool.into(), arguments: arguments.to_string() };
        let permit = dispatch::parse(&call, ToolName::ALL, context)
            .map_err(|error| error.0)
            .and_then(|call| policy.admit(call, &facts).map_err(|refusal| refusal.to_string()));
        let permit = match permit {
            Ok(permit) => permit,
            Err(refused) => return Ok(Err(refused)),
        };
        self.race()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let observation = runtime.block_on(dispatch::perform(permit, context));
        Ok(if observation.is_error { Err(observation.text) } else { Ok(observation.text) })
    }

    /// Removes or moves as a tool would: the names' real places, one permit for all of it.
    fn change(&self, names: &[&str], effect: Effect) -> Result<Done, String> {
        let checkout = Checkout::open(&self.root).map_err(|error| error.to_string())?;
        let place = |name: &&str| {
            let path = RepoPath::parse(name).map_err(|error| error.to_string())?;
            checkout.resolve_name(&path).map_err(|error| error.to_string())
        };
        let admitted =
            names.iter().map(place).collect::<Result<Vec<RepoPath>, String>>().and_then(|paths| {
                let permit = Policy::builtin()
                    .admit(Edits(paths.clone()), &facts())
                    .map_err(|refusal| refusal.to_string())?;
                Ok((paths, permit))
            });
        let (paths, permit) = match admitted {
            Ok(admitted) => admitted,
            Err(refused) => return Ok(Err(refused)),
        };
        self.race()?;
        Ok(effect(&checkout, &permit, &paths)
            .map(|()| "done".to_owned())
            .map_err(|error| error.to_string()))
    }

    fn race(&self) -> Result<(), String> {
        let steps = self.steps.iter().filter(|step| step.is_race());
        steps
            .into_iter()
            .try_for_each(|step| step.perform(&self.root))
            .map_err(|error| error.to_string())
    }
}

/// The answer to something that was done, or why it was not.
type Done = Result<String, String>;

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

fn code() -> Result<Mode, String> {
    builtin::modes()
        .into_iter()
        .find(|mode| mode.slug == "code")
        .ok_or_else(|| "there is no mode `code`".to_owned())
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let pairs = (0..hex.len())
        .step_by(2)
        .map(|at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    pairs.collect::<Option<Vec<u8>>>().ok_or_else(|| format!("`{hex}` is not hexadecimal"))
}
