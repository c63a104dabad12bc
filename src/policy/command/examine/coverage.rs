//! `coverage run`, which starts Python with what its words name.
//!
//! In: the words of a command. Out: the same as for `python FILE` or `python -m MODULE`, behind
//! options of `coverage run` that are known.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::command::examine::StartedCommand;
use crate::command::examine::examiner::Examiner;
use crate::command::tables::index::{self, OptionArgument};

static OPTIONS: LazyLock<HashMap<&'static str, OptionArgument>> = LazyLock::new(|| {
    index::read([
        "-a -p -L --append --branch --parallel-mode --pylib --timid --concurrency= --context= \
         --include= --omit= --source= --save-signal=",
        "--data-file=> --rcfile=<",
    ])
});

impl Examiner<'_> {
    /// Looks at `coverage run`; returns whether it is that.
    pub(super) fn coverage_run(&mut self) -> bool {
        if self.words.first().is_none_or(|word| word != "coverage")
            || self.words.get(1).is_none_or(|word| word != "run")
        {
            return false;
        }
        self.found.runs_code = true;
        self.next = 2;
        let is_option = |word: &&String| word.starts_with('-') && *word != "-m";
        while let Some(word) = self.words.get(self.next).filter(is_option) {
            let (index, word) = (self.next, word.as_str());
            self.next += 1;
            let (option, value) =
                word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
            let Some(takes) = OPTIONS.get(option).copied() else {
                self.unlisted("coverage run", index, word);
                return true;
            };
            match (takes, value) {
                (OptionArgument::Nothing, None) => {}
                (OptionArgument::Nothing, Some(_)) => self.unlisted("coverage run", index, word),
                (takes, value) => {
                    let value = value
                        .map(str::to_owned)
                        .or_else(|| self.next_value("coverage run", option));
                    self.value(takes, "coverage run", index, value);
                }
            }
        }
        let is_module = self.words.get(self.next).is_some_and(|word| word == "-m");
        let named = self.next + usize::from(is_module);
        let Some(program) = self.words.get(named).filter(|word| !word.starts_with('-')) else {
            self.finding(usize::MAX, "what `coverage run` starts here is not known".to_owned());
            return true;
        };
        let reason = format!("`coverage run` starts `{program}`, and no rule names that");
        let rest = self.words.get(self.next..).unwrap_or_default();
        let words: Vec<String> =
            std::iter::once("python".to_owned()).chain(rest.iter().cloned()).collect();
        let (effects, known) = Self::started(&words, self.folder);
        self.known = known;
        self.starts_instead(self.next - 1, StartedCommand { words, effects });
        self.starts_program(named, reason, false);
        true
    }
}
