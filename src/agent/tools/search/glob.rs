//! `glob`: finds files by a pattern of their names, newest first.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::{FOLDER, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::pattern::FilePattern;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Most files named.
pub const FILES_LIMIT: usize = 200;

/// A pattern about to be looked for.
#[derive(Clone, Debug)]
pub struct Glob {
    place: ResolvedPath,
    text: String,
    pattern: FilePattern,
}

impl Tool for Glob {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "Find files by name: the 200 last changed that fit a \
        pattern, newest first. Ignored files are left out.";
    const REQUIRED: &'static [&'static str] = &["pattern"];
    const PEERS: PeerWords = PeerWords {
        renames: &[
            FOLDER,
            &[("glob", "pattern"), ("glob_pattern", "pattern"), ("file_pattern", "pattern")],
        ],
        hook_names: &["Glob"],
        ..PeerWords::NONE
    };
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({
            "pattern": {
                "type": "string",
                "description": "`*.rs`, or with a `/` for paths: `src/**/*.{ts,tsx}`"
            },
            "path": {
                "type": ["string", "null"],
                "description": "Folder; default the root"
            }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let text = arguments.words("pattern", "a glob such as `*.rs` or `src/**/*.ts`")?;
        let place = arguments.optional_place(
            "path",
            "the folder, relative to the repository root",
            context,
        )?;
        arguments.finish()?;
        let below = if text.starts_with('/') { Some(from_root(&text, context)?) } else { None };
        let (place, inner) = below.unwrap_or_else(|| (place, text.clone()));
        if text.starts_with('~') || inner.split('/').any(|part| part == "..") {
            return Err(CallError(
                "`pattern` of `glob` leads up or out of the repository; write it from the root."
                    .to_owned(),
            ));
        }
        let pattern = FilePattern::parse(&inner)
            .map_err(|error| CallError(format!("`pattern` of `glob` is not a glob: {error}.")))?;
        Ok(Self { place, text, pattern })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("find {} in {}", self.text, self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let folder = OpenedFolder::open_folder("search", &self.place, permit, context)?;
        let visible = context.visible;
        let found = folder.files_and_links(|entry, path| {
            if !self.pattern.matches(&path, folder.path()) || !visible(&path) {
                return None;
            }
            Some((Reverse(entry.metadata().ok()?.modified().ok()?), path))
        });
        let lines = render(found.into_iter().map(|(_, path)| path).collect());
        Ok(Observation::said(format!("{lines}{}", folder.unnamed_note())))
    }
}

/// Takes an absolute pattern apart: the folder in the repository that it begins with, and the
/// pattern from the repository's root.
fn from_root(text: &str, context: ToolContext<'_>) -> Result<(ResolvedPath, String), CallError> {
    let begin = text.find(['*', '?', '[', '{']).unwrap_or(text.len());
    let end = text.get(..begin).and_then(|plain| plain.rfind('/')).unwrap_or_default();
    let (folder, rest) = text.split_at(end);
    let place = ResolvedPath::find(if folder.is_empty() { "/" } else { folder }, context)?;
    let rest = rest.trim_start_matches('/');
    let inner =
        if place.real.is_root() { rest.to_owned() } else { format!("{}/{rest}", place.real) };
    Ok((place, inner))
}

fn render(found: Vec<RepoPath>) -> String {
    let shown: Vec<&str> = found.iter().take(FILES_LIMIT).map(RepoPath::as_str).collect();
    let lines = shown.join("\n");
    match found.len() {
        0 => "No files found; ignored ones are not looked for.".to_owned(),
        count if count > FILES_LIMIT => format!(
            "{lines}\n\n(The newest {FILES_LIMIT} of {count} files. Use a narrower pattern or \
             folder for the others.)"
        ),
        _ => lines,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::FILES_LIMIT;
    use crate::tools::fixture::ToolFixture;
    use locum_base::path::RepoPath;
    use locum_base::tool::ToolName;
    use locum_policy::intent::{Act, Intent};

    fn glob(fixture: &ToolFixture, pattern: &str, path: Option<&str>) -> String {
        fixture.call("glob", &json!({ "pattern": pattern, "path": path }).to_string()).text
    }

    /// Makes a checkout in which each file is a minute newer than the one before.
    fn aged(files: &[(&str, &str)]) -> ToolFixture {
        let fixture = ToolFixture::new(files);
        let mut time = SystemTime::UNIX_EPOCH;
        for (path, _) in files {
            time += Duration::from_secs(60);
            File::options().write(true).open(fixture.at(path)).unwrap().set_modified(time).unwrap();
        }
        fixture
    }

    fn project() -> ToolFixture {
        aged(&[
            (".gitignore", "*.log\n/build/\n"),
            ("src/old.rs", ""),
            ("src/deep/a.rs", ""),
            ("build/b.rs", ""),
            ("a.log", ""),
            (".github/ci.yml", ""),
            ("new.rs", ""),
            ("src/c.ts", ""),
        ])
    }

    #[test]
    fn finds_names_and_paths_newest_first_without_what_is_ignored() {
        let fixture = project();
        for (pattern, path, expected) in [
            ("*.rs", None, "new.rs\nsrc/deep/a.rs\nsrc/old.rs"),
            ("**/*.rs", None, "new.rs\nsrc/deep/a.rs\nsrc/old.rs"),
            ("src/*.{rs,ts}", None, "src/c.ts\nsrc/old.rs"),
            ("*.rs", Some("src"), "src/deep/a.rs\nsrc/old.rs"),
            ("deep/*", Some("src"), "src/deep/a.rs"),
            ("*.yml", None, ".github/ci.yml"),
            ("*.log", None, "No files found; ignored ones are not looked for."),
            (".git/*", None, "No files found; ignored ones are not looked for."),
            ("*.rs", Some("build"), "build/b.rs"),
        ] {
            assert_eq!(glob(&fixture, pattern, path), expected, "{pattern} {path:?}");
        }
        for (pattern, expected) in [
            ("src/*.rs", "src/old.rs"),
            ("src/deep/a.rs", "src/deep/a.rs"),
            ("**/*.ts", "src/c.ts"),
        ] {
            let pattern = fixture.at(pattern).display().to_string();
            assert_eq!(glob(&fixture, &pattern, None), expected, "{pattern}");
        }
        for (pattern, why) in [
            ("/etc/*", "is absolute"),
            ("/*", "is absolute"),
            ("../*", "leads up or out of the repository"),
            ("src/../../*", "leads up or out of the repository"),
            ("~/x", "leads up or out of the repository"),
        ] {
            assert!(
                glob(&fixture, pattern, None).contains(why),
                "{}",
                glob(&fixture, pattern, None)
            );
        }
    }

    #[test]
    fn links_are_named_as_in_a_list_and_not_followed() {
        let fixture = ToolFixture::new(&[("sub/a.rs", "x")]);
        for (target, link) in [("sub/a.rs", "to.rs"), ("none", "dang.rs"), ("sub", "folder.rs")] {
            std::os::unix::fs::symlink(target, fixture.at(link)).unwrap();
        }
        let found = glob(&fixture, "*.rs", None);
        let mut found: Vec<&str> = found.lines().collect();
        found.sort_unstable();
        assert_eq!(found, ["dang.rs", "folder.rs", "sub/a.rs", "to.rs"]);
    }

    #[test]
    fn names_and_counts_only_what_may_be_read() {
        let mut fixture = project();
        fixture.hidden = vec!["src/deep/a.rs"];
        assert_eq!(glob(&fixture, "*.rs", None), "new.rs\nsrc/old.rs");
        let many: Vec<String> = (0..FILES_LIMIT + 5).map(|file| format!("f{file}")).collect();
        let mut fixture = aged(&many.iter().map(|file| (file.as_str(), "")).collect::<Vec<_>>());
        fixture.hidden = vec!["f204"];
        let text = glob(&fixture, "*", None);
        assert!(text.starts_with("f203\nf202\n") && !text.contains("f204"), "{text}");
        assert!(text.contains("\nf4\n\n(The newest 200 of 204 files."), "{text}");
    }

    #[test]
    fn reads_the_folder_and_says_what_is_wrong() {
        let fixture = project();
        std::os::unix::fs::symlink("src", fixture.at("link")).unwrap();
        let arguments = json!({ "pattern": "*.rs", "path": "link" }).to_string();
        let call = fixture.parse("glob", &arguments, ToolName::ALL).unwrap();
        assert_eq!(call.intents(), [Intent::Read(RepoPath::parse("src").unwrap())]);
        assert_eq!((call.headline().as_str(), call.only_reads()), ("find *.rs in link", true));
        for (pattern, path, expected) in [
            ("*.rs", "new.rs", "Cannot search `new.rs`: it is not a folder."),
            ("*.rs", "none", "Cannot search `none`: it does not exist."),
            ("*.rs", "../x", "../x"),
            ("[", ".", "`pattern` of `glob` is not a glob"),
            (" ", ".", "`pattern` of `glob` is empty"),
        ] {
            let text = glob(&fixture, pattern, Some(path));
            assert!(text.contains(expected), "{pattern} {path}: {text}");
        }
    }
}
