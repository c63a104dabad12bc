//! Single checks of the judge, each with a neighbour that passes: approvals, servers, hosts, what a
//! rule spells out, which of two rules counts.

use pretty_assertions::assert_eq;

use crate::approval::Approval;
use crate::command::Script;
use crate::ignore::IgnoreFiles;
use crate::intent::{Act, Facts, Intent};
use crate::query::parse_intent;
use crate::schema::CommandNetwork;
use crate::tests::{check, facts, policy};
use crate::urls::Destination;
use crate::verdict::Decision::{self, Allow, Deny, Hold};
use crate::verdict::{Cause, RuleRef, Verdict};
use locum_base::path::RepoPath;

fn reason(rules: &str, intent: &str) -> String {
    policy(rules).decide(&parse_intent(intent).unwrap(), &facts("code")).reason()
}

#[test]
fn an_approval_opens_what_was_held_and_shown_and_nothing_else() {
    let approval = Approval {
        hold: "name".to_owned(),
        by: "octocat".to_owned(),
        intents: vec!["edit(a)".to_owned(), "edit(denied)".to_owned()],
    };
    let cause = || Cause::Check { said: "said".to_owned() };
    for (decision, intent, approved) in [
        (Hold, "edit(a)", Allow),
        (Hold, "edit(b)", Hold),
        (Deny, "edit(denied)", Deny),
        (Deny, "edit(b)", Deny),
        (Allow, "edit(b)", Allow),
    ] {
        let verdict = Verdict { decision, intent: intent.to_owned(), cause: cause() };
        assert_eq!(Approval::applied(Some(&approval), &verdict), approved, "{intent}");
        assert_eq!(Approval::applied(None, &verdict), decision, "{intent}");
    }
}

/// The act of doing this one thing.
#[derive(Debug)]
struct OneIntent(Intent);

impl Act for OneIntent {
    fn intents(&self) -> Vec<Intent> {
        vec![self.0.clone()]
    }
}

#[test]
fn a_refused_mode_names_those_that_are_allowed() {
    let policy = policy(
        "modes: { default: code, allow: [code, ask, orchestrator] }\nrules:\n  - deny: \
         \"delegate(ask)\"\n",
    );
    for (mode, intent, hint) in [
        (
            "orchestrator",
            Intent::Delegate("nope".into()),
            "Sub-tasks may run in `code`, `orchestrator`.",
        ),
        (
            "orchestrator",
            Intent::Mode("nope".into()),
            "Modes allowed here: `code`, `ask`, `orchestrator`.",
        ),
    ] {
        let refusal = policy.admit(OneIntent(intent), &facts(mode)).unwrap_err();
        assert_eq!(refusal.hint, Some(hint.to_owned()));
    }
    let refusal = policy.admit(OneIntent(Intent::Delegate("ask".into())), &facts("code"));
    assert_eq!(refusal.unwrap_err().hint, None, "a mode that starts none is shown none");
}

#[test]
fn verdicts_are_equal_only_where_nothing_differs() {
    let rule = |line| RuleRef::at("edit(a)", "p.yml", line);
    let verdict = |decision: Decision, intent: &str, line, said: &str| Verdict {
        decision,
        intent: intent.to_owned(),
        cause: Cause::Rule { rule: rule(line), said: said.to_owned() },
    };
    let one = verdict(Deny, "edit(a)", 1, "said");
    assert_eq!(one, verdict(Deny, "edit(a)", 1, "said"));
    for other in [
        verdict(Hold, "edit(a)", 1, "said"),
        verdict(Deny, "edit(b)", 1, "said"),
        verdict(Deny, "edit(a)", 2, "said"),
        verdict(Deny, "edit(a)", 1, "other"),
    ] {
        assert_ne!(one, other);
    }
}

