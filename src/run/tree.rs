//! The final tree is judged again before anything of it is published: what counts is what the
//! commit changes of the base the run started from, not what was allowed on the way there.
//!
//! In: the commit as git holds it, the policy, the modes that worked. Out: objections, none when
//! the commit may be published. It looks at every path by itself (both ends of a rename), at what
//! became of it (file, link, submodule, executable), at sizes, and for secrets.

use locum_agent::session::outcome::ApprovedCall;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_base::tool::ToolName;
use locum_modes::{Mode, ToolGroup, access};
use locum_policy::Policy;
use locum_policy::approval::Approval;
use locum_policy::budget::{Budget, Spent};
use locum_policy::intent::{Facts, Intent};
use locum_policy::paths::protected;
use locum_policy::verdict::{Decision, Verdict};
use locum_workspace::committed::{CommitChanges, CommittedFile, CommittedPath, PATHS_LIMIT};
use locum_workspace::repo::CommitId;

/// Largest new or changed file that is published, in bytes.
pub const FILE_LIMIT_BYTES: u64 = 10 * 1024 * 1024;

/// Most bytes of all new and changed files together.
pub const TOTAL_LIMIT_BYTES: u64 = 25 * 1024 * 1024;

/// Most objections that are listed one by one.
const TOLD_LIMIT: usize = 20;

/// What the final tree is judged by.
#[derive(Clone, Copy, Debug)]
pub struct TreeJudge<'a> {
    /// Decides on every changed path.
    pub policy: &'a Policy,
    /// Who asked and how.
    pub facts: &'a Facts,
    /// The modes that worked in the run.
    pub modes: &'a [&'a Mode],
    /// What may be changed at most.
    pub budget: &'a Budget,
    /// Finds secrets in what was changed.
    pub redactor: &'a Redactor,
    /// The commit the run started from.
    pub base: &'a CommitId,
    /// Approved calls: what was held of them may stay.
    pub approved: &'a [ApprovedCall],
}

