//! Trees, policies and shell scripts made at random, the same for the same seed.
//!
//! Names come from short lists, so that scripts meet files that are there, each other's files, and
//! what no rule lets them touch. Every path is relative: a script that runs without a sandbox stays
//! in the folder above its checkout.

use std::fmt::Write as _;

use crate::commands::generate::Dice;

/// What no answer and no file that may be read ever shows.
pub(crate) const CANARY: &str = "canary-4c1d77e0";

/// Folders with nothing protected in them at the start; their names are the policy's too.
const FOLDERS: &[&str] = &["src", "lib", "docs", "locked"];
const NAMES: &[&str] = &["a", "b.rs", "keep.lock", "x y", "é", "d/a", "d/keep.lock", "e/f/g"];
const INNER: &[&str] = &["d", "e", "e/f", "new"];

/// Files that are there in every checkout, and must be afterwards as they were.
pub(crate) const GUARDED: &[(&str, &str)] = &[
    (".github/workflows/ci.yml", "on: push\n"),
    (".locum/policy.yml", "version: 1\n"),
    (".locumignore", "unseen/\n"),
    (".gitignore", ".env\ntarget/\n"),
    ("conf/AGENTS.md", "rules\n"),
    ("conf/plain.txt", "plain\n"),
    ("theirs/clock", "tick\n"),
];

/// Files that hold what nobody may see.
pub(crate) const HIDDEN: &[&str] =
    &[".env", "conf/.env", "conf/server.pem", "private/plan.txt", "../outside/secret.txt"];

/// How a script treats what is guarded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taste {
    /// It writes there, but takes nothing from there: what else it does is the same where those
    /// writes fail.
    Apart,
    /// It does whatever comes to mind.
    Hostile,
}

/// Makes the files of a checkout besides those that are always there.
pub(crate) fn tree(dice: &mut Dice) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        for name in NAMES {
            if dice.roll(100) < 60 {
                let lines = dice.roll(4);
                let text = (0..lines).fold(String::new(), |mut text, line| {
                    let _ = writeln!(text, "{folder} {line}");
                    text
                });
                files.push((format!("{folder}/{name}"), text));
            }
        }
    }
    files
}

/// Makes a policy; commands are `sh run/0.sh` and so on.
pub(crate) fn policy(dice: &mut Dice) -> String {
    let mut rules = String::from("  - allow: 'read(**)'\n  - deny: 'read(private/**)'\n");
    for number in 0..10 {
        let _ = writeln!(rules, "  - allow: 'command(sh run/{number}.sh)'");
    }
    let mut rule = |decision: &str, pattern: &str| {
        let _ = writeln!(rules, "  - {decision}: 'edit({pattern})'");
    };
    for folder in ["src", "lib", "docs"] {
        let decision = ["allow", "allow", "allow", "hold", "deny"][dice.roll(5)];
        rule(decision, &format!("{folder}/**"));
    }
    if dice.roll(2) == 0 {
        rule("allow", "*");
    }
    if dice.roll(3) == 0 {
        rule("allow", "conf/**");
    }
    for pattern in ["**/keep.lock", "src/d/**", "lib/[a-c]*", "**/e/**"] {
        if dice.roll(4) == 0 {
            rule(["deny", "hold"][dice.roll(2)], pattern);
        }
    }
    format!(
        "version: 1\nrules:\n{rules}commands: {{ contained: allow }}\non_hold: refuse\nbudget: {{ \
         files: 500, diff_lines: 100000 }}\n"
    )
}

