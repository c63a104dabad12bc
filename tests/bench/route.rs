//! Benchmarks of whole runs of the binary: what a turn costs, how long the start takes, how much
//! memory a run needs.
//!
//! The model is a script, or a Chat Completions server on 127.0.0.1 that answers at once; policy,
//! journal and checkpoints are on. Figures are printed, never asserted.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong ends the benchmark"
)]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "benchmarks make checkouts, start the binary and look at the clock"
)]

mod figures;
mod repository;
mod sources;
#[path = "../it/support/mod.rs"]
#[expect(dead_code, reason = "the tests' own needs are not measured")]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use figures::{Figure, against, heading, median, plain, quantile};
use locum_agent::session::event::Event;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::{Value, json};
use support::model_server::{Answer, ModelServer, Piece};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
budget: { turns: 5000, tool_calls: 5000, tokens: 500M, minutes: 60, files: 1000, diff_lines: 1000000 }
commands: COMMANDS
rules:
  - allow: ["read(**)", "edit(src/**)", "edit(new/**)", "command(touch:*)", "command(true:*)"]
"#;

/// The variable that names another build of the program, to be measured beside this one. Its
/// commands run in its sandbox, without a word of policy that it may not know.
const OTHER: &str = "LOCUM_BENCH_OTHER";

/// How often the programs take turns when they are measured side by side.
const ROUNDS: usize = 5;

const TARGET_TURN: Figure = Figure::Time(Duration::from_micros(1500));
const TARGET_START: Figure = Figure::Time(Duration::from_millis(20));
const TARGET_MEMORY: Figure = Figure::Size(20_000_000);

/// What the model calls in its turns.
#[derive(Clone, Copy)]
enum Turns {
    Read,
    Write,
    Mixed,
    Search,
    Command,
    /// A command that does nothing.
    True,
    /// Edits and commands, one after another.
    Work,
}

/// How commands run.
#[derive(Clone, Copy)]
enum Commands {
    Plain,
    Sandboxed,
    Contained,
}

