//! Rules that refuse, for commands that stand behind others: each beside one that may run.

use super::{facts, policy};
use crate::Policy;
use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::verdict::{Decision, Verdict};
use locum_base::path::RepoPath;

const RULES: &str = "commands: { contained: allow }\nrules:\n  \
                     - allow: \"command(git status:*)\"\n  \
                     - deny: [\"command(git push:*)\", \"command(curl:*)\"]\n";

fn asked(policy: &Policy, script: &str) -> Verdict {
    let script = Script::parse_in(script, &RepoPath::root()).below("/w/repo");
    policy.decide(&Intent::Command(script), &Facts { contained: true, ..facts("code") })
}

/// Claims that each script is refused by the rule for what stands behind its words, and that each
/// neighbour runs.
fn refuses(cases: &[(&str, &str)]) {
    let policy = policy(RULES);
    for (script, neighbour) in cases {
        let verdict = asked(&policy, script);
        assert_eq!(verdict.decision, Decision::Deny, "{script}");
        assert!(verdict.reason().contains("denied by `command(git push:*)`"), "{script}");
        let verdict = asked(&policy, neighbour);
        assert!(verdict.is_contained(), "{neighbour}: {}", verdict.reason());
    }
}

#[test]
fn no_number_of_scripts_behind_each_other_hides_a_command() {
    for count in [1, 7, 50] {
        let nested = |inner: &str| {
            let wrap = |text: String, at| format!("sh <<'E{at}'\n{text}\nE{at}");
            (0..count).fold(inner.to_owned(), wrap)
        };
        refuses(&[
            (&nested("git push"), &nested("git log")),
            (
                &format!("{}git push", "eval -- ".repeat(count)),
                &format!("{}git log", "eval -- ".repeat(count)),
            ),
        ]);
    }
    let quoted = |inner: &str| {
        let wrap = |text: String, _| format!("sh -c {}", crate::command::tree::quoted(&text));
        (0..7).fold(inner.to_owned(), wrap)
    };
    refuses(&[(&quoted("git push"), &quoted("git log"))]);
}

#[test]
fn what_is_set_for_a_command_may_have_any_name() {
    refuses(&[
        ("env a.b=1 git push", "env a.b=1 git log"),
        ("env A=1 b-c=2 git push", "env A=1 b-c=2 git log"),
        ("env -i =x git push", "env -i =x git log"),
        ("sudo a.b=c -u root d=e git push", "sudo a.b=c -u root d=e git log"),
        ("env -S 'a.b=1 git push'", "env -S 'a.b=1 git log'"),
        ("env -S '-u X git' push", "env -S '-u X git' log"),
        ("env -S 'git\\_push'", "env -S 'git\\_log'"),
        ("nice env a.b=1 sh -c 'git push'", "nice env a.b=1 sh -c 'git log'"),
    ]);
}

#[test]
fn options_of_su_may_stand_behind_the_user() {
    refuses(&[
        ("su - root -c 'git push'", "su - root -c 'git log'"),
        ("su -c 'git push' - root", "su -c 'git log' - root"),
        ("su r ARG -c 'git push'", "su r ARG -c 'git log'"),
        ("su r -s /bin/sh --comm 'git push'", "su r -s /bin/sh --comm 'git log'"),
        ("su r -- -c 'git push'", "su r -- x.sh 'git push'"),
        ("su r --session-command='git push'", "su r --session-command='git log'"),
        ("runuser -u x -- git push", "runuser -u x -- git log"),
        ("runuser - x -c 'git push'", "runuser - x -c 'git log'"),
    ]);
}

#[test]
fn what_is_printed_where_a_shell_reads_a_script_is_one() {
    refuses(&[
        ("echo -n 'git push' | sh", "echo -n 'git push' | cat"),
        ("echo -ne 'ls\\x0agit push' | sh", "echo -ne 'ls\\x0agit log' | sh"),
        ("echo 'ls\\ngit push' | sh", "echo 'ls\\ngit log' | sh"),
        ("printf '%s' 'git push' | sh", "printf '%s' 'git push' | wc"),
        ("printf 'git %s\\n' log push | sh", "printf 'git %s\\n' log diff | sh"),
        ("printf -- '%c%b push %%\\n' girl '\\0151t' | sh", "printf -- '%s push' girl | sh"),
        ("printf 'ls\\012git push' | sh", "printf 'ls\\012git log' | sh"),
        ("/usr/bin/printf 'git push' | /bin/sh", "/usr/bin/printf 'git log' | /bin/sh"),
        ("cat <<E | sh\ngit push\nE", "cat <<E | wc\ngit push\nE"),
        ("cat <<<'git push' | sh", "cat <<<'git push' | wc"),
        ("tee x <<<'git push' | bash -s", "tee x <<<'git push' | bash x.sh"),
        ("{ cat <<E\ngit push\nE\n} | sh", "{ cat <<E\ngit push\nE\n} | wc"),
        ("{ sh; } <<< 'git push'", "{ wc; } <<< 'git push'"),
        ("(sh) <<E\ngit push\nE", "(wc) <<E\ngit push\nE"),
        ("sh -c 'echo git push' | sudo -n sh", "sh -c 'echo git push' | sudo -n wc"),
        ("((x)); sh <<< 'git push'", "((x)); wc <<< 'git push'"),
        ("f() { sh; }; f <<<'git push'", "f() { wc; }; f <<<'git push'"),
        ("echo 'git push' | su root", "echo 'git push' | gosu root wc"),
    ]);
}

