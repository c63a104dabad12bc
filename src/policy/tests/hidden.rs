//! What an ignore file hides, and that no rule, program or spelling shows it.

use pretty_assertions::assert_eq;

use crate::ignore::IgnoreFiles;
use crate::intent::{Act, Intent};
use crate::kind::RuleKind;
use crate::query::parse_intent;
use crate::tests::{check, facts, policy};
use crate::verdict::Decision::{Allow, Deny};
use locum_base::path::RepoPath;

const RULES: &str = "
rules:
  - allow: [ 'read(**)', 'edit(**)', 'command(cat:*)', 'command(grep:*)', 'command(find:*)', \
                     'command(git:*)', 'command(rm:*)', 'command(echo:*)' ]
  - allow: [ 'command(cat kept/all.txt)', 'command(unheard-of:*)', 'command(sort:*)', \
                     'command(sed:*)', 'command(ls:*)' ]
  - allow: [ 'read(kept/a.txt)', 'edit(kept/a.txt)' ]
    protected: true
commands: { max_complexity: 1.0 }
";

fn ignored(texts: &[(&str, &str)]) -> IgnoreFiles {
    let mut ignored = IgnoreFiles::default();
    for (name, text) in texts {
        ignored.add(name, text).unwrap();
    }
    ignored
}

#[test]
fn no_rule_shows_what_is_hidden() {
    let open = policy(RULES);
    let closed = open.clone().with_ignored(ignored(&[
        (".rooignore", "# ours\nkept/\n*.secret\n"),
        (".locumignore", "/drafts\n"),
    ]));
    for (intent, neighbour) in [
        ("read(kept/a.txt)", "read(keep/a.txt)"),
        ("read(kept)", "read(.)"),
        ("edit(kept/a.txt)", "edit(a/kept.txt)"),
        ("edit(a.secret)", "edit(a.secrets)"),
        ("read(sub/A.SECRET)", "read(sub/A.SECRET.md)"),
        ("read(a.secr\u{200b}et)", "read(a.secr)"),
        ("read(drafts/a)", "read(a/drafts)"),
        ("command(cat kept/a.txt)", "command(cat keep/a.txt)"),
        ("command(cat kept/all.txt)", "command(cat keep/all.txt)"),
        ("command(cat './kept'/a.txt)", "command(cat './keep'/a.txt)"),
        ("command(cat < a.secret)", "command(cat < a.txt)"),
        ("command(echo x > a.secret)", "command(echo a.secret > x)"),
        ("command(cat a && cat drafts/a)", "command(cat a && cat a/drafts)"),
        ("command(grep x a.secret)", "command(grep a.secret x)"),
        ("command(ls -R drafts)", "command(ls -R src)"),
        ("command(find kept -name x)", "command(find src -name '*.secret')"),
        ("command(sed -i s/a/b/ a.secret)", "command(sed -i s/a/b/ a.txt)"),
        ("command(git show HEAD:drafts/a)", "command(git show HEAD:a/drafts)"),
        ("command(git log -- drafts)", "command(git log -- src)"),
        ("command(rm a.secret)", "command(rm a.txt)"),
        ("command(unheard-of --file=kept/a)", "command(unheard-of --file=a/b)"),
        ("command(unheard-of @kept/a)", "command(unheard-of @a/b)"),
        ("command(sort a.txt -o a.secret)", "command(sort a.txt -o b.txt)"),
    ] {
        check(&open, &facts("code"), &[(intent, Allow), (neighbour, Allow)]);
        check(&closed, &facts("code"), &[(intent, Deny), (neighbour, Allow)]);
    }
}

#[test]
fn a_refusal_names_the_line_that_hides() {
    let closed = policy(RULES).with_ignored(ignored(&[(".rooignore", "# ours\nkept/\n")]));
    for (intent, reason) in [
        ("edit(kept/a.txt)", "`kept/a.txt` is hidden by `kept/` in .rooignore:2"),
        ("command(cat a kept/b)", "`kept/b` is hidden by `kept/` in .rooignore:2"),
        (
            "command(cat < kept/b)",
            "it reads `kept/b`: `kept/b` is hidden by `kept/` in .rooignore:2",
        ),
    ] {
        let verdict = closed.decide(&parse_intent(intent).unwrap(), &facts("code"));
        let rule = verdict.rule().unwrap();
        assert_eq!(
            (
                verdict.reason().as_str(),
                rule.origin.as_str(),
                rule.line_number(),
                rule.pattern.as_str()
            ),
            (reason, ".rooignore", 2, "kept/")
        );
    }
}

#[test]
fn a_prompt_says_that_files_are_hidden_and_no_refusal_points_to_them() {
    let open = policy(RULES);
    let closed = open.clone().with_ignored(ignored(&[(".rooignore", "kept/\n")]));
    let says = |policy: &crate::Policy, kind: RuleKind| {
        let lines = policy.summary_lines(&facts("code"), |used| used == kind);
        lines.into_iter().any(|line| line.contains("what `.rooignore` names"))
    };
    assert!(says(&closed, RuleKind::Read));
    assert!(!says(&open, RuleKind::Read) && !says(&closed, RuleKind::Expert));
    let hint = |path: &str| {
        let read = ReadOf(RepoPath::parse(path).unwrap());
        closed.admit(read, &facts("nobody")).unwrap_err().hint
    };
    assert_eq!(hint("kept/a"), None);
}

/// The act of reading a file.
#[derive(Debug)]
struct ReadOf(RepoPath);

impl Act for ReadOf {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.0.clone())]
    }
}

#[test]
fn an_ignore_file_hides_itself_and_is_not_edited() {
    let open = policy(RULES);
    let closed = open.clone().with_ignored(ignored(&[(".rooignore", "kept/\n")]));
    let cases = [
        "read(.rooignore)",
        "read(.RooIgnore)",
        "command(cat .rooignore)",
        "command(cat -n .rooignore)",
    ];
    check(&open, &facts("code"), &cases.map(|intent| (intent, Allow)));
    check(&closed, &facts("code"), &cases.map(|intent| (intent, Deny)));
    check(
        &closed,
        &facts("code"),
        &[
            ("edit(.rooignore)", Deny),
            ("edit(sub/.locumignore)", Deny),
            ("read(.gitignore)", Allow),
        ],
    );
    check(
        &open,
        &facts("code"),
        &[("edit(.rooignore)", Deny), ("edit(.kilocodeignore)", Deny), ("edit(.gitignore)", Allow)],
    );
}

#[test]
fn type_may_show_a_file_that_is_hidden() {
    let policy = policy("rules: [{ allow: 'command(type:*)' }]");
    let policy = policy.with_ignored(ignored(&[(".rooignore", ".env\n")]));
    for (command, expected) in [("type .env", Deny), ("type -a cargo", Allow)] {
        let intent = parse_intent(&format!("command({command})")).unwrap();
        assert_eq!(policy.decide(&intent, &facts("code")).decision, expected, "{command}");
    }
}
