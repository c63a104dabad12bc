//! Reads everything of a policy file but its rules: triggers, modes, commands, budget, publishing.
//!
//! In: the opened file. Out: a `PolicySpec`; whatever is missing has its default. What is said of
//! each key here is what `locum schema policy` says of it.

use serde_json::{Value as Json, json};

use crate::actors::Tier;
use crate::budget::Budget;
use crate::ceiling::{Ceiling, Ceilings};
use crate::command::word;
use crate::exposure::{EVERY_MODE, REASON};
use crate::glob::PathGlob;
use crate::pattern::PUBLICATIONS;
use crate::rule::TIERS;
use crate::schema::{
    AssignTrigger, CommandEdits, CommandLimits, CommandNetwork, CommentTrigger, Delegation,
    Expansions, Forks, Form, Forms, LabelTrigger, Listed, ListedUser, McpRules, ModeRules,
    NetworkRules, OnHold, OnQuestion, PolicySpec, PublishRules, Sandbox, Sign, Source, Switching,
    Triggers,
};
use crate::urls::pattern::UrlPattern;
use locum_files::fields::Mistakes;
use locum_files::rejection::Rejection;
use locum_files::section::{Group, Section};
use locum_files::shape::{
    At, Bytes, Checked, Count, Flag, Many, Number, Shape, SmallCount, Span, Table, Text, Word,
};
use locum_files::yaml::Node;

const ANY_COUNT: SmallCount = SmallCount { least: 0, most: u32::MAX };

/// Reads the settings of a policy file.
pub fn read_settings(file: &mut Section<'_>) -> PolicySpec {
    let mut spec = PolicySpec::default();
    let triggers = file.key(
        "triggers",
        "Who may start what; what is not named here starts nothing.",
        Group("triggers", triggers),
    );
    set(&mut spec.triggers, triggers);
    set(
        &mut spec.modes,
        file.key(
            "modes",
            "Which modes may run and how they follow each other.",
            Group("modes", modes),
        ),
    );
    set(&mut spec.commands, file.key("commands", "How commands run.", Group("commands", commands)));
    let about = "Hosts that commands may reach where `commands.network` is `policy`.";
    set(&mut spec.network, file.key("network", about, Group("network", network)));
    set(&mut spec.mcp, file.key("mcp", "What MCP servers are given.", Group("mcp", mcp)));
    if let Some((run, together)) = file.key(
        "budget",
        "What a run may spend; every limit is a hard stop.",
        Group("budget", budget),
    ) {
        (spec.budget, spec.ceilings) = (run, together);
    }
    let on_hold = Word(&[("pause", OnHold::Pause), ("refuse", OnHold::Refuse)]);
    file.set(
        "on_hold",
        "When a rule says hold: end the run as `on-hold`, or tell the model no and go on.",
        on_hold,
        &mut spec.on_hold,
    );
    let questions = Word(&[
        ("comment", OnQuestion::Comment),
        ("first", OnQuestion::First),
        ("fail", OnQuestion::Fail),
    ]);
    let about = "When a model asks: end the run with the question, take the first suggestion, or \
                 end it as failed.";
    file.set("questions", about, questions, &mut spec.questions);
    let source = Word(&[("public", Source::Public), ("private", Source::Private)]);
    spec.source = file.key(
        "source",
        "Who may see the source: private source counts as something worth taking.",
        source,
    );
    set(
        &mut spec.publish,
        file.key("publish", "What is published and how.", Group("publish", publish)),
    );
    spec
}