#[test]
fn what_a_substitution_prints_that_is_run_is_a_script() {
    refuses(&[
        ("sh <(echo git push)", "cat <(echo git push)"),
        ("source <(printf 'git push')", "source x; printf 'git push'"),
        (". <(echo git push)", ". ./x; echo git push"),
        ("bash < <(echo git push)", "wc < <(echo git push)"),
        ("bash <<< \"git push\"", "cat <<< \"git push\""),
        ("eval \"$(echo git push)\"", "echo \"$(echo git push)\""),
        ("$(echo git push)", "ls $(echo git push)"),
        ("`echo git push`", "ls `echo git push`"),
        ("sudo $(echo git push)", "sudo ls $(echo git push)"),
        ("sh -c \"$(printf '%s' 'git push')\"", "sh x.sh \"$(printf '%s' 'git push')\""),
        ("sh <<E\n$(echo git push)\nE", "wc <<E\n$(echo git push)\nE"),
        ("x='git push'; $x", "x='git push'; ls $x"),
        ("x=git; $x push", "x=git; $x log"),
        ("GIT=git; \"$GIT\" push origin", "GIT=git; \"$GIT\" log push"),
        ("$(echo git) push", "$(echo git) log"),
        ("for c in ls git; do $c push; done", "for c in ls git; do $c log; done"),
        ("printf -v x '%s' git; $x -C a push", "printf -v x '%s' git; ls $x push"),
        ("x='git push'; eval \"$x\"", "x='git push'; eval ls"),
        ("for c in 'git push'; do $c; done", "for c in 'git push'; do ls $c; done"),
        ("c=(git push); \"${c[@]}\"", "c=(git push); ls \"${c[@]}\""),
        ("read x <<< 'git push'; $x", "read x <<< 'git push'; $x/y"),
        ("((x)); eval \"$(echo git push)\"", "((x)); echo \"$(true git push)\""),
        ("echo 'git push' | tee >(sh)", "echo 'git push' | tee >(wc)"),
    ]);
}

#[test]
fn quotes_with_a_dollar_and_escapes_hide_no_command() {
    refuses(&[
        ("sh -c $'git \\x70ush'", "sh -c $'git \\x6cog'"),
        ("sh -c $'git \\160ush'", "sh -c $'git \\154og'"),
        ("eval $'git \\u0070ush'", "eval $'git \\u006cog'"),
        ("sh -c $'ls\\ngit\\tpush'", "sh -c $'ls\\ngit\\tlog'"),
        ("sh -c $'ls; git \\x70ush'", "sh -c $'ls; git \\x6cog'"),
        ("$'\\x67it' push", "$'\\x67it' log"),
        ("nice g$'\\x69't $'p''u'sh", "nice g$'\\x69't $'l''o'g"),
        ("sh -c \"git $'\\x70ush'\"", "sh -c \"git $'\\x6cog'\""),
        ("git $\"push\"", "git $\"log\""),
        ("((x)); git $'\\x70ush'", "((x)); git $'\\x6cog'"),
        ("ls # don't\ngit $'\\x70ush'", "ls # don't\ngit $'\\x6cog'"),
        ("cat <<E\ndon't\nE\ngit $'\\x70ush'", "cat <<E\ndon't\nE\ngit $'\\x6cog'"),
        ("echo 'a$'; git $'\\x70ush'", "echo 'a$'; git $'\\x6cog'"),
    ]);
}

#[test]
fn a_rule_that_allows_a_launcher_covers_no_command_that_is_not_spelled_out() {
    let verdict = |rules: &str, script: &str| {
        let rules = format!("commands: {{ expansions: allow }}\nrules:\n  - allow: [{rules}]\n");
        let script = Script::parse_in(script, &RepoPath::root()).below("/w/repo");
        let facts = Facts { sandboxed: true, ..facts("code") };
        policy(&rules).decide(&Intent::Command(script), &facts).decision
    };
    for launcher in ["env", "nice", "command", "npx", "uv run", "timeout 5"] {
        let named = launcher.trim_end_matches(" 5");
        let rules = format!("\"command({named}:*)\", \"command(true:*)\"");
        for inner in ["$X", "\"$X\"", "$(echo true)", "tr*e", "$X true", "A=$X true"] {
            let script = format!("{launcher} {inner}");
            assert_eq!(verdict(&rules, &script), Decision::Deny, "{script}");
        }
        let script = format!("{launcher} true");
        assert_eq!(verdict(&rules, &script), Decision::Allow, "{script}");
    }
    // What such a launcher may start is never covered but word for word.
    for launcher in ["sudo", "doas", "su", "sh -c", "eval", "xargs", "docker run"] {
        let rules = format!("\"command({launcher}:*)\", \"command(true:*)\"");
        for inner in ["$X", "\"$X\"", "$(echo true)", "true"] {
            let script = format!("{launcher} {inner}");
            assert_eq!(verdict(&rules, &script), Decision::Deny, "{script}");
        }
    }
    for script in ["sudo true", "doas true", "sh -c true", "docker run true"] {
        let rules = format!("\"command({script})\"");
        assert_eq!(verdict(&rules, script), Decision::Allow, "{script}");
        let unknown = script.replace("true", "$X");
        assert_eq!(verdict(&rules, &unknown), Decision::Deny, "{unknown}");
    }
}
