//! Decides on scripts that run contained: what could be known of their words only says no.
//!
//! In: a script that no rule allows, on a machine that contains it. Out: a refusal where a rule
//! holds or denies one of its commands, or a file it surely reads or writes may not be read or
//! written; otherwise it may run. The wall is what it can do: it has no way out, and every file it
//! writes is judged afterwards.

use crate::command::Script;
use crate::command::behind::is_assignment;
use crate::command::behind::search::{BehindSearch, PartBehind};
use crate::command::examine::{CommandEffects, PathUse};
use crate::command::tree::SimpleCommand;
use crate::command_text::NamedCommand;
use crate::judge::commands::{StrictestRuling, accesses};
use crate::judge::{Evaluation, Ruling};
use crate::schema::CommandNetwork;
use crate::verdict::{Access, Cause, Decision};
use locum_base::path::RepoPath;
use locum_base::secret::name::{Sureness, sureness};

/// Paths outside the repository that a contained command has for itself begin like this.
const SCRATCH: &[&str] = &[
    "/tmp/",
    "/var/tmp/",
    "/dev/shm/",
    "/dev/fd/",
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
];

impl Evaluation<'_> {
    /// Judges a script that the rules do not allow by its words.
    pub(super) fn contained(&self, script: &Script, by_words: Ruling) -> Ruling {
        if script.text().trim().is_empty() {
            return by_words;
        }
        let refusal = self.refused_by_word(script);
        refusal.unwrap_or_else(|| {
            let cause = Cause::Contained { hosts: self.hosts() };
            Ruling { decision: Decision::Allow, cause }
        })
    }

    /// Returns the hosts that commands reach.
    fn hosts(&self) -> Vec<String> {
        let listed = self.spec.commands.network == CommandNetwork::Listed
            && self.spec.network.is_for(self.facts.job.as_deref());
        let allowed = self.spec.network.allow.iter().filter(|_| listed);
        allowed.map(|host| format!("`{}`", host.text)).collect()
    }

    fn refused_by_word(&self, script: &Script) -> Option<Ruling> {
        let commands = match script.problem() {
            None => script.examinations(),
            Some(_) => match script.loose_examinations() {
                Ok(commands) => commands,
                Err(_) => {
                    let mut strictest = StrictestRuling::default();
                    let in_text = self.refused_in_text(script).into_iter();
                    in_text
                        .chain(self.refused_behind(script))
                        .for_each(|ruling| strictest.consider(ruling));
                    return strictest.0;
                }
            },
        };
        let mut strictest = StrictestRuling::default();
        self.refused_besides(script, &mut strictest);
        self.refused_in_home(script).for_each(|ruling| strictest.consider(ruling));
        for (simple, examined) in &commands {
            self.refusing_simple(simple).for_each(|ruling| strictest.consider(ruling));
            self.refusing_started(examined, &mut strictest);
            self.refused_files(simple, examined).for_each(|ruling| strictest.consider(ruling));
            shown_secret(&simple.words).into_iter().for_each(|ruling| strictest.consider(ruling));
        }
        let (reads, edits) = script.redirected();
        let files = accesses(&reads, &edits);
        files
            .filter_map(|(used, access)| self.refused_file(used, access))
            .for_each(|ruling| strictest.consider(ruling));
        self.refused_behind(script).into_iter().for_each(|ruling| strictest.consider(ruling));
        strictest.0
    }

    fn refusing_rules<'s>(&'s self, words: &'s [String]) -> impl Iterator<Item = Ruling> + 's {
        let assignments = words.iter().take_while(|word| is_assignment(word)).count();
        let words = words.get(assignments..).unwrap_or_default();
        self.command_matches(NamedCommand::from(words))
            .filter(|found| found.rule.decision != Decision::Allow)
            .map(|found| self.judge.ruled(&found))
    }

    /// As [`Self::refusing_rules`], of a command of which it is known how it is written.
    fn refusing_simple<'s>(
        &'s self,
        simple: &'s SimpleCommand,
    ) -> impl Iterator<Item = Ruling> + 's {
        let named = NamedCommand { words: &[], ..NamedCommand::from(simple) };
        let by_text = self.command_matches(named);
        let by_text = by_text.filter(|found| found.rule.decision != Decision::Allow);
        by_text.map(|found| self.judge.ruled(&found)).chain(self.refusing_rules(&simple.words))
    }

    /// Looks for rules that refuse what stands behind the words of a script.
    pub(super) fn refused_behind(&self, script: &Script) -> Option<Ruling> {
        let mut strictest = StrictestRuling::default();
        let mut search = BehindSearch::of_script(script);
        for part in search.by_ref() {
            match part {
                PartBehind::Command(words) => {
                    self.refusing_rules(&words).for_each(|ruling| strictest.consider(ruling));
                }
                PartBehind::Script(inner) => {
                    self.refused_in_text(&inner).into_iter().for_each(|it| strictest.consider(it));
                }
            }
        }
        if search.is_cut() {
            let why = "more commands may stand behind its words than are looked at";
            strictest.consider(Ruling::deny(why.to_owned()));
        }
        strictest.0
    }

    /// Rules that refuse a command count for it behind `timeout` and the like too.
    fn refusing_started(&self, examined: &CommandEffects, strictest: &mut StrictestRuling) {
        for inner in &examined.starts {
            self.command_matches(NamedCommand::from(inner.words.as_slice()))
                .filter(|found| found.rule.decision != Decision::Allow)
                .for_each(|found| strictest.consider(self.judge.ruled(&found)));
            self.refusing_started(&inner.effects, strictest);
        }
    }

    fn refused_files(
        &self,
        simple: &SimpleCommand,
        examined: &CommandEffects,
    ) -> impl Iterator<Item = Ruling> {
        // To most programs the whole checkout is what they may change; `rm` would leave nothing.
        let removes = simple.words.first().is_some_and(|program| program == "rm");
        let counts = move |used: &PathUse| removes || !is_whole_checkout(used);
        let files = accesses(&examined.reads, &examined.edits)
            .filter(move |(used, _)| counts(used))
            .filter_map(|(used, access)| self.refused_file(used, access));
        // What git keeps of a file is refused as the file is.
        let kept = examined
            .trees
            .iter()
            .filter_map(|path| self.refused_file(&PathUse::Inside(path.clone()), Access::Read));
        files.chain(kept)
    }

    /// Looks for files with credentials in the home of whoever runs this program. Commands have a
    /// home of their own, with nothing in it.
    fn refused_in_home(&self, script: &Script) -> impl Iterator<Item = Ruling> {
        let ends = |letter: char| letter.is_whitespace() || "'\"`;|&()<>=,".contains(letter);
        let in_home = |word: &str| {
            let path = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|home| word.strip_prefix(home));
            let path = path.and_then(|path| RepoPath::parse(path).ok())?;
            let why = self.judge.protection.of_read(&path)?;
            Some(Ruling::deny(format!("it names `{word}`: protected from reading: {why}")))
        };
        script.text().split(ends).filter_map(in_home).collect::<Vec<_>>().into_iter()
    }

    /// Judges a file that a command surely uses, so that the model reads why instead of finding
    /// nothing there. That no rule allows it is no reason: what is written is judged afterwards.
    fn refused_file(&self, used: &PathUse, access: Access) -> Option<Ruling> {
        match used {
            PathUse::Perhaps(_) | PathUse::Scratch(_) => None,
            PathUse::Inside(_) => self
                .used(used, access)
                .filter(|ruling| !matches!(ruling.cause.origin(), Cause::NoRule { .. })),
            PathUse::Outside(path) if access == Access::Write => {
                let scratch = SCRATCH.iter().any(|folder| path.starts_with(folder));
                (!scratch || path.contains("..")).then(|| self.used(used, access)).flatten()
            }
            PathUse::Outside(path) => {
                if holds_secrets(path) {
                    let why = "which may hold credentials, and commands are given none";
                    return Some(Ruling::deny(format!("it reads `{path}`, {why}")));
                }
                let inside = RepoPath::parse(path.trim_start_matches(['/', '~'])).ok()?;
                let why = self.judge.protection.of_read(&inside)?;
                Some(Ruling::deny(format!("it reads `{path}`: protected from reading: {why}")))
            }
        }
    }
}