#[test]
fn a_server_starts_where_a_rule_is_about_its_tools_and_none_refuses_them_all() {
    let narrow = "    modes: [ask]\n";
    for (rules, expected) in [
        ("  - allow: mcp(time/*)\n", Allow),
        ("  - allow: mcp(time/now)\n", Allow),
        ("  - hold: mcp(time/now)\n", Allow),
        ("  - allow: mcp(clock/now)\n", Deny),
        ("  - deny: mcp(time/now)\n", Deny),
        ("  - allow: mcp(time/*)\n  - deny: mcp(time/now)\n", Allow),
        ("  - allow: mcp(time/*)\n  - deny: mcp(time/*)\n", Deny),
        ("  - allow: mcp(time/*)\n  - deny: mcp(clock/*)\n", Allow),
        ("  - allow: mcp(time/*)\n  - deny: mcp(time/*)\n    except: mcp(time/now)\n", Allow),
        ("  - allow: mcp(time/*)\n  - deny: mcp(Time/*)\n", Deny),
        (&format!("  - allow: mcp(time/*)\n{narrow}"), Deny),
        (&format!("  - allow: mcp(time/*)\n  - deny: mcp(time/*)\n{narrow}"), Allow),
    ] {
        let policy = policy(&format!("rules:\n{rules}"));
        let verdict = policy.decide(&Intent::Server("time".to_owned()), &facts("code"));
        assert_eq!(verdict.decision, expected, "{rules}{}", verdict.reason());
    }
}

#[test]
fn commands_talk_to_listed_hosts_that_no_rule_refuses() {
    let policy = policy(
        "rules:\n  - deny: fetch(bad.example)\n  - deny: [fetch(good.example/private/**), \
         browse(good.example)]\n  - allow: fetch(other.example)\n  - hold: \
         fetch(held.example)\n  - deny: fetch(ask.example)\n    modes: [ask]\nnetwork: { allow: \
         [good.example, bad.example, held.example, ask.example, \"*.sub.example\"] }\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("connect(good.example)", Allow),
            ("connect(a.sub.example)", Allow),
            ("connect(good.example:8443)", Deny),
            ("connect(bad.example)", Deny),
            ("connect(held.example)", Hold),
            ("connect(ask.example)", Allow),
            ("connect(other.example)", Deny),
            ("connect(unheard-of.example)", Deny),
            ("connect(127.0.0.1)", Deny),
        ],
    );
    check(&policy, &facts("ask"), &[("connect(ask.example)", Deny)]);
}

#[test]
fn hosts_can_be_for_some_jobs_alone() {
    let policy = policy(
        "commands: { network: policy }\nnetwork: { allow: good.example, jobs: [nightly] }\n",
    );
    for (job, expected, network) in [
        (Some("nightly"), Allow, CommandNetwork::Listed),
        (Some("weekly"), Deny, CommandNetwork::Off),
        (None, Deny, CommandNetwork::Off),
    ] {
        let facts = Facts { job: job.map(str::to_owned), ..facts("code") };
        check(
            &policy,
            &facts,
            &[("connect(good.example)", expected), ("connect(bad.example)", Deny)],
        );
        assert_eq!(policy.clone().of_job(job).settings().commands.network, network, "{job:?}");
    }
    let asked = Intent::Connect(Destination::parse("good.example").unwrap());
    assert_eq!(
        policy.decide(&asked, &facts("code")).reason(),
        "`network.jobs` opens `good.example:443` to `nightly` only"
    );
}

#[test]
fn what_may_not_be_read_is_known_beforehand() {
    let open = policy(
        "rules:\n  - allow: [\"read(src/**)\", \"edit(docs/**)\"]\n  - deny: \
         [\"read(private/**)\", \"edit(gen/**)\"]\n  - hold: read(later/*.txt)\n  - deny: \
         read(**)\n    modes: [ask]\n",
    );
    let mut ignored = IgnoreFiles::default();
    ignored.add(".locumignore", "/kept\n").unwrap();
    let closed = open.clone().with_ignored(ignored);
    let unseen = |policy: &crate::Policy| -> Vec<String> {
        policy.settings().commands.unseen.iter().map(|glob| glob.text()).collect()
    };
    let (of_open, of_closed) = (unseen(&open), unseen(&closed));
    for (glob, before, after) in [
        ("private/**", true, true),
        ("later/*.txt", true, true),
        ("**/.env", true, true),
        (".locumignore", false, true),
        ("kept/**", false, true),
        ("src/**", false, false),
        ("docs/**", false, false),
        ("gen/**", false, false),
        ("**", false, false),
    ] {
        let has = |globs: &[String]| globs.iter().any(|known| known == glob);
        assert_eq!((has(&of_open), has(&of_closed)), (before, after), "{glob}");
    }
    let empty = open.clone().with_ignored(IgnoreFiles::default());
    assert_eq!(empty.hash(), open.hash());
    assert_ne!(closed.hash(), open.hash());
    let mut ignored = IgnoreFiles::default();
    ignored.add(".locumignore", "/kept2\n").unwrap();
    assert_ne!(open.clone().with_ignored(ignored).hash(), closed.hash());
    for (path, hidden) in [("kept", true), ("kept/a", true), ("keep/a", false)] {
        let path = RepoPath::parse(path).unwrap();
        assert_eq!((open.hides(&path), closed.hides(&path)), (false, hidden), "{path}");
    }
}

