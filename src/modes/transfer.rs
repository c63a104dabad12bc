//! Modes on their way between repositories: a mode file in which each mode carries the files of its
//! rules folder. In: texts; out: texts and where they belong. Writes nothing; every path is one
//! below the folder of its mode's rules, or the import is refused.

use serde_json::{Map, Value};

use crate::loader::{self, ModeDefinitions, ModeErrors};
use crate::schema::TOP_KEY;
use crate::{Mode, ModeSource, edit};
use locum_base::path::RepoPath;
use locum_files::diagnostic::Diagnostic;
use locum_files::excerpt::Excerpt;
use locum_files::position::Position;
use locum_files::yaml::YamlNode;

/// The key under which a mode carries its rules files.
const RULES_KEY: &str = "rulesFiles";

/// Most rules files of one mode.
pub const RULES_FILES_LIMIT: usize = 200;

/// One rules file of a mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesFile {
    /// Its path below the folder of its mode's rules.
    pub path: RepoPath,
    /// Whole text of the file.
    pub content: String,
}

/// One mode and what it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferredMode {
    /// The mode without its rules files.
    pub mode: Mode,
    /// Its rules files; `None` when the file says nothing about them.
    pub rules: Option<Vec<RulesFile>>,
}

/// Returns modes as the text of a file that can be imported.
///
/// # Errors
/// When the text would not read back as the same modes.
pub fn render(modes: &[(&Mode, Vec<RulesFile>)]) -> Result<Value, serde_json::Error> {
    let mut list = Vec::new();
    for (mode, rules) in modes {
        let mut written = serde_json::to_value(mode)?;
        if let (Some(written), false) = (written.as_object_mut(), rules.is_empty()) {
            let file = |file: &RulesFile| {
                let path = format!("rules-{}/{}", mode.slug, file.path);
                Value::Object(Map::from_iter([
                    ("relativePath".to_owned(), Value::from(path)),
                    ("content".to_owned(), Value::from(file.content.clone())),
                ]))
            };
            written.insert(RULES_KEY.to_owned(), rules.iter().map(file).collect());
        }
        list.push(written);
    }
    Ok(Value::Object(Map::from_iter([(TOP_KEY.to_owned(), Value::Array(list))])))
}

/// Reads the text of an exported file. `origin` names it in mistakes.
///
/// # Errors
/// Every mistake of its modes and of the paths they carry.
pub fn parse(text: &str, origin: &str) -> Result<Vec<TransferredMode>, ModeErrors> {
    let source = ModeSource::Project { file: origin.to_owned() };
    let mut errors: Vec<Diagnostic> = Vec::new();
    let wrong = |place: Position, path: String, message: String, hint: &str| Diagnostic {
        path,
        excerpt: Excerpt::find(text, place),
        ..Diagnostic::new(place, message).hint(hint).in_file(origin)
    };
    let (ModeDefinitions { modes, .. }, root) = loader::parse_import(text, &source)?;
    let list = root.get(TOP_KEY).unwrap_or(&root).list().unwrap_or_default();
    let mut carried = Vec::new();
    for (index, mode) in modes.into_iter().enumerate() {
        let path = format!("{TOP_KEY}.{index}.{RULES_KEY}");
        let mut rules = None;
        if let Some(node) = list.get(index).and_then(|node| node.get(RULES_KEY)) {
            match node.list() {
                None => {
                    let message = format!("expected a list, found {}", node.kind());
                    errors.push(wrong(node.place, path, message, "leave it out"));
                }
                Some(files) if files.len() > RULES_FILES_LIMIT => {
                    let message = format!("more than {RULES_FILES_LIMIT} files");
                    errors.push(wrong(node.place, path, message, "split the mode's rules"));
                }
                Some(files) => {
                    let mut read: Vec<RulesFile> = Vec::new();
                    for (number, node) in files.iter().enumerate() {
                        let at = format!("{path}.{number}");
                        match rules_file(node) {
                            Ok(file) if read.iter().any(|other| other.path == file.path) => {
                                let message = format!("`{}` is carried twice", file.path);
                                errors.push(wrong(node.place, at, message, "keep one"));
                            }
                            Ok(file) => read.push(file),
                            Err((place, message)) => {
                                let hint = "a rules file has a `relativePath` below its mode's \
                                            folder and a `content`";
                                errors.push(wrong(place, at, message, hint));
                            }
                        }
                    }
                    rules = Some(read);
                }
            }
        }
        carried.push(TransferredMode { mode, rules });
    }
    if errors.is_empty() { Ok(carried) } else { Err(ModeErrors(errors)) }
}

/// Reads a file that could be imported, for what can be said of it. `origin` names it in mistakes.
///
/// # Errors
/// Every mistake an import would report.
pub fn check(text: &str, origin: &str) -> Result<ModeDefinitions, ModeErrors> {
    parse(text, origin)?;
    let source = ModeSource::Project { file: origin.to_owned() };
    loader::parse_import(text, &source).map(|(definitions, _)| definitions)
}