/// Commands that show the settings or variables that they name.
const SHOWING_SETTINGS: &[&str] = &[
    "git config --get",
    "git config --get-all",
    "git config --get-regexp",
    "git config get",
    "npm config get",
    "pnpm config get",
    "printenv",
    "yarn config get",
];

/// Refuses a command that is to show a credential: it would find none, and a model that reads why
/// looks nowhere else.
fn shown_secret(words: &[String]) -> Option<Ruling> {
    let named = |command: &&str| {
        let mut rest = words.iter();
        command
            .split(' ')
            .all(|wanted| rest.next().is_some_and(|word| word == wanted))
            .then_some(rest)
    };
    let mut names = SHOWING_SETTINGS.iter().filter_map(named).flatten();
    let name = names.find(|name| sureness(name) == Sureness::Surely)?;
    Some(Ruling::deny(format!("`{name}` may hold credentials, and commands are given none")))
}

/// Whether a file outside the repository is known to hold credentials.
fn holds_secrets(path: &str) -> bool {
    let environment = path.starts_with("/proc/") && path.ends_with("/environ");
    environment || path.starts_with("/run/secrets/") || path.starts_with("/var/run/secrets/")
}

fn is_whole_checkout(used: &PathUse) -> bool {
    matches!(used, PathUse::Outside(path) if path.trim_end_matches('/') == ".")
}
