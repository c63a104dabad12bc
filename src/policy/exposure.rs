//! The rule of two: whoever steers a run with text of their own must not find both something worth
//! taking and a way to carry it off.
//!
//! In: a policy's settings and rules. Out: the modes in which a run meets strangers' text, reaches
//! secrets or private data, and has a free way out, all three at once. Two of them are fine. It
//! judges what the rules give, for each mode and each way a run may start; it does not know which
//! tools a mode has.

use crate::actors::Tier;
use crate::intent::TriggerKind;
use crate::paths::Protection;
use crate::pattern::Pattern;
use crate::rule::{Rule, TRIGGERS, Written};
use crate::schema::{CommandNetwork, PolicySpec, Sandbox, Source};
use crate::verdict::Decision;
use locum_base::path::RepoPath;
use locum_files::shape::{Checked, Told};
use locum_files::yaml::Place;

/// Stands for every mode in `modes.accept_risk`.
pub const EVERY_MODE: &str = "*";

/// Fewest words that count as a reason.
const WORDS_LEAST: usize = 4;

/// Variables that tell commands where and how, and nothing worth taking.
const HARMLESS_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TZ",
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "CI",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "DEBIAN_FRONTEND",
    "SOURCE_DATE_EPOCH",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_TARGET_DIR",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "MAVEN_OPTS",
    "NODE_ENV",
    "NODE_PATH",
    "NVM_DIR",
    "PNPM_HOME",
    "COREPACK_HOME",
    "NPM_CONFIG_CACHE",
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "PYTHONDONTWRITEBYTECODE",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "UV_OFFLINE",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
];

/// Folders of the machine that hold programs and certificates.
const HARMLESS_FOLDERS: &[&str] = &[
    "usr/",
    "opt/",
    "lib/",
    "lib64/",
    "bin/",
    "sbin/",
    "nix/store/",
    "etc/ssl/certs/",
    "etc/ca-certificates/",
];

/// Modes that have all three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// The modes, by slug.
    pub modes: Vec<String>,
    /// What comes together, in words.
    pub what: String,
    /// Where the way out stands; line 0 where it is in the settings.
    pub place: Place,
}

/// A sentence that accepts a risk.
pub(crate) const REASON: Checked<String> = Checked {
    parse: |text| {
        let good =
            text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
                >= WORDS_LEAST;
        let told = || {
            Told::from(format!("`{text}` is not a reason"))
                .hint("write a sentence: why is it fine here, and who looks after it")
        };
        good.then(|| text.to_owned()).ok_or_else(told)
    },
    write: None,
    pattern: r"^\s*(\S+\s+){3,}\S+\s*$",
    example: "the server holds public data only",
};

/// What one mode has in runs that start in one way.
#[derive(Default)]
struct Reach {
    hostile: Vec<String>,
    private: Vec<String>,
    ways_out: Vec<(String, Place)>,
}

impl Reach {
    fn is_whole(&self) -> bool {
        !self.hostile.is_empty() && !self.private.is_empty() && !self.ways_out.is_empty()
    }
}

/// Returns the modes that have all three, those with the same things together; also those whose
/// risk is accepted.
#[must_use]
pub fn exposures(spec: &PolicySpec, rules: &[Rule]) -> Vec<Exposure> {
    let mut found: Vec<Exposure> = Vec::new();
    let standing = standing(rules);
    for mode in &spec.modes.allow {
        let reaches = starts(spec)
            .into_iter()
            .rev()
            .map(|(trigger, text)| (trigger, reach(spec, &standing, mode, trigger, text)));
        // Of several ways to start, the one with the most text of strangers is told of.
        let worst = reaches
            .filter(|(_, reach)| reach.is_whole())
            .max_by_key(|(_, reach)| reach.hostile.len());
        let Some((trigger, reach)) = worst else { continue };
        let what = told(trigger, &reach);
        match found.iter_mut().find(|one| one.what == what) {
            Some(one) => one.modes.push(mode.clone()),
            None => {
                let place = reach
                    .ways_out
                    .iter()
                    .map(|(_, place)| *place)
                    .find(|place| place.line > 0)
                    .unwrap_or_default();
                found.push(Exposure { modes: vec![mode.clone()], what, place });
            }
        }
    }
    found
}

