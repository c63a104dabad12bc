//! Reads mode files. In: a file's text and where it stands; out: its modes, or every mistake at
//! once with its place in the file and in the data. One mistake and the whole file contributes
//! nothing. Reads no file itself and merges nothing.
//!
//! The dialect is told by the file's name. Ours (`.locum/modes.yml`, the built-in modes): text as
//! it is, unknown keys are mistakes. The peers' (`.roomodes`, `custom_modes.yaml`,
//! `.kilocodemodes`): typographic characters are cleaned first, unknown keys and the group
//! `browser` are dropped, and what is no YAML may still be JSON.

mod clean;
mod fields;
mod more;

use crate::loader::clean::{clean, json};
use crate::schema::TOP_KEY;
use crate::{Mode, ModeSource};
use locum_files::excerpt::Excerpt;
use locum_files::yaml::{Document, MISTAKE_LIMIT, Mistake, Node, Place, Value};

/// A group that mode files may still name and that gives nothing any more.
const DEPRECATED_GROUP: &str = "browser";

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
    /// Where in the file's data: `customModes.0.groups`. Empty when the file could not be read as
    /// data.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The line it is on.
    pub excerpt: Option<Excerpt>,
}

impl ModeErrors {
    /// Returns the mistakes of one text for people: in order of place, each with its line, a
    /// bounded number of them.
    #[must_use]
    pub fn of(mut errors: Vec<ModeError>, text: &str) -> Self {
        errors.sort_by_key(|error| (error.line, error.column));
        errors.truncate(MISTAKE_LIMIT);
        let places: Vec<Place> =
            errors.iter().map(|error| Place { line: error.line, column: error.column }).collect();
        for (error, excerpt) in errors.iter_mut().zip(Excerpt::of_places(text, &places)) {
            error.excerpt = excerpt;
        }
        Self(errors)
    }
}

/// What a mode file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeFile {
    /// Its modes, in the file's order.
    pub modes: Vec<Mode>,
    /// What it says without effect: dropped keys and groups, or modes where none are looked for.
    pub warnings: Vec<ModeError>,
    /// Mistakes that were put up with, because the reading was lenient.
    pub dropped: Vec<ModeError>,
    /// Slugs of modes with such mistakes. They name no mode at all, not even one of another file
    /// that these would have replaced.
    pub lost: Vec<String>,
}

/// What becomes of a file with a mistake in one of its modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strictness {
    /// It gives no modes.
    #[default]
    Strict,
    /// It gives its other modes. A file that is no YAML still gives none.
    Lenient,
}

/// Reads a mode file's text.
///
/// # Errors
/// Every mistake at once.
pub fn parse(text: &str, source: &ModeSource) -> Result<Vec<Mode>, ModeErrors> {
    parse_file(text, source, Strictness::Strict).map(|file| file.modes)
}

/// Reads a file of modes that are to be taken over; also returns its data, for what a mode carries
/// beside itself.
///
/// # Errors
/// Every mistake at once; an empty file is one.
pub(crate) fn parse_import(
    text: &str,
    source: &ModeSource,
) -> Result<(Vec<Mode>, Node), ModeErrors> {
    let mut reader = Reader::new(source, Dialect::Import, Strictness::Strict);
    let read = reader
        .document(text)
        .map(|root| root.unwrap_or(Node { place: Place::default(), value: Value::Null }));
    let read = read.map(|root| (reader.file(&root), root));
    reader.done(read, text).map(|((modes, root), _)| (modes, root))
}

/// Reads a mode file's text, and says what in it has no effect.
///
/// # Errors
/// Every mistake at once; when lenient, those that are in no mode.
pub fn parse_file(
    text: &str,
    source: &ModeSource,
    strictness: Strictness,
) -> Result<ModeFile, ModeErrors> {
    let mut reader = Reader::new(source, Dialect::of(source), strictness);
    let read =
        reader.document(text).map(|root| root.map(|root| reader.file(&root)).unwrap_or_default());
    reader.done(read, text).map(|(modes, found)| ModeFile { modes, ..found })
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
    /// As the last, and the modes may stand in a list at the top and say whose they are.
    Kilo,
    /// A file on its way to another repository: as the last, but the text is cleaned only where it
    /// cannot be read otherwise.
    Import,
}

