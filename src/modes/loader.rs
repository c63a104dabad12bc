//! Reads mode files. In: a file's text and where it stands; out: its modes, or every mistake at once with its place in the file and in
//! the data. One mistake and the whole file contributes nothing. Reads no file itself and merges nothing.
//!
//! Two dialects, told by the file's name. Ours (`.locum/modes.yml`, the built-in modes): text as it is, unknown keys are mistakes. The
//! peers' (`.roomodes`, `custom_modes.yaml`, `.kilocodemodes`): typographic characters are cleaned first, unknown keys and the group
//! `browser` are dropped, and what is no YAML may still be JSON.

use crate::base::yaml::{Document, Entry, Mistake, Node, Place, Value};
use crate::modes::file_regex::FileRegex;
use crate::modes::schema::{MODE_KEYS, OPTION_KEYS, TOP_KEY};
use crate::modes::{Group, GroupEntry, Mode, ModeSource};

/// The mode files of a repository, relative to its root; modes of a later one take the place of those of an earlier one.
pub const PROJECT_FILES: &[&str] = &[".kilocodemodes", ".roomodes", ".locum/modes.yml"];

/// A group that mode files may still name and that gives nothing any more.
const DEPRECATED_GROUP: &str = "browser";

/// Keys of a mode that only matter to the peers' own programs.
const PEER_KEYS: &[&str] = &["source", "rulesFiles", "iconName"];

/// Every mistake found in a mode file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"))]
pub struct ModeErrors(pub Vec<ModeError>);

/// One mistake in a mode file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("modes `{origin}`:{line}:{column}: {}{message}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct ModeError {
    /// The file.
    pub origin: String,
    /// Its line, counted from 1; 0 when the whole file is meant.
    pub line: u32,
    /// Its column, counted from 1.
    pub column: u32,
    /// Where in the file's data: `customModes.0.groups`. Empty when the file could not be read as data.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// A mode file without mistakes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeFile {
    /// Its modes, in the file's order.
    pub modes: Vec<Mode>,
    /// What it says without effect: dropped keys and groups, or modes where none are looked for.
    pub warnings: Vec<ModeError>,
}

/// Reads a mode file's text.
///
/// # Errors
/// Every mistake at once.
pub fn parse(text: &str, source: &ModeSource) -> Result<Vec<Mode>, ModeErrors> {
    parse_with_warnings(text, source).map(|file| file.modes)
}

/// Reads a mode file's text, and says what in it has no effect.
///
/// # Errors
/// Every mistake at once.
pub fn parse_with_warnings(text: &str, source: &ModeSource) -> Result<ModeFile, ModeErrors> {
    let mut reader = Reader { source, dialect: Dialect::of(source), errors: Vec::new(), warnings: Vec::new() };
    let modes = match reader.document(text) {
        Ok(root) => root.map(|root| reader.file(&root)).unwrap_or_default(),
        Err(mistakes) => {
            for mistake in mistakes {
                reader.wrong(mistake.place, "", mistake.message, mistake.hint);
            }
            Vec::new()
        }
    };
    if reader.errors.is_empty() {
        return Ok(ModeFile { modes, warnings: reader.warnings });
    }
    reader.errors.sort_by_key(|error| (error.line, error.column));
    Err(ModeErrors(reader.errors))
}

/// The rules a file is read by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Ours.
    Locum,
    /// The peers', in a file that is always YAML.
    Yaml,
    /// The peers', in a file that may be JSON that is no YAML.
    YamlOrJson,
}

impl Dialect {
    fn of(source: &ModeSource) -> Self {
        match source {
            ModeSource::Builtin => Self::Locum,
            ModeSource::Global { file } | ModeSource::Project { file } => match file.rsplit(['/', '\\']).next() {
                Some(".roomodes" | ".kilocodemodes") => Self::YamlOrJson,
                Some("custom_modes.yaml") => Self::Yaml,
                Some(_) | None => Self::Locum,
            },
        }
    }
}

struct Reader<'a> {
    source: &'a ModeSource,
    dialect: Dialect,
    errors: Vec<ModeError>,
    warnings: Vec<ModeError>,
}

