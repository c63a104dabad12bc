//! Rules files: which files of the trusted ref tell a mode how to work, in which order, and how
//! much of them. In: paths and texts; out: the files as the prompt shows them. Reads nothing
//! itself, and knows nothing of rules that judge: those are the policy's.
//!
//! Order: files for the mode, then `AGENTS.md` and its like, then files for every mode; among
//! folders `.locum`, `.roo`, `.kilocode`. Single files of older layouts (`.roorules-code`,
//! `.clinerules`) count only where no peer's folder has files for the same purpose.

use locum_base::text;

/// A file of standing instructions, read from the trusted ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// Its path, as shown to the model.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// All rules files of a prompt together, in bytes of text; what is beyond is cut, with a note in
/// its place.
pub const RULES_LIMIT_BYTES: usize = 32 * 1024;

/// Folders that hold `rules/` and `rules-{mode}/`.
const HOMES: &[&str] = &[".locum/", ".roo/", ".kilocode/"];
/// The folder among them that replaces no older layout.
const OWN_HOME: &str = ".locum/";
/// Files of older layouts, for every mode or with `-{mode}`; the first that is not blank counts.
const SINGLE_FILES: &[&str] = &[".roorules", ".clinerules", ".kilocoderules"];
/// Files for every agent; of the first two only the first that exists.
const AGENT_FILES: &[&str] = &["AGENTS.md", "AGENT.md", "AGENTS.local.md", "CLAUDE.md"];
/// Endings of files that tools leave behind in a folder.
const LEFT_BEHIND: &[&str] = &[
    ".bak",
    ".cache",
    ".crdownload",
    ".db",
    ".dmp",
    ".dump",
    ".eslintcache",
    ".lock",
    ".log",
    ".old",
    ".part",
    ".pyc",
    ".pyo",
    ".stackdump",
    ".swo",
    ".swp",
    ".temp",
    ".tmp",
    "~",
];
const LEFT_BEHIND_NAMES: &[&str] = &[".DS_Store", "Thumbs.db", "desktop.ini"];

/// What a rules file is for; in the order of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Mode,
    Agents,
    Everyone,
}

/// Where a rules file stands among those of its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// In the nth folder of [`HOMES`].
    Folder(usize),
    /// The nth of [`AGENT_FILES`] or [`SINGLE_FILES`].
    File(usize),
}

/// Files that take the place of most of a mode's prompt: these names and the mode's slug, the
/// stronger first.
const REPLACEMENTS: &[(&str, &str)] =
    &[(".locum/system-prompt-", ""), (".locum/system-prompt-", ".md"), (".roo/system-prompt-", "")];

/// Returns the text that takes the place of most of a mode's prompt, at most [`RULES_LIMIT_BYTES`]
/// of it.
#[must_use]
pub fn replacement<'f>(files: &'f [RuleFile], mode: &str) -> Option<&'f str> {
    let mut paths = REPLACEMENTS.iter().map(|(start, end)| format!("{start}{mode}{end}"));
    let file = paths.find_map(|path| {
        files.iter().find(|file| file.path == path && !file.text.trim().is_empty())
    });
    file.map(|file| text::head(file.text.trim(), RULES_LIMIT_BYTES))
}

/// Returns true when a file of the trusted ref is a rules file for a mode (`.locum/rules/x.md`,
/// `.roo/rules-code/y.md`, `AGENTS.md`).
#[must_use]
pub fn is_rules_file(path: &str, mode: &str) -> bool {
    place(path, mode).is_some()
}

/// Where rules files can lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Folders to read with everything below them.
    pub folders: Vec<String>,
    /// Single files.
    pub files: Vec<String>,
}

