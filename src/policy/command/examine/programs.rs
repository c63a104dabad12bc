//! Programs whose words no table can describe: `test` and `find`.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::patterns::{find_arguments, reached_by_find};
use crate::command::examine::{PathUse, fed, path_use};

impl Examiner<'_> {
    /// A test of files or texts: what follows an operator about a file is read.
    pub(super) fn test(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let about_files = |word: &str| {
            matches!(word, "-nt" | "-ot" | "-ef")
                || (word.len() == 2
                    && word.starts_with('-')
                    && word.ends_with(|letter| "abcdefghkprsuwxGLNOS".contains(letter)))
        };
        for pair in self.words.windows(2) {
            if let [operator, operand] = pair
                && about_files(operator)
            {
                // Whether a file outside is there says nothing of what is in it.
                let used = path_use(operand, self.folder);
                self.found.needs_sandbox |= matches!(used, Some(PathUse::Outside(_)));
                self.found.reads.extend(used.filter(|used| used.inside().is_some()));
            }
        }
    }

    /// `set` with options that only make a script stop or show more.
    pub(super) fn sets_only_when_to_stop(&self) -> bool {
        let mut words = self.words.iter().skip(1).peekable();
        let mut any = false;
        while let Some(word) = words.next() {
            any = true;
            let letters = word.strip_prefix(['-', '+']).unwrap_or_default();
            let plain =
                !letters.is_empty() && letters.chars().all(|letter| "euxo".contains(letter));
            let takes_name = letters.ends_with('o');
            if !plain || letters.matches('o').count() > usize::from(takes_name) {
                return false;
            }
            if takes_name && words.next().is_none_or(|name| name != "pipefail") {
                return false;
            }
        }
        any
    }

    pub(super) fn find(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let mut starts: Vec<String> = Vec::new();
        while let Some(word) = self.words.get(self.next).cloned() {
            let index = self.next;
            self.next += 1;
            if matches!(word.as_str(), "-H" | "-P") {
                continue;
            }
            if !word.starts_with(['-', '(', ')', '!', ',']) {
                self.found.reads.extend(path_use(&word, self.folder));
                starts.push(word);
                continue;
            }
            match (word.as_str(), find_arguments(&word)) {
                ("-exec", _) => self.executed(index, &starts),
                ("-delete", _) => {
                    self.found.only_reads = false;
                    self.edits(here_unless(&starts).into_iter());
                }
                (_, Some(count)) => {
                    if matches!(word.as_str(), "-newer" | "-anewer" | "-cnewer" | "-samefile") {
                        let file = self.words.get(self.next).cloned().unwrap_or_default();
                        self.found.reads.extend(path_use(&file, self.folder));
                    }
                    self.next += count;
                }
                (_, None) => self.finding(
                    index,
                    format!("`find {word}` may write, run programs or leave the repository"),
                ),
            }
        }
        if starts.is_empty() {
            self.reads(["."].into_iter());
        }
    }

    /// Looks at what `find` starts for the files it finds. They lie below the folders it is given,
    /// so those stand for them.
    fn executed(&mut self, index: usize, starts: &[String]) {
        let rest = self.words.get(self.next..).unwrap_or_default();
        let Some(count) = rest.iter().position(|word| word == ";" || word == "+") else {
            self.finding(index, "`find -exec` without an end".to_owned());
            return;
        };
        let given = rest.get(..count).unwrap_or_default();
        self.next += count + 1;
        let joined = given.iter().find(|word| word.contains("{}") && *word != "{}");
        if joined.is_some() || !fed::takes_files(given, "{}") {
            let program = given.first().map_or("", String::as_str);
            self.finding(index, format!("`find -exec` starts `{program}`, which may do anything"));
            return;
        }
        let mut starts = here_unless(starts);
        // What a pattern is about is given to it as if a word named it.
        let reached = reached_by_find(&starts, self.words);
        starts.extend(reached.iter().map(String::as_str));
        if fed::only_parses(given) {
            // It takes one file.
            for start in starts {
                self.starts_also(index, fed::with_files(given, "{}", &[start]));
            }
        } else {
            self.starts_also(index, fed::with_files(given, "{}", &starts));
        }
    }
}

/// Without a folder, `find` begins where it is.
fn here_unless(starts: &[String]) -> Vec<&str> {
    if starts.is_empty() { vec!["."] } else { starts.iter().map(String::as_str).collect() }
}
