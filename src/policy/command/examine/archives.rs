//! `tar` that makes an archive or lists one. Taking files out of one writes what no word names.
//!
//! In: the words of a command. Out: files that are read and the archive that is written.

use crate::command::examine::examiner::Examiner;

impl Examiner<'_> {
    /// Looks at `tar`; returns whether it does one of these and nothing else.
    pub(super) fn tar(&mut self) -> bool {
        let [_, letters, archive, members @ ..] = self.words else { return false };
        let letters = letters.strip_prefix('-').unwrap_or(letters);
        // The archive is what follows `f`, which is a letter of its own where it stands last.
        let Some(given) = letters.strip_suffix('f') else { return false };
        let known = given.chars().all(|letter| "ctvzjJ".contains(letter));
        let (makes, lists) = (given.contains('c'), given.contains('t'));
        // A colon would name another machine.
        let plain = |word: &String| !word.starts_with('-') && !word.is_empty();
        let is_archive = plain(archive) && !archive.contains(':');
        if !known || makes == lists || !is_archive || !members.iter().all(plain) {
            return false;
        }
        self.known = true;
        if lists {
            self.found.only_reads = true;
            self.reads([archive.as_str()].into_iter());
            return true;
        }
        self.found.needs_sandbox = true;
        self.found.descends = true;
        self.reads(members.iter().map(String::as_str));
        self.edits([archive.as_str()].into_iter());
        let all = |word: &&String| {
            self.folder.join(word).is_ok_and(|path| path.is_root() || path.as_str() == ".git")
        };
        if let Some(member) = members.iter().find(all) {
            let index = self.words.iter().position(|word| word == member).unwrap_or_default();
            self.finding(index, format!("`{member}` holds `.git`; name other folders"));
        }
        if members.is_empty() {
            self.finding(self.words.len(), "`tar` without files to put in".to_owned());
        }
        true
    }
}