/// A part of the table, and what measures it in a folder.
type Part = (&'static str, fn(&Path));

/// Takes a figure of a run.
type Take = fn(&Run) -> Figure;

/// How a run gets its replies.
type Way = fn(&Bench, Turns, usize) -> Run;

/// What a run took.
struct Run {
    /// From the start of the process to the first request.
    start: Duration,
    /// From each reply to the next.
    turns: Vec<Duration>,
    /// Processor time of the whole run.
    cpu: Duration,
    peak_bytes: u64,
    connections: usize,
    last_request_bytes: u64,
    /// The home folder of the run.
    home: PathBuf,
}

/// A checkout and the run's own files beside it. They stay until all is measured: some file systems
/// make new files slowly while many were removed a moment ago.
struct Bench {
    folder: PathBuf,
    checkout: PathBuf,
    program: PathBuf,
    commands: Commands,
}

fn main() {
    let parts: [Part; 5] = [
        ("turns", turns),
        ("places", places),
        ("codebase", codebase),
        ("deltas", deltas),
        ("beside", beside),
    ];
    let folder = tempfile::tempdir().unwrap();
    parts
        .iter()
        .filter(|(name, _)| figures::wanted(name))
        .for_each(|(_, measure)| measure(folder.path()));
}

/// Turns in the small repository, few and many.
fn turns(folder: &Path) {
    for (name, turns) in [("read_file", Turns::Read), ("write_to_file", Turns::Write)] {
        heading(&format!("A turn of one {name}, small repository"));
        for count in [50, 1000] {
            let one = Bench::small(folder);
            let runs: [(&str, Way); 2] =
                [("scripted", Bench::run_scripted), ("over HTTP", Bench::run_served)];
            for (model, run) in runs {
                let began = run(&one, turns, 1).cpu;
                let ran = run(&Bench::small(folder), turns, count);
                let cpu = ran.cpu.saturating_sub(began) / u32::try_from(count).unwrap();
                let label = format!("{count} turns, {model}");
                against(
                    &format!("{label}: wall, median"),
                    Figure::Time(median(&ran.turns)),
                    TARGET_TURN,
                );
                plain(&format!("{label}: wall, p95"), Figure::Time(quantile(&ran.turns, 0.95)));
                against(&format!("{label}: processor, mean"), Figure::Time(cpu), TARGET_TURN);
                if ran.connections > 0 {
                    plain(
                        &format!("{label}: the last request"),
                        Figure::Size(ran.last_request_bytes),
                    );
                    plain(&format!("{label}: connections"), Figure::Number(ran.connections as f64));
                }
                if count == 1000 {
                    let growth = median(&ran.turns[900..]).as_secs_f64()
                        / median(&ran.turns[..100]).as_secs_f64();
                    plain(
                        &format!("{label}: wall of the last hundred to the first"),
                        Figure::Number(growth),
                    );
                }
            }
        }
    }
}

/// Start, memory and commands in both repositories.
fn places(folder: &Path) {
    let large = repository::large();
    repository::clean(&large);
    heading("Start, memory, commands");
    for (name, checkout) in [("small repository", None), ("60,000 files", Some(large.as_path()))] {
        let bench = || {
            checkout.map_or_else(|| Bench::small(folder), |checkout| Bench::at(folder, checkout))
        };
        let starts: Vec<Duration> =
            (0..20).map(|_| bench().run_served(Turns::Read, 1).start).collect();
        against(
            &format!("start to first request, {name}: median of 20"),
            Figure::Time(median(&starts)),
            TARGET_START,
        );
        let ran = bench().run_served(Turns::Mixed, 50);
        against(
            &format!("peak memory of 50 turns, {name}"),
            Figure::Size(ran.peak_bytes),
            TARGET_MEMORY,
        );
        let ways = [
            ("contained command", Commands::Contained),
            ("command without a layer", Commands::Plain),
        ];
        for (how, commands) in ways {
            let bench = Bench { commands, ..bench() };
            let ran = bench.run_served(Turns::Command, 50);
            plain(
                &format!("a turn of one {how} that writes, {name}: wall, median"),
                Figure::Time(median(&ran.turns)),
            );
            plain("the same, processor of Locum itself", Figure::Time(ran.cpu / 50));
        }
    }
    repository::clean(&large);
}

/// Searches for words: the first makes the index, the others find it.
fn codebase(folder: &Path) {
    heading("A turn of one codebase_search, 10,000 source files of 100 MB");
    let code = sources::code();
    let ran = Bench::at(folder, &code).run_scripted(Turns::Search, 21);
    plain("without an index: wall", Figure::Time(ran.turns[0]));
    let warm = ran.turns[1..].to_vec();
    against(
        "with one: wall, median of 20",
        Figure::Time(median(&warm)),
        Figure::Time(Duration::from_secs(1)),
    );
    plain("with one: wall, p95", Figure::Time(quantile(&warm, 0.95)));
    plain("peak memory", Figure::Size(ran.peak_bytes));
    let index = std::fs::read_dir(ran.home.join(".local/state/locum/index")).unwrap();
    let sizes = index.map(|entry| entry.unwrap().metadata().unwrap().len());
    plain("the index", Figure::Size(sizes.sum()));
}

/// This program, whose commands are contained, beside another, whose commands are in its sandbox.
fn beside(folder: &Path) {
    let Some(other) = std::env::var_os(OTHER).map(PathBuf::from) else {
        println!("\nbeside: {OTHER} names no other program");
        return;
    };
    let large = repository::large();
    repository::clean(&large);
    let starts: Vec<Duration> = (0..100)
        .map(|_| {
            let started = Instant::now();
            assert!(Command::new("true").status().unwrap().success());
            started.elapsed()
        })
        .collect();
    println!("\n{:<64} {:>11} {:>11} {:>7}", "Side by side", "this", "other", "ratio");
    plain("`true`, started plainly: wall, median", Figure::Time(median(&starts)));
    let measured = [
        ("`true` in the sandbox", Turns::True, None),
        ("a command that writes, small repository", Turns::Command, None),
        ("a command that writes, 60,000 files", Turns::Command, Some(&large)),
        ("edits and commands", Turns::Work, None),
    ];
    let columns: [(&str, Take); 3] = [
        ("a turn, wall", |ran| Figure::Time(median(&ran.turns))),
        ("the same, processor of Locum itself", |ran| Figure::Time(ran.cpu / 50)),
        ("peak memory", |ran| Figure::Size(ran.peak_bytes)),
    ];
    for (what, turns, checkout) in measured {
        let run = |program: &Path, commands| {
            let bench = match checkout {
                Some(checkout) => Bench::at(folder, checkout),
                None => Bench::small(folder),
            };
            Bench { program: program.to_owned(), commands, ..bench }.run_served(turns, 50)
        };
        let own = PathBuf::from(env!("CARGO_BIN_EXE_locum"));
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            here.push(run(&own, Commands::Contained));
            there.push(run(&other, Commands::Sandboxed));
        }
        for (column, take) in columns {
            let middle = |runs: &[Run]| figures::middle(runs.iter().map(take).collect());
            figures::pair(&format!("{what}: {column}"), middle(&here), middle(&there));
        }
    }
    repository::clean(&large);
}

