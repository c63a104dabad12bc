//! Where the verb of a program stands: behind options for the program itself, as in
//! `git -C web status` and `kubectl -n test get pods`.
//!
//! In: the words of a command. Out: its verb, and the words that rules have for the same command.
//! To refuse, everything that the words could mean counts. To allow, only options count that change
//! nothing else: one that is not listed leaves the command as it is written.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::command::UNKNOWN;
use crate::command::tables::index;
use crate::command::tables::options::{GivenOption, OptionArgument, OptionTable};
use crate::words;

/// What may stand between a program and its verb, in the notation of `tables`.
struct VerbTable {
    programs: &'static [&'static str],
    /// Options that change nothing that is judged: rules are written without them.
    dropped: &'static str,
    /// Options that mean the same behind the verb.
    moved: &'static str,
    /// Options that name the folder the program works in.
    folder: &'static str,
    /// Options that change what the program does: only refusals look behind them.
    other: &'static str,
    /// Words before a verb that only say what it is about: `docker image push` is `docker push`.
    groups: &'static str,
    /// How many words the verb has at most.
    depth: usize,
}

const NONE: VerbTable = VerbTable {
    programs: &[],
    dropped: "",
    moved: "",
    folder: "",
    other: "",
    groups: "",
    depth: 1,
};

const TABLES: &[VerbTable] = &[
    VerbTable {
        programs: &["git"],
        dropped: "--no-pager -P --no-optional-locks",
        folder: "-C=",
        other: "-c= --git-dir= --work-tree= --namespace= --exec-path=? --config-env= \
                --super-prefix= --attr-source= --list-cmds= -p --paginate --bare \
                --no-replace-objects --no-lazy-fetch --no-advice --literal-pathspecs \
                --glob-pathspecs --noglob-pathspecs --icase-pathspecs",
        ..NONE
    },
    VerbTable { programs: &["hub"], folder: "-C=", other: "-c= --git-dir= --work-tree=", ..NONE },
    VerbTable {
        programs: &["cargo"],
        moved: "-v -q --verbose --quiet --locked --offline --frozen --color=",
        other: "-C= -Z= --config= --explain=",
        ..NONE
    },
    VerbTable { programs: &["rustup"], other: "-v -q --verbose --quiet", ..NONE },
    // Which of their options may stand behind the verb depends on it: see `spelling`.
    VerbTable {
        programs: &["npm", "pnpm", "yarn", "bun"],
        folder: "--prefix= --dir= --cwd= -C=",
        other: "-r -w=? -s -g -q -y --recursive --workspace= --workspaces --workspace-root \
                --include-workspace-root -F= --filter= --filter-prod= --parallel --stream --silent \
                --if-present --global --json --offline --registry= --userconfig= --globalconfig= \
                --cache= --cache-folder= --modules-folder= --loglevel= --reporter= --omit= \
                --include= --location= --otp= --scope= --mutex= --network-timeout= \
                --network-concurrency= --config=",
        ..NONE
    },
    VerbTable { programs: &["go"], folder: "-C=", ..NONE },
    VerbTable { programs: &["composer"], folder: "-d= --working-dir=", other: "-n -q -v", ..NONE },
    VerbTable {
        programs: &["pip", "pip3"],
        moved: "-q -v --quiet --verbose --disable-pip-version-check --no-color",
        other: "--python= --log= --proxy= --retries= --timeout= --exists-action= --trusted-host= \
                --cert= --client-cert= --cache-dir= --use-feature= --use-deprecated= \
                --keyring-provider= --isolated --no-input --no-cache-dir --debug",
        ..NONE
    },
    VerbTable {
        programs: &["poetry"],
        moved: "-q -n --no-ansi",
        folder: "-C= --directory=",
        other: "-P= --project= -v -vv -vvv --ansi --no-interaction --no-plugins --no-cache",
        ..NONE
    },
    VerbTable {
        programs: &["uv"],
        moved: "-q -v --quiet --verbose --offline --no-progress --no-cache --no-config --color=",
        folder: "--directory=",
        other: "--project= --config-file= --cache-dir= --python-preference= --python-fetch= \
                --allow-insecure-host= -n --native-tls --managed-python --no-managed-python \
                --no-python-downloads",
        ..NONE
    },
    VerbTable { programs: &["bundle", "gem"], other: "--config-file= --retry= --verbose", ..NONE },
    VerbTable {
        programs: &["docker", "podman", "nerdctl"],
        other: "-c= -H= -l= -a= -n= --config= --context= --host= --log-level= --tlscacert= \
                --tlscert= --tlskey= --connection= --url= --identity= --root= --runroot= \
                --storage-driver= --namespace= --address= -D -r --debug --tls --tlsverify --remote",
        groups: "container image",
        depth: 2,
        ..NONE
    },
    VerbTable {
        programs: &["kubectl", "helm"],
        other: "-n= -s= -v= --namespace= --context= --kube-context= --cluster= --user= \
                --kubeconfig= --token= --as= --as-group= --as-uid= --server= --request-timeout= \
                --certificate-authority= --client-certificate= --client-key= --cache-dir= \
                --tls-server-name= --username= --password= --kube-token= --kube-apiserver= \
                --registry-config= --repository-cache= --repository-config= --debug \
                --insecure-skip-tls-verify --match-server-version --warnings-as-errors",
        depth: 2,
        ..NONE
    },
    VerbTable {
        programs: &["gh", "glab"],
        moved: "-R= --repo=",
        other: "--hostname=",
        depth: 2,
        ..NONE
    },
];

