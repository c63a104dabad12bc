//! Whether a command begins with the words of a rule that refuses: in whatever case, behind whatever
//! options, and by other names and short forms of verbs.
//!
//! In: the words of the rule and of a command. Out: yes or no. Only rules that refuse look here.

use std::collections::BTreeSet;

use crate::command::tables::{tasks, verbs};
use crate::glob::folded;
use crate::words;

/// How many words behind the program options may stand before, as in `gcloud compute instances`.
const WORDS_BEHIND_OPTIONS: usize = 3;

/// Programs that take the beginning of a verb for the verb.
const SHORTENING: &str = "gem hg npm";

/// How many letters of a verb count as its beginning at least.
const SHORTEST: usize = 2;

/// Programs whose verbs have the other names below.
const PACKAGE_MANAGERS: &str = "bun npm pnpm yarn";

/// Verbs of package managers of JavaScript, each with its other names.
const VERBS: &[(&str, &str)] = &[
    ("adduser", "add-user"),
    ("bugs", "issues"),
    ("ci", "clean-install ic install-clean isntall-clean"),
    ("config", "c"),
    ("dedupe", "ddp"),
    ("dist-tag", "dist-tags"),
    ("docs", "home"),
    ("exec", "x"),
    ("explain", "why"),
    ("help", "hlep"),
    ("init", "create innit"),
    ("install", "i in ins inst insta instal isnt isnta isntal isntall"),
    ("install-ci-test", "cit clean-install-test sit"),
    ("install-test", "it"),
    ("link", "ln"),
    ("ls", "la list ll"),
    ("org", "ogr"),
    ("owner", "author"),
    ("rebuild", "rb"),
    ("run", "rum run-script urn"),
    ("search", "find s se"),
    ("test", "t tst"),
    ("uninstall", "r remove rm un"),
    ("update", "udpate up upgrade"),
    ("version", "verison"),
    ("view", "info show v"),
];

/// Other names that npm alone has: to others they are verbs of their own.
const VERBS_OF_NPM: &[(&str, &str)] = &[("install", "add"), ("uninstall", "unlink")];

/// Verbs of yarn and pnpm besides those above: no programs of packages.
const MORE_VERBS: &str = "\
    add audit autoclean bin cache check constraints deploy dlx env fetch generate-lock-entry global \
    import licenses login logout node npm outdated pack patch patch-commit pkg plugin policies \
    prune publish recursive root self-update server set setup stage start stop store tag team \
    unlink unplug upgrade-interactive versions whoami workspace workspaces";

/// Returns true for a verb of yarn or pnpm; what else they are given is a script, or the program of
/// a package.
pub(crate) fn is_verb(word: &str) -> bool {
    words::holds(MORE_VERBS, word)
        || VERBS.iter().any(|(verb, others)| *verb == word || words::holds(others, word))
}

/// What may follow the words of a rule in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleEnd {
    Nothing,
    Words,
    /// More letters of the last word, and more words.
    Letters,
}

/// Returns true when a command begins with the words of a rule that refuses, or would without
/// options that stand before its verbs.
pub(crate) fn begin(own: &[String], words: &[String], end: RuleEnd) -> bool {
    let Some(program) = own.first().map(|program| folded(program)) else {
        return end != RuleEnd::Nothing || words.is_empty();
    };
    let count = own.len();
    let is_at = |index: usize, word: &String| {
        let Some(own) = own.get(index) else { return false };
        if end == RuleEnd::Letters && index + 1 == count {
            return folded(word).starts_with(&folded(own));
        }
        let is_other = || {
            let verb_of = Some(&program).filter(|_| index == 1);
            is_same(&folded(own), &folded(word), verb_of)
                || index == 1 && program == "gradle" && tasks::is_short_for(own, word)
        };
        // `-D` is another option than `-d`.
        own == word || !own.starts_with('-') && is_other()
    };
    if !words.first().is_some_and(|word| is_at(0, word)) {
        return false;
    }
    let mut next = BTreeSet::from([1]);
    for index in 1..count {
        let places = if index > WORDS_BEHIND_OPTIONS {
            next
        } else {
            verbs::places(words, next, index == 1)
        };
        let fits = |at: &usize| words.get(*at).is_some_and(|word| is_at(index, word));
        next = places.into_iter().filter(fits).map(|at| at + 1).collect();
    }
    match end {
        RuleEnd::Nothing => next.contains(&words.len()),
        RuleEnd::Words | RuleEnd::Letters => !next.is_empty(),
    }
}