impl Reader<'_> {
    /// Reads the text as data: YAML, then JSON where YAML fails.
    fn document(&self, text: &str) -> Result<Option<Node>, Vec<Mistake>> {
        let cleaned = match self.dialect {
            Dialect::Locum => text.to_owned(),
            Dialect::Yaml | Dialect::YamlOrJson => clean(text),
        };
        let document = Document::parse(&cleaned);
        if document.mistakes.is_empty() {
            return Ok(document.root);
        }
        if let Some(root) = json(&cleaned).or_else(|| if self.dialect == Dialect::YamlOrJson { json(text) } else { None }) {
            return Ok(Some(root));
        }
        Err(document.mistakes)
    }

    fn file(&mut self, root: &Node) -> Vec<Mode> {
        if self.dialect == Dialect::Locum {
            match root.entries() {
                Some(entries) => self.only_keys(entries, &[TOP_KEY], ""),
                None => self.wrong(root.place, TOP_KEY, format!("expected a mapping with `{TOP_KEY}`, found {}", root.kind()), None),
            }
        }
        if self.dialect != Dialect::Locum && root.get(TOP_KEY).is_none() {
            let hint = Some(format!("put the modes in a list under `{TOP_KEY}:`"));
            self.warn(root.place, "", format!("no `{TOP_KEY}` at the top, so this file gives no modes"), hint);
        }
        let Some(list) = root.get(TOP_KEY).filter(|node| !is_nothing(node)) else { return Vec::new() };
        let Some(nodes) = list.list() else {
            self.wrong(list.place, TOP_KEY, format!("expected a list, found {}", list.kind()), None);
            return Vec::new();
        };
        let modes: Vec<Option<Mode>> =
            nodes.iter().enumerate().map(|(index, node)| self.mode(node, &format!("{TOP_KEY}.{index}"))).collect();
        let Some(modes) = modes.into_iter().collect::<Option<Vec<Mode>>>() else { return Vec::new() };
        let repeated = modes.iter().enumerate().find(|(index, mode)| modes.iter().take(*index).any(|earlier| earlier.slug == mode.slug));
        if let Some((index, mode)) = repeated {
            let place = nodes.get(index).map(|node| node.place).unwrap_or_default();
            self.wrong(place, TOP_KEY, format!("slug `{}` is used twice", mode.slug), Some("give each mode a slug of its own".to_owned()));
        }
        modes
    }

    /// Reads one mode; `None` when its shape is so wrong that nothing more can be said of the list it stands in.
    fn mode(&mut self, node: &Node, path: &str) -> Option<Mode> {
        let Some(entries) = node.entries() else {
            self.wrong(node.place, path, format!("expected a mapping, found {}", node.kind()), None);
            return None;
        };
        self.only_keys(entries, MODE_KEYS, path);
        if self.dialect != Dialect::Locum {
            self.source_word(node, path);
        }
        let slug = self.required(node, path, "slug");
        let name = self.required(node, path, "name");
        let role_definition = self.required(node, path, "roleDefinition");
        let when_to_use = self.optional(node, path, "whenToUse");
        let description = self.optional(node, path, "description");
        let custom_instructions = self.optional(node, path, "customInstructions");
        let groups = self.groups(node, path);
        if let Some(slug) = &slug {
            self.slug(node, path, slug);
        }
        for (key, value) in [("name", &name), ("roleDefinition", &role_definition)] {
            if value.as_ref().is_some_and(String::is_empty) {
                self.wrong(place_of(node, key), &format!("{path}.{key}"), format!("`{key}` is empty"), None);
            }
        }
        Some(Mode {
            slug: slug?,
            name: name?,
            role_definition: role_definition?,
            when_to_use: when_to_use?,
            description: description?,
            custom_instructions: custom_instructions?,
            groups: groups?,
            source: self.source.clone(),
        })
    }

    fn slug(&mut self, node: &Node, path: &str, slug: &str) {
        if !slug.is_empty() && slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return;
        }
        let hint = Some("use the letters a to z, digits and `-`".to_owned());
        self.wrong(place_of(node, "slug"), &format!("{path}.slug"), format!("`{slug}` is not a slug"), hint);
    }

    /// Checks `source`, which says nothing that the file's place does not say better.
    fn source_word(&mut self, node: &Node, path: &str) {
        let Some(source) = node.get("source") else { return };
        let kilo = matches!(self.source, ModeSource::Global { file } | ModeSource::Project { file } if file.ends_with(".kilocodemodes"));
        let known: &[&str] = if kilo { &["global", "project", "organization"] } else { &["global", "project"] };
        if !source.text().is_some_and(|word| known.contains(&word)) {
            let message = format!("expected one of {}, found {}", listed(known), shown(source));
            self.wrong(source.place, &format!("{path}.source"), message, Some("leave it out".to_owned()));
        }
    }

    fn required(&mut self, node: &Node, path: &str, key: &str) -> Option<String> {
        if node.get(key).is_none() {
            self.wrong(node.place, &format!("{path}.{key}"), format!("`{key}` is required"), None);
            return None;
        }
        self.optional(node, path, key)?
    }

    /// Reads a text that may be missing: `Some(None)` then, `None` when it is no text.
    #[expect(clippy::option_option, reason = "absent and wrong are different answers")]
    fn optional(&mut self, node: &Node, path: &str, key: &str) -> Option<Option<String>> {
        let Some(value) = node.get(key) else { return Some(None) };
        if let Some(text) = value.text() {
            return Some(Some(text.to_owned()));
        }
        let hint = match &value.value {
            Value::Null => Some(format!("leave `{key}` out, or give it a text")),
            Value::Number(written) => Some(format!("write it as text: \"{written}\"")),
            Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        };
        self.wrong(value.place, &format!("{path}.{key}"), format!("expected text, found {}", value.kind()), hint);
        None
    }

    fn groups(&mut self, node: &Node, path: &str) -> Option<Vec<GroupEntry>> {
        let path = format!("{path}.groups");
        let Some(groups) = node.get("groups") else {
            self.wrong(node.place, &path, "`groups` is required".to_owned(), Some("`groups: []` gives no tools".to_owned()));
            return None;
        };
        let Some(list) = groups.list() else {
            self.wrong(groups.place, &path, format!("expected a list, found {}", groups.kind()), None);
            return None;
        };
        let (dropped, kept): (Vec<&Node>, Vec<&Node>) =
            list.iter().partition(|entry| self.dialect != Dialect::Locum && is_deprecated(entry));
        for entry in dropped {
            self.warn(entry.place, &path, format!("group `{DEPRECATED_GROUP}` gives no tools any more"), None);
        }
        let entries: Vec<Option<GroupEntry>> =
            kept.iter().enumerate().map(|(index, entry)| self.group(entry, &format!("{path}.{index}"))).collect();
        let entries = entries.into_iter().collect::<Option<Vec<GroupEntry>>>()?;
        let repeated =
            entries.iter().enumerate().find(|(index, entry)| entries.iter().take(*index).any(|other| other.group == entry.group));
        if let Some((index, entry)) = repeated {
            let place = kept.get(index).map(|node| node.place).unwrap_or(groups.place);
            self.wrong(place, &path, format!("group `{}` stands here twice", entry.group.as_str()), None);
        }
        Some(entries)
    }

    /// Reads `read` or `[edit, { fileRegex: ... }]`; `None` when it is neither.
    fn group(&mut self, node: &Node, path: &str) -> Option<GroupEntry> {
        let (name, options) = match node.list() {
            None => (node, None),
            Some([name, options]) => (name, Some(options)),
            Some(_) => {
                let hint = Some("write `- edit`, or `- [edit, { fileRegex: ... }]`".to_owned());
                self.wrong(node.place, path, "expected a group, or a pair of a group and its options".to_owned(), hint);
                return None;
            }
        };
        let Some(group) = name.text().and_then(Group::find) else {
            let names: Vec<&str> = Group::ALL.iter().map(|group| group.as_str()).collect();
            self.wrong(name.place, path, format!("{} is not a group", shown(name)), Some(format!("groups are {}", listed(&names))));
            return None;
        };
        let mut entry = GroupEntry { group, file_regex: None, description: None };
        let Some(options) = options else { return Some(entry) };
        let option = |key: &str| options.get(key).map(|value| value.text().ok_or(value)).transpose();
        let (Some(keys), Ok(pattern), Ok(description)) = (options.entries(), option("fileRegex"), option("description")) else {
            let message = "expected options of text: `fileRegex`, `description`".to_owned();
            self.wrong(options.place, path, message, None);
            return None;
        };
        self.only_keys(keys, OPTION_KEYS, &format!("{path}.1"));
        if self.dialect == Dialect::Locum && group != Group::Edit && pattern.is_some() {
            let hint = Some("only `edit` can be limited to files".to_owned());
            self.wrong(options.place, &format!("{path}.1.fileRegex"), format!("has no effect on `{}`", group.as_str()), hint);
        }
        entry.description = description.map(str::to_owned);
        if let Some(pattern) = pattern {
            match FileRegex::parse(pattern) {
                Ok(regex) => entry.file_regex = Some(regex),
                Err(error) => {
                    let message = format!("`{pattern}` is not a JavaScript regular expression: {error}");
                    self.wrong(place_of(options, "fileRegex"), &format!("{path}.1.fileRegex"), message, None);
                }
            }
        }
        Some(entry)
    }

    /// Unknown keys are mistakes in our files, and dropped in the peers'; those that say something the peers know are dropped silently.
    fn only_keys(&mut self, entries: &[Entry], known: &[&str], path: &str) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let key = &entry.key;
            let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let near = known.iter().min_by_key(|word| strsim::damerau_levenshtein(word, key));
            let near = near.filter(|word| strsim::damerau_levenshtein(word, key) <= 3);
            let hint = near.map_or_else(|| format!("known here: {}", listed(known)), |near| format!("did you mean `{near}`?"));
            if self.dialect == Dialect::Locum {
                self.wrong(entry.key_place, &at, format!("unknown key `{key}`"), Some(hint));
            } else if !PEER_KEYS.contains(&key.as_str()) {
                self.warn(entry.key_place, &at, format!("key `{key}` has no effect"), Some(hint));
            }
        }
    }

    fn wrong(&mut self, place: Place, path: &str, message: String, hint: Option<String>) {
        let error = self.said(place, path, message, hint);
        self.errors.push(error);
    }

    fn warn(&mut self, place: Place, path: &str, message: String, hint: Option<String>) {
        let warning = self.said(place, path, message, hint);
        self.warnings.push(warning);
    }

    fn said(&self, place: Place, path: &str, message: String, hint: Option<String>) -> ModeError {
        let origin = match self.source {
            ModeSource::Builtin => "built-in",
            ModeSource::Global { file } | ModeSource::Project { file } => file,
        };
        ModeError { origin: origin.to_owned(), line: place.line, column: place.column, path: path.to_owned(), message, hint }
    }
}