fn triggers(section: &mut Section<'_>) -> Triggers {
    let mut found = Triggers { comment: None, ..Triggers::default() };
    found.comment =
        section.key("comment", "Comments that start with a command.", Group("comment", comment));
    found.label =
        section.key("label", "A label put on an issue or pull request.", Group("label", label));
    found.assign =
        section.key("assign", "An issue that is assigned to somebody.", Group("assign", assign));
    let users = |section: &mut Section<'_>| {
        section.key(
            "allow",
            "People by login, `bob`, or better with the number of their account, `bob:583231`.",
            Many(USER),
        )
    };
    let about = "People that may start runs by comment, label, assignment and hand, whatever \
                 their tier is.";
    found.users = section.key("users", about, Group("users", users)).flatten().unwrap_or_default();
    let schedule = |section: &mut Section<'_>| {
        section.key("jobs", "Jobs the clock may start, by name.", Many(Text))
    };
    found.schedule_jobs = section
        .key("schedule", "Runs started by the clock.", Group("schedule", schedule))
        .flatten()
        .unwrap_or_default();
    let dispatch = |section: &mut Section<'_>| section.key("tiers", TIERS_ABOUT, Many(Word(TIERS)));
    found.dispatch_tiers = section
        .key("dispatch", "Runs started by `workflow_dispatch`.", Group("dispatch", dispatch))
        .flatten()
        .unwrap_or_default();
    let approve = |section: &mut Section<'_>| {
        let mut tiers = vec![Tier::Maintainer];
        section.set(
            "tiers",
            "Tiers of people that may approve or deny a held call.",
            Many(Word(APPROVERS)),
            &mut tiers,
        );
        tiers
    };
    set(
        &mut found.approve_tiers,
        section.key(
            "approve",
            "Who decides on held calls, by a comment.",
            Group("approve", approve),
        ),
    );
    let bots = |section: &mut Section<'_>| {
        section.key(
            "allow",
            "Logins of bots that may start runs, such as `renovate[bot]`.",
            Many(BOT),
        )
    };
    found.bots = section
        .key("bots", "Bots that may start runs.", Group("bots", bots))
        .flatten()
        .unwrap_or_default();
    let forks =
        Word(&[("deny", Forks::Deny), ("read-only", Forks::ReadOnly), ("allow", Forks::Allow)]);
    section.set("forks", "What pull requests from forks may start.", forks, &mut found.forks);
    found
}

/// Nobody else decides on a hold, whatever the policy says of who may ask.
const APPROVERS: &[(&str, Tier)] =
    &[("maintainer", Tier::Maintainer), ("collaborator", Tier::Collaborator)];

const TIERS_ABOUT: &str = "Tiers of people that may start a run this way; nobody when absent.";

fn comment(section: &mut Section<'_>) -> CommentTrigger {
    let mut found = CommentTrigger { prefix: "/locum".to_owned(), tiers: Vec::new() };
    section.set("prefix", "The word a command starts with.", PREFIX, &mut found.prefix);
    set(&mut found.tiers, section.key("tiers", TIERS_ABOUT, Many(Word(TIERS))));
    found
}

fn label(section: &mut Section<'_>) -> LabelTrigger {
    let name = section.required("name", "The label's name.", Text).unwrap_or_default();
    let tiers = section.key("tiers", TIERS_ABOUT, Many(Word(TIERS))).unwrap_or_default();
    LabelTrigger { name, tiers }
}

fn assign(section: &mut Section<'_>) -> AssignTrigger {
    let login = section
        .required("login", "Who the issue has to be assigned to.", LOGIN)
        .unwrap_or_default();
    let tiers = section.key("tiers", TIERS_ABOUT, Many(Word(TIERS))).unwrap_or_default();
    AssignTrigger { login, tiers }
}

