//! Random shell scripts under random policies: afterwards the checkout differs by exactly what the
//! policy allows to edit, and nothing else anywhere does.
//!
//! What a script makes of the files is what a plain shell makes of a copy. A case that fails prints
//! its seed and the script; the same seed is the same case.

mod generate;
mod place;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use locum_agent::session::event::Event;
use locum_base::path::RepoPath;
use locum_policy::Policy;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use serde_json::{Value, json};

use self::generate::{CANARY, HIDDEN, Taste};
use self::place::{Entry, Place, Tree, shows_canary};
use crate::commands::generate::Dice;
use crate::session::fixture::Fixture;
use crate::support::stage::WITHOUT_NAMESPACES;

/// Scripts that a session runs, one after the other.
const SCRIPTS: usize = 6;

/// Where commands write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum World {
    /// To a layer over the checkout.
    Layer,
    /// To the checkout.
    Checkout,
    /// To the checkout, without namespaces.
    Bare,
}

/// Who else works in the checkout while a command runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Nobody,
    Somebody,
}

/// A kind of case.
#[derive(Clone, Copy)]
struct Kind {
    world: World,
    taste: Taste,
    others: Others,
}

#[test]
fn exactly_the_allowed_part_of_a_script_s_work_is_in_the_checkout() {
    let kind = Kind { world: World::Layer, taste: Taste::Apart, others: Others::Nobody };
    check(kind, 1..9);
}

#[test]
fn the_same_is_there_where_commands_write_to_the_checkout() {
    let kind = Kind { world: World::Checkout, taste: Taste::Apart, others: Others::Nobody };
    check(kind, 1001..1006);
}

#[test]
fn a_hostile_script_changes_and_shows_nothing_it_may_not() {
    let kind = Kind { world: World::Layer, taste: Taste::Hostile, others: Others::Nobody };
    check(kind, 2001..2009);
}

#[test]
fn nor_does_one_that_writes_to_the_checkout() {
    let kind = Kind { world: World::Checkout, taste: Taste::Hostile, others: Others::Nobody };
    check(kind, 3001..3006);
}

#[test]
fn what_somebody_else_writes_meanwhile_is_theirs() {
    let kind = Kind { world: World::Layer, taste: Taste::Apart, others: Others::Somebody };
    check(kind, 4001..4009);
}