#[test]
fn a_script_is_spelled_out_with_the_folder_it_runs_in_or_without() {
    let policy = policy(
        "rules:\n  - allow: [\"command(ls:*)\", \"read(**)\"]\n  - deny: [\"script(ls a)\", \
         \"script(cd src && ls b)\"]\n  - hold: script(ls c)\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(ls a)", Deny),
            ("command(cd src && ls a)", Deny),
            ("command(ls b)", Allow),
            ("command(cd src && ls b)", Deny),
            ("command(cd docs && ls b)", Allow),
            ("command(ls c)", Hold),
        ],
    );
}

#[test]
fn the_strictest_rule_on_a_command_counts_wherever_it_stands() {
    let (hold, deny) = ("  - hold: command(git:*)\n", "  - deny: command(git push:*)\n");
    for rules in [format!("{hold}{deny}"), format!("{deny}{hold}")] {
        let policy = policy(&format!("rules:\n{rules}"));
        let cases = [("command(git push)", Deny), ("command(git log)", Hold)];
        check(&policy, &facts("code"), &cases);
    }
    let twice = "rules:\n  - deny: command(git:*)\n    reason: first\n  - deny: command(git \
                 push:*)\n    reason: second\n";
    assert_eq!(reason(twice, "command(git push)"), "first");
}

#[test]
fn a_command_spelled_out_may_read_what_a_pattern_does_not_open() {
    let (exact, open) = ("  - allow: command(cat a.txt)\n", "  - allow: command(cat:*)\n");
    for rules in [format!("{exact}{open}"), format!("{open}{exact}")] {
        let policy = policy(&format!("rules:\n{rules}"));
        let cases = [("command(cat a.txt)", Allow), ("command(cat b.txt)", Deny)];
        check(&policy, &facts("code"), &cases);
    }
}

#[test]
fn of_two_rules_that_allow_alike_the_first_is_named() {
    let rules = "rules:\n  - allow: command(cat:*)\n    reason: first\n  - allow: [command(cat:*), \
                 \"read(**)\"]\n    reason: second\n";
    assert_eq!(reason(rules, "command(cat a)"), "first");
}

#[test]
fn a_glob_of_a_shell_meets_nothing_that_may_not_be_read() {
    let policy = policy(
        "rules:\n  - allow: [\"read(**)\", \"command(cat:*)\"]\n  - deny: \
         \"read(src/own*.txt)\"\ncommands: { expansions: allow, max_complexity: 1.0, reads: \
         [\"/srv/**\", \"!/srv/own.txt\"] }\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(cat docs/*.txt)", Allow),
            ("command(cat src/*.md)", Allow),
            ("command(cat src/*.txt)", Deny),
            ("command(cat docs/*.pem)", Deny),
            ("command(cat /srv/*.md)", Allow),
            ("command(cat /srv/*.txt)", Deny),
            ("command(cat /etc/*.txt)", Deny),
        ],
    );
}

#[test]
fn a_file_whose_name_is_an_option_is_not_met_by_a_glob() {
    let policy = policy(
        "rules:\n  - allow: [\"read(**)\", \"command(sed -n:*)\", \"command(git diff:*)\", \
         \"command(ls:*)\"]\ncommands: { expansions: allow }\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(sed -n p *.txt)", Deny),
            ("command(sed -n p ?e1.txt)", Deny),
            ("command(git diff *.md)", Deny),
            ("command(sed -n p ./*.txt)", Allow),
            ("command(sed -n p docs/*.txt)", Allow),
            ("command(git diff ./*.md)", Allow),
            ("command(ls *.md)", Allow),
        ],
    );
}

