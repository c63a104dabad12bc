//! Keys of the report of a run, of its last event, and of a mistake before it began.

use serde_json::Value;

use super::keys::Holds::{
    Count, Each, Flag, Integer, List, Named, Number, Of, Part, Task, Text, Texts, Word, WordOrPart,
};
use super::keys::Key;
use super::keys::Presence::{Always, Sometimes};
use super::keys::object;

/// How a session ends.
const OUTCOMES: &[&str] = &[
    "done",
    "nothing-to-do",
    "partial",
    "checks-failed",
    "needs-input",
    "on-hold",
    "refused",
    "budget-exhausted",
    "timed-out",
    "failed",
    "cancelled",
    "not-published",
];

const DECISIONS: &[&str] = &["allow", "hold", "deny"];

/// Keys that the report and the last event share.
const REASON: Key = ("reason", Text, Sometimes, "why it ended so, when it is not `done`");
const EXHAUSTED: Key = (
    "exhausted",
    Of(&[
        ("unit", Text, Always, "the limit's key in the policy's `budget`"),
        ("limit", Text, Always, "the limit, as shown"),
        ("spent", Text, Always, "what was spent, as shown"),
    ]),
    Sometimes,
    "the limit that ended it, for `budget-exhausted` and `timed-out`",
);
const HINDRANCE: Key = (
    "hindrance",
    Of(&[
        ("why", Text, Always, "what failed and why"),
        ("cure", Text, Sometimes, "what a person does about it"),
        (
            "pushed",
            Of(&[
                ("name", Text, Always, "name of the branch"),
                ("compare_url", Text, Sometimes, "page that opens a pull request from it"),
            ]),
            Sometimes,
            "the branch that holds the changes all the same",
        ),
        ("patch", Text, Sometimes, "file that holds the changes"),
    ]),
    Sometimes,
    "what stood in the way of publishing",
);
const QUESTION: Key = (
    "question",
    Of(&[
        ("id", Text, Always, "what an answer names"),
        ("task", Task, Always, "the task that asks"),
        ("call", Text, Always, "the call that waits for the answer"),
        ("text", Text, Always, "the question"),
        ("suggestions", Texts, Always, "answers that the model suggests"),
    ]),
    Sometimes,
    "the question, for `needs-input`",
);
const HELD: Key = (
    "held",
    Of(&[
        ("id", Text, Always, "what an approval names"),
        ("task", Task, Always, "the task that wants it"),
        ("call", Text, Always, "ID of the call"),
        ("mode", Text, Always, "mode of the task"),
        ("tool", Text, Always, "the tool as the model wrote it"),
        ("headline", Text, Always, "the call in a line"),
        ("arguments", Text, Always, "its arguments, clipped"),
        ("verdicts", List, Always, "what was held, each with its rule"),
        ("diff", Text, Sometimes, "what an edit would change, clipped"),
        ("target", Part, Sometimes, "the mode that a task would begin or go on in"),
        ("note", Text, Sometimes, "what a note for later runs would say"),
    ]),
    Sometimes,
    "the call that waits for a decision, for `on-hold`",
);
const ALSO_WAITING: Key =
    ("also_waiting", List, Sometimes, "what else waits for a decision, in parallel sub-tasks");
const NOTES: Key = ("notes", Texts, Sometimes, "what readers have to know besides");
const APPROVED: Key = (
    "approved",
    Each(&[
        ("task", Task, Always, "the task that wanted it"),
        ("headline", Text, Always, "the call in a line"),
        ("approval", Part, Always, "who approved it, and what exactly"),
    ]),
    Always,
    "held calls that were approved",
);
const POLICY_HASH: Key = ("policy_hash", Text, Always, "SHA-256 of the policy, ignore files too");
const TODOS: Key = (
    "todos",
    Each(&[("text", Text, Always, "what is to be done"), ("state", Text, Always, "how far it is")]),
    Always,
    "the root task's checklist",
);
const TOOLS: Key = (
    "tools",
    Named(&[
        ("calls", Count, Always, "calls that have an answer"),
        ("failed", Count, Sometimes, "of these, those that failed"),
        ("refused", Count, Sometimes, "of these, those that were refused"),
    ]),
    Sometimes,
    "how often each tool was called",
);
const VERDICT: Key =
    ("verdict", Word(&["pass", "fail", "neutral"]), Sometimes, "what a check comes to");
const BASE: Key = ("base", Text, Always, "commit that the run started from");
const CHECKPOINT: Key = ("checkpoint", Text, Sometimes, "commit of the last checkpoint");