impl Dialect {
    fn of(source: &ModeSource) -> Self {
        match source.file().and_then(|file| file.rsplit(['/', '\\']).next()) {
            Some(".kilocodemodes") => Self::Kilo,
            Some(".roomodes") => Self::YamlOrJson,
            Some("custom_modes.yaml") => Self::Yaml,
            Some(_) | None => Self::Locum,
        }
    }
}

struct Reader<'a> {
    source: &'a ModeSource,
    dialect: Dialect,
    strictness: Strictness,
    errors: Vec<ModeError>,
    found: ModeFile,
}

impl<'a> Reader<'a> {
    fn new(source: &'a ModeSource, dialect: Dialect, strictness: Strictness) -> Self {
        Self { source, dialect, strictness, errors: Vec::new(), found: ModeFile::default() }
    }

    /// Returns what was read beside what was found, or every mistake.
    fn done<T>(
        mut self,
        read: Result<T, Vec<Mistake>>,
        text: &str,
    ) -> Result<(T, ModeFile), ModeErrors> {
        let read = read.map_err(|mistakes| {
            for mistake in mistakes {
                self.wrong(mistake.place, "", mistake.message, mistake.hint);
            }
        });
        match read {
            Ok(read) if self.errors.is_empty() => Ok((read, self.found)),
            Ok(_) | Err(()) => Err(ModeErrors::of(self.errors, text)),
        }
    }

    /// Reads the text as data: YAML, then JSON where YAML fails.
    fn document(&self, text: &str) -> Result<Option<Node>, Vec<Mistake>> {
        let cleaned = match self.dialect {
            Dialect::Locum => text.to_owned(),
            Dialect::Yaml | Dialect::YamlOrJson | Dialect::Kilo => clean(text),
            Dialect::Import if Document::parse(text).mistakes.is_empty() => text.to_owned(),
            Dialect::Import => clean(text),
        };
        let document = Document::parse(&cleaned);
        if document.mistakes.is_empty() {
            return Ok(document.root);
        }
        let may_be_json =
            matches!(self.dialect, Dialect::YamlOrJson | Dialect::Kilo | Dialect::Import);
        if let Some(root) = json(&cleaned).or_else(|| if may_be_json { json(text) } else { None }) {
            return Ok(Some(root));
        }
        Err(document.mistakes)
    }

    fn file(&mut self, root: &Node) -> Vec<Mode> {
        if self.dialect == Dialect::Locum {
            match root.entries() {
                Some(entries) => self.only_keys(entries, &[TOP_KEY], ""),
                None => self.wrong(
                    root.place,
                    TOP_KEY,
                    format!("expected a mapping with `{TOP_KEY}`, found {}", root.kind()),
                    None,
                ),
            }
        }
        if matches!(self.dialect, Dialect::Kilo | Dialect::Import) && root.list().is_some() {
            return self.modes(root, "");
        }
        if self.dialect == Dialect::Import && root.get(TOP_KEY).and_then(Node::list).is_none() {
            let hint = Some(format!("an exported file has its modes in a list under `{TOP_KEY}:`"));
            self.wrong(root.place, TOP_KEY, format!("expected a list under `{TOP_KEY}`"), hint);
            return Vec::new();
        }
        if self.dialect != Dialect::Locum && root.get(TOP_KEY).is_none() {
            let hint = Some(format!("put the modes in a list under `{TOP_KEY}:`"));
            self.warn(
                root.place,
                "",
                format!("no `{TOP_KEY}` at the top, so this file gives no modes"),
                hint,
            );
        }
        root.get(TOP_KEY)
            .filter(|node| !is_nothing(node))
            .map(|list| self.modes(list, TOP_KEY))
            .unwrap_or_default()
    }

    /// Reads a list of modes. When lenient, mistakes in one of them are that one's alone.
    fn modes(&mut self, list: &Node, path: &str) -> Vec<Mode> {
        let Some(nodes) = list.list() else {
            self.wrong(list.place, path, format!("expected a list, found {}", list.kind()), None);
            return Vec::new();
        };
        let mut modes: Vec<(Place, Mode)> = Vec::new();
        let mut is_whole = true;
        for (index, node) in nodes.iter().enumerate() {
            let at = if path.is_empty() { index.to_string() } else { format!("{path}.{index}") };
            let before = self.errors.len();
            let mode = self.mode(node, &at);
            is_whole &= mode.is_some();
            modes.extend(mode.map(|mode| (node.place, mode)));
            if self.strictness == Strictness::Lenient && self.errors.len() > before {
                self.drop_since(before, node.get("slug").and_then(Node::text));
            }
        }
        // NOTE: as in the peers, slugs are compared only where every mode has the right shape.
        if is_whole || self.strictness == Strictness::Lenient {
            self.repeated(&modes, path);
        }
        modes
            .into_iter()
            .map(|(_, mode)| mode)
            .filter(|mode| !self.found.lost.contains(&mode.slug))
            .collect()
    }

