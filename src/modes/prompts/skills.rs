//! Skills: instructions for certain work that a model reads when it needs them (`SKILL.md`). In:
//! files and where they lie; out: the skills of each mode, with what is wrong with a file. Reads
//! nothing. The prompt holds name and description, the `skill` tool gives the rest.

use crate::prompts::PromptFile;
use crate::prompts::head::{FrontMatterKeys, HeadReader};
use locum_base::text::head;
use locum_files::diagnostic::Diagnostic;
use locum_files::position::Position;
use locum_files::yaml::{YamlNode, YamlValue};

/// Folders that hold `skills/NAME/SKILL.md` and `skills-{mode}/NAME/SKILL.md`; a skill of an
/// earlier one takes the place of a later one's.
pub const HOMES: &[&str] = &[OWN_HOME, ".roo", ".agents", ".claude", ".kode", ".kilocode"];
/// The folder whose files may have no mistakes.
const OWN_HOME: &str = ".locum";
/// The name of a skill's file.
const FILE_NAME: &str = "SKILL.md";
/// Longest file of a skill, in bytes.
pub(crate) const SKILL_LIMIT_BYTES: usize = 64 * 1024;
/// Longest description, in characters.
pub(crate) const DESCRIPTION_LIMIT_CHARS: usize = 1024;
/// Longest name, in bytes.
const NAME_LIMIT_BYTES: usize = 64;
/// Most skills named in a prompt.
pub(crate) const LISTED_LIMIT: usize = 50;
/// Bytes of one description in a prompt.
const LISTED_LIMIT_BYTES: usize = 400;

const KEYS: FrontMatterKeys = FrontMatterKeys {
    read: &["name", "description", "modeSlugs", "mode", "disable-model-invocation"],
    passed_over: &[
        "license",
        "compatibility",
        "metadata",
        "allowed-tools",
        "version",
        "author",
        "model",
        "tags",
        "user-invocable",
        "argument-hint",
        "paths",
        "globs",
    ],
};

/// A skill, read from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name: its folder's.
    pub name: String,
    /// Path of its file.
    pub origin: String,
    /// What it is for and when.
    pub description: String,
    /// The modes that have it; every mode when empty.
    pub modes: Vec<String>,
    /// Whether prompts list it.
    pub is_listed: bool,
    /// Instructions below the header.
    pub body: String,
}

impl Skill {
    /// Returns the folder its other files lie in.
    pub fn folder(&self) -> &str {
        self.origin.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Returns its instructions, with what they are to be used on.
    pub fn instructions(&self, about: &str) -> String {
        let about = about.trim();
        let about =
            if about.is_empty() { String::new() } else { format!("\n\nUse it on: {about}") };
        format!(
            "Skill `{}`; files it names lie below `{}/`.\n\n{}{about}",
            self.name,
            self.folder(),
            self.body
        )
    }
}

/// A file of a skill, read.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillFile {
    /// The skill's name: its folder's.
    pub name: String,
    /// Path of the file.
    pub origin: String,
    /// The skill, or every mistake in the file.
    pub skill: Result<Skill, Vec<Diagnostic>>,
    /// What the file says without effect.
    pub warnings: Vec<Diagnostic>,
    /// The mode whose folder it is in.
    of_mode: bool,
}

/// The skills of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillSet {
    /// Every file, the strongest first.
    pub files: Vec<SkillFile>,
}

impl SkillSet {
    /// Reads files, the strongest first. Files that are not skills are left out.
    pub fn read(texts: &[PromptFile]) -> Self {
        Self {
            files: texts.iter().filter_map(|text| Some(read(place(&text.path)?, text))).collect(),
        }
    }

    /// Returns every mistake of our own files, with the file.
    pub fn own_mistakes(&self) -> Vec<(&str, &[Diagnostic])> {
        let own = self.files.iter().filter(|file| file.origin.starts_with(&format!("{OWN_HOME}/")));
        own.filter_map(|file| Some((file.origin.as_str(), file.skill.as_ref().err()?.as_slice())))
            .collect()
    }

    /// Returns true for the name of a skill without mistakes.
    pub fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.skill.as_ref().is_ok_and(|skill| skill.name == name))
    }

    /// Returns the skills that the prompt of a mode lists, by name.
    pub fn of_mode(&self, slug: &str) -> Vec<&Skill> {
        let mut found = self.all_of_mode(slug);
        found.retain(|skill| skill.is_listed);
        found
    }

    /// Returns the skills of a mode by name, those that only users call among them: of the mode's
    /// own folders, then the others.
    pub fn all_of_mode(&self, slug: &str) -> Vec<&Skill> {
        let mut found: Vec<&Skill> = Vec::new();
        for of_mode in [true, false] {
            let files = self.files.iter().filter(|file| file.of_mode == of_mode);
            for skill in files.filter_map(|file| file.skill.as_ref().ok()) {
                let fits = skill.modes.is_empty() || skill.modes.iter().any(|mode| mode == slug);
                if fits && found.iter().all(|known| known.name != skill.name) {
                    found.push(skill);
                }
            }
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found
    }
}