fn is_login(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 60
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

/// An account that issues can be assigned to.
const LOGIN: Checked<String> = Checked {
    parse: |text| {
        let name = text.strip_suffix("[bot]").unwrap_or(text);
        is_login(name)
            .then(|| text.to_owned())
            .ok_or_else(|| Rejection::from(format!("`{text}` is no login")))
    },
    write: Some(String::clone),
    pattern: r"^[A-Za-z0-9_-]+(\[bot\])?$",
    example: "locum-bot",
};

const USER: Checked<ListedUser> = Checked {
    parse: |text| {
        let (login, id) = text
            .split_once(':')
            .map_or((text, None), |(login, id)| (login, Some(id.parse::<u64>())));
        if text.ends_with("[bot]") {
            return Err(Rejection::from(format!("`{text}` is a bot"))
                .hint("bots are listed under `triggers.bots`"));
        }
        match id.transpose() {
            Ok(id) if is_login(login) => Ok(ListedUser { login: login.to_owned(), id }),
            Ok(_) | Err(_) => Err(Rejection::from(format!("`{text}` is no login"))
                .hint("people are listed by name, `bob` or `bob:583231`, never by a wildcard")),
        }
    },
    write: None,
    pattern: "^[A-Za-z0-9_-]+(:[0-9]+)?$",
    example: "bob:583231",
};

const PREFIX: Checked<String> = Checked {
    parse: |text| {
        let good = text.len() > 1
            && text.len() <= 40
            && text.starts_with(['/', '@', '!'])
            && !text.chars().any(char::is_whitespace);
        let told = || {
            Rejection::from(
                "`prefix` is one word that starts with `/`, `@` or `!`, such as `/locum`"
                    .to_owned(),
            )
        };
        good.then(|| text.to_owned()).ok_or_else(told)
    },
    write: Some(String::clone),
    pattern: r"^[/@!]\S{1,39}$",
    example: "/locum",
};

const BOT: Checked<String> = Checked {
    parse: |text| {
        let good = !text.is_empty() && !text.contains(['*', '?']);
        good.then(|| text.to_owned()).ok_or_else(|| {
            Rejection::from(format!("`{text}`: bots are listed by name, never by a wildcard"))
        })
    },
    write: Some(String::clone),
    pattern: r"^[^*?]+$",
    example: "renovate[bot]",
};

fn modes(section: &mut Section<'_>) -> ModeRules {
    let mut found = ModeRules::default();
    section.set(
        "default",
        "The mode of a run that names none; has to be allowed.",
        Text,
        &mut found.default,
    );
    section.set("allow", "Modes that may run at all, by slug.", Many(Text), &mut found.allow);
    if !found.allow.contains(&found.default) {
        let key = if section.has("default") { "default" } else { "allow" };
        let told = Rejection::from(format!("the default mode `{}` is not allowed", found.default));
        section.wrong(
            section.place_of(key),
            told.hint("add it to `modes.allow`, or name another `default`"),
        );
    }
    let switching = Word(&[
        ("coordinator", Switching::Coordinator),
        ("direct", Switching::Direct),
        ("off", Switching::Off),
        ("false", Switching::Off),
    ]);
    section.set(
        "switching",
        "Which modes may switch the mode of a task: the coordinator, all, none.",
        switching,
        &mut found.switching,
    );
    let about =
        "For a mode, the modes it may be followed by; any allowed mode for those not named here.";
    set(&mut found.transitions, section.key("transitions", about, Table(Many(Text))));
    let about = "For a mode, or `*` for all: why it may have strangers' text, secrets and a free \
                 way out together.";
    set(&mut found.accept_risk, section.key("accept_risk", about, Table(REASON)));
    for mode in
        found.accept_risk.keys().filter(|mode| *mode != EVERY_MODE && !found.allow.contains(mode))
    {
        let told =
            Rejection::from(format!("`accept_risk` names `{mode}`, which is not in `modes.allow`"));
        section.wrong(section.place_of("accept_risk"), told);
    }
    set(
        &mut found.delegation,
        section.key("delegation", "Limits on sub-tasks.", Group("delegation", delegation)),
    );
    found
}

fn delegation(section: &mut Section<'_>) -> Delegation {
    let mut found = Delegation::default();
    section.set("from", "Modes that may start sub-tasks.", Many(Text), &mut found.from);
    section.set("depth", "How deep sub-tasks nest.", ANY_COUNT, &mut found.depth);
    section.set("tasks", "Sub-tasks of one run.", ANY_COUNT, &mut found.tasks);
    section.set("parallel", "Sub-tasks at once.", ANY_COUNT, &mut found.parallel);
    found
}

fn commands(section: &mut Section<'_>) -> CommandLimits {
    let mut found = CommandLimits::default();
    section.set("timeout", "Wall time of one command.", Span, &mut found.timeout);
    section.set("output", "Bytes of output kept of one command.", Bytes, &mut found.output_bytes);
    let network = Word(&[
        ("off", CommandNetwork::Off),
        ("false", CommandNetwork::Off),
        ("policy", CommandNetwork::Listed),
        ("open", CommandNetwork::Open),
    ]);
    section.set(
        "network",
        "What commands reach: nothing, the hosts under `network`, or everything.",
        network,
        &mut found.network,
    );
    section.set(
        "env",
        "Environment variables passed on to commands, by name.",
        Many(VARIABLE),
        &mut found.env,
    );
    let about = "Scripts above it are held: a pipe counts 0.3, a redirection 0.2, an `if` 0.3, \
                 more than 100 bytes 0.1.";
    section.set(
        "max_complexity",
        about,
        Number { least: 0.0, most: 1.0 },
        &mut found.max_complexity,
    );
    let sandbox = Word(&[
        ("required", Sandbox::Required),
        ("best-effort", Sandbox::BestEffort),
        ("off", Sandbox::Off),
        ("false", Sandbox::Off),
    ]);
    section.set("sandbox", "What has to be around commands.", sandbox, &mut found.sandbox);
    let expansions =
        Word(&[("off", Expansions::Off), ("false", Expansions::Off), ("allow", Expansions::Allow)]);
    section.set(
        "expansions",
        "Whether scripts may hold variables, globs, substitutions and loops.",
        expansions,
        &mut found.expansions,
    );
    let edits = Word(&[("ruled", CommandEdits::Ruled), ("checkout", CommandEdits::Checkout)]);
    section.set(
        "edits",
        "Whether files that commands write are judged as edits.",
        edits,
        &mut found.edits,
    );
    let about = "Absolute folders that commands may read; after a `!`, what of them they may not.";
    for outside in section.key("reads", about, Many(OUTSIDE)).unwrap_or_default() {
        match outside {
            Outside::Opened(glob) => found.reads.push(glob),
            Outside::TakenOut(glob) => found.unread.push(glob),
        }
    }
    found
}

/// An entry of `commands.reads`.
enum Outside {
    Opened(PathGlob),
    TakenOut(PathGlob),
}

const OUTSIDE: Checked<Outside> = Checked {
    parse: |text| match text.strip_prefix('!') {
        None => Ok(Outside::Opened(outside_glob(text)?)),
        Some(taken_out) => {
            let inner = taken_out.strip_prefix('/');
            let inner = inner.ok_or_else(|| {
                format!("`{text}` is not an absolute path such as `!/etc/ssl/private/**`")
            })?;
            Ok(Outside::TakenOut(PathGlob::parse(inner)?))
        }
    },
    write: None,
    pattern: "^!?/.+",
    example: "/etc/ssl/**",
};

/// A pattern of absolute paths. The kernel's own folders hold other processes' secrets and are
/// never opened.
fn outside_glob(text: &str) -> Result<PathGlob, String> {
    let inner = text
        .strip_prefix('/')
        .ok_or_else(|| format!("`{text}` is not an absolute path such as `/etc/ssl/**`"))?;
    let first = inner.split('/').next().unwrap_or_default();
    if ["proc", "sys", "dev", "run"].contains(&first) || first.contains(['*', '?', '[', '{']) {
        return Err(format!(
            "`{text}` is never opened to commands; name a folder such as `/etc/ssl/**`"
        ));
    }
    PathGlob::parse(inner)
}

/// Names that carry the runner's own credentials or files, or that make a program start another
/// one, are no choice.
const VARIABLE: Checked<String> = Checked {
    parse: |name| {
        let plain = !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        match name {
            name if !plain => Err(Rejection::from(format!(
                "`{name}` is not the name of a variable; wildcards are not allowed here"
            ))),
            name if is_guarded(name) => {
                Err(Rejection::from(format!("`{name}` is never passed on to commands")))
            }
            name => Ok(name.to_owned()),
        }
    },
    write: Some(String::clone),
    pattern: "^[A-Za-z0-9_]+$",
    example: "CARGO_HOME",
};

fn is_guarded(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["GITHUB_", "ACTIONS_", "INPUT_", "LD_", "DYLD_", "GIT_", "RUNNER_", "LOCUM_"]
        .iter()
        .any(|start| upper.starts_with(start))
        || ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY"]
            .iter()
            .any(|word| upper.contains(word))
        || matches!(
            upper.as_str(),
            "BASH_ENV"
                | "ENV"
                | "IFS"
                | "PS4"
                | "PROMPT_COMMAND"
                | "SHELLOPTS"
                | "BASHOPTS"
                | "SSH_AUTH_SOCK"
        )
}

fn network(section: &mut Section<'_>) -> NetworkRules {
    let about = "Hosts, with a port where it is not the usual one: `docs.rs`, `*.example.com:8443`, `http://example.com`.";
    let listed = section.key("allow", about, Many(HOST)).unwrap_or_default();
    NetworkRules {
        allow: listed
            .into_iter()
            .map(|((pattern, text), place)| Listed { pattern, text, place })
            .collect(),
    }
}

const HOST: At<Checked<(UrlPattern, String)>> = At(Checked {
    parse: |text| {
        let pattern = UrlPattern::parse(text)?;
        if pattern.has_path() {
            return Err(format!(
                "`{text}`: commands are held to hosts and ports; leave the path out"
            )
            .into());
        }
        if pattern.is_any_host() {
            let told = Rejection::from(format!("`{text}` lists no host"));
            return Err(told.hint("`commands: { network: open }` means every host"));
        }
        match pattern.forbidden() {
            Some(why) => Err(format!("`{text}` is never reached: {why}").into()),
            None => Ok((pattern, text.to_owned())),
        }
    },
    write: None,
    pattern: r"^(https?://)?[^/?#@\s]+/?(\*\*)?$",
    example: "docs.rs",
});

fn mcp(section: &mut Section<'_>) -> McpRules {
    let about =
        "For a server, the environment variables that `${...}` in its definition may stand for.";
    McpRules { env: section.key("env", about, Table(Many(SERVER_VARIABLE))).unwrap_or_default() }
}

/// Keys are what servers are given variables for; what belongs to this program or would change how
/// others start is no choice.
const SERVER_VARIABLE: Checked<String> = Checked {
    parse: |name| {
        let plain = !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let own = ["ACTIONS_", "INPUT_", "LOCUM_"]
            .iter()
            .any(|start| name.to_ascii_uppercase().starts_with(start));
        match name {
            name if !plain => Err(Rejection::from(format!(
                "`{name}` is not the name of a variable; wildcards are not allowed here"
            ))),
            name if own => Err(Rejection::from(format!("`{name}` is never given to a server"))),
            name => Ok(name.to_owned()),
        }
    },
    write: Some(String::clone),
    pattern: "^[A-Za-z0-9_]+$",
    example: "ISSUES_TOKEN",
};

fn budget(section: &mut Section<'_>) -> (Budget, Ceilings) {
    let mut found = Budget::default();
    section.set("turns", "Replies of models.", ANY_COUNT, &mut found.turns);
    section.set("tool_calls", "Tool calls.", ANY_COUNT, &mut found.tool_calls);
    section.set(
        "tokens",
        "Tokens, input and output together.",
        Count { least: 0, most: u64::MAX },
        &mut found.tokens,
    );
    section.set(
        "cost_usd",
        "US dollars by the price table.",
        Number { least: 0.0, most: 1_000_000.0 },
        &mut found.cost_usd,
    );
    section.set("minutes", "Minutes of wall time.", ANY_COUNT, &mut found.minutes);
    section.set("files", "Changed files.", ANY_COUNT, &mut found.files);
    section.set(
        "diff_lines",
        "Added and removed lines together.",
        ANY_COUNT,
        &mut found.diff_lines,
    );
    let mut together = Ceilings::default();
    let about = "What all runs that begin on one day (UTC) may spend together.";
    set(&mut together.daily, section.key("daily", about, Group("daily", ceiling)));
    let about = "What all runs on one issue or pull request may spend together.";
    set(&mut together.per_thread, section.key("per_thread", about, Group("per_thread", ceiling)));
    (found, together)
}

fn ceiling(section: &mut Section<'_>) -> Ceiling {
    Ceiling {
        runs: section.key("runs", "Runs that begin.", Count { least: 0, most: u64::MAX }),
        tokens: section.key(
            "tokens",
            "Tokens, input and output together.",
            Count { least: 0, most: u64::MAX },
        ),
        cost_usd: section.key(
            "cost_usd",
            "US dollars by the price table.",
            Number { least: 0.0, most: 1_000_000.0 },
        ),
    }
}

fn publish(section: &mut Section<'_>) -> PublishRules {
    let mut found = PublishRules::default();
    section.set("allow", "What may be published.", Many(Word(PUBLICATIONS)), &mut found.allow);
    section.set(
        "as",
        "What a change becomes; one word, or one for `issues` and one for `pull-requests`.",
        EitherForm,
        &mut found.publish_as,
    );
    section.set(
        "branch",
        "Name of new branches; `{subject}` has to be in it, `{slug}` may be.",
        BRANCH,
        &mut found.branch,
    );
    section.set("draft", "Whether pull requests start as drafts.", Flag, &mut found.draft);
    section.set("labels", "Labels put on pull requests.", Many(Text), &mut found.labels);
    let about = "Whether the pull request of an issue says `Closes #N`.";
    section.set("close_issues", about, Flag, &mut found.close_issues);
    let about = "Who makes published commits: git, unsigned, or the forge through its API, which \
                 signs them.";
    section.set("sign", about, Word(&[("git", Sign::Git), ("api", Sign::Api)]), &mut found.sign);
    let about =
        "Commands that must end with 0; else a pull request is a draft, and a commit is not made.";
    section.set("success", about, Many(SUCCESS), &mut found.success);
    found
}

const FORMS: &[(&str, Form)] = &[
    ("pull-request", Form::PullRequest),
    ("commit", Form::Commit),
    ("review", Form::Review),
    ("comment", Form::Comment),
];

/// What an issue's change may become: there is nothing to review.
const ISSUE_FORMS: &[(&str, Form)] =
    &[("pull-request", Form::PullRequest), ("commit", Form::Commit), ("comment", Form::Comment)];

/// One word for everything, or a word for each place.
struct EitherForm;

impl EitherForm {
    fn each(section: &mut Section<'_>) -> Forms {
        let mut forms = Forms::default();
        section.set(
            "issues",
            "For an issue, by hand and in jobs.",
            Word(ISSUE_FORMS),
            &mut forms.issues,
        );
        let about = "On a pull request; `pull-request` opens one of its own against its branch.";
        section.set("pull-requests", about, Word(FORMS), &mut forms.pull_requests);
        forms
    }
}

impl Shape for EitherForm {
    type Value = Forms;

    fn read(&self, node: &Node, what: &str, mistakes: &mut Mistakes) -> Option<Forms> {
        match node.entries() {
            Some(_) => Group("as", Self::each).read(node, what, mistakes),
            None => Word(FORMS).read(node, what, mistakes).map(Forms::of),
        }
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [Word(FORMS).schema(), Group("as", Self::each).schema()] })
    }

    fn written(&self, forms: &Forms) -> Option<Json> {
        FORMS.iter().find(|(_, form)| Forms::of(*form) == *forms).map(|(word, _)| json!(word))
    }
}

