//! Tells keys that take something away from those that do not, by the words in their names. In: a
//! key that a reader does not know; out: whether it may be a limit. Of such a key nobody can say
//! what it forbids, so a reader refuses the file. Which keys are known is the readers' matter.

use locum_files::fields::nearest;

/// Parts of words that only limits have.
const STEMS: &[&str] = &[
    "allow",
    "blacklist",
    "block",
    "denied",
    "denies",
    "deny",
    "disallow",
    "exclud",
    "exclus",
    "fileregex",
    "forbid",
    "ignor",
    "limit",
    "noedit",
    "nowrit",
    "only",
    "permi",
    "prohibit",
    "protect",
    "restrict",
    "sandbox",
    "whitelist",
];

/// Whole words that say what is limited.
const WORDS: &[&str] = &[
    "dir",
    "directories",
    "directory",
    "dirs",
    "edit",
    "editable",
    "edits",
    "file",
    "files",
    "folder",
    "folders",
    "glob",
    "globs",
    "never",
    "path",
    "paths",
    "regex",
    "writable",
    "write",
    "writeable",
    "writes",
];

/// Keys with such a word that the peers' files have and that limit nothing: where a mode's texts
/// come from, and how it looks.
const WITHOUT_LIMIT: &[&str] = &[
    "fileName",
    "filePath",
    "iconFile",
    "iconPath",
    "instructionFile",
    "instructionFiles",
    "instructionsFile",
    "instructionsFiles",
    "promptFile",
    "promptFiles",
    "rulesFile",
    "rulesFiles",
    "sourceFile",
    "sourcePath",
];

/// Parts of words that limits have among the options of a group of tools.
const OPTION_STEMS: &[&str] = &[
    "begin", "contain", "deni", "except", "exten", "fileg", "filen", "filep", "filer", "filter",
    "folder", "includ", "insid", "match", "patter", "pattr", "path", "prefix", "regex", "regx",
    "scope", "start", "suffix", "within",
];

/// Whole words that only limits have there.
const OPTION_WORDS: &[&str] = &[
    "below",
    "beneath",
    "end",
    "ending",
    "endings",
    "ends",
    "ext",
    "exts",
    "expr",
    "format",
    "formats",
    "language",
    "languages",
    "location",
    "mask",
    "masks",
    "parent",
    "pat",
    "rgx",
    "root",
    "roots",
    "selector",
    "target",
    "targets",
    "tree",
    "type",
    "types",
    "under",
    "where",
];

/// Returns true when an option of a group that is not known may be its `fileRegex`, misspelt or by
/// another word: without it the group would give more than is meant.
pub(crate) fn looks_like_option(key: &str) -> bool {
    let joined = joined(key);
    let is_word =
        |word: &String| WORDS.contains(&word.as_str()) || OPTION_WORDS.contains(&word.as_str());
    nearest(&joined, &["fileRegex"]).is_some()
        || OPTION_STEMS.iter().any(|stem| joined.contains(stem))
        || words(key).iter().any(is_word)
}

/// Returns true when a key's name says that it takes something away: `readOnly`, `denied-commands`,
/// `paths`.
pub(crate) fn looks_like_limit(key: &str) -> bool {
    if WITHOUT_LIMIT.contains(&key) {
        return false;
    }
    let joined = joined(key);
    STEMS.iter().any(|stem| joined.contains(stem))
        || words(key).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Returns the letters and digits of a key, in small letters.
fn joined(key: &str) -> String {
    key.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Splits `noEdit`, `no_edit` and `no-edit` into small words.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in key.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{looks_like_limit, looks_like_option};

    #[test]
    fn options_of_a_group_that_may_be_its_pattern_are_told_from_others() {
        for key in [
            "fileregex",
            "file_regex",
            "fileRegexp",
            "fileRegx",
            "fielRegex",
            "filRegx",
            "regex",
            "regexp",
            "pattern",
            "filePattern",
            "match",
            "include",
            "extensions",
            "filePath",
            "fileName",
            "filepath",
            "folderpath",
            "sourceFile",
            "regx",
            "rgx",
            "pat",
            "expr",
            "prefix",
            "startsWith",
            "endsWith",
            "mask",
            "ext",
            "under",
            "type",
            "pattrn",
            "endings",
            "inside",
            "contains",
            "where",
            "target",
            "format",
        ] {
            assert!(looks_like_option(key) || looks_like_limit(key), "{key}");
        }
        for key in
            ["", "x", "extra", "profile", "note", "title", "color", "comment", "label", "reason"]
        {
            assert!(!looks_like_option(key) && !looks_like_limit(key), "{key}");
        }
    }

    #[test]
    fn words_of_limits_are_told_from_others() {
        for key in [
            "deniedCommands",
            "editable",
            "noEdit",
            "no_edit",
            "paths",
            "Path",
            "allowed-tools",
            "allowedFiles",
            "fileRestrictions",
            "fileRegex",
            "file_regexes",
            "readOnly",
            "read-only",
            "READONLY",
            "excludePatterns",
            "ignoreFiles",
            "permissions",
            "write",
            "globs",
        ] {
            assert!(looks_like_limit(key), "{key}");
        }
        for key in [
            "",
            "description",
            "iconName",
            "source",
            "color",
            "model",
            "rulesFiles",
            "filePath",
            "profile",
            "credits",
            "editor",
            "notes",
            "empathy",
            "mcpServers",
            "background",
            "handoffs",
            "globalName",
        ] {
            assert!(!looks_like_limit(key), "{key}");
        }
    }
}