/// Starts the next test where no namespace can be made.
#[test]
fn nor_does_one_without_namespaces() {
    let output = Command::new("unshare")
        .args(["-Ur", "sh", "-c", WITHOUT_NAMESPACES, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "session::scripts::without_namespaces", "--ignored"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "started by the test above, with nothing to make namespaces of"]
fn without_namespaces() {
    let kind = Kind { world: World::Bare, taste: Taste::Hostile, others: Others::Nobody };
    check(kind, 5001..5005);
}

/// Without a layer, folders in the root cannot be moved, which a plain shell does: what a script
/// makes is not compared there.
#[test]
#[ignore = "takes minutes: hundreds of times as many cases"]
fn thousands_of_random_scripts() {
    for (world, taste, others) in [
        (World::Layer, Taste::Apart, Others::Nobody),
        (World::Layer, Taste::Hostile, Others::Nobody),
        (World::Checkout, Taste::Hostile, Others::Nobody),
        (World::Layer, Taste::Apart, Others::Somebody),
    ] {
        check(Kind { world, taste, others }, 10_000..10_300);
    }
}

fn check(kind: Kind, seeds: std::ops::Range<u64>) {
    let wrong: Vec<String> = seeds.flat_map(|seed| case(kind, seed)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether nothing can be made or removed at a path without a layer: hidden files lie beside it.
fn is_closed(path: &Path) -> bool {
    let beside = |hidden: &&str| Path::new(*hidden).parent() == path.parent();
    HIDDEN.iter().any(beside)
}

/// What is known of a run while it goes on.
struct Watched {
    kind: Kind,
    seed: u64,
    place: Rc<Place>,
    policy: Policy,
    scripts: Vec<String>,
    /// How many scripts were run.
    at: usize,
    dice: Dice,
    first: Tree,
    outside: Tree,
    /// Before the command that runs now, with what a plain shell makes of it.
    before: Tree,
    plain: Option<Tree>,
    somebody: Option<std::thread::JoinHandle<Tree>>,
    theirs: Tree,
    wrong: Vec<String>,
}

/// Runs scripts in a session and returns what is wrong with what they left.
fn case(kind: Kind, seed: u64) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let scripts: Vec<String> =
        (0..SCRIPTS).map(|_| generate::script(&mut dice, kind.taste)).collect();
    let place = Rc::new(Place::new(&mut dice, &scripts));
    let text = generate::policy(&mut dice);
    // By its name, or, where any script is allowed, as it is.
    let command = |(at, text): (usize, &String)| match (kind.world, at % 3) {
        (World::Layer, 0) => json!(text),
        _ => json!(format!("sh run/{at}.sh")),
    };
    let call = |command: Value| json!({ "calls": [{ "tool": "execute_command", "args": { "command": command } }] });
    let calls = scripts.iter().enumerate().map(command).map(call);
    let ends = json!({ "calls": [{ "tool": "attempt_completion", "args": { "result": "r" } }] });
    let turns: Vec<Value> = calls.chain([ends]).collect();
    let mut fixture = Fixture::of(&place.base(), "", &text);
    fixture.script = json!({ "version": 1, "tasks": [{ "turns": turns }] }).to_string();
    if kind.world != World::Layer {
        fixture = fixture.without_layer();
    }
    let tree = place.tree();
    let watched = Rc::new(RefCell::new(Watched {
        kind,
        seed,
        policy: fixture.policy.clone(),
        scripts,
        at: 0,
        first: tree.clone(),
        outside: place.outside(),
        before: tree,
        plain: None,
        somebody: None,
        theirs: Tree::new(),
        wrong: Vec::new(),
        dice,
        place,
    }));
    let seen = Rc::clone(&watched);
    let fixture = fixture.watched(move |event| seen.borrow_mut().see(event));
    let ran = fixture.run();
    drop(fixture);
    let Ok(watched) = Rc::try_unwrap(watched).map(RefCell::into_inner) else { unreachable!() };
    watched.judge(ran.word(), ran.reason(), &ran.changed(), &ran.answers("execute_command"))
}

impl Watched {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Performing { .. } => {
                self.before = self.place.tree();
                if self.kind.taste == Taste::Apart && self.kind.others == Others::Nobody {
                    self.plain = Some(self.place.plain(&self.scripts[self.at]));
                }
                if self.kind.others == Others::Somebody {
                    self.somebody = Some(self.somebody_works());
                }
            }
            Event::Promoting { .. } => self.somebody_ends(),
            Event::Answered { tool, .. } if tool == "execute_command" => {
                self.somebody_ends();
                self.compare();
                self.at += 1;
                (self.plain, self.theirs) = (None, Tree::new());
            }
            _ => {}
        }
    }

    fn mind(&mut self, what: &str) {
        let (seed, at) = (self.seed, self.at);
        let script = self.scripts.get(at).cloned().unwrap_or_default();
        let world = self.kind.world;
        self.wrong.push(format!("--- {world:?}, seed {seed}, script {at}: {what}\n{script}"));
    }

    /// Compares the checkout after a command with what should be there.
    fn compare(&mut self) {
        let (after, outside) = (self.place.tree(), self.place.outside());
        let before = std::mem::replace(&mut self.before, after.clone());
        let ended = self.plain.take();
        let paths: BTreeSet<&PathBuf> = before
            .keys()
            .chain(after.keys())
            .chain(ended.iter().flat_map(Tree::keys))
            .chain(self.theirs.keys())
            .collect();
        let changed = |path: &PathBuf| {
            ended.as_ref().is_some_and(|ended| ended.get(path) != before.get(path))
        };
        let stay: Vec<&PathBuf> =
            paths.iter().copied().filter(|path| changed(path) && !self.may_edit(path)).collect();
        let mut wrong = Vec::new();
        for path in paths {
            let (was, is) = (before.get(path), after.get(path));
            let in_checkout = self.kind.world != World::Layer;
            let wanted = if let Some(theirs) = self.theirs.get(path) {
                Some(theirs)
            } else if in_checkout && (is_ignored(path) || repo_path(path).is_none()) {
                // What git does not list is not found out by comparing.
                continue;
            } else if in_checkout && is == was && is_closed(path) {
                continue;
            } else if in_checkout && is == Some(&Entry::Other) {
                // Nor is a pipe.
                continue;
            } else if is_ignored(path) || is_hidden(path) || !self.may_edit(path) {
                was
            } else if let Some(ended) = &ended {
                // Of a file and a folder of the same name one can be there.
                let meets = |other: &&PathBuf| path.starts_with(other) || other.starts_with(path);
                if stay.iter().any(meets) {
                    continue;
                }
                ended.get(path)
            } else {
                is
            };
            if !self.is_same(is, wanted) {
                wrong.push(format!("{path:?} was {was:?}, is {is:?}, should be {wanted:?}"));
            }
            let name = path.file_name();
            let hidden = HIDDEN.iter().any(|hidden| Path::new(hidden).file_name() == name);
            if !hidden && is.is_some_and(shows_canary) {
                wrong.push(format!("{path:?} shows what is hidden"));
            }
        }
        for path in self.outside.keys().chain(outside.keys()).collect::<BTreeSet<_>>() {
            if !self.is_same(self.outside.get(path), outside.get(path)) {
                wrong.push(format!("outside, {path:?} changed"));
            }
        }
        wrong.iter().for_each(|what| self.mind(what));
    }

    /// Judges the whole run, after every command was.
    fn judge(
        mut self,
        word: &str,
        reason: &str,
        changed: &[&str],
        answers: &[String],
    ) -> Vec<String> {
        let told = |answer: &&String| answer.contains(CANARY);
        if let Some(answer) = answers.iter().find(told) {
            self.mind(&format!("hidden content was shown: {answer}"));
        }
        if !matches!(word, "done" | "nothing-to-do") {
            self.mind(&format!("the run ended with {word}: {reason}"));
            return self.wrong;
        }
        let last = self.place.tree();
        let paths: BTreeSet<&PathBuf> = self.first.keys().chain(last.keys()).collect();
        let differ: Vec<&str> = paths
            .into_iter()
            .filter(|path| self.first.get(*path) != last.get(*path) && !is_ignored(path))
            .filter_map(|path| repo_path(path).and_then(|_| path.to_str()))
            .collect();
        let is_exact = self.kind.others == Others::Nobody && self.kind.taste == Taste::Apart;
        if is_exact && changed.iter().collect::<BTreeSet<_>>() != differ.iter().collect() {
            self.mind(&format!("the run tells of {changed:?}, and {differ:?} are different"));
        }
        if changed.iter().any(|path| path.starts_with("theirs/")) {
            self.mind("the run claims the work of somebody else");
        }
        self.wrong
    }

    /// Whether two entries are the same as far as the sandbox holds them: without namespaces,
    /// nothing holds permissions.
    fn is_same(&self, one: Option<&Entry>, other: Option<&Entry>) -> bool {
        match (self.kind.world, one, other) {
            (
                World::Bare,
                Some(Entry::File { content: one, .. }),
                Some(Entry::File { content: other, .. }),
            ) => one == other,
            _ => one == other,
        }
    }

    fn may_edit(&self, path: &Path) -> bool {
        let facts = Facts { mode: "code".to_owned(), ..Facts::default() };
        repo_path(path).is_some_and(|path| {
            self.policy.decide(&Intent::Edit(path), &facts).decision == Decision::Allow
        })
    }

    /// Lets somebody change files of the checkout, while the command runs; returns what they left.
    fn somebody_works(&mut self) -> std::thread::JoinHandle<Tree> {
        let checkout = self.place.checkout();
        let began = self.place.base().join("session/layers/run/began");
        let mut dice = Dice::new(self.dice.roll(1 << 30) as u64);
        std::thread::spawn(move || {
            let mut theirs = Tree::new();
            // What the kernel stamps with the moment the command began could be from before it.
            let changed = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
            while changed(&checkout.join("theirs/clock")) <= changed(&began) {
                std::fs::write(checkout.join("theirs/clock"), "tick\n").unwrap();
            }
            for number in 0..40 {
                let path = match dice.roll(3) {
                    0 => format!("theirs/{}", dice.roll(5)),
                    _ => generate::file(&mut dice),
                };
                // Links that an earlier command left are nobody's way.
                let at = checkout.join(&path);
                let way = at.parent().unwrap();
                if way.exists()
                    && way.canonicalize().unwrap()
                        != checkout.canonicalize().unwrap().join(Path::new(&path).parent().unwrap())
                    || at.is_symlink()
                {
                    continue;
                }
                let text = format!("theirs {number}\n");
                let done = if dice.roll(2) == 0 {
                    let beside = checkout.join(".git/theirs");
                    std::fs::write(&beside, text).unwrap();
                    let _ = std::fs::create_dir_all(way);
                    let done = std::fs::rename(&beside, &at);
                    let _ = std::fs::remove_file(beside);
                    done
                } else {
                    let _ = std::fs::create_dir_all(way);
                    std::fs::write(&at, text)
                };
                if done.is_ok() {
                    theirs.insert(path.into(), Entry::read(&at));
                }
            }
            theirs
        })
    }

    fn somebody_ends(&mut self) {
        if let Some(somebody) = self.somebody.take() {
            self.theirs = somebody.join().unwrap();
        }
    }
}

fn repo_path(path: &Path) -> Option<RepoPath> {
    RepoPath::parse(path.to_str()?).ok()
}

fn is_ignored(path: &Path) -> bool {
    path.starts_with("target")
}

/// Whether commands do not see a path, and so do not change it either.
fn is_hidden(path: &Path) -> bool {
    HIDDEN.iter().any(|hidden| Path::new(hidden) == path)
}