#[test]
fn an_approver_weighs_what_no_rule_allows_but_never_sees_what_is_refused() {
    let policy = policy(
        "rules:\n  - allow: \"read(**)\"\n  - hold: [\"command(cp:*)\", edit(held/**)]\n  - deny: \
         edit(gen/**)\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(cp src/a docs/b)", Hold),
            ("command(cp src/a held/b)", Hold),
            ("command(cp src/a gen/b)", Deny),
            ("command(cp src/a .git/config)", Deny),
        ],
    );
}

/// What merely lacks a rule may pass as part of a command; a protected file does not, whatever
/// rules there are.
#[test]
fn protection_does_not_wait_for_a_rule_that_allows() {
    let (narrow, wide) = ("\"read(src/**)\"", "\"read(**)\", \"edit(**)\"");
    for files in [narrow, wide] {
        let policy = policy(&format!(
            "rules:\n  - allow: [{files}, \"command(git log:*)\"]\n  - hold: command(cp:*)\n"
        ));
        check(
            &policy,
            &facts("code"),
            &[
                ("command(git log main)", Allow),
                ("command(git log .env)", Deny),
                ("command(cp src/a docs/b)", Hold),
                ("command(cp src/a .git/config)", Deny),
                ("command(cp src/a .github/workflows/ci.yml)", Deny),
            ],
        );
    }
    let rules = format!("rules:\n  - allow: [{narrow}]\n");
    assert_eq!(reason(&rules, "read(.env)"), "protected from reading: may hold credentials");
    assert_eq!(reason(&rules, "read(docs/a)"), "no rule allows `read(docs/a)`");
}

#[test]
fn folders_opened_to_commands_hold_no_credentials() {
    let policy = policy(
        "rules:\n  - allow: [\"command(cat:*)\", \"read(**)\", \"command(rm:*)\", \
         \"edit(**)\"]\ncommands: { reads: [\"/srv/data/**\", \"!/srv/data/own/**\"] }\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(cat /srv/data/a)", Allow),
            ("command(cat /srv/data/.env)", Deny),
            ("command(cat /srv/data/../a)", Deny),
            ("command(cat /srv/data/../data/a)", Deny),
            ("command(cat /srv/data/own/a)", Deny),
            ("command(cat /srv/DATA/a)", Deny),
            ("command(cat /srv/a)", Deny),
            ("command(rm /srv/data/a)", Deny),
        ],
    );
}

#[test]
fn a_rule_that_refuses_a_verb_looks_behind_the_options_before_it() {
    let rules = "rules:\n  - allow: [\"read(**)\", \"command(git status:*)\", \"command(git \
                 log)\", \"command(cargo test:*)\", \"command(npm test:*)\", \"command(docker \
                 ps)\"]\n  - deny: [\"command(git push:*)\", \"command(cargo publish:*)\", \
                 \"command(docker image rm:*)\", \"command(npm publish:*)\"]\n  - deny: \
                 command(gh:*)\n    except: command(gh pr list:*)\n";
    for (contained, rest) in [("words", Deny), ("allow", Allow)] {
        let policy = policy(&format!("commands: {{ contained: {contained} }}\n{rules}"));
        let facts = Facts { contained: true, sandboxed: true, ..facts("code") };
        check(
            &policy,
            &facts,
            &[
                ("command(git -C src status)", Allow),
                ("command(git -C src -C a status)", Allow),
                ("command(git -C src log)", Allow),
                ("command(cargo --locked test)", Allow),
                ("command(cargo +nightly --locked test -q)", Allow),
                ("command(npm --prefix web test)", Allow),
                ("command(git -C src push)", Deny),
                ("command(git -c a=b push)", Deny),
                ("command(git --unheard x push)", Deny),
                ("command(git --unheard push)", Deny),
                ("command(timeout 5 git -C src push)", Deny),
                ("command(cargo +nightly --locked publish)", Deny),
                ("command(cargo --config x publish)", Deny),
                ("command(npm --prefix web publish)", Deny),
                ("command(docker --context x image --all rm y)", Deny),
                ("command(gh -R o/r pr merge 5)", Deny),
                ("command(gh pr --repo o/r merge 5)", Deny),
                ("command(gh --unheard pr list)", Deny),
                // Options that are not known to change nothing allow nothing by words.
                ("command(git -C .git status)", rest),
                ("command(git -C ../x status)", rest),
                ("command(git -c core.pager=x log)", rest),
                ("command(git --unheard status)", rest),
                ("command(cargo --config x test)", rest),
                ("command(cargo --unheard test)", rest),
                ("command(docker --context x ps)", rest),
                ("command(npm --unheard test)", rest),
            ],
        );
    }
    let policy = policy(
        "rules:\n  - allow: [\"read(**)\", \"command(git blame:*)\", \"edit(src/**)\"]\n  - \
         deny: [\"read(kept.txt)\", \"read(src/own.txt)\"]\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(git -C src blame a.rs)", Allow),
            ("command(git -C src blame own.txt)", Deny),
            // An absolute path reads like this one, seen from the folder of the script.
            ("command(git -C src blame kept.txt)", Deny),
            ("command(git -C src blame ../kept.txt)", Deny),
            ("command(git -C src blame ../../x)", Deny),
        ],
    );
}