    fn repeated(&mut self, modes: &[(Place, Mode)], path: &str) {
        for (index, (place, mode)) in modes.iter().enumerate() {
            if modes.iter().take(index).any(|(_, earlier)| earlier.slug == mode.slug) {
                let hint = Some("give each mode a slug of its own".to_owned());
                self.wrong(*place, path, format!("slug `{}` is used twice", mode.slug), hint);
                if self.strictness == Strictness::Strict {
                    return;
                }
                self.drop_since(self.errors.len() - 1, Some(&mode.slug));
            }
        }
    }

    /// Puts up with the latest mistakes; a mode of this slug is lost to them.
    fn drop_since(&mut self, before: usize, slug: Option<&str>) {
        self.found.dropped.extend(self.errors.drain(before..));
        self.found.lost.extend(slug.map(str::to_owned));
    }

    fn wrong(&mut self, place: Place, path: &str, message: String, hint: Option<String>) {
        let error = self.said(place, path, message, hint);
        self.errors.push(error);
    }

    fn warn(&mut self, place: Place, path: &str, message: String, hint: Option<String>) {
        let warning = self.said(place, path, message, hint);
        self.found.warnings.push(warning);
    }

    fn said(&self, place: Place, path: &str, message: String, hint: Option<String>) -> ModeError {
        let origin = self.source.file().unwrap_or("built-in");
        ModeError {
            origin: origin.to_owned(),
            line: place.line,
            column: place.column,
            path: path.to_owned(),
            message,
            hint,
            excerpt: None,
        }
    }
}

