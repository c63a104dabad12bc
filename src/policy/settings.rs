//! Reads everything of a policy file but its rules: triggers, modes, commands, budget, publishing.
//!
//! In: the file's tree. Out: a `PolicySpec`; whatever is missing has its default; mistakes go to the collector.

use std::collections::BTreeMap;

use crate::base::fields::{Fields, Mistakes};
use crate::base::yaml::{Node, Place};
use crate::policy::budget::Budget;
use crate::policy::command::word;
use crate::policy::glob::PathGlob;
use crate::policy::pattern::PUBLICATIONS;
use crate::policy::rule::TIERS;
use crate::policy::schema::{
    CommandEdits, CommandLimits, CommentTrigger, Delegation, Expansions, Forks, LabelTrigger, ModeRules, OnHold, OnQuestion, PolicySpec,
    PublishAs, PublishRules, Sandbox, Switching, Triggers,
};

/// Every key a policy file may have at its top.
pub const SECTIONS: &[&str] =
    &["version", "triggers", "modes", "rules", "examples", "commands", "network", "budget", "on_hold", "questions", "publish"];

/// Reads the settings of an opened policy file.
pub fn read_settings(file: &Fields<'_>, mistakes: &mut Mistakes) -> PolicySpec {
    let mut spec = PolicySpec::default();
    if let Some(node) = file.get("triggers") {
        spec.triggers = triggers(node, mistakes);
    }
    if let Some(node) = file.get("modes") {
        spec.modes = modes(node, mistakes);
    }
    if let Some(node) = file.get("commands") {
        spec.commands = commands(node, mistakes);
    }
    if let Some(node) = file.get("network") {
        spec.network_hosts = network(node, mistakes);
    }
    if let Some(node) = file.get("budget") {
        spec.budget = budget(node, mistakes);
    }
    let on_hold = [("pause", OnHold::Pause), ("refuse", OnHold::Refuse)];
    set(&mut spec.on_hold, file.get("on_hold").and_then(|node| mistakes.word(node, "on_hold", &on_hold)));
    let questions = [("comment", OnQuestion::Comment), ("first", OnQuestion::First), ("fail", OnQuestion::Fail)];
    set(&mut spec.questions, file.get("questions").and_then(|node| mistakes.word(node, "questions", &questions)));
    if let Some(node) = file.get("publish") {
        spec.publish = publish(node, mistakes);
    }
    spec
}

fn triggers(node: &Node, mistakes: &mut Mistakes) -> Triggers {
    let mut found = Triggers { comment: None, ..Triggers::default() };
    let Some(fields) = mistakes.fields(node, "triggers", &["comment", "label", "schedule", "dispatch", "bots", "forks"]) else {
        return found;
    };
    if let Some(comment) = fields.get("comment").and_then(|node| mistakes.fields(node, "comment", &["prefix", "tiers"])) {
        let prefix = comment.get("prefix").and_then(|node| prefix(node, mistakes)).unwrap_or_else(|| "/locum".to_owned());
        let tiers = comment.get("tiers").map_or_else(Vec::new, |node| mistakes.words(node, "tiers", TIERS));
        found.comment = Some(CommentTrigger { prefix, tiers });
    }
    if let Some(label) = fields.get("label").and_then(|node| mistakes.fields(node, "label", &["name", "tiers"])) {
        let name = label.required(mistakes, "name").and_then(|node| mistakes.text(node, "name")).unwrap_or_default();
        let tiers = label.get("tiers").map_or_else(Vec::new, |node| mistakes.words(node, "tiers", TIERS));
        found.label = Some(LabelTrigger { name, tiers });
    }
    if let Some(schedule) = fields.get("schedule").and_then(|node| mistakes.fields(node, "schedule", &["jobs"])) {
        found.schedule_jobs = schedule.get("jobs").map_or_else(Vec::new, |node| names(node, "jobs", mistakes));
    }
    if let Some(dispatch) = fields.get("dispatch").and_then(|node| mistakes.fields(node, "dispatch", &["tiers"])) {
        found.dispatch_tiers = dispatch.get("tiers").map_or_else(Vec::new, |node| mistakes.words(node, "tiers", TIERS));
    }
    if let Some(bots) = fields.get("bots").and_then(|node| mistakes.fields(node, "bots", &["allow"])) {
        let listed = bots.get("allow").map_or_else(Vec::new, |node| mistakes.texts(node, "allow"));
        for (name, place) in listed {
            if name.contains(['*', '?']) || name.is_empty() {
                mistakes.add(place, format!("`{name}`: bots are listed by name, never by a wildcard"));
            } else {
                found.bots.push(name);
            }
        }
    }
    let forks = [("deny", Forks::Deny), ("read-only", Forks::ReadOnly), ("allow", Forks::Allow)];
    set(&mut found.forks, fields.get("forks").and_then(|node| mistakes.word(node, "forks", &forks)));
    found
}

