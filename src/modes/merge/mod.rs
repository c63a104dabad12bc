//! From the texts of every file that defines modes to the modes of a run. In: texts with their
//! paths, and how strictly they are read; out: one mode per slug and warnings, or every mistake of
//! every file.
//!
//! Precedence, whole modes by slug: built-in, the user's, the repository's (agent files, then mode
//! files), the organisation's. A file can also change the texts of a mode alone. Two things keep a
//! mode from slipping through to a weaker definition. A mode with mistakes takes its slug with it,
//! and an agent that is not a mode in its own program never takes the place of a built-in mode.

use crate::agent;
use crate::loader::{self, ModeDefinitions, ModeErrors, Strictness};
use crate::mode_prompt::ModePrompt;
use crate::places::{self, AGENTS_FILE, AgentKind, PROJECT_FILES};
use crate::schema::PROMPTS_KEY;
use crate::{Mode, ModeSet, ModeSource, builtin};
use locum_files::diagnostic::Diagnostic;
use locum_files::position::Position;

/// A file that may define modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeText {
    /// Where it stands; its path says what kind of file it is.
    pub source: ModeSource,
    /// Whole text of the file.
    pub text: String,
}

/// The modes of a run.
#[derive(Clone, Debug, Default)]
pub struct MergedModes {
    /// One mode a slug.
    pub modes: ModeSet,
    /// What has no effect, and mistakes that were tolerated.
    pub warnings: Vec<Diagnostic>,
}

/// Reads every file and brings the modes together.
///
/// # Errors
/// Every mistake of every file that may not have any.
pub fn merge(texts: &[ModeText], strictness: Strictness) -> Result<MergedModes, ModeErrors> {
    let (merged, errors) = merge_usable(texts, strictness);
    if errors.is_empty() { Ok(merged) } else { Err(ModeErrors(errors)) }
}

/// Reads every file and brings the modes of those together that can be read; and the mistakes of
/// the others.
pub fn merge_usable(texts: &[ModeText], strictness: Strictness) -> (MergedModes, Vec<Diagnostic>) {
    let mut layers: Vec<((u8, usize), &ModeSource, ModeDefinitions)> = Vec::new();
    let mut errors: Vec<Diagnostic> = Vec::new();
    for text in texts {
        match definitions(text, strictness).or_else(|errors| put_up_with(errors, text, strictness))
        {
            Ok(definitions) => {
                let parts = by_rank(definitions, &text.source);
                layers.extend(parts.into_iter().map(|(rank, part)| (rank, &text.source, part)));
            }
            Err(found) => errors.extend(found.0),
        }
    }
    layers.sort_by_key(|(rank, ..)| *rank);
    let mut modes = builtin::modes();
    let mut warnings = Vec::new();
    for (_, source, definitions) in layers {
        modes.retain(|mode| !definitions.lost.contains(&mode.slug));
        warnings.extend(definitions.warnings);
        modes.extend(definitions.modes);
        for prompt in definitions.prompts {
            // The last of a slug is the one that counts.
            match modes.iter_mut().rev().find(|mode| mode.slug == prompt.slug) {
                Some(mode) => prompt.apply(mode, source),
                None => warnings.push(without_mode(&prompt, source)),
            }
        }
    }
    (MergedModes { modes: ModeSet::merge([modes]), warnings }, errors)
}

/// Reads one file by the rules of its kind.
///
/// # Errors
/// Every mistake.
pub fn definitions(file: &ModeText, strictness: Strictness) -> Result<ModeDefinitions, ModeErrors> {
    match SourceKind::of(&file.source) {
        SourceKind::ModeFile => loader::parse_file(&file.text, &file.source, strictness),
        SourceKind::AgentsFile => {
            agent::parse_agents_file(&file.text, &file.source).map(without_builtin_names)
        }
        SourceKind::Agent(AgentKind::Claude, below) => {
            agent::parse(&file.text, below, &file.source).map(without_builtin_names)
        }
        SourceKind::Agent(AgentKind::Kilo | AgentKind::Locum, below) => {
            agent::parse(&file.text, below, &file.source)
        }
    }
}