/// Replaces the characters that editors and chat windows put in place of plain ones.
fn clean(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let plain = |char| match char {
        '\u{200b}'..='\u{200d}' => None,
        '\u{a0}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{2018}' | '\u{2019}' => Some('\''),
        '\u{201c}' | '\u{201d}' => Some('"'),
        other => Some(other),
    };
    text.chars().filter_map(plain).collect()
}

/// Reads strict JSON. Where YAML only stumbles over tabs, every value still knows its place.
fn json(text: &str) -> Option<Node> {
    if text.len() > crate::base::yaml::TEXT_LIMIT_BYTES {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let placed = Document::parse(&text.replace('\t', " "));
    if placed.mistakes.is_empty() && placed.root.is_some() { placed.root } else { Some(without_places(value)) }
}

fn without_places(value: serde_json::Value) -> Node {
    let entry = |(key, value)| Entry { key, key_place: Place::default(), node: without_places(value) };
    let value = match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(flag),
        serde_json::Value::Number(number) => Value::Number(number.to_string()),
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Array(values) => Value::List(values.into_iter().map(without_places).collect()),
        serde_json::Value::Object(entries) => Value::Map(entries.into_iter().map(entry).collect()),
    };
    Node { place: Place::default(), value }
}

/// Returns true for what counts as no modes at all: `customModes:` with nothing, `false`, `0` or an empty text.
fn is_nothing(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Bool(false) => true,
        Value::Text(text) => text.is_empty(),
        Value::Number(written) => written.parse::<f64>().is_ok_and(|number| number == 0.0 || number.is_nan()),
        Value::Bool(true) | Value::List(_) | Value::Map(_) => false,
    }
}

