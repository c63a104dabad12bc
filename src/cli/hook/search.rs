//! Searches of another agent: they leave nothing out that the policy hides.
//!
//! In: a question about a call. Out: a file that such a search would read and the policy would not.

use std::path::Path;

use ignore::WalkBuilder;
use serde_json::Value;

use crate::run::explain::Explainer;
use locum_agent::tools::dispatch;
use locum_agent::tools::search::pattern::FilePattern;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::intent::Intent;
use locum_policy::query::{PolicyQuery, QueriedAct};
use locum_policy::verdict::Decision;

/// Most files that are looked at for one search.
const FILES_LIMIT: usize = 100_000;

/// Says which file a search would read that may not be read; `None` for other calls, and where there
/// is none. Such searches pass over what git ignores, unless they name it.
pub(super) fn unread(
    question: &PolicyQuery,
    explainer: &Explainer,
    (root, folder): (&Path, &Path),
) -> Option<String> {
    let QueriedAct::Call(call) = &question.act else { return None };
    if dispatch::meant(call) != Some(ToolName::SearchFiles) {
        return None;
    }
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let text = |names: &[&str]| super::text(&arguments, names).filter(|text| !text.is_empty());
    let here = || super::inside(".", root, folder);
    let below = text(&["path"]).map(str::to_owned).or_else(here)?;
    let below = RepoPath::parse(&below).ok()?;
    let glob = text(&["glob", "include", "include_pattern", "file_pattern"]);
    let patterns: Result<Vec<FilePattern>, _> =
        patterns(glob.unwrap_or_default()).iter().map(|glob| FilePattern::parse(glob)).collect();
    let Ok(patterns) = patterns else {
        return Some("the search names files by a pattern that is not known".to_owned());
    };
    let mut walk = WalkBuilder::new(root.join(below.as_str()));
    // What a pattern names is searched whatever git ignores.
    walk.standard_filters(patterns.is_empty()).hidden(false).git_global(false).follow_links(false);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let mut looked_at = 0;
    for entry in walk.build().filter_map(Result::ok) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        looked_at += 1;
        if looked_at > FILES_LIMIT {
            return Some(format!(
                "the search reads more than {FILES_LIMIT} files, and which of them may be read was \
                 not looked at"
            ));
        }
        let path = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
        let Some(path) = path.and_then(|path| RepoPath::parse(path).ok()) else { continue };
        let is_searched = |pattern: &FilePattern| pattern.matches(&path, &below);
        if !patterns.is_empty() && !patterns.iter().any(is_searched) {
            continue;
        }
        let read = Intent::Read(path.clone());
        let verdict = explainer.policy().decide(&read, explainer.facts());
        if verdict.decision != Decision::Allow {
            let why = verdict.reason();
            return Some(format!("the search would show `{path}`, which may not be read: {why}"));
        }
    }
    None
}

/// Returns the patterns that a text names, cut at blanks and at commas outside of braces. `/a` is `a`
/// from where the search begins, and what is left out (`!a`) makes it larger for nobody.
fn patterns(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let cut = text.split(|letter: char| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter.is_whitespace() || (letter == ',' && depth == 0)
    });
    let plain = cut.map(|one| one.trim_start_matches('/')).filter(|one| !one.is_empty());
    let named: Vec<String> = plain.filter(|one| !one.starts_with('!')).map(str::to_owned).collect();
    // With nothing but what is left out, everything else is searched, whatever git ignores.
    if named.is_empty() && !text.trim().is_empty() { vec!["**".to_owned()] } else { named }
}
