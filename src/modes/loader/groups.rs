//! The groups of a mode. In: the list under `groups` or `tools`. Out: each group once with its
//! restriction, and the tools of it that the mode does not have; or mistakes in the reader's list.

use crate::file_regex::FileRegex;
use crate::loader::fields::{one_of, place_of, shown};
use crate::loader::{Dialect, ModeFileReader};
use crate::schema::OPTION_KEYS;
use crate::{GroupEntry, ToolGroup, ToolLimits};
use locum_base::text::code_list;
use locum_base::tool::ToolName;
use locum_files::position::Position;
use locum_files::yaml::YamlNode;

/// Other words for groups: the group each gives, and the tools of that group which it does not.
const GROUP_WORDS: &[(&str, ToolGroup, &[ToolName])] = &[
    ("core", ToolGroup::Read, &[ToolName::WebFetch, ToolName::WebSearch]),
    ("readonly", ToolGroup::Read, &[ToolName::WebFetch, ToolName::WebSearch]),
    ("subtasks", ToolGroup::Modes, &[]),
    ("experimental", ToolGroup::Command, &[]),
];

/// A group as a file names it.
struct NamedGroup {
    entry: GroupEntry,
    word: String,
    place: Position,
    /// Tools of the group that the word does not give.
    left_out: &'static [ToolName],
}

/// Finds a group by its name, or another word for it; with the tools that the word leaves out.
pub(super) fn group_of(word: &str) -> Option<(ToolGroup, &'static [ToolName])> {
    let own = ToolGroup::find(word).map(|group| (group, [].as_slice()));
    let other = || GROUP_WORDS.iter().find(|(other, ..)| *other == word);
    own.or_else(|| other().map(|(_, group, left_out)| (*group, *left_out)))
}

/// Returns the tools that no word for their group gives.
fn left_out(groups: &[NamedGroup]) -> Vec<ToolName> {
    let gives = |tool: &ToolName| {
        let mut own =
            groups.iter().filter(|named| tool.availability().group() == Some(named.entry.group));
        own.any(|named| !named.left_out.contains(tool))
    };
    let mut tools: Vec<ToolName> = groups
        .iter()
        .flat_map(|named| named.left_out)
        .copied()
        .filter(|tool| !gives(tool))
        .collect();
    tools.dedup();
    tools
}