fn is_deprecated(node: &Node) -> bool {
    node.list().map_or(Some(node), |pair| pair.first()).and_then(Node::text) == Some(DEPRECATED_GROUP)
}

/// Returns where the value under a key stands, or where the mapping does.
fn place_of(node: &Node, key: &str) -> Place {
    node.get(key).map_or(node.place, |value| value.place)
}

fn shown(node: &Node) -> String {
    node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"))
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{ModeErrors, parse, parse_with_warnings};
    use crate::modes::ModeSource;
    use pretty_assertions::assert_eq;

    fn source(file: &str) -> ModeSource {
        ModeSource::Project { file: file.to_owned() }
    }

    /// Reads `fields` as those of one mode in a file; expects the slugs, or each mistake's line, column and path.
    fn check(file: &str, text: &str, expected: Result<&[&str], &[&str]>) {
        let found = match parse(text, &source(file)) {
            Ok(modes) => Ok(modes.into_iter().map(|mode| mode.slug).collect::<Vec<_>>()),
            Err(ModeErrors(errors)) => Err(errors.iter().map(|error| format!("{}:{} {}", error.line, error.column, error.path)).collect()),
        };
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(found, expected.map(owned).map_err(owned), "{file}: {}", text.chars().take(200).collect::<String>());
    }

    fn mode(fields: &str) -> String {
        format!("customModes:\n  - slug: a\n    name: A\n    roleDefinition: R\n{fields}")
    }

    #[test]
    fn finds_every_mistake_with_its_place() {
        check(
            ".roomodes",
            "customModes:\n  - slug: a b\n    name: ''\n    groups: [read, [edit, {fileRegex: '['}], read]\n  - slug: 7\n    name: B\n    roleDefinition: ~\n    groups: [Edit]\n",
            Err(&[
                "2:5 customModes.0.roleDefinition",
                "2:11 customModes.0.slug",
                "3:11 customModes.0.name",
                "4:39 customModes.0.groups.1.1.fileRegex",
                "4:46 customModes.0.groups",
                "5:11 customModes.1.slug",
                "7:21 customModes.1.roleDefinition",
                "8:14 customModes.1.groups.0",
            ]),
        );
    }

    #[test]
    fn slugs_must_differ_and_case_counts() {
        let two = |other: &str| format!("{}  - {{slug: {other}, name: B, roleDefinition: R, groups: []}}\n", mode("    groups: []\n"));
        check(".roomodes", &two("A"), Ok(&["a", "A"]));
        check(".roomodes", &two("a"), Err(&["6:5 customModes"]));
    }

    #[test]
    fn knows_the_forms_of_a_group() {
        for groups in
            ["[]", "[read, edit]", "[[edit, {}]]", "[[edit, {fileRegex: '', description: x}], read]", "[browser, [browser, {}], modes]"]
        {
            check(".roomodes", &mode(&format!("    groups: {groups}\n")), Ok(&["a"]));
        }
        for (groups, place) in [
            ("[[edit]]", "5:14 customModes.0.groups.0"),
            ("[[edit, {}, {}]]", "5:14 customModes.0.groups.0"),
            ("[{edit: {}}]", "5:14 customModes.0.groups.0"),
            ("[browser, nope]", "5:23 customModes.0.groups.0"),
            ("[[edit, {fileRegex: 1}]]", "5:21 customModes.0.groups.0"),
            ("read", "5:13 customModes.0.groups"),
            ("[read, [read, {}]]", "5:20 customModes.0.groups"),
        ] {
            check(".roomodes", &mode(&format!("    groups: {groups}\n")), Err(&[place]));
        }
    }

    #[test]
    fn our_own_files_are_read_strictly() {
        let with_extras = mode("    groups: [browser]\n    iconName: x\n    customInstruction: y\n");
        check(".roomodes", &with_extras, Ok(&["a"]));
        check(
            ".locum/modes.yml",
            &with_extras,
            Err(&["5:14 customModes.0.groups.0", "6:5 customModes.0.iconName", "7:5 customModes.0.customInstruction"]),
        );
        check(".locum/modes.yml", "modes: []\n", Err(&["1:1 modes"]));
        check(".locum/modes.yml", "- slug: a\n", Err(&["1:1 customModes"]));
        check(".locum/modes.yml", "", Ok(&[]));
        let restricted = |group: &str| mode(&format!("    groups:\n      - [{group}, {{fileRegex: x}}]\n"));
        check(".locum/modes.yml", &restricted("edit"), Ok(&["a"]));
        check(".locum/modes.yml", &restricted("read"), Err(&["6:16 customModes.0.groups.0.1.fileRegex"]));
        let errors = parse(&with_extras, &source(".locum/modes.yml")).unwrap_err();
        assert_eq!(errors.0[2].hint.as_deref(), Some("did you mean `customInstructions`?"));
        assert_eq!(errors.0[1].to_string(), "modes `.locum/modes.yml`:6:5: customModes.0.iconName: unknown key `iconName`");
    }

    #[test]
    fn cleans_typography_in_the_peers_files_only() {
        let text = "customModes:\n  - slug: a\u{2013}b\n    name:\u{a0}\u{201c}A\u{200b}\u{201d}\n    roleDefinition: it\u{2019}s\n    groups: []\n";
        let modes = parse(text, &source(".roomodes")).unwrap();
        assert_eq!((modes[0].slug.as_str(), modes[0].name.as_str(), modes[0].role_definition.as_str()), ("a-b", "A", "it's"));
        let own = mode("    groups: []\n    description: a \u{2013} b\n");
        assert_eq!(parse(&own, &source(".locum/modes.yml")).unwrap()[0].description.as_deref(), Some("a \u{2013} b"));
    }

    #[test]
    fn reads_json_with_tabs_and_still_knows_places() {
        let json = |slug: &str| {
            format!(
                "{{\n\t\"customModes\": [\n\t\t{{\"slug\": \"{slug}\", \"name\": \"N\", \"roleDefinition\": \"R\\u2019\", \"groups\": []}}\n\t]\n}}"
            )
        };
        for file in [".roomodes", "custom_modes.yaml", ".kilocodemodes"] {
            check(file, &json("a"), Ok(&["a"]));
            check(file, &json("a b"), Err(&["3:12 customModes.0.slug"]));
        }
    }

    #[test]
    fn falls_back_to_json_only_where_the_peers_do() {
        let text = "{\"customModes\": [{\"slug\": \"a\", \"name\": \"N\", \"roleDefinition\": \"say \u{201c}x\u{201d}\", \"groups\": []}]}";
        check(".roomodes", text, Ok(&["a"]));
        check("custom_modes.yaml", text, Err(&["1:69 "]));
    }

    #[test]
    fn says_what_has_no_effect() {
        let warnings = |text: &str| -> Vec<String> {
            let file = parse_with_warnings(text, &source(".roomodes")).unwrap();
            file.warnings.iter().map(|warning| format!("{}:{} {}", warning.line, warning.column, warning.path)).collect()
        };
        assert_eq!(warnings(&mode("    groups: []\n    source: global\n")), Vec::<String>::new());
        assert_eq!(warnings(&mode("    groups: [browser]\n    model: x\n")), ["6:5 customModes.0.model", "5:14 customModes.0.groups"]);
        assert_eq!(warnings("- slug: a\n"), ["1:1 "]);
        assert_eq!(warnings(""), Vec::<String>::new());
    }

    #[test]
    fn a_huge_file_is_a_mistake_and_not_a_crash() {
        check(".roomodes", &"# x\n".repeat(3_000_000), Err(&["0:0 "]));
        check(".roomodes", &format!("customModes: {}", "[".repeat(5_000)), Err(&["1:269 "]));
    }
}