/// Returns every place that can hold rules files of these modes, so that the trusted ref is asked
/// for nothing else.
#[must_use]
pub fn places(modes: &[String]) -> Places {
    let suffixes: Vec<String> =
        std::iter::once(String::new()).chain(modes.iter().map(|mode| format!("-{mode}"))).collect();
    let each = |stems: &[&str], middle: &str| -> Vec<String> {
        stems
            .iter()
            .flat_map(|stem| suffixes.iter().map(move |suffix| format!("{stem}{middle}{suffix}")))
            .collect()
    };
    let mut files = each(SINGLE_FILES, "");
    files.extend(modes.iter().flat_map(|mode| {
        REPLACEMENTS.iter().map(move |(start, end)| format!("{start}{mode}{end}"))
    }));
    files.extend(AGENT_FILES.iter().map(|file| (*file).to_owned()));
    Places { folders: each(HOMES, "rules"), files }
}

/// Brings the rules files of a mode into their order, drops those that others replace, that are
/// blank or that repeat another, and cuts what is beyond [`RULES_LIMIT_BYTES`]. Files that are none
/// of this mode's are dropped too.
#[must_use]
pub fn order(files: Vec<RuleFile>, mode: &str) -> Vec<RuleFile> {
    let mut placed: Vec<((Purpose, Origin), RuleFile)> = files
        .into_iter()
        .filter(|file| !file.text.trim().is_empty())
        .filter_map(|file| place(&file.path, mode).map(|place| (place, file)))
        .collect();
    placed.sort_by_cached_key(|(place, file)| {
        (*place, base_name(&file.path).to_lowercase(), file.path.clone())
    });
    let is_replaced = |purpose: Purpose, origin: Origin| {
        let Origin::File(index) = origin else { return false };
        let others = || {
            placed
                .iter()
                .filter(|((other, _), _)| *other == purpose)
                .map(|((_, origin), _)| *origin)
        };
        match purpose {
            Purpose::Agents => index == 1 && others().any(|other| other == Origin::File(0)),
            Purpose::Mode | Purpose::Everyone => others().any(|other| match other {
                Origin::Folder(home) => HOMES.get(home) != Some(&OWN_HOME),
                Origin::File(other) => other < index,
            }),
        }
    };
    let kept: Vec<bool> =
        placed.iter().map(|((purpose, origin), _)| !is_replaced(*purpose, *origin)).collect();
    let kept = placed.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|((_, file), _)| file);
    let mut ordered: Vec<RuleFile> = Vec::new();
    for file in kept {
        if !ordered.iter().any(|earlier| earlier.text.trim() == file.text.trim()) {
            ordered.push(file);
        }
    }
    cut(ordered)
}

fn place(path: &str, mode: &str) -> Option<(Purpose, Origin)> {
    for (index, home) in HOMES.iter().enumerate() {
        let Some((folder, below)) = path.strip_prefix(home).and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        let purpose = match folder.strip_prefix("rules") {
            Some("") => Purpose::Everyone,
            Some(suffix) if !mode.is_empty() && suffix.strip_prefix('-') == Some(mode) => {
                Purpose::Mode
            }
            Some(_) | None => continue,
        };
        return (!below.is_empty() && !is_left_behind(base_name(below)))
            .then_some((purpose, Origin::Folder(index)));
    }
    for (index, file) in SINGLE_FILES.iter().enumerate() {
        match path.strip_prefix(file) {
            Some("") => return Some((Purpose::Everyone, Origin::File(index))),
            Some(suffix) if !mode.is_empty() && suffix.strip_prefix('-') == Some(mode) => {
                return Some((Purpose::Mode, Origin::File(index)));
            }
            Some(_) | None => {}
        }
    }
    AGENT_FILES
        .iter()
        .position(|file| *file == path)
        .map(|index| (Purpose::Agents, Origin::File(index)))
}