impl TreeJudge<'_> {
    /// Returns why the commit may not be published, one sentence each; nothing when it may.
    pub fn objections(&self, committed: &CommitChanges) -> Vec<String> {
        let mut objections: Vec<String> =
            committed.paths.iter().filter_map(|changed| self.secret(changed)).collect();
        objections.extend(self.whole(committed));
        objections.extend(committed.paths.iter().flat_map(|changed| self.path(changed)));
        let more = objections.len().saturating_sub(TOLD_LIMIT);
        if more > 0 {
            objections.truncate(TOLD_LIMIT);
            objections.push(format!("and {more} more"));
        }
        objections
    }

    /// Returns the files that become executable: a reviewer wants to know.
    pub fn new_executables(committed: &CommitChanges) -> Vec<&RepoPath> {
        committed
            .paths
            .iter()
            .filter(|changed| becomes_executable(changed))
            .filter_map(|changed| changed.path.as_ref().ok())
            .collect()
    }

    /// Objects to the commit as a whole: where it builds, how much it is, names that are the same
    /// to some disks.
    fn whole(&self, committed: &CommitChanges) -> Vec<String> {
        let mut objections = Vec::new();
        if committed.parents != [self.base.clone()] {
            objections.push(format!(
                "the commit does not build on {} alone, which the run started from",
                self.base
            ));
        }
        if committed.is_cut {
            objections.push(format!(
                "it changes more than {PATHS_LIMIT} paths, or folders nested too deep to look at"
            ));
        }
        objections.extend(committed.collisions.iter().map(|(new, old)| {
            format!("`{}` and `{}` are one name to some disks", shown(new), shown(old))
        }));
        objections.extend(committed.git_data.iter().map(|(path, folder)| {
            format!("git would take `{folder}` for a repository of its own, with `{path}`")
        }));
        let sizes = committed.paths.iter().map(|changed| match changed.after {
            CommittedFile::File { size_bytes, .. } => size_bytes,
            CommittedFile::Nothing | CommittedFile::Link { .. } | CommittedFile::Submodule => 0,
        });
        let total_bytes = sizes.fold(0, u64::saturating_add);
        if total_bytes > TOTAL_LIMIT_BYTES {
            objections.push(format!(
                "its files have {total_bytes} bytes together, {TOTAL_LIMIT_BYTES} at most"
            ));
        }
        let lines = committed
            .paths
            .iter()
            .map(|changed| changed.lines.added.saturating_add(changed.lines.removed));
        let files = u32::try_from(committed.paths.len()).unwrap_or(u32::MAX);
        let size =
            Spent { files, diff_lines: lines.fold(0, u32::saturating_add), ..Spent::default() };
        objections
            .extend(self.budget.ask_changes(&size).err().map(|exhausted| exhausted.to_string()));
        objections
    }

    fn path(&self, changed: &CommittedPath) -> Vec<String> {
        let path = match &changed.path {
            Ok(path) => path,
            Err(name) => {
                return vec![format!(
                    "`{name}` is no name a file may have: bytes that are no text, control \
                     characters, or a drive"
                )];
            }
        };
        let mut objections: Vec<String> = self.edit(path).into_iter().collect();
        if path.parts().any(is_git_folder) {
            objections.push(format!("`{path}` lies in a folder of git's"));
        }
        match &changed.after {
            CommittedFile::Nothing => {}
            CommittedFile::File { size_bytes, .. } if *size_bytes > FILE_LIMIT_BYTES => {
                objections
                    .push(format!("`{path}` has {size_bytes} bytes, {FILE_LIMIT_BYTES} at most"));
            }
            CommittedFile::File { .. }
                if becomes_executable(changed)
                    && !self.modes.iter().any(|mode| has(mode, ToolGroup::Command)) =>
            {
                objections.push(format!(
                    "`{path}` becomes executable, and no mode that worked runs commands"
                ));
            }
            CommittedFile::File { .. } => {}
            CommittedFile::Link { target, leads_to } => {
                objections.extend(self.link(path, target, leads_to.as_ref()))
            }
            CommittedFile::Submodule => objections.push(format!("`{path}` is a submodule")),
        }
        if changed.before == CommittedFile::Submodule && changed.after != CommittedFile::Submodule {
            objections.push(format!("`{path}` was a submodule"));
        }
        objections
    }

    /// A link is as good as a copy of what it leads to: that must be inside, and neither protected
    /// nor hidden.
    fn link(&self, path: &RepoPath, target: &str, leads_to: Option<&RepoPath>) -> Option<String> {
        let Some(real) = leads_to else {
            return Some(format!(
                "`{path}` is a link that leads out of the repository, or nowhere: `{}`",
                shown(target)
            ));
        };
        let below = || real.join("x").ok().as_ref().and_then(protected);
        if let Some(why) = protected(real).or_else(below) {
            return Some(format!("`{path}` is a link to `{real}`, which is protected: {why}"));
        }
        let facts = |mode: &Mode| Facts { mode: mode.slug.clone(), ..self.facts.clone() };
        let readable = |mode: &&Mode| {
            self.policy.decide(&Intent::Read(real.clone()), &facts(mode)).decision
                == Decision::Allow
        };
        let seen = self.modes.iter().any(readable);
        (!seen)
            .then(|| format!("`{path}` is a link to `{real}`, which no mode that worked may read"))
    }

    /// A file may change when one mode that worked could have changed it: by its own restriction
    /// and by the policy.
    fn edit(&self, path: &RepoPath) -> Option<String> {
        let mut last = None;
        for mode in self
            .modes
            .iter()
            .filter(|mode| has(mode, ToolGroup::Edit) || has(mode, ToolGroup::Command))
        {
            match self.edit_in(mode, path) {
                Ok(()) => return None,
                Err(why) => last = Some(why),
            }
        }
        Some(last.unwrap_or_else(|| format!("no mode that worked may edit `{path}`")))
    }

    fn edit_in(&self, mode: &Mode, path: &RepoPath) -> Result<(), String> {
        access::check_edit(mode, ToolName::WriteToFile, path)
            .map_err(|restriction| restriction.to_string())?;
        let facts = Facts { mode: mode.slug.clone(), ..self.facts.clone() };
        let verdict = self.policy.decide(&Intent::Edit(path.clone()), &facts);
        let allowed =
            |approval: Option<&Approval>| Approval::applied(approval, &verdict) == Decision::Allow;
        let approvals = self.approved.iter().map(|call| Some(&call.approval));
        if std::iter::once(None).chain(approvals).any(allowed) {
            Ok(())
        } else {
            Err(said(&verdict))
        }
    }

    /// Says where a secret would be published, never which.
    fn secret(&self, changed: &CommittedPath) -> Option<String> {
        let name = changed.path.as_ref().map_or_else(String::clone, ToString::to_string);
        if self.redactor.finds_secret(&name) {
            return Some(format!("the name `{}` holds a secret", self.redactor.redact(&name)));
        }
        let text: Vec<&str> = changed.lines.text.iter().map(|(_, line)| line.as_str()).collect();
        let at = self.redactor.first_secret(&text.join("\n"))?;
        let mut before = 0;
        let holds = |line: &&(usize, String)| {
            before += line.1.len() + 1;
            before > at
        };
        let number = changed.lines.text.iter().find(holds).map_or(0, |(number, _)| *number);
        Some(format!("{name}:{number} holds a secret"))
    }
}

