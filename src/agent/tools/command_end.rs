//! How a command ended, and what the proxy refused it, in words for a model.

use locum_policy::verdict::Decision;
use locum_sandbox::exec::Exit;
use locum_sandbox::network::proxy::Traffic;

/// Most destinations that are named.
const HOSTS_SHOWN: usize = 20;

/// Returns how a command ended that was not killed for its time, for the model.
pub(crate) fn end_of(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("Exit code: {code}"),
        Exit::Signal(signal) => format!("Ended by {}", signal_name(signal)),
        Exit::TooManyProcesses => "Killed, because it started too many processes; do not run it \
                                   again as it is"
            .to_owned(),
        Exit::TimedOut => "Killed".to_owned(),
    }
}

/// Returns how a command ended, in a few words.
pub(crate) fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}"),
        Exit::TimedOut => "timed out".to_owned(),
        Exit::TooManyProcesses => "killed for its many processes".to_owned(),
    }
}

/// Says what a shell means by a code above 128.
pub(crate) fn signal_of(code: i32) -> String {
    match code.checked_sub(128) {
        Some(signal @ 1..=64) => format!("; {code} is 128 + {}", signal_name(signal)),
        Some(_) | None => String::new(),
    }
}

/// Lists the destinations that the proxy refused.
pub(crate) fn refused_hosts(traffic: Option<&Traffic>) -> String {
    let verdicts = traffic.iter().flat_map(|traffic| &traffic.verdicts);
    let refused =
        verdicts.filter(|(verdict, _)| verdict.decision != Decision::Allow).take(HOSTS_SHOWN);
    refused.fold(String::new(), |text, (verdict, count)| {
        format!(
            "{text}\nRefused by the policy, {count} times: {} ({})",
            verdict.intent,
            verdict.reason()
        )
    })
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    format!("signal {signal} ({name})")
}