/// Keeps the first [`RULES_LIMIT_BYTES`] of all texts, and says where something is missing.
fn cut(files: Vec<RuleFile>) -> Vec<RuleFile> {
    let mut left_bytes = RULES_LIMIT_BYTES;
    let mut kept: Vec<RuleFile> = Vec::new();
    let mut dropped: Vec<String> = Vec::new();
    for file in files {
        let size_bytes = file.text.len() + file.path.len();
        if dropped.is_empty() && size_bytes <= left_bytes {
            left_bytes -= size_bytes;
            kept.push(file);
            continue;
        }
        let head = text::head(&file.text, left_bytes.saturating_sub(file.path.len()));
        left_bytes = 0;
        dropped.push(if head.is_empty() {
            file.path.clone()
        } else {
            format!("{} after byte {}", file.path, head.len())
        });
        if !head.is_empty() {
            kept.push(RuleFile { text: head.to_owned(), path: file.path });
        }
    }
    if let (Some(last), Some(first)) = (kept.last_mut(), dropped.first()) {
        let more = if dropped.len() > 1 {
            format!(" and {} more files", dropped.len() - 1)
        } else {
            String::new()
        };
        last.text.push_str(&format!(
            "\n[... left out, because rules may have {RULES_LIMIT_BYTES} bytes together: \
             {first}{more} ...]"
        ));
    }
    kept
}