fn becomes_executable(changed: &CommittedPath) -> bool {
    let executable =
        |kept: &CommittedFile| matches!(kept, CommittedFile::File { executable: true, .. });
    executable(&changed.after) && !executable(&changed.before)
}

fn has(mode: &Mode, group: ToolGroup) -> bool {
    mode.groups.iter().any(|entry| entry.group == group)
}

/// Git refuses such names in most places; no rule makes them publishable.
fn is_git_folder(part: &str) -> bool {
    let plain = RepoPath::parse(part).ok().as_ref().and_then(locum_policy::paths::plain_spelling);
    plain.is_none_or(|plain| plain.as_str() == ".git")
}

/// Returns a name as it may stand in a sentence.
fn shown(name: &str) -> String {
    locum_base::text::head(&name.escape_debug().to_string(), 200).replace('`', "'")
}

/// Returns a verdict in one sentence: what was judged, why, and by which rule.
pub(super) fn said(verdict: &Verdict) -> String {
    let place = verdict.rule().map_or_else(String::new, |rule| format!(" ({})", rule.place()));
    format!("{}: {}{place}", verdict.intent, verdict.reason())
}

#[cfg(test)]
mod tests {
    use super::{FILE_LIMIT_BYTES, TOTAL_LIMIT_BYTES, TreeJudge};
    use locum_base::path::RepoPath;
    use locum_base::secret::{Redactor, Secret};
    use locum_modes::{Mode, builtin};
    use locum_policy::Policy;
    use locum_policy::budget::Budget;
    use locum_policy::intent::Facts;
    use locum_workspace::committed::{CommitChanges, CommittedFile, CommittedPath};
    use locum_workspace::diff::NewLines;
    use locum_workspace::repo::CommitId;
    use pretty_assertions::assert_eq;

    const POLICY: &str =
        "version: 1\nrules:\n  - allow: [\"read(**)\", \"edit(**)\"]\n  - deny: edit(src/gen/**)\n";

    fn judged(committed: &CommitChanges, slug: &str) -> Vec<String> {
        let policy = Policy::parse(POLICY, "policy.yml").unwrap();
        let all = builtin::modes();
        let modes: Vec<&Mode> = all.iter().filter(|mode| mode.slug == slug).collect();
        let judge = TreeJudge {
            policy: &policy,
            facts: &Facts::default(),
            modes: &modes,
            budget: &Budget { files: 9, diff_lines: 90, ..Budget::default() },
            redactor: &Redactor::new([Secret::new("unseen-secret-value")]),
            base: &CommitId("base".to_owned()),
            approved: &[],
        };
        judge.objections(committed)
    }

    fn file(size_bytes: u64) -> CommittedFile {
        CommittedFile::File { executable: false, size_bytes }
    }