fn prefix(node: &Node, mistakes: &mut Mistakes) -> Option<String> {
    let text = mistakes.text(node, "prefix")?;
    let good = text.len() > 1 && text.len() <= 40 && text.starts_with(['/', '@', '!']) && !text.chars().any(char::is_whitespace);
    if !good {
        mistakes.add(node.place, "`prefix` is one word that starts with `/`, `@` or `!`, such as `/locum`");
    }
    good.then_some(text)
}

fn modes(node: &Node, mistakes: &mut Mistakes) -> ModeRules {
    let mut found = ModeRules::default();
    let Some(fields) = mistakes.fields(node, "modes", &["default", "allow", "switching", "transitions", "delegation"]) else {
        return found;
    };
    set(&mut found.default, fields.get("default").and_then(|node| mistakes.text(node, "default")));
    set(&mut found.allow, fields.get("allow").map(|node| names(node, "allow", mistakes)));
    if !found.allow.contains(&found.default) {
        let place = fields.get("default").or(fields.get("allow")).map_or(node.place, |node| node.place);
        mistakes.add_with_hint(
            place,
            format!("the default mode `{}` is not allowed", found.default),
            "add it to `modes.allow`, or name another `default`",
        );
    }
    let switching =
        [("coordinator", Switching::Coordinator), ("direct", Switching::Direct), ("off", Switching::Off), ("false", Switching::Off)];
    set(&mut found.switching, fields.get("switching").and_then(|node| mistakes.word(node, "switching", &switching)));
    if let Some(node) = fields.get("transitions") {
        found.transitions = transitions(node, mistakes);
    }
    if let Some(node) = fields.get("delegation") {
        found.delegation = delegation(node, mistakes);
    }
    found
}

fn transitions(node: &Node, mistakes: &mut Mistakes) -> BTreeMap<String, Vec<String>> {
    let Some(entries) = node.entries() else {
        mistakes.wanted(node, "transitions", "a mapping of modes to lists of modes");
        return BTreeMap::new();
    };
    entries.iter().map(|entry| (entry.key.clone(), names(&entry.node, &entry.key, mistakes))).collect()
}

fn delegation(node: &Node, mistakes: &mut Mistakes) -> Delegation {
    let mut found = Delegation::default();
    let Some(fields) = mistakes.fields(node, "delegation", &["from", "depth", "tasks", "parallel"]) else { return found };
    set(&mut found.from, fields.get("from").map(|node| names(node, "from", mistakes)));
    set(&mut found.depth, fields.get("depth").and_then(|node| mistakes.small_count(node, "depth")));
    set(&mut found.tasks, fields.get("tasks").and_then(|node| mistakes.small_count(node, "tasks")));
    set(&mut found.parallel, fields.get("parallel").and_then(|node| mistakes.small_count(node, "parallel")));
    found
}