/// A reply in very many pieces.
fn deltas(folder: &Path) {
    const PIECES: usize = 10_000;
    heading("Streaming");
    let reply = |pieces: usize| {
        let words: Vec<String> = (0..pieces)
            .map(|_| {
                json!({ "choices": [{ "index": 0, "delta": { "content": "word " } }] }).to_string()
            })
            .collect();
        // Many events a chunk, as a fast server sends them.
        let pieces = words.chunks(20).map(|events| {
            Piece::Bytes(
                events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into(),
            )
        });
        let last = done();
        Answer { pieces: pieces.chain(last.pieces.iter().cloned()).collect(), ..last }
    };
    let (few, many) = (
        Bench::small(folder).run_with(move |_| reply(1)),
        Bench::small(folder).run_with(move |_| reply(PIECES)),
    );
    plain("10,000 deltas: processor", Figure::Time(many.cpu.saturating_sub(few.cpu)));
}

impl Bench {
    fn small(folder: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap().keep();
        let checkout = folder.join("checkout");
        repository::small(&checkout);
        Self { checkout, ..Self::at(&folder, Path::new("")) }
    }

    fn at(folder: &Path, checkout: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap().keep();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_locum"));
        Self { folder, checkout: checkout.to_owned(), program, commands: Commands::Plain }
    }

    /// Runs a script of `count` turns; turns are timed by the journal.
    fn run_scripted(&self, turns: Turns, count: usize) -> Run {
        let calls = (0..count)
            .map(|turn| call(turns, turn))
            .chain([("attempt_completion", json!({ "result": "done" }))]);
        let turns: Vec<Value> = calls
            .map(|(tool, args)| json!({ "calls": [{ "tool": tool, "args": args }] }))
            .collect();
        let script = self.folder.join("script.yml");
        std::fs::write(&script, json!({ "version": 1, "tasks": [{ "turns": turns }] }).to_string())
            .unwrap();
        let started = Instant::now();
        let (cpu, peak_bytes) =
            self.observe(self.command().arg("--script").arg(&script).spawn().unwrap());
        let journal = Journal::read(&self.session()).unwrap();
        let replies: Vec<_> = journal
            .iter()
            .filter(|line| matches!(line.event, Event::Replied { .. }))
            .map(|line| line.at)
            .collect();
        let turns =
            replies.windows(2).map(|pair| pair[1].duration_since(pair[0]).unsigned_abs()).collect();
        Run {
            start: started.elapsed(),
            turns,
            cpu,
            peak_bytes,
            connections: 0,
            last_request_bytes: 0,
            home: self.folder.clone(),
        }
    }

    /// Runs against a server that asks for `count` turns; turns are timed by the server, from its
    /// reply to the next request.
    fn run_served(&self, turns: Turns, count: usize) -> Run {
        let mut turn = 0;
        self.run_with(move |_| {
            turn += 1;
            if turn <= count { Answer::calls(&[call(turns, turn)]) } else { done() }
        })
    }