    fn link(target: &str, leads_to: Option<&str>) -> CommittedFile {
        CommittedFile::Link {
            target: target.to_owned(),
            leads_to: leads_to.map(|path| RepoPath::parse(path).unwrap()),
        }
    }

    fn changed(path: &str, after: CommittedFile) -> CommittedPath {
        CommittedPath {
            path: Ok(RepoPath::parse(path).unwrap()),
            before: CommittedFile::Nothing,
            after,
            lines: NewLines::default(),
        }
    }

    fn commit(paths: Vec<CommittedPath>) -> CommitChanges {
        CommitChanges {
            parents: vec![CommitId("base".to_owned())],
            paths,
            ..CommitChanges::default()
        }
    }

    fn holding(path: &str, lines: &[(usize, &str)]) -> CommitChanges {
        let text: Vec<(usize, String)> =
            lines.iter().map(|(number, line)| (*number, (*line).to_owned())).collect();
        let lines = NewLines { added: u32::try_from(text.len()).unwrap(), text, removed: 0 };
        commit(vec![CommittedPath { lines, ..changed(path, file(9)) }])
    }

    #[test]
    fn an_ordinary_change_is_published() {
        let paths = vec![
            changed("src/lib.rs", file(100)),
            CommittedPath { before: file(3), ..changed("old", CommittedFile::Nothing) },
            changed("docs/latest", link("v2", Some("docs/v2"))),
            CommittedPath {
                before: CommittedFile::File { executable: true, size_bytes: 1 },
                ..changed("run.sh", CommittedFile::File { executable: true, size_bytes: 2 })
            },
            changed("new.sh", CommittedFile::File { executable: true, size_bytes: 2 }),
        ];
        let whole = commit(paths);
        assert_eq!(judged(&whole, "code"), Vec::<String>::new());
        assert_eq!(TreeJudge::new_executables(&whole), [&RepoPath::parse("new.sh").unwrap()]);
    }

    #[test]
    fn what_must_not_be_published_is_refused_by_the_final_tree_alone() {
        let gone =
            |path: &str| CommittedPath { before: file(1), ..changed(path, CommittedFile::Nothing) };
        let lines = |added| CommittedPath {
            lines: NewLines { added, ..NewLines::default() },
            ..changed("a", file(1))
        };
        let unnamed =
            CommittedPath { path: Err("caf\u{fffd}".to_owned()), ..changed("x", file(1)) };
        for (attack, whole) in [
            ("a workflow", commit(vec![changed(".github/workflows/ci.yml", file(1))])),
            (
                "a workflow in other letters",
                commit(vec![changed(".GITHUB/Workflows/ci.yml", file(1))]),
            ),
            (
                "a workflow with an invisible letter",
                commit(vec![changed(".git\u{200c}hub/workflows/ci.yml", file(1))]),
            ),
            (
                "one end of a rename",
                commit(vec![gone(".github/workflows/ci.yml"), changed("ci.yml", file(1))]),
            ),
            (
                "the other end of a rename",
                commit(vec![gone("ci.yml"), changed(".locum/policy.yml", file(1))]),
            ),
            ("git's own folder", commit(vec![changed("sub/.git/config", file(1))])),
            ("attributes", commit(vec![changed("sub/.gitattributes", file(1))])),
            ("modules", commit(vec![changed(".gitmodules", file(1))])),
            ("a denied path", commit(vec![changed("src/gen/a.rs", file(1))])),
            ("a denied path in other letters", commit(vec![changed("SRC/gen/a.rs", file(1))])),
            ("a submodule", commit(vec![changed("vendor/x", CommittedFile::Submodule)])),
            (
                "a submodule gone",
                commit(vec![CommittedPath {
                    before: CommittedFile::Submodule,
                    ..changed("vendor/x", CommittedFile::Nothing)
                }]),
            ),
            ("a link out", commit(vec![changed("passwd", link("/etc/passwd", None))])),
            (
                "a link to a workflow",
                commit(vec![changed(
                    "x",
                    link(".github/workflows/ci.yml", Some(".github/workflows/ci.yml")),
                )]),
            ),
            (
                "a link to a protected folder",
                commit(vec![changed("x", link(".github", Some(".github")))]),
            ),
            ("a link to credentials", commit(vec![changed("x", link(".env", Some(".env")))])),
            ("a name that is no text", commit(vec![unnamed])),
            ("a large file", commit(vec![changed("a", file(FILE_LIMIT_BYTES + 1))])),
            (
                "many large files",
                commit(
                    (0..4).map(|n| changed(&format!("{n}"), file(TOTAL_LIMIT_BYTES / 3))).collect(),
                ),
            ),
            ("many files", commit((0..10).map(|n| changed(&format!("{n}"), file(1))).collect())),
            ("many lines", commit(vec![lines(91)])),
            ("too much to look at", CommitChanges { is_cut: true, ..commit(vec![]) }),
            (
                "two names for one",
                CommitChanges {
                    collisions: vec![("readme".into(), "README".into())],
                    ..commit(vec![])
                },
            ),
            (
                "a repository without its own name",
                CommitChanges {
                    git_data: vec![("docs/b/config", "docs/b")]
                        .into_iter()
                        .map(|(path, folder)| {
                            (RepoPath::parse(path).unwrap(), RepoPath::parse(folder).unwrap())
                        })
                        .collect(),
                    ..commit(vec![])
                },
            ),
            (
                "another base",
                CommitChanges { parents: vec![CommitId("other".into())], ..commit(vec![]) },
            ),
            (
                "a merge",
                CommitChanges {
                    parents: ["base", "other"].map(|id| CommitId(id.into())).to_vec(),
                    ..commit(vec![])
                },
            ),
        ] {
            assert!(!judged(&whole, "code").is_empty(), "{attack}");
        }
        let ordinary = commit(vec![changed("ci.yml", file(1)), gone("old"), lines(80)]);
        assert_eq!(judged(&ordinary, "code"), Vec::<String>::new());
    }