/// Returns the folders that can hold skills of these modes, the strongest first.
pub fn folders(modes: &[String]) -> Vec<String> {
    let of_home = |home: &&str| {
        let of_modes = modes.iter().map(|mode| format!("{home}/skills-{mode}")).collect::<Vec<_>>();
        of_modes.into_iter().chain([format!("{home}/skills")]).collect::<Vec<_>>()
    };
    HOMES.iter().flat_map(of_home).collect()
}

/// Returns true for the file of a skill.
pub fn is_skill_file(path: &str) -> bool {
    place(path).is_some()
}

/// Returns the skills of a prompt, one line each.
pub fn listed(skills: &[&Skill]) -> String {
    let line = |skill: &&Skill| {
        let words: Vec<&str> = skill.description.split_whitespace().collect();
        let all = words.join(" ");
        let shown = head(&all, LISTED_LIMIT_BYTES);
        format!(
            "- `{}`: {shown}{}\n",
            skill.name,
            if shown.len() < all.len() { " ..." } else { "" }
        )
    };
    let mut lines: String = skills.iter().take(LISTED_LIMIT).map(line).collect();
    if skills.len() > LISTED_LIMIT {
        lines.push_str(&format!(
            "- and {} more, which are not named here\n",
            skills.len() - LISTED_LIMIT
        ));
    }
    lines
}

/// Where a skill's file lies.
struct SkillPlace<'p> {
    name: &'p str,
    /// `None` in a folder for every mode.
    mode: Option<&'p str>,
}

fn place(path: &str) -> Option<SkillPlace<'_>> {
    let below = HOMES.iter().find_map(|home| path.strip_prefix(home)?.strip_prefix('/'))?;
    let mut parts = below.split('/');
    let (folder, name, file, end) = (parts.next()?, parts.next()?, parts.next()?, parts.next());
    let mode = if folder == "skills" {
        None
    } else {
        Some(folder.strip_prefix("skills-").filter(|mode| !mode.is_empty())?)
    };
    (file == FILE_NAME && end.is_none()).then_some(SkillPlace { name, mode })
}

fn read(place: SkillPlace<'_>, file: &PromptFile) -> SkillFile {
    let mut reader =
        HeadReader::new(file, file.path.starts_with(&format!("{OWN_HOME}/")), SKILL_LIMIT_BYTES);
    let (head, body) = reader.split();
    let SkillPlace { name, mode } = place;
    if !is_name(name) {
        let message = format!(
            "the folder `{name}` is no name of a skill: small letters and digits, `-` between \
             them, {NAME_LIMIT_BYTES} at most"
        );
        reader.wrong(Position::default(), message);
    }
    let mut skill = Skill {
        name: name.to_owned(),
        origin: file.path.clone(),
        description: String::new(),
        modes: mode.map(str::to_owned).into_iter().collect(),
        is_listed: true,
        body: body.to_owned(),
    };
    match head {
        Some(head) => {
            reader.check_keys(&head, KEYS);
            describe(&head, &mut skill, &mut reader);
        }
        None => reader.wrong(
            Position::default(),
            "no head with `name` and `description` stands at the start of the file",
        ),
    }
    if body.is_empty() {
        reader.wrong(Position::default(), "no instructions stand below the head");
    }
    let (skill, warnings) = reader.finish(skill);
    SkillFile {
        name: name.to_owned(),
        origin: file.path.clone(),
        skill,
        warnings,
        of_mode: mode.is_some(),
    }
}

fn describe(head: &YamlNode, skill: &mut Skill, reader: &mut HeadReader<'_>) {
    let name = reader.text(head, "name");
    let place_of = |key: &str| head.get(key).map_or(head.place, |node| node.place);
    if name.as_deref() != Some(skill.name.as_str()) {
        let found = name.map_or_else(|| "is missing".to_owned(), |name| format!("is `{name}`"));
        reader.wrong(
            place_of("name"),
            format!("`name` {found}, and has to be the folder's: `{}`", skill.name),
        );
    }
    skill.description = reader.text(head, "description").unwrap_or_default();
    let length = skill.description.chars().count();
    if !(1..=DESCRIPTION_LIMIT_CHARS).contains(&length) {
        let message = format!(
            "`description` has {length} characters; it has to have 1 to {DESCRIPTION_LIMIT_CHARS}"
        );
        reader.wrong(place_of("description"), message);
    }
    skill.is_listed =
        head.get("disable-model-invocation").is_none_or(|node| node.value != YamlValue::Bool(true));
    let of_list = head
        .get("modeSlugs")
        .and_then(YamlNode::list)
        .unwrap_or_default()
        .iter()
        .filter_map(YamlNode::text)
        .map(str::to_owned);
    let named: Vec<String> = of_list.chain(reader.text(head, "mode")).collect();
    if skill.modes.is_empty() {
        skill.modes = named;
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= NAME_LIMIT_BYTES
        && name.split('-').all(|part| {
            !part.is_empty()
                && part.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests;