/// Returns what becomes of a file with mistakes: those of other programs' agents are warnings, as
/// they are there. A slug that another program would have taken as a mode is lost.
fn put_up_with(
    errors: ModeErrors,
    file: &ModeText,
    strictness: Strictness,
) -> Result<ModeDefinitions, ModeErrors> {
    let lost = match (SourceKind::of(&file.source), strictness) {
        (SourceKind::ModeFile, _)
        | (SourceKind::Agent(AgentKind::Locum, _), Strictness::Strict) => {
            return Err(errors);
        }
        (SourceKind::AgentsFile | SourceKind::Agent(AgentKind::Claude, _), _) => Vec::new(),
        (SourceKind::Agent(AgentKind::Kilo | AgentKind::Locum, below), _) => {
            agent::slugs_of_broken(&file.text, below)
        }
    };
    Ok(ModeDefinitions { lost, warnings: errors.0, ..ModeDefinitions::default() })
}

/// What kind of file a source is.
enum SourceKind<'s> {
    ModeFile,
    AgentsFile,
    /// Whose it is, and its path below the folder without its ending.
    Agent(AgentKind, &'s str),
}

impl<'s> SourceKind<'s> {
    fn of(source: &'s ModeSource) -> Self {
        match source {
            ModeSource::Project { file } if file == AGENTS_FILE => Self::AgentsFile,
            ModeSource::Project { file } => places::agent_folder(file)
                .map_or(Self::ModeFile, |(_, folder, below)| Self::Agent(folder.kind, below)),
            ModeSource::Builtin | ModeSource::Global { .. } | ModeSource::Organization { .. } => {
                Self::ModeFile
            }
        }
    }
}

/// Says that texts change nothing.
fn without_mode(prompt: &ModePrompt, source: &ModeSource) -> Diagnostic {
    let message = format!("no mode `{}`, so these texts have no effect", prompt.slug);
    Diagnostic {
        path: format!("{PROMPTS_KEY}.{}", prompt.slug),
        ..Diagnostic::new(prompt.place, message)
    }
    .hint("a file changes modes that are built in, or that it or a weaker file defines")
    .in_file(source.file().unwrap_or_default())
}

fn without_builtin_names(definitions: ModeDefinitions) -> ModeDefinitions {
    let builtin = builtin::modes();
    let is_taken = |mode: &Mode| builtin.iter().any(|known| known.slug == mode.slug);
    let (taken, modes): (Vec<Mode>, Vec<Mode>) = definitions.modes.into_iter().partition(is_taken);
    let kept_back = taken.into_iter().map(|mode| {
        let message =
            format!("the built-in mode `{}` keeps its name, so this agent has none", mode.slug);
        Diagnostic::new(Position::default(), message)
            .hint(
                "give it another name, or put it into `.locum/agents/`, where it takes the \
                   mode's place",
            )
            .in_file(mode.source.file().unwrap_or_default())
    });
    ModeDefinitions {
        modes,
        warnings: definitions.warnings.into_iter().chain(kept_back).collect(),
        ..definitions
    }
}

/// Splits what a file defines by who wins: a file may hold modes of several owners.
fn by_rank(
    definitions: ModeDefinitions,
    source: &ModeSource,
) -> Vec<((u8, usize), ModeDefinitions)> {
    let ModeDefinitions { modes, prompts, lost, warnings, is_misshapen: _ } = definitions;
    let mut parts = vec![(
        rank(source),
        ModeDefinitions { prompts, lost, warnings, ..ModeDefinitions::default() },
    )];
    for mode in modes {
        let rank = rank(&mode.source);
        match parts.iter_mut().find(|(known, _)| *known == rank) {
            Some((_, part)) => part.modes.push(mode),
            None => parts
                .push((rank, ModeDefinitions { modes: vec![mode], ..ModeDefinitions::default() })),
        }
    }
    parts
}

/// Returns true when modes of one source take the place of those of another.
pub fn wins(source: &ModeSource, over: &ModeSource) -> bool {
    rank(source) > rank(over)
}

fn rank(source: &ModeSource) -> (u8, usize) {
    let file = source.file().unwrap_or_default();
    let index = PROJECT_FILES.iter().position(|path| *path == file);
    match source {
        ModeSource::Builtin => (0, 0),
        ModeSource::Global { file } => (
            1,
            usize::from(!file.ends_with(".kilocodemodes"))
                + usize::from(file.ends_with("/modes.yml")),
        ),
        ModeSource::Project { .. } => match (index, places::agent_folder(file)) {
            (Some(index), _) => (4, index),
            (None, Some((index, _, _))) => (3, index),
            (None, None) => (2, 0),
        },
        ModeSource::Organization { .. } => (5, index.map_or(usize::MAX, |index| index)),
    }
}

#[cfg(test)]
mod tests;