fn commands(node: &Node, mistakes: &mut Mistakes) -> CommandLimits {
    let mut found = CommandLimits::default();
    let known = ["timeout", "output", "network", "env", "max_complexity", "sandbox", "expansions", "edits", "reads"];
    let Some(fields) = mistakes.fields(node, "commands", &known) else { return found };
    set(&mut found.timeout, fields.get("timeout").and_then(|node| mistakes.duration(node, "timeout")));
    set(&mut found.output_bytes, fields.get("output").and_then(|node| mistakes.bytes(node, "output")));
    if let Some(node) = fields.get("network") {
        let open = mistakes.word(node, "network", &[("off", Some(false)), ("false", Some(false)), ("open", Some(true)), ("policy", None)]);
        if open == Some(None) {
            let hint = "`off` holds them to none; `open` lets them reach every host";
            mistakes.add_with_hint(
                node.place,
                "`network: policy` is not supported: commands cannot be held to the hosts of `network.allow`",
                hint,
            );
        }
        set(&mut found.network, open.flatten());
    }
    if let Some(node) = fields.get("env") {
        found.env = variables(node, mistakes);
    }
    set(&mut found.max_complexity, fields.get("max_complexity").and_then(|node| mistakes.number(node, "max_complexity", 0.0, 1.0)));
    let sandbox = [("required", Sandbox::Required), ("best-effort", Sandbox::BestEffort), ("off", Sandbox::Off), ("false", Sandbox::Off)];
    set(&mut found.sandbox, fields.get("sandbox").and_then(|node| mistakes.word(node, "sandbox", &sandbox)));
    let expansions = [("off", Expansions::Off), ("false", Expansions::Off), ("allow", Expansions::Allow)];
    set(&mut found.expansions, fields.get("expansions").and_then(|node| mistakes.word(node, "expansions", &expansions)));
    let edits = [("ruled", CommandEdits::Ruled), ("checkout", CommandEdits::Checkout)];
    set(&mut found.edits, fields.get("edits").and_then(|node| mistakes.word(node, "edits", &edits)));
    for (text, place) in fields.get("reads").map_or_else(Vec::new, |node| mistakes.texts(node, "reads")) {
        let taken_out = text.strip_prefix('!').map(|text| match text.strip_prefix('/') {
            Some(inner) => PathGlob::parse(inner),
            None => Err(format!("`!{text}` is not an absolute path such as `!/etc/ssl/private/**`")),
        });
        match taken_out
            .map_or_else(|| outside_glob(&text).map(|glob| (&mut found.reads, glob)), |glob| glob.map(|glob| (&mut found.unread, glob)))
        {
            Ok((list, glob)) => list.push(glob),
            Err(message) => mistakes.add(place, message),
        }
    }
    found
}

/// A pattern of absolute paths. The kernel's own folders hold other processes' secrets and are never opened.
fn outside_glob(text: &str) -> Result<PathGlob, String> {
    let inner = text.strip_prefix('/').ok_or_else(|| format!("`{text}` is not an absolute path such as `/etc/ssl/**`"))?;
    let first = inner.split('/').next().unwrap_or_default();
    if ["proc", "sys", "dev", "run"].contains(&first) || first.contains(['*', '?', '[', '{']) {
        return Err(format!("`{text}` is never opened to commands; name a folder such as `/etc/ssl/**`"));
    }
    PathGlob::parse(inner)
}

/// Names that carry the runner's own credentials or files, or that make a program start another one.
fn variables(node: &Node, mistakes: &mut Mistakes) -> Vec<String> {
    let mut found = Vec::new();
    for (name, place) in mistakes.texts(node, "env") {
        let plain = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let upper = name.to_ascii_uppercase();
        let guarded = ["GITHUB_", "ACTIONS_", "INPUT_", "LD_", "DYLD_", "GIT_", "RUNNER_", "LOCUM_"]
            .iter()
            .any(|start| upper.starts_with(start))
            || ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY"].iter().any(|word| upper.contains(word))
            || matches!(upper.as_str(), "BASH_ENV" | "ENV" | "IFS" | "PS4" | "PROMPT_COMMAND" | "SHELLOPTS" | "BASHOPTS" | "SSH_AUTH_SOCK");
        if !plain {
            mistakes.add(place, format!("`{name}` is not the name of a variable; wildcards are not allowed here"));
        } else if guarded {
            mistakes.add(place, format!("`{name}` is never passed on to commands"));
        } else {
            found.push(name);
        }
    }
    found
}

fn network(node: &Node, mistakes: &mut Mistakes) -> Vec<String> {
    let Some(fields) = mistakes.fields(node, "network", &["allow"]) else { return Vec::new() };
    let hosts = fields.get("allow").map_or_else(Vec::new, |node| mistakes.texts(node, "allow"));
    hosts.into_iter().filter_map(|(host, place)| checked_host(host, place, mistakes)).collect()
}

