//! Rules files: which files of the trusted ref instruct a mode, in which order, and how much of
//! them. In: paths and texts; out: the files as the prompt shows them. Reads nothing itself. Rules
//! that judge are the policy's.
//!
//! Order: files for the mode, then `AGENTS.md` and its like, then files for every mode; among
//! folders `.locum`, `.roo`, `.kilocode`. Single files of older layouts (`.roorules-code`,
//! `.clinerules`) count only where no peer's folder has files for the same purpose.

use crate::prompts::PromptFile;
use locum_base::text;

/// All rules files of a prompt together, in bytes of text. What is beyond is cut, with a note in
/// its place: each file has an equal share, and what shorter ones leave goes to the others.
pub(crate) const RULES_LIMIT_BYTES: usize = 32 * 1024;

/// Folders that hold `rules/` and `rules-{mode}/`.
const HOMES: &[&str] = &[".locum/", ".roo/", ".roo-code/", ".kilocode/"];
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

/// The files of the trusted ref that instruct modes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesFiles {
    /// Those whose place says whose they are; others among them instruct no one.
    pub placed: Vec<PromptFile>,
    /// Those that the settings name, for every mode.
    pub named: Vec<PromptFile>,
}

/// What a rules file is for; in the order of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RulePurpose {
    Mode,
    Agents,
    Everyone,
}

/// Where a rules file stands among those of its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RuleOrigin {
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
pub fn replacement<'f>(files: &'f [PromptFile], mode: &str) -> Option<&'f str> {
    let mut paths = REPLACEMENTS.iter().map(|(start, end)| format!("{start}{mode}{end}"));
    let file = paths.find_map(|path| {
        files.iter().find(|file| file.path == path && !file.text.trim().is_empty())
    });
    file.map(|file| text::head(file.text.trim(), RULES_LIMIT_BYTES))
}

/// Returns true when a file of the trusted ref is a rules file for a mode (`.locum/rules/x.md`,
/// `.roo/rules-code/y.md`, `AGENTS.md`).
pub fn is_rules_file(path: &str, mode: &str) -> bool {
    place(path, mode).is_some()
}

/// Where rules files can lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesPlaces {
    /// Folders to read with everything below them.
    pub folders: Vec<String>,
    /// Files outside such folders.
    pub files: Vec<String>,
}

/// Returns every place that can hold rules files of these modes, so that nothing else of the
/// trusted ref is read.
pub fn places(modes: &[String]) -> RulesPlaces {
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
    RulesPlaces { folders: each(HOMES, "rules"), files }
}

/// Returns what the limit leaves out of the rules files of a mode, a sentence for each file.
pub fn left_out(files: RulesFiles, mode: &str) -> Vec<String> {
    let files = whole(files, mode);
    let shares = shares(&files);
    let cut = files.iter().zip(shares).filter(|(file, share)| file.text.len() > *share);
    cut.map(|(file, share)| {
        format!(
            "`{}` is shown to byte {share} of {}: rules files may have {RULES_LIMIT_BYTES} bytes \
             together",
            file.path,
            file.text.len()
        )
    })
    .collect()
}

/// Brings the rules files of a mode into their order, drops those that others replace, that are
/// blank or that repeat another, and cuts what is beyond [`RULES_LIMIT_BYTES`]. Files that are none
/// of this mode's are dropped too. Those that are named come last.
pub fn order(files: RulesFiles, mode: &str) -> Vec<PromptFile> {
    cut(whole(files, mode))
}