/// Returns true for what counts as no modes at all: `customModes:` with nothing, `false`, `0` or an
/// empty text.
fn is_nothing(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Bool(false) => true,
        Value::Text(text) => text.is_empty(),
        Value::Number(written) => {
            written.parse::<f64>().is_ok_and(|number| number == 0.0 || number.is_nan())
        }
        Value::Bool(true) | Value::List(_) | Value::Map(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{ModeErrors, Strictness, parse, parse_file};
    use crate::{Group, Looks, ModeSource};
    use locum_base::tool::ToolName;
    use pretty_assertions::assert_eq;

    fn source(file: &str) -> ModeSource {
        ModeSource::Project { file: file.to_owned() }
    }

    /// Reads `fields` as those of one mode in a file; expects the slugs, or each mistake's line,
    /// column and path.
    fn check(file: &str, text: &str, expected: Result<&[&str], &[&str]>) {
        let found = match parse(text, &source(file)) {
            Ok(modes) => Ok(modes.into_iter().map(|mode| mode.slug).collect::<Vec<_>>()),
            Err(ModeErrors(errors)) => Err(errors
                .iter()
                .map(|error| format!("{}:{} {}", error.line, error.column, error.path))
                .collect()),
        };
        let owned =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            found,
            expected.map(owned).map_err(owned),
            "{file}: {}",
            text.chars().take(200).collect::<String>()
        );
    }

    fn mode(fields: &str) -> String {
        format!("customModes:\n  - slug: a\n    name: A\n    roleDefinition: R\n{fields}")
    }

    #[test]
    fn finds_every_mistake_with_its_place() {
        check(
            ".roomodes",
            "customModes:\n  - slug: a b\n    name: ''\n    groups: [read, [edit, {fileRegex: \
             '['}], read]\n  - slug: 7\n    name: B\n    roleDefinition: ~\n    groups: [Edit]\n",
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
        let two = |other: &str| {
            format!(
                "{}  - {{slug: {other}, name: B, roleDefinition: R, groups: []}}\n",
                mode("    groups: []\n")
            )
        };
        check(".roomodes", &two("A"), Ok(&["a", "A"]));
        check(".roomodes", &two("a"), Err(&["6:5 customModes"]));
    }

    #[test]
    fn knows_the_forms_of_a_group() {
        for groups in [
            "[]",
            "[read, edit]",
            "[[edit, {}]]",
            "[[edit, {fileRegex: '', description: x}], read]",
            "[browser, [browser, {}], modes]",
        ] {
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
        let with_extras =
            mode("    groups: [browser]\n    iconName: x\n    customInstruction: y\n");
        check(".roomodes", &with_extras, Ok(&["a"]));
        check(
            ".locum/modes.yml",
            &with_extras,
            Err(&["5:14 customModes.0.groups.0", "7:5 customModes.0.customInstruction"]),
        );
        check(".locum/modes.yml", "modes: []\n", Err(&["1:1 modes"]));
        check(".locum/modes.yml", "- slug: a\n", Err(&["1:1 customModes"]));
        check(".locum/modes.yml", "", Ok(&[]));
        let restricted =
            |group: &str| mode(&format!("    groups:\n      - [{group}, {{fileRegex: x}}]\n"));
        check(".locum/modes.yml", &restricted("edit"), Ok(&["a"]));
        check(
            ".locum/modes.yml",
            &restricted("read"),
            Err(&["6:16 customModes.0.groups.0.1.fileRegex"]),
        );
        let errors = parse(&with_extras, &source(".locum/modes.yml")).unwrap_err();
        assert_eq!(errors.0[1].hint.as_deref(), Some("did you mean `customInstructions`?"));
        let expected = "modes `.locum/modes.yml`:7:5: customModes.0.customInstruction: unknown \
                        key `customInstruction`";
        assert_eq!(errors.0[1].to_string(), expected);
    }

    #[test]
    fn cleans_typography_in_the_peers_files_only() {
        let text = "customModes:\n  - slug: a\u{2013}b\n    \
                    name:\u{a0}\u{201c}A\u{200b}\u{201d}\n    roleDefinition: it\u{2019}s\n    \
                    groups: []\n";
        let modes = parse(text, &source(".roomodes")).unwrap();
        assert_eq!(
            (modes[0].slug.as_str(), modes[0].name.as_str(), modes[0].role_definition.as_str()),
            ("a-b", "A", "it's")
        );
        let own = mode("    groups: []\n    description: a \u{2013} b\n");
        assert_eq!(
            parse(&own, &source(".locum/modes.yml")).unwrap()[0].description.as_deref(),
            Some("a \u{2013} b")
        );
    }

    #[test]
    fn reads_json_with_tabs_and_still_knows_places() {
        let json = |slug: &str| {
            format!(
                "{{\n\t\"customModes\": [\n\t\t{{\"slug\": \"{slug}\", \"name\": \"N\", \
                 \"roleDefinition\": \"R\\u2019\", \"groups\": []}}\n\t]\n}}"
            )
        };
        for file in [".roomodes", "custom_modes.yaml", ".kilocodemodes"] {
            check(file, &json("a"), Ok(&["a"]));
            check(file, &json("a b"), Err(&["3:12 customModes.0.slug"]));
        }
    }

    #[test]
    fn falls_back_to_json_only_where_the_peers_do() {
        let text = "{\"customModes\": [{\"slug\": \"a\", \"name\": \"N\", \"roleDefinition\": \
                    \"say \u{201c}x\u{201d}\", \"groups\": []}]}";
        check(".roomodes", text, Ok(&["a"]));
        check("custom_modes.yaml", text, Err(&["1:69 "]));
    }

    #[test]
    fn says_what_has_no_effect() {
        let warnings = |text: &str| -> Vec<String> {
            let file = parse_file(text, &source(".roomodes"), Strictness::Strict).unwrap();
            file.warnings
                .iter()
                .map(|warning| format!("{}:{} {}", warning.line, warning.column, warning.path))
                .collect()
        };
        assert_eq!(warnings(&mode("    groups: []\n    source: global\n")), Vec::<String>::new());
        assert_eq!(
            warnings(&mode("    groups: [browser]\n    model: x\n")),
            ["6:5 customModes.0.model", "5:14 customModes.0.groups"]
        );
        assert_eq!(warnings("- slug: a\n"), ["1:1 "]);
        assert_eq!(warnings(""), Vec::<String>::new());
    }

    #[test]
    fn knows_the_second_vocabulary() {
        let text = "customModes:\n  - slug: a\n    name: A\n    role: R of {{ team }}\n    tools: [read, {name: edit, tools: [apply_diff]}, mcp]\n    groupName: G\n    icon: i\n    systemPrompt: S\n    allowedFilePaths: ['^src/']\n    disallowedFilePaths: ['\\.lock$']\n    customRules: [r1, r2]\n    variables: {team: Core, n: 3}\n    apiProvider: openai\n    apiModel: m\n    apiBase: https://a.example/v1\n    highlightRange: [0, 1]\n";
        for file in [".locum/modes.yml", ".roomodes", ".kilocodemodes"] {
            let read = parse_file(text, &source(file), Strictness::Strict).unwrap();
            let mode = &read.modes[0];
            assert_eq!(mode.filled(&mode.role_definition), "R of Core");
            assert_eq!(
                mode.groups.iter().map(|entry| entry.group).collect::<Vec<_>>(),
                [Group::Read, Group::Edit, Group::Mcp]
            );
            let only = mode.tool_limits.only.clone().unwrap();
            assert!(
                only.contains(&ToolName::ApplyDiff)
                    && only.contains(&ToolName::ReadFile)
                    && !only.contains(&ToolName::WriteToFile)
            );
            assert_eq!((mode.file_limits.allowed.len(), mode.file_limits.disallowed.len()), (1, 1));
            assert_eq!(mode.rules, ["r1", "r2"]);
            assert_eq!(mode.looks, Looks { group: Some("G".into()), icon: Some("i".into()) });
            let model = mode.model.as_ref().unwrap();
            assert_eq!(
                (model.name.as_str(), model.base_url.as_deref()),
                ("m", Some("https://a.example/v1"))
            );
            assert_eq!(
                read.warnings.iter().map(|warning| warning.line).collect::<Vec<_>>(),
                [16],
                "{file}"
            );
        }
    }

    #[test]
    fn a_limit_on_files_is_never_dropped() {
        for (fields, path) in [
            ("allowedFilePaths: '^src/'", "5:23 customModes.0.allowedFilePaths"),
            ("disallowedFilePaths: ['[']", "5:27 customModes.0.disallowedFilePaths.0"),
            ("allowedFilePaths: [7]", "5:24 customModes.0.allowedFilePaths.0"),
        ] {
            check(".roomodes", &mode(&format!("    {fields}\n    groups: []\n")), Err(&[path]));
        }
        check(
            ".roomodes",
            &mode("    groups: []\n    customRules: x\n    variables: [a]\n    icon: 7\n"),
            Ok(&["a"]),
        );
        check(
            ".locum/modes.yml",
            &mode("    groups: []\n    customRules: x\n    variables: [a]\n    icon: 7\n"),
            Err(&[
                "6:18 customModes.0.customRules",
                "7:16 customModes.0.variables",
                "8:11 customModes.0.icon",
            ]),
        );
        check(
            ".locum/modes.yml",
            &mode("    tools: [teleport]\n"),
            Err(&["5:13 customModes.0.tools.0"]),
        );
    }

    #[test]
    fn a_lenient_reading_keeps_the_good_modes() {
        let good = "  - {slug: b, name: B, roleDefinition: R, groups: []}\n";
        let text = format!(
            "{}{good}  - {{slug: c, groups: []}}\n  - 7\n{good}",
            mode("    groups: [nope]\n")
        );
        let read = parse_file(&text, &source(".roomodes"), Strictness::Lenient).unwrap();
        assert_eq!(
            read.modes.iter().map(|mode| mode.slug.as_str()).collect::<Vec<_>>(),
            Vec::<&str>::new()
        );
        assert_eq!(read.lost, ["a", "c", "b"]);
        assert_eq!(
            read.dropped.iter().map(|error| error.line).collect::<Vec<_>>(),
            [5, 7, 7, 8, 9]
        );
        let once = text.replace(&format!("  - 7\n{good}"), "");
        let read = parse_file(&once, &source(".roomodes"), Strictness::Lenient).unwrap();
        assert_eq!(read.modes.iter().map(|mode| mode.slug.as_str()).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn a_kilo_file_may_be_a_list() {
        let text = "[{\"slug\": \"a\", \"name\": \"A\", \"roleDefinition\": \"R\", \"groups\": \
                    [\"read\"], \"source\": \"organization\"}]";
        check(".kilocodemodes", text, Ok(&["a"]));
        check(".kilocodemodes", &text.replace("\"A\"", "7"), Err(&["1:24 0.name"]));
        check(".roomodes", text, Ok(&[]));
    }

    #[test]
    fn a_huge_file_is_a_mistake_and_not_a_crash() {
        check(".roomodes", &"# x\n".repeat(3_000_000), Err(&["0:0 "]));
        check(".roomodes", &format!("customModes: {}", "[".repeat(5_000)), Err(&["1:269 "]));
    }
}