/// Keys of the last event, besides those of every event. Its parts are those of the journal.
pub(super) const ENDED: &[Key] = &[
    ("session", Text, Always, "ID of the session"),
    ("word", Word(OUTCOMES), Always, "how it ended"),
    ("summary", Text, Always, "the result in the model's words"),
    REASON,
    ("fault", Flag, Sometimes, "whether git or a disk was at fault: it can be resumed"),
    ("outage", Flag, Sometimes, "whether a model was at fault, or the way to it"),
    EXHAUSTED,
    ("ended_as", Word(OUTCOMES), Sometimes, "how it had ended before it was to be published"),
    HINDRANCE,
    QUESTION,
    HELD,
    ALSO_WAITING,
    NOTES,
    APPROVED,
    POLICY_HASH,
    ("tasks", List, Always, "every task"),
    ("refusals", List, Always, "every refusal"),
    ("commands", List, Always, "every command that ran"),
    TOOLS,
    ("checks", List, Sometimes, "the policy's checks at the end"),
    ("edit_checks", List, Sometimes, "the last checks after edits"),
    ("unchecked", Flag, Sometimes, "whether files changed and no check ran after that"),
    VERDICT,
    TODOS,
    ("spent", Part, Always, "what all tasks spent together"),
    ("spent_is_estimate", Flag, Always, "whether some of it is an estimate"),
    ("changes", List, Always, "every changed file"),
    ("rewritten", Texts, Sometimes, "files that were written and are as they were"),
    BASE,
    CHECKPOINT,
    ("apart", Texts, Sometimes, "other commits that are needed to go on"),
];

const TURNS: Key = ("turns", Count, Always, "replies of models");
const INPUT: Key = ("input_tokens", Count, Always, "tokens read, cached ones included");
const OUTPUT: Key = ("output_tokens", Count, Always, "tokens written");
const CACHE_READ: Key = ("cache_read_tokens", Count, Always, "of the input, read from a cache");
const CACHE_WRITE: Key = ("cache_write_tokens", Count, Always, "of the input, written to a cache");
const REASONING: Key = ("reasoning_tokens", Count, Always, "of the output, those of reasoning");
const COST: Key = ("cost_usd", Number, Always, "US dollars by the price table");
const ESTIMATE: Key = ("is_estimate", Flag, Always, "whether some of it is an estimate");

const CHARGED: &[Key] = &[TURNS, INPUT, OUTPUT, CACHE_READ, CACHE_WRITE, REASONING, COST, ESTIMATE];

const RULE: Key = ("rule", Text, Sometimes, "pattern of the rule; `null` where none matched");
const FILE: Key = ("file", Text, Sometimes, "file of the rule");
const LINE: Key = ("line", Count, Sometimes, "line of the rule");

const COMMAND: Key = ("command", Text, Always, "the command as it was run");
const EXIT_CODE: Key = ("exit_code", Integer, Sometimes, "exit code, unless it was killed");
const SIGNAL: Key = ("signal", Integer, Sometimes, "the signal that ended it");
const TIMED_OUT: Key = ("timed_out", Flag, Sometimes, "whether it took too long");

const COMMANDS: &[Key] = &[
    COMMAND,
    EXIT_CODE,
    SIGNAL,
    TIMED_OUT,
    (
        "background",
        Word(&["itself", "stopped", "task"]),
        Sometimes,
        "what ended it, for one in the background",
    ),
    (
        "failed_steps",
        Each(&[(
            "stages",
            Each(&[
                ("command", Text, Always, "the command, shortened"),
                ("code", Integer, Always, "its exit code; 128 and more for a signal"),
            ]),
            Always,
            "members of the pipe",
        )]),
        Sometimes,
        "its parts that did not end with 0",
    ),
    ("not_started", Texts, Sometimes, "programs that could not be run"),
];

const CHECKS: &[Key] = &[
    COMMAND,
    EXIT_CODE,
    SIGNAL,
    TIMED_OUT,
    ("succeeded", Flag, Always, "whether it ended with 0 and left nothing behind"),
    ("problem", Text, Sometimes, "why it did not start, that it ran no test, or what it left"),
    ("output", Text, Sometimes, "the last lines it wrote, where it failed"),
];

const CHANGES: &[Key] = &[
    ("path", Text, Always, "path in the repository"),
    ("kind", Word(&["added", "modified", "deleted"]), Always, "what happened to it"),
    ("added", Count, Always, "lines added"),
    ("removed", Count, Always, "lines removed"),
    ("binary_bytes", Count, Sometimes, "size of a binary file now"),
    ("patch", Text, Always, "its unified diff"),
];

