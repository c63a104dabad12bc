//! Whether a command begins with the words of a rule that refuses: in whatever case, and by other
//! names and short forms of verbs.
//!
//! In: the words of the rule and of a command. Out: yes or no. Only rules that refuse look here.

use crate::command::tables::tasks;
use crate::glob::folded;
use crate::words;

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
    ("install", "add i in ins inst insta instal isnt isnta isntal isntall"),
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
    ("uninstall", "r remove rm un unlink"),
    ("update", "udpate up upgrade"),
    ("version", "verison"),
    ("view", "info show v"),
];

/// Verbs of yarn and pnpm besides those above: no programs of packages.
const MORE_VERBS: &str = "\
    audit autoclean bin cache check constraints deploy dlx env fetch generate-lock-entry global \
    import licenses login logout node npm outdated pack patch patch-commit pkg plugin policies \
    prune publish recursive root self-update server set setup stage start stop store tag team \
    unplug upgrade-interactive versions whoami workspace workspaces";

/// Returns true for a verb of yarn or pnpm; what else they are given is a script, or the program of
/// a package.
pub(crate) fn is_verb(word: &str) -> bool {
    words::holds(MORE_VERBS, word)
        || VERBS.iter().any(|(verb, others)| *verb == word || words::holds(others, word))
}

/// Returns true when a command begins with the words of a rule that refuses.
pub(crate) fn begin(own: &[String], words: &[String]) -> bool {
    let program = own.first().map(|program| folded(program)).unwrap_or_default();
    let same = |(at, (own, word)): (usize, (&String, &String))| {
        let is_other = || {
            is_same(&folded(own), &folded(word), Some(&program).filter(|_| at == 1))
                || at == 1 && program == "gradle" && tasks::is_short_for(own, word)
        };
        // `-D` is another option than `-d`.
        own == word || !own.starts_with('-') && is_other()
    };
    words.len() >= own.len() && own.iter().zip(words).enumerate().all(same)
}

/// Whether two words mean the same; the verb of a program goes by other names too.
fn is_same(own: &str, word: &str, program: Option<&String>) -> bool {
    let Some(program) = program.filter(|_| own != word) else { return own == word };
    let usual = |verb| if words::holds(PACKAGE_MANAGERS, program) { usual(verb) } else { verb };
    let (own, word) = (usual(own), usual(word));
    let is_short =
        word.len() >= SHORTEST && words::holds(SHORTENING, program) && own.starts_with(word);
    own == word || is_short
}

fn usual(verb: &str) -> &str {
    let known = VERBS.iter().find(|(_, others)| words::holds(others, verb));
    known.map_or(verb, |(usual, _)| usual)
}

#[cfg(test)]
mod tests {
    use super::begin;

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
            ("pnpm install", "pnpm i", true),
            ("pnpm publish", "pnpm publ", false),
            ("gem push", "gem pus x", true),
            ("cargo publish", "cargo pub", false),
            ("cargo install", "cargo i", false),
            ("npm", "npm test", true),
            ("npm install x", "npm install", false),
        ] {
            assert_eq!(begin(&words(own), &words(text)), expected, "{own}: {text}");
        }
    }
}