    #[test]
    fn what_only_a_command_does_needs_a_mode_with_commands() {
        let whole = commit(vec![changed(
            "notes.md",
            CommittedFile::File { executable: true, size_bytes: 1 },
        )]);
        assert_eq!(
            judged(&whole, "architect"),
            ["`notes.md` becomes executable, and no mode that worked runs commands"]
        );
        assert_eq!(judged(&whole, "code"), Vec::<String>::new());
        let whole = commit(vec![changed("src/lib.rs", file(1))]);
        assert!(
            judged(&whole, "architect")[0].contains("src/lib.rs"),
            "a restriction of the mode counts"
        );
        assert_eq!(judged(&whole, "ask"), ["no mode that worked may edit `src/lib.rs`"]);
    }

    #[test]
    fn a_secret_is_refused_with_its_place_and_without_its_value() {
        let [head, tail] = ["unseen-secret", "-value"];
        let whole = format!("{head}{tail}");
        for (lines, place) in [
            (vec![(7, "let key ="), (8, whole.as_str())], "src/a.rs:8 holds a secret"),
            (vec![(3, head), (4, tail)], "src/a.rs:3 holds a secret"),
            (vec![(1, "x"), (9, "dW5zZWVuLXNlY3JldC12YWx1ZQ==")], "src/a.rs:9 holds a secret"),
        ] {
            let commit = holding("src/a.rs", &lines);
            assert_eq!(judged(&commit, "code"), [place]);
        }
        let named = holding(&format!("src/{whole}"), &[]);
        assert_eq!(judged(&named, "code"), ["the name `src/***` holds a secret"]);
        assert_eq!(
            judged(&holding("src/a.rs", &[(1, "unseen value of a secret")]), "code"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn tells_so_many_objections_and_how_many_more() {
        let objections = judged(
            &commit((0..30).map(|n| changed(&format!(".github/{n}"), file(1))).collect()),
            "code",
        );
        assert_eq!(
            (objections.len(), objections.last().map(String::as_str)),
            (21, Some("and 11 more"))
        );
    }
}