impl ModeFileReader<'_> {
    /// Reads the groups and, where some of them are single tools, which of their tools the mode
    /// has.
    pub(super) fn groups(
        &mut self,
        node: &YamlNode,
        path: &str,
    ) -> Option<(Vec<GroupEntry>, ToolLimits)> {
        let key = one_of(node, &["groups", "tools"]);
        if let (Some(_), Some(tools)) = (node.get("groups"), node.get("tools")) {
            let message = "`groups` and `tools` both say which tools the mode has".to_owned();
            let hint = Some("keep one of them".to_owned());
            self.wrong(tools.place, &format!("{path}.tools"), message, hint);
        }
        let path = format!("{path}.{key}");
        let Some(groups) = node.get(key) else {
            self.wrong(
                node.place,
                &path,
                "`groups` is required".to_owned(),
                Some("`groups: []` gives no tools".to_owned()),
            );
            return None;
        };
        let Some(list) = groups.list() else {
            self.wrong(
                groups.place,
                &path,
                format!("expected a list, found {}", groups.kind()),
                None,
            );
            return None;
        };
        if key == "tools" {
            return self.tools(&list.iter().collect::<Vec<_>>(), &path);
        }
        let mut index = 0;
        let mut entries = Vec::new();
        for entry in list {
            entries.push(self.group(entry, &format!("{path}.{index}")));
            // The peers take it out before they count.
            let is_counted = self.dialect == Dialect::Locum || !is_browser(entry);
            index += usize::from(is_counted);
        }
        let entries = entries.into_iter().collect::<Option<Vec<NamedGroup>>>()?;
        let limits = ToolLimits { only: None, never: left_out(&entries) };
        Some((self.joined(entries, &path), limits))
    }

    /// Returns each group once. Two words for one group are one; a word that stands there twice, or
    /// a limit that another word would take away again, is a mistake.
    fn joined(&mut self, entries: Vec<NamedGroup>, path: &str) -> Vec<GroupEntry> {
        self.contradictions(&entries, path);
        let mut groups: Vec<NamedGroup> = Vec::new();
        for named in entries {
            let same = groups.iter().find(|known| known.entry.group == named.entry.group);
            let plain = |named: &NamedGroup| named.entry.file_regex.is_none();
            match same {
                None => groups.push(named),
                Some(known)
                    if (known.word != named.word || named.entry.group == ToolGroup::Browser)
                        && plain(known)
                        && plain(&named) => {}
                Some(_) => {
                    let message =
                        format!("group `{}` stands here twice", named.entry.group.as_str());
                    self.wrong(named.place, path, message, None);
                }
            }
        }
        groups.into_iter().map(|named| named.entry).collect()
    }

    /// Refuses groups of which one gives what another takes away.
    fn contradictions(&mut self, groups: &[NamedGroup], path: &str) {
        let word = |word: &str| groups.iter().find(|named| named.word == word);
        let changes =
            |named: &&NamedGroup| matches!(named.entry.group, ToolGroup::Edit | ToolGroup::Command);
        let contradicted = word("readonly").and_then(|_| groups.iter().find(changes));
        let commands = groups.iter().find(|named| named.entry.group == ToolGroup::Command);
        let reads = groups
            .iter()
            .find(|named| named.entry.group == ToolGroup::Read && named.entry.file_regex.is_some());
        if let Some(named) = contradicted {
            let message = format!("`readonly` and `{}` contradict each other", named.word);
            self.wrong(named.place, path, message, Some("keep one of them".to_owned()));
        } else if let (Some(_), Some(named)) = (reads, commands) {
            let message = format!("`{}` reads files that `read` leaves out", named.word);
            let hint = "take one of the two out, or limit reading by the policy's rules: what \
                        they deny, commands do not see";
            self.wrong(named.place, path, message, Some(hint.to_owned()));
        }
    }

    /// Reads `read` or `[edit, { fileRegex: ... }]`; `None` when it is neither.
    fn group(&mut self, node: &YamlNode, path: &str) -> Option<NamedGroup> {
        if self.dialect != Dialect::Locum
            && let Some([_, options @ ..]) = node.list().filter(|_| is_browser(node))
        {
            // The peers take it out unread, whatever its options are.
            if options.iter().any(|options| options.entries() != Some(&[])) {
                let message =
                    format!("options of `{}` have no effect", ToolGroup::Browser.as_str());
                self.warn(node.place, path, message, None);
            }
            let entry =
                GroupEntry { group: ToolGroup::Browser, file_regex: None, description: None };
            let word = entry.group.as_str().to_owned();
            return Some(NamedGroup { entry, word, place: node.place, left_out: &[] });
        }
        let (name, options) = match node.list() {
            None => (node, None),
            Some([name, options]) => (name, Some(options)),
            Some(_) => {
                let hint = Some("write `- edit`, or `- [edit, { fileRegex: ... }]`".to_owned());
                self.wrong(
                    node.place,
                    path,
                    "expected a group, or a pair of a group and its options".to_owned(),
                    hint,
                );
                return None;
            }
        };
        let Some((group, left_out)) = name.text().and_then(group_of) else {
            let names: Vec<&str> = ToolGroup::ALL.iter().map(|group| group.as_str()).collect();
            // `edit: { fileRegex: ... }` is what other programs write for the pair.
            let pair = match name.entries() {
                Some([entry]) if group_of(&entry.key).is_some() => Some(&entry.key),
                Some(_) | None => None,
            };
            if let Some(group) = pair {
                let hint = format!(
                    "write a group with options as a pair: `- [{group}, {{ fileRegex: ... }}]`"
                );
                let message = "expected a group, found a mapping".to_owned();
                self.wrong(name.place, path, message, Some(hint));
                return None;
            }
            self.wrong(
                name.place,
                path,
                format!("{} is not a group", shown(name)),
                Some(format!("groups are {}", code_list(&names))),
            );
            return None;
        };
        let mut entry = GroupEntry { group, file_regex: None, description: None };
        let word = name.text().unwrap_or_default().to_owned();
        let named =
            |entry: GroupEntry| Some(NamedGroup { entry, word, place: node.place, left_out });
        let Some(options) = options else { return named(entry) };
        let option =
            |key: &str| options.get(key).map(|value| value.text().ok_or(value)).transpose();
        let (Some(keys), Ok(pattern), Ok(description)) =
            (options.entries(), option("fileRegex"), option("description"))
        else {
            let message = "expected options of text: `fileRegex`, `description`".to_owned();
            self.wrong(options.place, path, message, None);
            return None;
        };
        self.only_keys(keys, OPTION_KEYS, &format!("{path}.1"));
        if pattern.is_some() && !entry.may_limit_files() {
            self.without_limit(options, group, &format!("{path}.1.fileRegex"));
        }
        entry.description = description.map(str::to_owned);
        if let Some(pattern) = pattern {
            match FileRegex::parse(pattern) {
                // What is taken over must be right where it goes.
                Ok(_) if self.dialect == Dialect::Import && !entry.may_limit_files() => {}
                Ok(regex) => entry.file_regex = Some(regex),
                Err(error) => {
                    let message =
                        format!("`{pattern}` is not a JavaScript regular expression: {error}");
                    self.wrong(
                        place_of(options, "fileRegex"),
                        &format!("{path}.1.fileRegex"),
                        message,
                        None,
                    );
                }
            }
        }
        named(entry)
    }

    /// Says that a group cannot be limited to files: a mistake in our files, a warning in those of
    /// the peers, whose programs give the whole group.
    fn without_limit(&mut self, options: &YamlNode, group: ToolGroup, path: &str) {
        let message = format!("has no effect on `{}`", group.as_str());
        let hint = Some("`edit` and `read` can be limited to files".to_owned());
        if self.dialect == Dialect::Locum {
            self.wrong(options.place, path, message, hint);
        } else {
            self.warn(options.place, path, message, hint);
        }
    }
}

fn is_browser(node: &YamlNode) -> bool {
    node.list().map_or(Some(node), |pair| pair.first()).and_then(YamlNode::text)
        == Some(ToolGroup::Browser.as_str())
}
