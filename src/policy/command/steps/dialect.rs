//! What is written around the commands of a script, for the shell that runs it.
//!
//! In: which command it is. Out: text before and behind it. `bash` knows `pipefail`; for other
//! shells the members of a pipe write their codes to the shell, which works the pipe's out.

/// Where `bash` reports to: a descriptor that scripts hardly use.
const BASH_FD: u32 = 197;
/// Where other shells report to: they know one digit only.
const POSIX_FD: u32 = 9;

/// The shell that a script is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellDialect {
    /// `bash`.
    Bash,
    /// Any shell that follows POSIX, `dash` among them.
    Posix,
}

/// A member of a pipe.
#[derive(Clone, Copy)]
pub(super) struct StagePlace {
    /// Number of its step, from 1; 0 where it is not reported.
    pub(super) step: usize,
    /// Its place in the pipe, from 1.
    pub(super) stage: usize,
    /// How many members the pipe has.
    pub(super) of: usize,
    /// Whether the script ends at its first failure.
    pub(super) stops: bool,
    /// Whether it is a subshell already.
    pub(super) is_subshell: bool,
}

impl ShellDialect {
    /// Returns what stands in front of a script: functions, and the descriptor put in its place.
    /// They keep `$?` as it is, and a report that cannot be written is left out.
    pub(super) fn prelude(self) -> String {
        let (fd, pipes) = match self {
            Self::Bash => (BASH_FD, "set -o pipefail; ".to_owned()),
            Self::Posix => (POSIX_FD, ENDED.to_owned()),
        };
        // The script may have turned `[` and `printf` off.
        let stage = match self {
            Self::Bash => "case $1$4 in 141) return 0;; esac; return \"$1\"; } 2>/dev/null; ",
            Self::Posix => {
                "case $1$4 in 141) ;; *) printf '<%s:%s>' \"$3\" \"$1\" >&7;; esac; } 2>/dev/null; "
            }
        };
        let report = format!("case $1 in 0) return 0;; esac; echo \"$2 $3 $1\" >&{fd}; ");
        format!(
            "exec {fd}>&0 </dev/null; {pipes}\
             __locum_step() {{ set -- \"$?\" \"$1\" 1; {report}return \"$1\"; }} 2>/dev/null; \
             __locum_stage() {{ set -- \"$?\" \"$1\" \"$2\" \"${{3-}}\"; {report}{stage}{ERREXIT}"
        )
    }

    /// Returns what stands before and behind a command that is alone. `&& :` leaves its code and
    /// does not end a script that stops at a failure.
    pub(super) fn around_alone(self, step: usize) -> (String, String) {
        ("{ ".to_owned(), format!("; __locum_step {step} && :; }}"))
    }

    /// Returns what stands before and behind a member of a pipe. In a subshell its end by a signal
    /// is a code.
    pub(super) fn around_stage(self, place: StagePlace) -> (String, String) {
        let StagePlace { step, stage, of, stops, is_subshell } = place;
        let (before, behind) = match (stops, is_subshell) {
            (true, _) => ("__locum_out; ( __locum_in; ", " )"),
            (false, true) => ("", ""),
            (false, false) => ("( ", " )"),
        };
        let last = if stage == of { " ." } else { "" };
        let closed = match self {
            Self::Bash => "",
            Self::Posix => " 7>&-",
        };
        (
            format!("{{ {before}"),
            format!("{behind}{closed}; __locum_stage {step} {stage}{last}; }}"),
        )
    }

    /// Returns what stands before and behind a whole pipe.
    pub(super) fn around_pipe(self, stages: usize) -> (String, String) {
        match self {
            Self::Bash => (String::new(), String::new()),
            Self::Posix => (
                format!("{{ __locum_ended {stages} \"$( {{ "),
                "; } 7>&1 >&8 8>&- )\"; } 8>&1".to_owned(),
            ),
        }
    }
}

/// Works out the code of a pipe: that of the last member that failed.
const ENDED: &str = "__locum_ended() { while [ \"$1\" -gt 0 ]; do case $2 in *\"<$1:\"*) \
                     set -- \"${2##*\"<$1:\"}\"; return \"${1%%>*}\";; esac; \
                     set -- \"$(($1 - 1))\" \"$2\"; done; return 0; }; ";

/// Lets the code of a member be looked at where a script ends at its first failure; within the
/// member it still does.
const ERREXIT: &str = "__locum_out() { set -- \"$?\"; __locum_flags=$-; set +e; return \"$1\"; }; \
                       __locum_in() { set -- \"$?\"; \
                       case $__locum_flags in *e*) set -e; return 0;; esac; return \"$1\"; }; ";