/// Returns what would come together in runs started in a way that brings no strangers' text, if one
/// looked at some all the same. Source of which the policy says nothing counts as private.
#[must_use]
pub fn with_text(spec: &PolicySpec, rules: &[Rule], trigger: TriggerKind) -> Option<String> {
    if starts(spec).iter().any(|(kind, text)| *kind == trigger && text.is_some()) {
        return None;
    }
    let spec = PolicySpec { source: spec.source.or(Some(Source::Private)), ..spec.clone() };
    let standing = standing(rules);
    let modes = spec.modes.allow.iter().filter(|mode| accepted(&spec, mode).is_none());
    let mut reaches = modes.map(|mode| reach(&spec, &standing, mode, trigger, Some("issues")));
    reaches.find(Reach::is_whole).map(|reach| told(trigger, &reach))
}

/// Returns the reason a mode's risk is accepted for.
#[must_use]
pub fn accepted<'s>(spec: &'s PolicySpec, mode: &str) -> Option<&'s str> {
    let accepted = &spec.modes.accept_risk;
    accepted.get(mode).or_else(|| accepted.get(EVERY_MODE)).map(String::as_str)
}

/// Ways a run may start under this policy, and what of them strangers write. A person at the
/// command line always may.
pub(crate) fn starts(spec: &PolicySpec) -> Vec<(TriggerKind, Option<&'static str>)> {
    let triggers = &spec.triggers;
    let someone = |tiers: &[Tier]| {
        !tiers.is_empty() || !triggers.users.is_empty() || !triggers.bots.is_empty()
    };
    let kinds = TRIGGERS.iter().map(|(_, kind)| match kind {
        TriggerKind::Local => (*kind, true, None),
        TriggerKind::Comment => (
            *kind,
            triggers.comment.as_ref().is_some_and(|comment| someone(&comment.tiers)),
            Some("comments and issues"),
        ),
        TriggerKind::Label => (
            *kind,
            triggers.label.as_ref().is_some_and(|label| someone(&label.tiers)),
            Some("issues"),
        ),
        TriggerKind::Assign => (
            *kind,
            triggers.assign.as_ref().is_some_and(|assign| someone(&assign.tiers)),
            Some("issues"),
        ),
        TriggerKind::Dispatch => (*kind, !triggers.dispatch_tiers.is_empty(), None),
        TriggerKind::Schedule => (*kind, !triggers.schedule_jobs.is_empty(), None),
    });
    kinds.filter(|(_, starts, _)| *starts).map(|(kind, _, text)| (kind, text)).collect()
}

fn reach(
    spec: &PolicySpec,
    standing: &[(&Rule, &Written)],
    mode: &str,
    trigger: TriggerKind,
    text: Option<&str>,
) -> Reach {
    let mut reach =
        Reach { hostile: text.map(str::to_owned).into_iter().collect(), ..Reach::default() };
    if spec.source == Some(Source::Private) {
        reach.private.push("`source: private`".to_owned());
    }
    let counts = |rule: &Rule| {
        (rule.narrowing.modes.is_empty() || rule.narrowing.modes.iter().any(|one| one == mode))
            && (rule.narrowing.triggers.is_empty() || rule.narrowing.triggers.contains(&trigger))
    };
    let mut commands = false;
    for (rule, written) in standing.iter().filter(|(rule, _)| counts(rule)) {
        commands |= matches!(written.pattern, Pattern::Command(_));
        of_pattern(written, rule.protected, &mut reach);
    }
    if commands {
        of_commands(spec, &mut reach);
    }
    reach
}

fn of_pattern(written: &Written, opens_protected: bool, reach: &mut Reach) {
    let shown = format!("`{}`", written.text);
    match &written.pattern {
        Pattern::Fetch(pattern) | Pattern::Browse(pattern) => {
            if pattern.has_wildcard() {
                reach.ways_out.push((shown.clone(), written.place));
            }
            reach.hostile.push(shown);
        }
        Pattern::Mcp(pattern) => {
            if pattern.split('/').next().is_some_and(|server| server.contains(['*', '?'])) {
                reach.ways_out.push((shown.clone(), written.place));
            }
            reach.hostile.push(shown.clone());
            reach.private.push(shown);
        }
        Pattern::Read(glob) => {
            let secret = RepoPath::parse(&glob.text())
                .is_ok_and(|path| Protection::default().of_read(&path).is_some());
            if opens_protected && secret {
                reach.private.push(shown);
            }
        }
        Pattern::Edit(_)
        | Pattern::Command(_)
        | Pattern::Mode(_)
        | Pattern::Delegate(_)
        | Pattern::Expert(_)
        | Pattern::Publish(_) => {}
    }
}