fn is_left_behind(name: &str) -> bool {
    LEFT_BEHIND_NAMES.contains(&name) || LEFT_BEHIND.iter().any(|ending| name.ends_with(ending))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_place_holds_rules_files_and_nothing_else_does() {
        let places = super::places(&["code".to_owned()]);
        assert!(
            places
                .folders
                .iter()
                .all(|folder| super::is_rules_file(&format!("{folder}/x.md"), "code")),
            "{:?}",
            places.folders
        );
        let is_known = |file: &String| {
            let text = [RuleFile { path: file.clone(), text: "x".to_owned() }];
            super::is_rules_file(file, "code") || super::replacement(&text, "code") == Some("x")
        };
        assert!(places.files.iter().all(is_known), "{:?}", places.files);
        assert!(!super::is_rules_file(".locum/policy.yml", "code"));
        assert_eq!((places.folders.len(), places.files.len()), (6, 13));
    }

    use super::{RULES_LIMIT_BYTES, RuleFile, is_rules_file, order};
    use pretty_assertions::assert_eq;

    /// Orders files whose text is their path, unless `path=text` says otherwise.
    fn check(files: &[&str], expected: &[&str]) {
        let file = |written: &&str| {
            let (path, text) = written.split_once('=').unwrap_or((written, written));
            RuleFile { path: path.to_owned(), text: text.to_owned() }
        };
        let paths: Vec<String> = order(files.iter().map(file).collect(), "code")
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(paths, expected, "{files:?}");
    }

    #[test]
    fn knows_the_files_of_a_mode() {
        for path in [
            ".locum/rules/a.md",
            ".locum/rules/deep/er/a",
            ".locum/rules-code/a.txt",
            ".roo/rules/a.md",
            ".roo/rules-code/a.md",
            ".kilocode/rules/a.md",
            ".kilocode/rules-code/a.md",
            ".roorules",
            ".roorules-code",
            ".clinerules",
            ".clinerules-code",
            ".kilocoderules",
            "AGENTS.md",
            "AGENT.md",
            "AGENTS.local.md",
            "CLAUDE.md",
        ] {
            assert!(is_rules_file(path, "code"), "{path}");
        }
    }

    #[test]
    fn leaves_other_files_alone() {
        for path in [
            ".locum/policy.yml",
            ".locum/rules",
            ".locum/rules/",
            ".roo/rulesets/a.md",
            ".roo/mcp.json",
            ".clinerules/a.md",
            "docs/AGENTS.md",
            "agents.md",
            "x/.roo/rules/a.md",
            ".roo/rules/a.log",
            ".roo/rules/.DS_Store",
            ".roo/rules/a.md~",
        ] {
            assert!(!is_rules_file(path, "code"), "{path}");
        }
        for path in [".roo/rules-ask/a.md", ".roorules-ask", ".clinerules-code2"] {
            assert!(!is_rules_file(path, "code"), "{path}");
        }
        assert!(!is_rules_file(".roo/rules-/a.md", ""));
    }

    #[test]
    fn puts_the_mode_first_and_everyone_last() {
        check(
            &[
                "CLAUDE.md",
                "AGENTS.md",
                ".roo/rules/a.md",
                ".roo/rules-code/a.md",
                ".locum/rules/a.md",
                ".locum/rules-code/a.md",
                ".kilocode/rules/a.md",
            ],
            &[
                ".locum/rules-code/a.md",
                ".roo/rules-code/a.md",
                "AGENTS.md",
                "CLAUDE.md",
                ".locum/rules/a.md",
                ".roo/rules/a.md",
                ".kilocode/rules/a.md",
            ],
        );
    }

    #[test]
    fn sorts_a_folder_by_name_whatever_its_case_and_depth() {
        check(
            &[".roo/rules/b.md", ".roo/rules/C.md", ".roo/rules/z/a.md"],
            &[".roo/rules/z/a.md", ".roo/rules/b.md", ".roo/rules/C.md"],
        );
    }

    #[test]
    fn takes_single_files_only_without_a_peers_folder() {
        check(&[".roorules", ".clinerules"], &[".roorules"]);
        check(&[".roorules= ", ".clinerules"], &[".clinerules"]);
        check(&[".roorules", ".roo/rules/a.md"], &[".roo/rules/a.md"]);
        check(&[".roorules", ".roo/rules/a.md= "], &[".roorules"]);
        check(&[".roorules", ".locum/rules/a.md"], &[".locum/rules/a.md", ".roorules"]);
        check(&[".roorules-code", ".roo/rules/a.md"], &[".roorules-code", ".roo/rules/a.md"]);
        check(&[".roorules-code", ".roo/rules-code/a.md"], &[".roo/rules-code/a.md"]);
    }

    #[test]
    fn takes_one_agents_file_and_its_local_one() {
        check(&["AGENT.md", "AGENTS.local.md", "AGENTS.md"], &["AGENTS.md", "AGENTS.local.md"]);
        check(&["AGENT.md", "AGENTS.local.md"], &["AGENT.md", "AGENTS.local.md"]);
        check(&["AGENT.md", "AGENTS.md= "], &["AGENT.md"]);
        check(&["AGENTS.md=same", "CLAUDE.md=same\n"], &["AGENTS.md"]);
    }

    #[test]
    fn cuts_what_is_too_much_and_says_so() {
        let file = |path: &str, size: usize| RuleFile {
            path: path.to_owned(),
            text: path.repeat(size / path.len() + 1),
        };
        let files = vec![
            file("AGENTS.md", 30_000),
            file(".locum/rules/a.md", 5_000),
            file(".locum/rules/b.md", 10),
        ];
        let ordered = order(files.clone(), "code");
        assert_eq!(
            ordered.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
            ["AGENTS.md", ".locum/rules/a.md"]
        );
        assert!(
            ordered[1].text.contains(
                "left out, because rules may have 32768 bytes together: .locum/rules/a.md after \
                 byte"
            ),
            "{}",
            ordered[1].text
        );
        assert!(ordered[1].text.contains("and 1 more files"), "{}", ordered[1].text);
        assert!(
            ordered.iter().map(|file| file.text.len()).sum::<usize>() < RULES_LIMIT_BYTES + 200
        );
        assert_eq!(order(vec![files[1].clone()], "code"), vec![files[1].clone()]);
    }

    #[test]
    fn cuts_a_single_file_between_characters() {
        let ordered =
            order(vec![RuleFile { path: "AGENTS.md".into(), text: "é".repeat(40_000) }], "code");
        assert!(ordered[0].text.starts_with("éé") && ordered[0].text.ends_with("...]"));
    }
}