    fn run_with(&self, mut answer: impl FnMut(usize) -> Answer + Send + 'static) -> Run {
        let (tell, told) = channel();
        let mut number = 0;
        let mut server = ModelServer::start_with(move |_| {
            let came = Instant::now();
            let answer = answer(number);
            number += 1;
            let _ = tell.send((came, Instant::now()));
            answer
        });
        let mut command = self.command();
        command
            .env("OPENAI_BASE_URL", &server.base_url)
            .env("OPENAI_API_KEY", "key-of-a-benchmark")
            .env("LOCUM_MODEL", "bench");
        let started = Instant::now();
        let (cpu, peak_bytes) = self.observe(command.spawn().unwrap());
        let times: Vec<(Instant, Instant)> = told.try_iter().collect();
        let turns = times.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
        let (connections, last_request_bytes) = server
            .asked()
            .last()
            .map_or((0, 0), |asked| (asked.connection, asked.body.len() as u64));
        let home = self.folder.clone();
        let start = times[0].0 - started;
        Run { start, turns, cpu, peak_bytes, connections, last_request_bytes, home }
    }

    /// Waits for a child; returns its processor time and its peak memory, seen while it ran.
    fn observe(&self, mut child: Child) -> (Duration, u64) {
        let pid = Pid::from_child(&child);
        let folder = PathBuf::from(format!("/proc/{}", child.id()));
        let mut peak_bytes = 0;
        while waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG,
        )
        .unwrap()
        .is_none()
        {
            peak_bytes = peak(&folder).unwrap_or(peak_bytes);
            std::thread::sleep(Duration::from_millis(1));
        }
        // The child is gone and not yet forgotten: the kernel still knows what it took.
        let schedule = std::fs::read_to_string(folder.join("schedstat")).unwrap();
        let cpu = Duration::from_nanos(schedule.split(' ').next().unwrap().parse().unwrap());
        let told = std::fs::read_to_string(self.folder.join("stderr")).unwrap();
        assert!(child.wait().unwrap().success(), "the run did not end well: {told}");
        (cpu, peak_bytes)
    }

    fn command(&self) -> Command {
        let (policy, sessions) = (self.folder.join("policy.yml"), self.folder.join("sessions"));
        let commands = match self.commands {
            Commands::Plain => "{ sandbox: off }",
            Commands::Sandboxed => "{}",
            Commands::Contained => "{ contained: allow }",
        };
        std::fs::write(&policy, POLICY.replace("COMMANDS", commands)).unwrap();
        let mut command = Command::new(&self.program);
        command
            .args(["run", "Do the thing.", "--quiet", "--publish", "none", "--policy"])
            .arg(policy);
        command.arg("--session-dir").arg(sessions).arg("--repo").arg(&self.checkout);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.folder)
            .stdout(Stdio::null());
        command.stderr(std::fs::File::create(self.folder.join("stderr")).unwrap());
        command
    }

    fn session(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.folder.join("sessions"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries.filter(|path| path.join(JOURNAL_FILE).exists()).last().unwrap()
    }
}

fn done() -> Answer {
    Answer::calls(&[("attempt_completion", json!({ "result": "done" }))])
}

/// Returns what the model calls in a turn.
fn call(turns: Turns, turn: usize) -> (&'static str, Value) {
    let read = || {
        ("read_file", json!({ "path": format!("src/file{}.txt", turn % repository::READ_FILES) }))
    };
    let write = || {
        (
            "write_to_file",
            json!({ "path": format!("new/file{}.txt", turn % 20), "content": format!("turn {turn}\n").repeat(40) }),
        )
    };
    let command = |command: String| ("execute_command", json!({ "command": command }));
    match turns {
        Turns::Read => read(),
        Turns::Write => write(),
        Turns::Mixed if turn.is_multiple_of(2) => read(),
        Turns::Work if turn.is_multiple_of(2) => command(format!("touch src/new{}", turn % 20)),
        Turns::Mixed | Turns::Work => write(),
        Turns::Search => (
            "codebase_search",
            json!({ "query": format!("how is a {} made", sources::word(turn * 37)) }),
        ),
        Turns::Command => command(format!("touch src/new{}", turn % 20)),
        // Calls that repeat one another would be stopped.
        Turns::True => command(format!("true {turn}")),
    }
}

fn peak(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