fn rules_file(node: &YamlNode) -> Result<RulesFile, (Position, String)> {
    let text = |key: &str| {
        let value = node.get(key).ok_or_else(|| (node.place, format!("`{key}` is missing")))?;
        value
            .text()
            .map(|text| (value.place, text))
            .ok_or_else(|| (value.place, format!("`{key}` is {}", value.kind())))
    };
    let (place, written) = text("relativePath")?;
    let (_, content) = text("content")?;
    let parts: Vec<&str> = written.split(['/', '\\']).collect();
    if parts.contains(&"..") {
        return Err((place, format!("path `{written}` leaves the folder of the mode's rules")));
    }
    let below = match parts.split_first() {
        Some((first, rest))
            if !rest.is_empty() && (*first == "rules" || first.starts_with("rules-")) =>
        {
            rest.join("/")
        }
        Some(_) | None => parts.join("/"),
    };
    let path = RepoPath::parse(&below).map_err(|error| (place, error.to_string()))?;
    if path.is_root() || path.as_str().split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err((place, format!("path `{written}` names no file that may be written")));
    }
    Ok(RulesFile { path, content: content.to_owned() })
}

/// Returns an exported file as YAML.
///
/// # Errors
/// When a mode cannot be written.
pub fn to_yaml(file: &Value) -> Result<String, edit::EditError> {
    let mut text = String::new();
    for mode in file
        .get(TOP_KEY)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
    {
        text = edit::edit(&text, &edit::ModeEdit::Put(mode.clone()))?;
    }
    Ok(if text.is_empty() { format!("{TOP_KEY}: []\n") } else { text })
}

#[cfg(test)]
mod tests {
    use super::{RulesFile, parse, render, to_yaml};
    use crate::Mode;
    use crate::builtin;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    fn text_with(path: &str) -> String {
        format!(
            "customModes:\n  - slug: a\n    name: A\n    roleDefinition: R\n    groups: [read]\n    rulesFiles:\n      - relativePath: '{path}'\n        content: text\n"
        )
    }

    #[test]
    fn what_is_exported_is_imported_as_the_same() {
        let file = |path: &str, content: &str| RulesFile {
            path: RepoPath::parse(path).unwrap(),
            content: content.to_owned(),
        };
        let rules = vec![file("a.md", "# A\n\nwords: \"x\"\n"), file("deep/b.txt", "b")];
        let builtin = builtin::modes();
        let modes: Vec<(&Mode, Vec<RulesFile>)> =
            builtin.iter().map(|mode| (mode, rules.clone())).collect();
        let exported = render(&modes).unwrap();
        for (name, text) in
            [("x.json", exported.to_string()), ("x.yaml", to_yaml(&exported).unwrap())]
        {
            let imported = parse(&text, name).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
            let carried: Vec<(&Mode, Vec<RulesFile>)> = imported
                .iter()
                .map(|carried| (&carried.mode, carried.rules.clone().unwrap()))
                .collect();
            assert_eq!(render(&carried).unwrap(), exported, "{name}");
        }
    }

    #[test]
    fn paths_stay_below_the_folder_of_the_modes_rules() {
        for (path, expected) in [
            ("a.md", "a.md"),
            ("rules-a/a.md", "a.md"),
            ("rules-other/deep/a.md", "deep/a.md"),
            ("rules/a.md", "a.md"),
            (r"rules-a\a.md", "a.md"),
            ("./x//y.md", "x/y.md"),
        ] {
            let found = parse(&text_with(path), "x.yaml")
                .unwrap_or_else(|errors| panic!("{path}: {errors}"));
            assert_eq!(found[0].rules.as_ref().unwrap()[0].path.as_str(), expected, "{path}");
        }
        for path in [
            "../a.md",
            "rules-a/../../a.md",
            "/etc/x",
            "~/x",
            "C:/x",
            r"..\x",
            "rules-a/",
            "",
            ".git/config",
            "x/.GIT/hooks/y",
            "a\u{0}b",
        ] {
            assert!(parse(&text_with(path), "x.yaml").is_err(), "{path}");
        }
    }

    #[test]
    fn mistakes_name_their_place() {
        let errors = parse(&text_with("../x"), "x.yaml").unwrap_err();
        assert_eq!(
            errors
                .0
                .iter()
                .map(|error| (error.place.line, error.path.as_str()))
                .collect::<Vec<_>>(),
            [(7, "customModes.0.rulesFiles.0")]
        );
        assert!(parse("modes: []\n", "x.yaml").is_err());
        assert!(parse("customModes: [{slug: a b}]\n", "x.yaml").is_err());
    }
}