fn of_commands(spec: &PolicySpec, reach: &mut Reach) {
    let commands = &spec.commands;
    match commands.network {
        CommandNetwork::Off => {}
        CommandNetwork::Listed => {
            for host in &spec.network.allow {
                let shown = format!("`network.allow: {}`", host.text);
                if host.pattern.has_wildcard() {
                    reach.ways_out.push((shown.clone(), host.place));
                }
                reach.hostile.push(shown);
            }
        }
        CommandNetwork::Open => {
            reach.hostile.push("`commands.network: open`".to_owned());
            reach.ways_out.push(("`commands.network: open`".to_owned(), Place::default()));
        }
    }
    let harmless = |name: &str| HARMLESS_VARIABLES.contains(&name) || name.starts_with("LC_");
    reach.private.extend(
        commands
            .env
            .iter()
            .filter(|name| !harmless(name))
            .map(|name| format!("`commands.env: {name}`")),
    );
    let harmless = |path: &str| HARMLESS_FOLDERS.iter().any(|folder| path.starts_with(folder));
    let folders = commands.reads.iter().map(|glob| glob.text()).filter(|path| !harmless(path));
    reach.private.extend(folders.map(|path| format!("`commands.reads: /{path}`")));
    match commands.sandbox {
        Sandbox::Required => {}
        Sandbox::BestEffort => reach.private.push("`commands.sandbox: best-effort`".to_owned()),
        Sandbox::Off => reach.private.push("`commands.sandbox: off`".to_owned()),
    }
}

/// Returns what is allowed and may matter here. A rule that refuses the whole of a pattern, always,
/// takes it away.
fn standing(rules: &[Rule]) -> Vec<(&Rule, &Written)> {
    let always = |rule: &&Rule| {
        rule.decision == Decision::Deny && rule.narrowing.is_empty() && rule.except.is_empty()
    };
    let denied: Vec<&Written> =
        rules.iter().filter(always).flat_map(|rule| &rule.patterns).collect();
    let matters = |pattern: &Pattern| match pattern {
        Pattern::Fetch(_)
        | Pattern::Browse(_)
        | Pattern::Mcp(_)
        | Pattern::Read(_)
        | Pattern::Command(_) => true,
        Pattern::Edit(_)
        | Pattern::Mode(_)
        | Pattern::Delegate(_)
        | Pattern::Expert(_)
        | Pattern::Publish(_) => false,
    };
    let allowed = rules.iter().filter(|rule| rule.decision == Decision::Allow);
    let written = allowed.flat_map(|rule| rule.patterns.iter().map(move |written| (rule, written)));
    let stands = |pattern: &Pattern| !denied.iter().any(|denied| denied.pattern.covers(pattern));
    written.filter(|(_, written)| matters(&written.pattern) && stands(&written.pattern)).collect()
}

fn told(trigger: TriggerKind, reach: &Reach) -> String {
    let word = TRIGGERS.iter().find(|(_, kind)| *kind == trigger).map_or("", |(word, _)| *word);
    let ways_out: Vec<String> = reach.ways_out.iter().map(|(shown, _)| shown.clone()).collect();
    format!(
        "strangers' text ({}), secrets or private data ({}) and a free way out ({}) come together \
         in runs started by `{word}`",
        listed(&reach.hostile),
        listed(&reach.private),
        listed(&ways_out)
    )
}

