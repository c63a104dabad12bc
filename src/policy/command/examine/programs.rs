//! Programs whose words no table can describe: `test`, `find` and `sed`.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::{PathUse, path_use};
use crate::command::sed;

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
                self.found.reads.extend(path_use(operand, self.folder));
            }
        }
    }

    pub(super) fn find(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let mut names_a_start = false;
        while let Some(word) = self.words.get(self.next).cloned() {
            let index = self.next;
            self.next += 1;
            if matches!(word.as_str(), "-H" | "-P") {
                continue;
            }
            if !word.starts_with(['-', '(', ')', '!', ',']) {
                names_a_start = true;
                self.found.reads.extend(path_use(&word, self.folder));
                continue;
            }
            match find_arguments(&word) {
                Some(count) => {
                    if matches!(word.as_str(), "-newer" | "-anewer" | "-cnewer" | "-samefile") {
                        let file = self.words.get(self.next).cloned().unwrap_or_default();
                        self.found.reads.extend(path_use(&file, self.folder));
                    }
                    self.next += count;
                }
                None => self.finding(
                    index,
                    format!("`find {word}` may write, run programs or leave the repository"),
                ),
            }
        }
        if !names_a_start {
            self.reads(["."].into_iter());
        }
    }

    pub(super) fn sed(&mut self) {
        (self.known, self.found.only_reads) = (true, true);
        let mut scripts: Vec<(usize, String)> = Vec::new();
        let mut files: Vec<(usize, String)> = Vec::new();
        let mut in_place = false;
        let mut plain = false;
        while let Some(word) = self.words.get(self.next).cloned() {
            let index = self.next;
            self.next += 1;
            match word.as_str() {
                "--" if !plain => plain = true,
                "-i" | "--in-place" if !plain => in_place = true,
                "-e" | "--expression" if !plain => {
                    scripts.extend(self.take_next().map(|script| (index + 1, script)))
                }
                "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-nE" | "-En" | "-nr" | "--quiet"
                | "--silent" | "--regexp-extended" | "--separate" | "--posix" | "--sandbox"
                    if !plain => {}
                option if !plain && option.len() > 1 && option.starts_with('-') => {
                    self.unlisted("sed", index, option)
                }
                _ => files.push((index, word)),
            }
        }
        if scripts.is_empty() && !files.is_empty() {
            scripts.push(files.remove(0));
        }
        for (index, script) in scripts {
            if let Err(why) = sed::check(&script) {
                self.finding(index, why);
            }
        }
        let paths: Vec<PathUse> =
            files.iter().filter_map(|(_, word)| path_use(word, self.folder)).collect();
        if in_place {
            self.found.only_reads = false;
            self.found.edits.extend(paths.clone());
        }
        self.found.reads.extend(paths);
    }
}

/// Returns how many words a harmless predicate of find takes.
fn find_arguments(word: &str) -> Option<usize> {
    match word {
        "(" | ")" | "!" | "," | "-not" | "-a" | "-and" | "-o" | "-or" | "-empty" | "-true"
        | "-false" | "-readable" | "-writable" | "-executable" | "-print" | "-print0"
        | "-prune" | "-depth" | "-mount" | "-xdev" | "-ls" | "-daystart" | "-noleaf"
        | "-nouser" | "-nogroup" | "-quit" | "-warn" | "-nowarn" => Some(0),
        "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" | "-regex"
        | "-iregex" | "-regextype" | "-type" | "-xtype" | "-maxdepth" | "-mindepth" | "-size"
        | "-mtime" | "-mmin" | "-atime" | "-amin" | "-ctime" | "-cmin" | "-newer" | "-anewer"
        | "-cnewer" | "-perm" | "-user" | "-group" | "-uid" | "-gid" | "-links" | "-inum"
        | "-lname" | "-ilname" | "-samefile" | "-printf" | "-fstype" | "-used" => Some(1),
        _ => None,
    }
}