/// Makes a shell script.
pub(crate) fn script(dice: &mut Dice, taste: Taste) -> String {
    let mut text = String::new();
    for _ in 0..=dice.roll(7) {
        let line = match (taste, dice.roll(10)) {
            (Taste::Hostile, 0..=4) => hostile(dice),
            (_, 0..=1) => guarded(dice),
            _ => plain(dice),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// A file of an unguarded folder, or, rarely, of the root.
pub(crate) fn file(dice: &mut Dice) -> String {
    if dice.roll(12) == 0 {
        return dice.one_of(&["top.txt", "note"]).to_owned();
    }
    inner(dice)
}

fn inner(dice: &mut Dice) -> String {
    format!("{}/{}", dice.one_of(FOLDERS), dice.one_of(NAMES))
}

fn folder(dice: &mut Dice) -> String {
    let outer = dice.one_of(FOLDERS);
    if dice.roll(3) == 0 { outer.to_owned() } else { format!("{outer}/{}", dice.one_of(INNER)) }
}

/// Work in unguarded folders.
fn plain(dice: &mut Dice) -> String {
    let (one, other, third) = (file(dice), file(dice), file(dice));
    let (place, target) = (folder(dice), folder(dice));
    let number = dice.roll(1000);
    match dice.roll(27) {
        0..=2 => format!("echo {number} > '{one}'"),
        3 => format!("echo {number} >> '{one}'"),
        4 => format!("printf 'one\\n{number}\\n' > '{one}'"),
        5 => format!("rm -f '{one}'"),
        6 => format!("rm -rf '{place}'"),
        7 => format!("mv '{one}' '{other}'"),
        8 => format!("cp '{one}' '{other}'"),
        // What is copied into itself depends on the order of names on the disk.
        9 if !target.starts_with(&place) => format!("cp -r '{place}' '{target}'"),
        9..=10 => format!("mv '{place}' '{target}'"),
        11 => format!("mkdir -p '{place}' && echo {number} > '{place}/n{number}'"),
        12 => format!("rmdir '{place}'"),
        13 => format!("chmod +x '{one}'"),
        14 => format!("chmod 644 '{one}'; chmod 600 '{other}'"),
        // A link in the root would lead out of it.
        15 => format!("ln -s '../{one}' '{}'", inner(dice)),
        16 => {
            let target = dice.one_of(&["a", "nowhere", "../lib", "../locked"]);
            format!("ln -s '{target}' '{}'", inner(dice))
        }
        17 => format!("ln -f '{one}' '{other}'; echo {number} >> '{other}'"),
        18 => format!("for f in {place}/*; do echo {number} >> \"$f\"; done"),
        19 => format!("for f in {place}/*; do mv \"$f\" \"$f.bak\"; done"),
        20 => format!("for f in {place}/*; do cp \"$f\" {target}/; done"),
        21 => format!("sed -i s/0/{number}/ '{one}'"),
        22 => format!("tee '{one}' '{other}' < '{third}'"),
        23 => format!("truncate -s 3 '{one}'; touch '{other}'"),
        24 => format!("rm -rf '{place}'; mkdir -p '{place}'; echo {number} > '{place}/a'"),
        25 => format!("rm -rf '{place}'; echo {number} > '{place}'"),
        _ => format!("(cd {place} && rm -f a && echo {number} > b.rs)"),
    }
}

/// Writes to what is guarded, which take nothing from there.
fn guarded(dice: &mut Dice) -> String {
    let number = dice.roll(1000);
    let line = dice.one_of(&[
        "echo # > .github/workflows/ci.yml",
        "echo # >> .locum/policy.yml",
        "rm -rf .locum",
        "rm -f .github/workflows/ci.yml; rmdir .github/workflows",
        "echo # > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "echo '[core] hooksPath = /#' >> .git/config",
        "echo # > .git/HEAD; rm -rf .git/refs",
        "echo # > .env",
        "rm -f .env .locumignore",
        "echo # >> conf/server.pem",
        "echo # > conf/AGENTS.md",
        "echo # > private/plan.txt",
        "rm -rf private conf",
        "mkdir -p .claude && echo # > .claude/settings.json",
        "echo # > AGENTS.md; echo # > docs/AGENTS.md; echo # > src/.npmrc",
        "mkdir -p .github/actions; echo # > .github/actions/x",
        "chmod 777 .locum/policy.yml .env",
        "ln -s ../src .github/link",
        "echo # >> ../outside/file; echo # > ../outside/new",
        "rm -rf ../outside",
        "echo # > ../beside",
        "echo # > \"$TMPDIR/file\"; echo # > ~/file",
        "mkdir -p target/debug; echo # > target/debug/o; echo # >> target/log",
        "cat .env conf/.env conf/server.pem private/plan.txt .git/config ../outside/secret.txt",
        "grep -r . conf private .git ../outside | rev | rev",
        "tar cf - . | od -c | tail -1",
        "echo # > \"src/$(printf 'no\\377text')\"; echo # > \"src/$(printf 'two\\nlines')\"",
        "git log --oneline; git status --short",
    ]);
    line.replace('#', &number.to_string())
}

/// Ways to get at what is guarded.
fn hostile(dice: &mut Dice) -> String {
    let (one, place) = (file(dice), folder(dice));
    let hidden = dice.one_of(HIDDEN);
    let (guarded, _) = GUARDED[dice.roll(GUARDED.len())];
    let number = dice.roll(1000);
    match dice.roll(26) {
        0 => format!("cp {hidden} '{one}'; cat '{one}'"),
        1 => format!("mv {hidden} '{one}'; cat '{one}'"),
        2 => format!("ln -f {hidden} '{one}'; cat '{one}'; echo {number} > '{one}'"),
        3 => format!("ln -s \"$PWD/{hidden}\" '{one}'; cat '{one}'; echo {number} > '{one}'"),
        4 => format!("cp -r conf '{place}'; cat {place}/conf/* {place}/*"),
        5 => format!("mv private '{place}'; cat {place}/*/*; mv {guarded} '{one}'"),
        6 => format!("mv .github '{place}/x'; mv '{place}/x' .github"),
        7 => format!("rm -rf .github; cp -r '{place}' .github"),
        8 => format!("mv .locum old; mkdir .locum; echo {number} > .locum/policy.yml"),
        9 => format!("ln -f {guarded} '{one}'; echo {number} > '{one}'"),
        10 => format!("rm -rf '{place}'; ln -s \"$PWD/.github\" '{place}'; echo 1 > {place}/n"),
        11 => {
            format!("rm -rf '{place}'; ln -s ../../outside '{place}'; echo {number} > {place}/file")
        }
        12 => format!("rm -rf src; ln -s .git/hooks src; echo {number} > src/pre-commit"),
        13 => "rm -rf src; ln -s ../outside src; echo x > src/file; rm -rf src/*".to_owned(),
        14 => "git add -A; git commit -qm x; git checkout -q -b other".to_owned(),
        15 => "git config core.hooksPath /x; git stash -q; git clean -fdxq".to_owned(),
        16 => "git rm -rq --cached .; git reset -q --hard; git gc -q".to_owned(),
        17 => "find . -type f -exec sh -c 'echo x >> \"$1\"' sh {} \\;".to_owned(),
        18 => "rm -rf ./* ./.??*".to_owned(),
        19 => "chmod -R 777 .; chown -R 1:1 .".to_owned(),
        20 => format!("chmod 000 '{one}'; chmod 000 '{place}'"),
        21 => format!("mkfifo '{place}/pipe'; mknod '{place}/node' c 0 0"),
        22 => format!("tar cf '{one}' .; cat '{one}'"),
        23 => format!("cat $(find . -type f) > '{one}'; cat '{one}'"),
        24 => "mount -t tmpfs none .github; umount .env; cat .env; unshare -rm cat .env".to_owned(),
        _ => format!("(cd ..; mv checkout moved; mkdir checkout; echo {number} > checkout/x)"),
    }
}