/// Whether two words mean the same; the verb of a program goes by other names too.
fn is_same(own: &str, word: &str, program: Option<&String>) -> bool {
    let Some(program) = program.filter(|_| own != word) else { return own == word };
    let (own, word) = (usual(program, own), usual(program, word));
    let is_short =
        word.len() >= SHORTEST && words::holds(SHORTENING, program) && own.starts_with(word);
    own == word || is_short
}

fn usual<'v>(program: &str, verb: &'v str) -> &'v str {
    let known: [&[_]; 2] = match program {
        "npm" => [VERBS, VERBS_OF_NPM],
        program if words::holds(PACKAGE_MANAGERS, program) => [VERBS, &[]],
        _ => [&[], &[]],
    };
    let mut known = known.into_iter().flatten();
    known.find(|(_, others)| words::holds(others, verb)).map_or(verb, |(usual, _)| usual)
}

#[cfg(test)]
mod tests {
    use super::{RuleEnd, begin};

    #[test]
    fn a_verb_goes_by_all_its_names() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (own, text, expected) in [
            ("npm publish", "npm publ", true),
            ("npm publish", "npm pu x", true),
            ("npm publish", "npm p", false),
            ("npm publish", "npm publisher", false),
            ("npm run publish", "npm rum publish", true),
            ("npm run publish", "npm run-script publish", true),
            ("npm run publish", "npm run publ", false),
            ("npm install", "npm i x", true),
            ("npm i", "npm install x", true),
            ("npm dist-tag", "npm dist-tags add", true),
            ("npm token", "npm tok create", true),
            ("npm install", "npm add x", true),
            ("pnpm install", "pnpm i", true),
            ("pnpm add", "pnpm install", false),
            ("yarn add", "yarn install", false),
            ("pnpm remove", "pnpm unlink", false),
            ("pnpm remove", "pnpm rm x", true),
            ("pnpm publish", "pnpm publ", false),
            ("gem push", "gem pus x", true),
            ("cargo publish", "cargo pub", false),
            ("cargo install", "cargo i", false),
            ("npm", "npm test", true),
            ("npm install x", "npm install", false),
        ] {
            let found = begin(&words(own), &words(text), RuleEnd::Words);
            assert_eq!(found, expected, "{own}: {text}");
        }
    }

    #[test]
    fn no_option_hides_a_verb() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (own, text, expected) in [
            ("git push", "git -C x push", true),
            ("git push", "git -c a=b --no-pager push x", true),
            ("git push", "git --unheard push x", true),
            ("git push", "git --unheard x push", true),
            ("git push", "git log push", false),
            ("git push", "git -C push log", false),
            ("git push --force", "git push -q --force", true),
            ("git push --force", "git push x --force", false),
            ("git stash drop", "git stash -q drop", true),
            ("git stash drop", "git stash list drop", false),
            ("docker image rm", "docker --context x image --all rm y", true),
            ("docker rm", "docker --context x image --all rm y", true),
            ("docker run", "docker container run x", true),
            ("docker run", "docker ps container run", false),
            ("gh pr merge", "gh pr -R o/r merge 5", true),
            ("frob add x", "frob --no-cache add x", true),
            ("frob a b c d", "frob a b --yes c d", true),
            ("frob a b c d", "frob a b c --yes d", false),
            ("make push", "make -C x push", true),
        ] {
            let found = begin(&words(own), &words(text), RuleEnd::Words);
            assert_eq!(found, expected, "{own}: {text}");
        }
        for many in [" -c a=b", " -q", " -a x", " -c push"] {
            let text = format!("git{} push", many.repeat(5_000));
            assert!(begin(&words("git push"), &words(&text), RuleEnd::Words), "{many}");
            assert!(!begin(&words("git pull"), &words(&text), RuleEnd::Words), "{many}");
        }
    }

    #[test]
    fn a_rule_says_what_may_follow_its_words() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (own, text, end, expected) in [
            ("git push", "git -C x push", RuleEnd::Nothing, true),
            ("git push", "git -C x push y", RuleEnd::Nothing, false),
            ("git push", "git -C x pushed", RuleEnd::Words, false),
            ("git push", "git -C x pushed", RuleEnd::Letters, true),
            ("git push", "gits push", RuleEnd::Letters, false),
        ] {
            assert_eq!(begin(&words(own), &words(text), end), expected, "{own}: {text} {end:?}");
        }
        assert!(begin(&[], &words("x"), RuleEnd::Words));
        assert!(!begin(&[], &words("x"), RuleEnd::Nothing));
    }
}
