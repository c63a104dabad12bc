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
pub(super) fn unread(question: &PolicyQuery, explainer: &Explainer, root: &Path) -> Option<String> {
    let QueriedAct::Call(call) = &question.act else { return None };
    if dispatch::meant(call) != Some(ToolName::SearchFiles) {
        return None;
    }
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let text = |names: &[&str]| super::text(&arguments, names).filter(|text| !text.is_empty());
    let below = RepoPath::parse(text(&["path"]).unwrap_or(".")).ok()?;
    let pattern = text(&["glob", "include", "include_pattern", "file_pattern"])
        .filter(|glob| !matches!(*glob, "*" | "**" | "**/*"))
        .map(FilePattern::parse);
    let pattern = match pattern.transpose() {
        Ok(pattern) => pattern,
        Err(_) => return Some("the search names files by a pattern that is not known".to_owned()),
    };
    let mut walk = WalkBuilder::new(root.join(below.as_str()));
    // What a pattern names is searched whatever git ignores.
    walk.standard_filters(pattern.is_none()).hidden(false).git_global(false).follow_links(false);
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
        if pattern.as_ref().is_some_and(|pattern| !pattern.matches(&path, &below)) {
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