/// Names a few of many.
fn listed(all: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = all.len().saturating_sub(SHOWN);
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use crate::Policy;
    use crate::intent::TriggerKind;
    use pretty_assertions::assert_eq;

    const COMMENTS: &str = "triggers: { comment: { tiers: [maintainer] } }\n";
    const LABELS: &str = "triggers: { label: { name: locum, tiers: [maintainer] } }\n";
    const PERSON: &str =
        "triggers: { dispatch: { tiers: [maintainer] }, schedule: { jobs: [a] } }\n";

    /// Returns what the rule of two says of a policy: its messages, without the rest.
    fn refused(text: &str) -> Vec<String> {
        let errors = Policy::parse(&format!("version: 1\n{text}"), "p")
            .err()
            .map_or_else(Vec::new, |errors| errors.0);
        errors.into_iter().map(|error| format!("{}: {}", error.line, error.message)).collect()
    }

    #[test]
    fn all_three_together_are_refused() {
        for (name, text, parts) in [
            (
                "a server of any name, in comments",
                format!("{COMMENTS}rules:\n  - allow: \"mcp(*/*)\"\n"),
                ["4: in mode `orchestrator`", "comments and issues", "`mcp(*/*)`"],
            ),
            (
                "a server and pages of anyone",
                format!(
                    "{PERSON}rules:\n  - allow: [\"mcp(issues/*)\", \"fetch(*.example.com)\"]\n"
                ),
                [
                    "4: in mode",
                    "(`mcp(issues/*)`, `fetch(*.example.com)`)",
                    "private data (`mcp(issues/*)`)",
                ],
            ),
            (
                "an open network and a variable",
                format!(
                    "{LABELS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: open, \
                     env: [PATH, DATABASE_URL] }}\n"
                ),
                ["5: in mode", "`commands.env: DATABASE_URL`", "`commands.network: open`"],
            ),
            (
                "hosts of anyone and a variable",
                format!(
                    "{COMMENTS}network: {{ allow: [\"*.example.com\"] }}\nrules:\n  - allow: \
                     \"command(make:*)\"\ncommands: {{ network: policy, env: [DATABASE_URL] }}\n"
                ),
                [
                    "3: in mode",
                    "`commands.env: DATABASE_URL`",
                    "way out (`network.allow: *.example.com`)",
                ],
            ),
            (
                "what only bots start by comment",
                "triggers: { comment: { tiers: [] }, bots: { allow: [\"x[bot]\"] } }\nrules:\n  - \
                 allow: \"command(make:*)\"\ncommands: { network: open, env: [DATABASE_URL] }\n"
                    .to_owned(),
                ["5: in mode", "comments and issues", "by `comment`"],
            ),
            (
                "an open network and no sandbox",
                format!(
                    "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: \
                     open, sandbox: off }}\n"
                ),
                ["5: in mode", "`commands.sandbox: off`", "`commands.network: open`"],
            ),
            (
                "an open network and the home folder",
                format!(
                    "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: \
                     open, reads: [\"/home/**\"] }}\n"
                ),
                ["5: in mode", "`commands.reads: /home/**`", "`commands.network: open`"],
            ),
            (
                "a secret file and pages of anyone",
                format!(
                    "{PERSON}rules:\n  - allow: \"read(.env)\"\n    protected: true\n  - allow: \
                     \"browse(*)\"\n"
                ),
                ["6: in mode", "private data (`read(.env)`)", "way out (`browse(*)`)"],
            ),
            (
                "private source and pages of anyone",
                format!("{PERSON}source: private\nrules:\n  - allow: \"fetch(*)\"\n"),
                ["5: in mode", "`source: private`", "`fetch(*)`"],
            ),
            (
                "the triggers that count when none are named",
                "rules:\n  - allow: \"mcp(*/*)\"\n".to_owned(),
                ["3: in mode", "", ""],
            ),
        ] {
            let told = refused(&text);
            assert_eq!(told.len(), 1, "{name}: {told:?}");
            assert!(
                parts.iter().all(|part| told.first().is_some_and(|told| told.contains(part))),
                "{name}: {told:?}"
            );
        }
    }

    #[test]
    fn private_source_counts_where_the_forge_says_so_and_the_policy_does_not() {
        let text = |more: &str| {
            format!(
                "version: 1\n{COMMENTS}{more}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ \
                 network: open }}\n"
            )
        };
        let exposed =
            |more: &str| Policy::parse(&text(more), "p.yml").unwrap().exposed_where_private().len();
        assert_eq!((exposed(""), exposed("source: public\n")), (1, 0));
        let narrow = format!("version: 1\n{COMMENTS}rules:\n  - allow: \"command(make:*)\"\n");
        assert_eq!(Policy::parse(&narrow, "p.yml").unwrap().exposed_where_private(), []);
    }

    #[test]
    fn a_run_without_strangers_text_meets_none_where_it_would_be_the_third() {
        let both =
            "triggers: { comment: { tiers: [maintainer] }, dispatch: { tiers: [maintainer] } }\n";
        let text = |more: &str| {
            format!(
                "version: 1\n{both}{more}rules:\n  - allow: \"command(make:*)\"\n    triggers: \
                 [dispatch]\n"
            )
        };
        let met = |more: &str, trigger| {
            Policy::parse(&text(more), "p.yml").unwrap().refuses_text(trigger)
        };
        let open = "commands: { network: open }\n";
        assert!(
            met(open, TriggerKind::Dispatch)
                .is_some_and(|told| told.contains("in runs started by `dispatch`"))
        );
        assert_eq!(met(&format!("source: public\n{open}"), TriggerKind::Dispatch), None);
        assert_eq!(met("", TriggerKind::Dispatch), None);
        assert_eq!(
            met(open, TriggerKind::Comment),
            None,
            "there it was counted when the file was read"
        );
        let accepted =
            format!("modes: {{ accept_risk: {{ '*': nobody but us writes issues }} }}\n{open}");
        assert_eq!(met(&accepted, TriggerKind::Dispatch), None);
    }

    #[test]
    fn any_two_of_them_pass() {
        for (name, text) in [
            (
                "text and private data",
                format!("{COMMENTS}rules:\n  - allow: [\"mcp(time/*)\", \"fetch(docs.rs)\"]\n"),
            ),
            (
                "text and a secret file",
                format!("{COMMENTS}rules:\n  - allow: \"read(.env)\"\n    protected: true\n"),
            ),
            (
                "text and a variable",
                format!(
                    "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ env: \
                     [DATABASE_URL] }}\n"
                ),
            ),
            (
                "text and private source",
                format!("{COMMENTS}source: private\nrules:\n  - allow: \"command(make:*)\"\n"),
            ),
            (
                "hosts that are named and a variable",
                format!(
                    "{COMMENTS}network: {{ allow: [docs.rs] }}\nrules:\n  - allow: \
                     \"command(make:*)\"\ncommands: {{ network: policy, env: [DATABASE_URL] }}\n"
                ),
            ),
            (
                "text and a way out",
                format!(
                    "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: open \
                     }}\n"
                ),
            ),
            ("text and any page", format!("{COMMENTS}rules:\n  - allow: \"fetch(*)\"\n")),
            (
                "harmless variables and folders are nothing private",
                format!(
                    "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: \
                     open, env: [PATH, CARGO_HOME, LC_ALL], reads: [\"/usr/share/**\"] }}\n"
                ),
            ),
            (
                "no command, so nothing of theirs",
                format!(
                    "{COMMENTS}commands: {{ network: open, env: [DATABASE_URL], sandbox: off }}\n"
                ),
            ),
            (
                "a deny takes the way out",
                format!("{COMMENTS}rules:\n  - allow: \"mcp(*/*)\"\n  - deny: \"mcp(*/*)\"\n"),
            ),
            (
                "what is held is not free",
                format!("{COMMENTS}rules:\n  - allow: \"mcp(time/*)\"\n  - hold: \"fetch(*)\"\n"),
            ),
            (
                "not in the same mode",
                format!(
                    "{COMMENTS}rules:\n  - allow: \"mcp(time/*)\"\n    modes: [ask]\n  - allow: \
                     \"fetch(*)\"\n    modes: [code]\n"
                ),
            ),
            (
                "not in the same runs",
                format!(
                    "{COMMENTS}rules:\n  - allow: \"mcp(time/*)\"\n    triggers: [comment]\n  - \
                     allow: \"fetch(*)\"\n    triggers: [local]\n"
                ),
            ),
            ("the built-in policy", crate::BUILTIN_TEXT.replace("version: 1\n", "")),
        ] {
            assert_eq!(refused(&text), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn a_policy_may_say_why_in_words() {
        let with = |accept: &str| {
            format!(
                "{COMMENTS}modes: {{ accept_risk: {accept} }}\nrules:\n  - allow: \"mcp(*/*)\"\n    modes: [code, ask]\n"
            )
        };
        assert_eq!(
            refused(&with(
                "{ code: the servers hold public data only, ask: the servers hold public data \
                 only }"
            )),
            Vec::<String>::new()
        );
        assert_eq!(
            refused(&with("{ '*': the servers hold public data only }")),
            Vec::<String>::new()
        );
        let of_one = refused(&with("{ code: the servers hold public data only }"));
        assert!(
            of_one.len() == 1 && of_one.iter().all(|told| told.contains("in mode `ask`,")),
            "{of_one:?}"
        );
        for accept in [
            "{ code: yes }",
            "{ code: '' }",
            "{ code: I know it }",
            "{ cod: the servers hold public data only }",
            "{}",
        ] {
            assert!(!refused(&with(accept)).is_empty(), "{accept}");
        }
        let policy = Policy::parse(
            &format!("version: 1\n{}", with("{ '*': the servers hold public data only }")),
            "p",
        )
        .unwrap();
        let accepted: Vec<_> =
            policy.accepted_risks().into_iter().map(|risk| (risk.modes, risk.reason)).collect();
        assert_eq!(
            accepted,
            [(
                vec!["code".to_owned(), "ask".to_owned()],
                "the servers hold public data only".to_owned()
            )]
        );
    }
}