const TASKS: &[Key] = &[
    ("task", Task, Always, "its number; the root task's is 0"),
    ("parent", Task, Sometimes, "the task that requested it"),
    ("mode", Text, Always, "mode it ended in"),
    ("title", Text, Always, "first line of what it was to do"),
    ("completed", Flag, Sometimes, "whether it reached its goal by its own account"),
    ("status", Word(&["done", "partial", "failed"]), Sometimes, "how far it came"),
    TURNS,
    ("kept", Text, Sometimes, "ref of changes that were not taken over"),
    ("kept_command", Text, Sometimes, "the command that gets them into a checkout"),
    ("seconds", Count, Always, "wall time, with that of its sub-tasks"),
    ("changes", Each(CHANGES), Sometimes, "what a sub-task changed"),
    ("commands", Each(COMMANDS), Sometimes, "what a sub-task ran"),
    ("own", Of(CHARGED), Always, "what its own requests used up"),
    ("with_sub_tasks", Of(CHARGED), Always, "the same with its sub-tasks"),
];

const REFUSALS: &[Key] = &[
    ("task", Task, Always, "the task"),
    ("mode", Text, Always, "its mode"),
    ("call", Text, Always, "the call in a line"),
    ("decision", Word(DECISIONS), Always, "`hold` or `deny`"),
    (
        "verdicts",
        Each(&[
            ("decision", Word(DECISIONS), Always, "of this intent"),
            ("intent", Text, Always, "in the policy's words"),
            RULE,
            FILE,
            LINE,
            ("reason", Text, Always, "as one sentence"),
            ("contained", Flag, Sometimes, "whether it is allowed because it runs contained"),
        ]),
        Always,
        "one verdict for each intent",
    ),
    ("hint", Text, Sometimes, "what would be allowed instead"),
    ("by", WordOrPart, Always, "`policy`, `secret`, or `person` with login and reason"),
    ("performed", Flag, Sometimes, "whether the call ran, and only files it wrote were not let in"),
];

const REPORT: &[Key] = &[
    ("version", Count, Always, "version of the report's format"),
    ("outcome", Word(OUTCOMES), Always, "how it ended"),
    ("exit_code", Count, Always, "what the program exits with"),
    ("session", Text, Always, "ID of the session"),
    ("summary", Text, Always, "the result in the model's words"),
    REASON,
    EXHAUSTED,
    HINDRANCE,
    QUESTION,
    HELD,
    ALSO_WAITING,
    NOTES,
    APPROVED,
    POLICY_HASH,
    ("tasks", Each(TASKS), Always, "every task"),
    TODOS,
    ("refusals", Each(REFUSALS), Always, "every denied or held call"),
    (
        "refused_rules",
        Each(&[
            ("decision", Word(DECISIONS), Always, "`hold` or `deny`"),
            RULE,
            FILE,
            LINE,
            ("reason", Text, Always, "as it was given first"),
            ("count", Count, Always, "how often"),
        ]),
        Always,
        "how often each rule or guard refused something",
    ),
    TOOLS,
    ("commands", Each(COMMANDS), Always, "every command that ran"),
    ("checks", Each(CHECKS), Always, "the policy's checks at the end"),
    ("edit_checks", Each(CHECKS), Sometimes, "the last checks after edits"),
    ("unchecked", Flag, Always, "whether files changed and no check ran after that"),
    VERDICT,
    ("changes", Each(CHANGES), Always, "every changed file"),
    (
        "spent",
        Of(&[
            TURNS,
            INPUT,
            OUTPUT,
            CACHE_READ,
            CACHE_WRITE,
            REASONING,
            COST,
            ESTIMATE,
            ("tool_calls", Count, Always, "tool calls"),
            ("seconds", Count, Always, "wall time"),
        ]),
        Always,
        "what the whole run spent",
    ),
    BASE,
    CHECKPOINT,
    (
        "published",
        Each(&[
            ("publication", Text, Always, "kind of what was published"),
            ("id", Count, Always, "its number or ID at the forge"),
            ("url", Text, Always, "its address on the web"),
            ("updated", Flag, Always, "whether it changed something published before"),
        ]),
        Always,
        "what was published",
    ),
];

/// The last line is no event.
pub(super) fn report() -> Value {
    object(Some("the report: the last line, the object of `--output-format json`"), REPORT)
}

/// The only line where a run could not begin.
pub(super) fn mistake() -> Value {
    const MISTAKE: &[Key] = &[("error", Part, Always, "what is wrong, and what to do")];
    object(Some("why no run began"), MISTAKE)
}
