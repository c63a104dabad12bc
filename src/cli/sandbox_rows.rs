//! What `locum doctor` says of the sandbox: what each part of it comes to on this machine, and what
//! is weaker for what is missing.
//!
//! In: what this machine gives. Out: rows for people.

use locum_sandbox::level::{ProcessLimit, SandboxLevel};

/// What is weaker where commands get no namespaces.
const WEAKER: [&str; 3] = [
    "commands write to the checkout: what the policy does not allow is taken back afterwards",
    "commands are judged by their words, also under `commands.contained: allow`",
    "sub-tasks that run at the same time have copies of the folders git ignores, if they are small",
];

/// What is weaker besides, where files are held.
const WEAKER_WITH_FILES_HELD: &str = "MCP servers cannot write to the checkout";

/// What is weaker besides, where there is no sandbox at all.
const WEAKER_WITHOUT_SANDBOX: [&str; 4] = [
    "commands run only under `commands.sandbox: off` or `best-effort`, and so do MCP servers",
    "they reach every file, host and process that you reach",
    "they can read the environment of this program: pass keys with `LOCUM_KEY_FDS`",
    "a process that leaves its group outlives its command",
];

/// What is weaker besides, where this program cannot answer calls of commands.
const WEAKER_WITHOUT_ANSWERS: &str =
    "commands may change modes, owners and times of your files outside the checkout";

/// Returns what each part of the sandbox comes to.
pub(crate) fn rows(level: SandboxLevel, refused: Option<&str>) -> Vec<[String; 3]> {
    if level.is_nothing() {
        return vec![row("sandbox", "none", refused.unwrap_or_default())];
    }
    let enforced = |enforced: bool| if enforced { "enforced" } else { "not enforced" };
    let missing = level.missing();
    let kernel = format!("Landlock v{}", level.landlock);
    let namespaces = refused
        .unwrap_or("commands get their own processes, loopback network and file system view");
    let hosts = enforced(level.namespaces || level.calls);
    let processes = match level.process_limit() {
        ProcessLimit::User => ["enforced", "the kernel counts processes of this user"],
        ProcessLimit::Namespace => ["enforced", "the kernel counts processes of a command"],
        ProcessLimit::Answered => {
            ["enforced", "each new process of a command is counted before it starts"]
        }
        ProcessLimit::Looked => [
            "sampled",
            "processes of an administrator are counted at intervals, which a fast command can \
             outrun",
        ],
    };
    vec![
        row("files", enforced(level.files), &kernel),
        row("network", enforced(level.network), ""),
        row("hosts", hosts, "`commands.network: policy`"),
        row("system calls", enforced(level.syscalls), &missing),
        row(
            "signals",
            enforced(level.holds_signals()),
            "commands cannot signal your other processes; needs namespaces or Landlock v6",
        ),
        row("processes", processes[0], processes[1]),
        row("namespaces", if level.namespaces { "available" } else { "unavailable" }, namespaces),
    ]
}

/// Returns what is weaker than on a machine that gives all of the sandbox; `unlayered` says why the
/// checkout can have no layer.
pub(crate) fn weaker(sandbox: SandboxLevel, unlayered: Option<&str>) -> Vec<String> {
    let owned = |what: &[&str]| what.iter().map(|what| (*what).to_owned()).collect::<Vec<_>>();
    if sandbox.namespaces {
        let Some(why) = unlayered else { return Vec::new() };
        return [vec![why.to_owned()], owned(&WEAKER)].concat();
    }
    if sandbox.is_nothing() {
        return owned(&[WEAKER_WITHOUT_SANDBOX.as_slice(), &WEAKER].concat());
    }
    let more = if sandbox.calls { &[][..] } else { &[WEAKER_WITHOUT_ANSWERS] };
    owned(&[WEAKER.as_slice(), &[WEAKER_WITH_FILES_HELD], more].concat())
}

/// Returns a row of the report.
pub(crate) fn row(part: &str, state: &str, more: &str) -> [String; 3] {
    [part.to_owned(), state.to_owned(), more.to_owned()]
}

#[cfg(test)]
mod tests {
    use locum_sandbox::level::SandboxLevel;

    use super::{rows, weaker};

    #[test]
    fn a_machine_without_a_sandbox_has_one_row_and_another_one_for_each_part() {
        let none = SandboxLevel::default();
        let said = rows(none, Some("no sandbox: why"));
        assert_eq!(said, [["sandbox", "none", "no sandbox: why"].map(str::to_owned)]);
        assert!(weaker(none, None).iter().any(|what| what.contains("LOCUM_KEY_FDS")));
        let some = SandboxLevel { syscalls: true, ..none };
        assert!(rows(some, None).iter().any(|[part, ..]| part == "system calls"));
        assert!(!weaker(some, None).iter().any(|what| what.contains("LOCUM_KEY_FDS")));
    }

    #[test]
    fn a_checkout_without_a_layer_is_named_on_a_machine_that_gives_namespaces() {
        let all = SandboxLevel { namespaces: true, ..SandboxLevel::default() };
        assert!(weaker(all, None).is_empty());
        let said = weaker(all, Some("its group is another"));
        assert!(said[0].contains("group") && said[1].contains("taken back"), "{said:?}");
    }
}