/// A table, read.
struct ProgramOptions {
    table: &'static VerbTable,
    moved: OptionTable,
    folder: OptionTable,
    rest: OptionTable,
}

static BY_PROGRAM: LazyLock<HashMap<&'static str, ProgramOptions>> = LazyLock::new(|| {
    let programs = TABLES.iter().flat_map(|table| {
        table.programs.iter().map(move |program| (*program, ProgramOptions::of(table)))
    });
    programs.collect()
});

/// Options of programs that have no table: none is known.
static UNLISTED: LazyLock<ProgramOptions> = LazyLock::new(|| ProgramOptions::of(&NONE));

impl ProgramOptions {
    fn of(table: &'static VerbTable) -> Self {
        Self {
            table,
            moved: OptionTable::new([table.moved, ""]),
            folder: OptionTable::new([table.folder, ""]),
            rest: OptionTable::new([table.dropped, table.other]),
        }
    }

    /// Returns how many words an option takes; `None` for one that is not known.
    fn words_of(&self, word: &str) -> Option<usize> {
        if word.starts_with('+') || word.contains('=') {
            return Some(1);
        }
        let known = [&self.moved, &self.folder, &self.rest];
        let takes = known.iter().find_map(|options| options.takes(word))?;
        Some(if takes == OptionArgument::Value { 2 } else { 1 })
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with(['-', '+'])
}

fn of<W: AsRef<str>>(words: &[W]) -> Option<&'static ProgramOptions> {
    BY_PROGRAM.get(words.first()?.as_ref())
}

/// Returns where the verb of a program stands: the first word that is no option and belongs to none
/// that is known.
pub fn place<W: AsRef<str>>(words: &[W]) -> Option<usize> {
    let program = of(words);
    let mut at = 1;
    while is_option(words.get(at)?.as_ref()) {
        let word = words.get(at)?.as_ref();
        at += program.and_then(|program| program.words_of(word)).unwrap_or(1);
    }
    Some(at)
}

/// Returns the verb of a program.
pub fn verb<W: AsRef<str>>(words: &[W]) -> Option<&str> {
    words.get(place(words)?).map(AsRef::as_ref)
}

/// Returns how many words behind the program change nothing that is judged.
pub(crate) fn dropped(words: &[String]) -> usize {
    let listed = of(words).map_or("", |program| program.table.dropped);
    words.iter().skip(1).take_while(|word| words::holds(listed, word)).count()
}

/// Returns true for an option before the verb of a program that changes nothing that is judged.
pub(crate) fn is_dropped(program: &str, word: &str) -> bool {
    BY_PROGRAM.get(program).is_some_and(|options| words::holds(options.table.dropped, word))
}

/// Returns the words without options that change nothing that is judged, if there are any.
pub(crate) fn without_dropped(words: &[String]) -> Option<Vec<String>> {
    let count = dropped(words);
    let rest = words.get(1 + count..).filter(|_| count > 0)?;
    Some(words.first().into_iter().chain(rest).cloned().collect())
}

/// Returns the words with options behind the verb that stand before it and mean the same there;
/// `None` where there are none, or others.
pub(crate) fn moved(words: &[String]) -> Option<Vec<String>> {
    let program = of(words)?;
    let mut at = 1;
    while words.get(at).is_some_and(|word| is_option(word)) {
        let read = program.moved.read(words, at);
        let is_harmless = |option: &GivenOption<'_>| match (option.takes, option.value) {
            (OptionArgument::Nothing, None) => true,
            (OptionArgument::Value, Some(value)) => option.at == at || !is_option(value),
            (_, _) => false,
        };
        if !read.is_known || !read.given.iter().all(is_harmless) {
            return None;
        }
        at = read.next;
    }
    // A table may be about a verb of a verb.
    let named = index::of(words.first()?).iter().map(|known| known.words.get(1..));
    let is_named = |verb: &&[&str]| words.get(at..).is_some_and(|rest| words::begin(rest, verb));
    let named = named.flatten().filter(is_named).map(<[_]>::len).max().unwrap_or_default();
    let verb = words.get(at..at + named.max(program.table.depth)).filter(|_| at > 1)?;
    if verb.iter().any(|word| is_option(word)) {
        return None;
    }
    let (options, rest) = (words.get(1..at)?, words.get(at + verb.len()..)?);
    let all = [words.get(..1)?, verb, options, rest];
    Some(all.concat())
}