const SUCCESS: Checked<String> = Checked {
    parse: |text| match word::split(text) {
        Ok(words) if !words.is_empty() => Ok(text.to_owned()),
        Ok(_) => Err(Rejection::from("a success command is empty".to_owned())),
        Err(message) => Err(Rejection::from(message)),
    },
    write: Some(String::clone),
    pattern: r"\S",
    example: "cargo test --offline",
};

/// A branch template must not be able to name a branch of the project's own.
const BRANCH: Checked<String> = Checked {
    parse: |text| {
        let filled = text.replace("{subject}", "s").replace("{slug}", "s");
        let good = text.contains("{subject}")
            && filled.chars().all(|letter| {
                letter.is_ascii_alphanumeric() || matches!(letter, '/' | '-' | '_' | '.')
            });
        let git_accepts = !filled.contains("..")
            && !filled.contains("//")
            && !filled.starts_with(['/', '-', '.'])
            && !filled.ends_with(['/', '.']);
        let told = || Rejection::from(format!("`{text}` is not a branch template"));
        let hint = "for example `locum/{subject}-{slug}`; `{subject}` must be in it";
        (good && git_accepts).then(|| text.to_owned()).ok_or_else(|| told().hint(hint))
    },
    write: Some(String::clone),
    pattern: r"^[A-Za-z0-9/._{}-]*\{subject\}[A-Za-z0-9/._{}-]*$",
    example: "locum/{subject}-{slug}",
};

fn set<T>(place: &mut T, found: Option<T>) {
    if let Some(value) = found {
        *place = value;
    }
}