#[test]
fn options_that_change_nothing_are_left_out_for_git_alone() {
    let policy = policy(
        "rules:\n  - allow: [\"command(git log)\", \"command(grep x)\", \"read(**)\"]\n  - deny: \
         command(git push:*)\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(git log)", Allow),
            ("command(git --no-pager log)", Allow),
            ("command(git -P --no-optional-locks log)", Allow),
            ("command(git --no-pager push)", Deny),
            ("command(grep x)", Allow),
            ("command(grep -P x)", Deny),
        ],
    );
}

#[test]
fn an_empty_script_runs_nothing_where_scripts_may_hold_expansions() {
    let script = |text: &str| Intent::Command(Script::parse(text));
    let decision = |rules: &str, text| policy(rules).decide(&script(text), &facts("code")).decision;
    let expanding = "commands: { expansions: allow }\n";
    for text in ["", " \n"] {
        assert_eq!(decision(expanding, text), Allow);
        assert_eq!(decision("rules: []\n", text), Deny);
    }
    assert_eq!(decision(expanding, "ls $x"), Deny);
}

#[test]
fn a_denied_command_is_named_even_where_the_script_cannot_be_judged() {
    let rules = "rules:\n  - allow: command(echo:*)\n  - deny: command(git push:*)\n    reason: \
                 never push\n";
    assert_eq!(reason(rules, "command(echo $(git push))"), "never push");
    assert_eq!(reason(rules, "command(; 'git' push;)"), "never push");
    assert!(reason(rules, "command(echo $(git log))") != "never push");
}

#[test]
fn a_refusal_names_the_first_file_and_says_what_to_do() {
    let rules = "rules:\n  - allow: [\"command(cat:*)\", \"command(rm:*)\"]\n";
    assert_eq!(
        reason(rules, "command(cat a b && cat c)"),
        "it reads `a`: no rule allows `read(a)`"
    );
    assert!(reason(rules, "command(rm -rf .)").contains("name files or folders"));
    assert_eq!(reason(rules, "command(rm /srv/a)"), "`/srv/a` is not a path inside the repository");
}

#[test]
fn a_run_held_to_some_paths_ignores_what_is_no_pattern() {
    let policy = policy("rules: [{ allow: \"edit(**)\" }]\n");
    let held = |globs: &[&str]| {
        let mut facts: Facts = facts("code");
        facts.restriction.paths = globs.iter().map(|glob| (*glob).to_owned()).collect();
        facts
    };
    check(&policy, &held(&["src/**", ""]), &[("edit(src/a)", Allow), ("edit(b)", Deny)]);
    check(&policy, &held(&["/src/**"]), &[("edit(src/a)", Deny), ("edit(b)", Deny)]);
    check(&policy, &held(&[]), &[("edit(b)", Allow)]);
}