/// Returns the folder that the first option of a command makes its program work in, and the command
/// without that option.
pub(crate) fn folder(words: &[String]) -> Option<(&str, Vec<String>)> {
    let program = of(words)?;
    let option = words.get(1)?;
    let (folder, next) = match option.split_once('=') {
        Some((name, folder)) if name.starts_with("--") => {
            program.folder.takes(name)?;
            (folder, 2)
        }
        Some(_) => return None,
        None => {
            program.folder.takes(option)?;
            (words.get(2)?.as_str(), 3)
        }
    };
    let plain = !folder.is_empty() && !folder.starts_with('-') && !folder.contains(UNKNOWN);
    let rest = words.get(next..).filter(|rest| plain && !rest.is_empty())?;
    Some((folder, words.first().into_iter().chain(rest).cloned().collect()))
}

/// Returns every place where a verb may stand, or one of the options before it, from these words
/// on. The first verb may stand behind a word that only says what it is about.
pub(crate) fn places(words: &[String], from: BTreeSet<usize>, is_first: bool) -> BTreeSet<usize> {
    let program = of(words).unwrap_or(&UNLISTED);
    let (mut places, mut open) = (BTreeSet::new(), Vec::from_iter(from));
    while let Some(at) = open.pop() {
        let Some(word) = words.get(at).filter(|_| places.insert(at)) else { continue };
        match program.words_of(word).filter(|_| is_option(word)) {
            Some(count) => open.push(at + count),
            // Whether what follows belongs to it is not known.
            None if is_option(word) => open.extend([at + 2, at + 1]),
            None if is_first && words::holds(program.table.groups, word) => open.push(at + 1),
            None => {}
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{folder, moved, verb};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_verb_stands_behind_the_options_of_its_program() {
        for (text, expected) in [
            ("git status", Some("status")),
            ("git -C dir -c a=b --no-pager log -1", Some("log")),
            ("git --git-dir=x push", Some("push")),
            ("cargo +nightly --locked test", Some("test")),
            ("npm --prefix web test", Some("test")),
            ("docker --context x ps", Some("ps")),
            ("kubectl -n a get pods", Some("get")),
            ("gh -R o/r pr list", Some("pr")),
            ("go -C web vet", Some("vet")),
            ("uv --directory x run pytest", Some("run")),
            ("sudo -E apt-get update", Some("apt-get")),
            ("git --version", None),
            ("git", None),
        ] {
            assert_eq!(verb(&words(text)), expected, "{text}");
        }
    }

    #[test]
    fn only_options_that_mean_the_same_behind_the_verb_are_moved() {
        for (text, expected) in [
            ("cargo --locked test -q", Some("cargo test --locked -q")),
            ("cargo -q --color always check", Some("cargo check -q --color always")),
            ("uv --offline run pytest", Some("uv run --offline pytest")),
            ("gh -R o/r pr list --json x", Some("gh pr list -R o/r --json x")),
            ("cargo -q nextest run x", Some("cargo nextest run -q x")),
            ("cargo -q nextest self", Some("cargo nextest -q self")),
            ("uv --offline pip list", Some("uv pip list --offline")),
            ("cargo test --locked", None),
            ("cargo --config x test", None),
            ("cargo --locked --config=x test", None),
            ("cargo --frob test", None),
            ("cargo --color --locked test", None),
            ("cargo --locked", None),
            ("gh -R o/r pr --web list", None),
            ("git -c a=b log", None),
        ] {
            let found = moved(&words(text)).map(|words| words.join(" "));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_folder_is_named_first() {
        for (text, expected) in [
            ("git -C web status", Some(("web", "git status"))),
            ("npm --prefix=web test", Some(("web", "npm test"))),
            ("git -C web", None),
            ("git -C -c status", None),
            ("git --no-pager -C web status", None),
            ("make -C web test", None),
        ] {
            let words = words(text);
            let found = folder(&words).map(|(folder, rest)| (folder, rest.join(" ")));
            let found = found.as_ref().map(|(folder, rest)| (*folder, rest.as_str()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