fn whole(files: RulesFiles, mode: &str) -> Vec<PromptFile> {
    let is_written = |file: &PromptFile| !file.text.trim().is_empty();
    let mut placed: Vec<((RulePurpose, RuleOrigin), PromptFile)> = files
        .placed
        .into_iter()
        .filter(is_written)
        .filter_map(|file| place(&file.path, mode).map(|place| (place, file)))
        .collect();
    placed.sort_by_cached_key(|(place, file)| {
        (*place, base_name(&file.path).to_lowercase(), file.path.clone())
    });
    let is_replaced = |purpose: RulePurpose, origin: RuleOrigin| {
        let RuleOrigin::File(index) = origin else { return false };
        let others = || {
            placed
                .iter()
                .filter(|((other, _), _)| *other == purpose)
                .map(|((_, origin), _)| *origin)
        };
        match purpose {
            RulePurpose::Agents => index == 1 && others().any(|other| other == RuleOrigin::File(0)),
            RulePurpose::Mode | RulePurpose::Everyone => others().any(|other| match other {
                RuleOrigin::Folder(home) => HOMES.get(home) != Some(&OWN_HOME),
                RuleOrigin::File(other) => other < index,
            }),
        }
    };
    let kept: Vec<bool> =
        placed.iter().map(|((purpose, origin), _)| !is_replaced(*purpose, *origin)).collect();
    let kept = placed.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|((_, file), _)| file);
    let mut ordered: Vec<PromptFile> = Vec::new();
    for file in kept.chain(files.named.into_iter().filter(is_written)) {
        if !ordered.iter().any(|earlier| earlier.text.trim() == file.text.trim()) {
            ordered.push(file);
        }
    }
    ordered
}

fn place(path: &str, mode: &str) -> Option<(RulePurpose, RuleOrigin)> {
    for (index, home) in HOMES.iter().enumerate() {
        let Some((folder, below)) = path.strip_prefix(home).and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        let purpose = match folder.strip_prefix("rules") {
            Some("") => RulePurpose::Everyone,
            Some(suffix) if !mode.is_empty() && suffix.strip_prefix('-') == Some(mode) => {
                RulePurpose::Mode
            }
            Some(_) | None => continue,
        };
        return (!below.is_empty() && !is_left_behind(base_name(below)))
            .then_some((purpose, RuleOrigin::Folder(index)));
    }
    for (index, file) in SINGLE_FILES.iter().enumerate() {
        match path.strip_prefix(file) {
            Some("") => return Some((RulePurpose::Everyone, RuleOrigin::File(index))),
            Some(suffix) if !mode.is_empty() && suffix.strip_prefix('-') == Some(mode) => {
                return Some((RulePurpose::Mode, RuleOrigin::File(index)));
            }
            Some(_) | None => {}
        }
    }
    AGENT_FILES
        .iter()
        .position(|file| *file == path)
        .map(|index| (RulePurpose::Agents, RuleOrigin::File(index)))
}

/// Returns how many bytes of each file's text are shown.
fn shares(files: &[PromptFile]) -> Vec<usize> {
    let mut by_size: Vec<(usize, &PromptFile)> = files.iter().enumerate().collect();
    by_size.sort_by_key(|(_, file)| file.text.len() + file.path.len());
    let (mut left_bytes, mut left_files) = (RULES_LIMIT_BYTES, files.len());
    let mut shares: Vec<(usize, usize)> = Vec::new();
    for (index, file) in by_size {
        let share = left_bytes / left_files.max(1);
        let given = (file.text.len() + file.path.len()).min(share);
        left_bytes = left_bytes.saturating_sub(given);
        left_files = left_files.saturating_sub(1);
        let shown = text::head(&file.text, given.saturating_sub(file.path.len())).len();
        shares.push((index, shown));
    }
    shares.sort_unstable();
    shares.into_iter().map(|(_, share)| share).collect()
}

/// Keeps [`RULES_LIMIT_BYTES`] of all texts, and says where something is missing.
fn cut(files: Vec<PromptFile>) -> Vec<PromptFile> {
    let shares = shares(&files);
    let shown = |(file, share): (PromptFile, usize)| {
        let size = file.text.len();
        if share >= size {
            return file;
        }
        let head = text::head(&file.text, share);
        let text = format!(
            "{head}\n[... left out after byte {share} of {size}, because rules may have \
             {RULES_LIMIT_BYTES} bytes together ...]"
        );
        PromptFile { text, ..file }
    };
    files.into_iter().zip(shares).map(shown).collect()
}

fn is_left_behind(name: &str) -> bool {
    LEFT_BEHIND_NAMES.contains(&name) || LEFT_BEHIND.iter().any(|ending| name.ends_with(ending))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