fn checked_host(host: String, place: Place, mistakes: &mut Mistakes) -> Option<String> {
    let plain = host.strip_prefix("*.").unwrap_or(&host);
    let good = plain.contains('.') && plain.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-'));
    if !good {
        mistakes.add(place, format!("`{host}` is not a host such as `docs.rs` or `*.example.com`"));
    }
    good.then_some(host)
}

fn budget(node: &Node, mistakes: &mut Mistakes) -> Budget {
    let mut found = Budget::default();
    let known = ["turns", "tool_calls", "tokens", "cost_usd", "minutes", "files", "diff_lines"];
    let Some(fields) = mistakes.fields(node, "budget", &known) else { return found };
    set(&mut found.turns, fields.get("turns").and_then(|node| mistakes.small_count(node, "turns")));
    set(&mut found.tool_calls, fields.get("tool_calls").and_then(|node| mistakes.small_count(node, "tool_calls")));
    set(&mut found.tokens, fields.get("tokens").and_then(|node| mistakes.count(node, "tokens")));
    set(&mut found.cost_usd, fields.get("cost_usd").and_then(|node| mistakes.number(node, "cost_usd", 0.0, 1_000_000.0)));
    set(&mut found.minutes, fields.get("minutes").and_then(|node| mistakes.small_count(node, "minutes")));
    set(&mut found.files, fields.get("files").and_then(|node| mistakes.small_count(node, "files")));
    set(&mut found.diff_lines, fields.get("diff_lines").and_then(|node| mistakes.small_count(node, "diff_lines")));
    found
}

fn publish(node: &Node, mistakes: &mut Mistakes) -> PublishRules {
    let mut found = PublishRules::default();
    let known = ["allow", "as", "branch", "draft", "labels", "sign", "success", "close_issues"];
    let Some(fields) = mistakes.fields(node, "publish", &known) else { return found };
    set(&mut found.allow, fields.get("allow").map(|node| mistakes.words(node, "allow", PUBLICATIONS)));
    let forms = [("pull-request", PublishAs::PullRequest), ("commit", PublishAs::Commit), ("comment", PublishAs::Comment)];
    set(&mut found.publish_as, fields.get("as").and_then(|node| mistakes.word(node, "as", &forms)));
    if let Some(node) = fields.get("branch") {
        set(&mut found.branch, branch(node, mistakes));
    }
    set(&mut found.draft, fields.get("draft").and_then(|node| mistakes.flag(node, "draft")));
    set(&mut found.labels, fields.get("labels").map(|node| names(node, "labels", mistakes)));
    set(&mut found.close_issues, fields.get("close_issues").and_then(|node| mistakes.flag(node, "close_issues")));
    if let Some(node) = fields.get("sign") {
        let git = mistakes.word(node, "sign", &[("git", true), ("api", false)]);
        if git == Some(false) {
            mistakes.add_with_hint(node.place, "`sign: api` is not supported yet", "commits are made by git; leave `sign` out");
        }
    }
    for (text, place) in fields.get("success").map_or_else(Vec::new, |node| mistakes.texts(node, "success")) {
        match word::split(&text) {
            Ok(words) if !words.is_empty() => found.success.push(text),
            Ok(_) => mistakes.add(place, "a success command is empty"),
            Err(message) => mistakes.add(place, message),
        }
    }
    found
}

/// A branch template: `{subject}` and `{slug}` are filled in; it must not be able to name a branch of the project's own.
fn branch(node: &Node, mistakes: &mut Mistakes) -> Option<String> {
    let text = mistakes.text(node, "branch")?;
    let filled = text.replace("{subject}", "s").replace("{slug}", "s");
    let good = text.contains("{subject}")
        && filled.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '-' | '_' | '.'));
    let git_accepts =
        !filled.contains("..") && !filled.contains("//") && !filled.starts_with(['/', '-', '.']) && !filled.ends_with(['/', '.']);
    if !(good && git_accepts) {
        mistakes.add_with_hint(
            node.place,
            format!("`{text}` is not a branch template"),
            "for example `locum/{subject}-{slug}`; `{subject}` must be in it",
        );
        return None;
    }
    Some(text)
}

fn names(node: &Node, what: &str, mistakes: &mut Mistakes) -> Vec<String> {
    mistakes.texts(node, what).into_iter().map(|(text, _)| text).collect()
}

fn set<T>(place: &mut T, found: Option<T>) {
    if let Some(value) = found {
        *place = value;
    }
}
