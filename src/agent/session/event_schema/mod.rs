//! The JSON Schema of the lines that `--output-format stream-json` prints: the events of a session,
//! and the report behind them.
//!
//! In: nothing. Out: a schema. What stands inside of a part of an event may grow, and is described
//! where it is documented. Every line that the program's own tests see is held to it.

mod keys;
mod report;

use serde_json::{Value, json};

use keys::Holds::{Count, Flag, List, Number, Part, Task, Text, Texts, Word};
use keys::Key;
use keys::Presence::{Always, Sometimes};

/// An event: its name, what happened, its keys.
type EventKeys = (&'static str, &'static str, &'static [Key]);

/// The task that an event is about.
const TASK: Key = ("task", Task, Always, "the task; 0 is the root task");
/// The call that an event is about.
const CALL: Key = ("call", Text, Always, "ID of the call");
/// What a reply cost.
const USAGE: Key = ("usage", Part, Always, "tokens: `input`, `output` and parts of them");
const ESTIMATED: Key = ("estimated", Flag, Always, "whether tokens or their price are estimated");
const COST: Key = ("cost_usd", Number, Always, "US dollars by the price table");
/// The checkout before an effect.
const SNAPSHOT: Key = ("snapshot", Text, Sometimes, "hash of the checkout before it");

/// Every event.
const EVENTS: &[EventKeys] = &[
    (
        "started",
        "the session began; the first line",
        &[
            ("version", Count, Always, "version of the journal's format"),
            ("id", Text, Always, "ID of the session"),
            ("task", Text, Always, "the task in the words of who asked"),
            ("message", Text, Always, "first message of the root task"),
            ("images", List, Sometimes, "images shown with it"),
            ("earlier", Part, Sometimes, "the conversation that it continues"),
            ("fork", Part, Sometimes, "the session and checkpoint that it was made of"),
            ("mode", Text, Always, "mode of the root task"),
            ("facts", Part, Always, "who asked and how"),
            ("budget", Part, Always, "what may be spent"),
            ("base", Text, Always, "commit that the run starts from"),
            ("policy_hash", Text, Always, "SHA-256 of the policy"),
            ("models", Texts, Always, "models of the root task and of sub-tasks"),
            ("mode_models", Part, Sometimes, "models of modes that have their own, by slug"),
            ("condense_model", Text, Sometimes, "model that sums conversations up"),
            ("place", Part, Sometimes, "what prompts say of where the run works"),
            ("caller", Part, Sometimes, "what a resume needs besides"),
        ],
    ),
    (
        "resumed",
        "a killed session goes on",
        &[("outside_text", Flag, Sometimes, "whether the checkout's files may be anyone's")],
    ),
    (
        "continued",
        "a person lets a session go on",
        &[
            ("by", Text, Always, "who"),
            ("budget", Part, Always, "what the root task may spend in all"),
            ("words", Text, Sometimes, "what they want besides"),
            ("images", List, Sometimes, "images with these words"),
        ],
    ),
    (
        "message_received",
        "a person wrote to the session",
        &[("message", Part, Always, "their words, and who they are")],
    ),
    (
        "message_read",
        "a task read what a person wrote",
        &[
            TASK,
            ("message", Text, Always, "ID of the message"),
            ("text", Text, Always, "what the model reads"),
            ("images", List, Sometimes, "images with it"),
        ],
    ),
    (
        "task_started",
        "a task began",
        &[
            TASK,
            ("parent", Task, Sometimes, "the task that requested it"),
            ("parent_call", Text, Sometimes, "its call"),
            ("mode", Text, Always, "mode it begins in"),
            ("title", Text, Sometimes, "what the call names it"),
            ("message", Text, Always, "what it is to do"),
            ("todos", List, Sometimes, "checklist it begins with"),
            ("budget", Part, Always, "what it may spend"),
            ("tree", Text, Sometimes, "commit its own worktree begins with"),
        ],
    ),
    (
        "forked",
        "parallel sub-tasks are about to start",
        &[
            TASK,
            ("calls", List, Always, "the calls that ask for them"),
            ("from", Text, Always, "commit each begins with"),
        ],
    ),
    (
        "brought",
        "changes of a parallel sub-task came to its parent, or are kept apart",
        &[
            TASK,
            ("taken", Texts, Sometimes, "files that changed where its parent works"),
            ("conflicts", List, Sometimes, "what stood in the way"),
            ("kept", Text, Sometimes, "the ref that they are kept on"),
        ],
    ),
    (
        "work_measured",
        "what an ended sub-task changed",
        &[TASK, ("changes", List, Always, "each file that it changed")],
    ),
    (
        "noted",
        "readers of the outcome have to know something",
        &[TASK, ("text", Text, Always, "what, as sentences")],
    ),
    (
        "replied",
        "the model replied",
        &[
            TASK,
            ("reply", Part, Always, "its text and calls"),
            USAGE,
            ESTIMATED,
            COST,
            ("priced", Flag, Always, "whether the model has a price"),
            ("withheld", Texts, Sometimes, "calls from which a secret was taken out"),
        ],
    ),
    (
        "consulted",
        "another model answered a question",
        &[
            TASK,
            CALL,
            ("expert", Text, Always, "profile that was asked"),
            ("answer", Text, Always, "its answer; empty where its reply had no words"),
            USAGE,
            ESTIMATED,
            COST,
        ],
    ),
    (
        "painted",
        "an image model generated an image, or said why not",
        &[
            TASK,
            CALL,
            ("by", Text, Always, "profile that was asked"),
            ("wish", Text, Always, "hash of the request"),
            ("image", Part, Sometimes, "the image"),
            ("said", Text, Sometimes, "text that came with it"),
            ("again", Flag, Sometimes, "whether an earlier call asked for it"),
            USAGE,
            ESTIMATED,
            COST,
        ],
    ),
    (
        "model_used",
        "another model did something for a call: it embedded texts, or searched the web",
        &[
            TASK,
            CALL,
            ("by", Text, Always, "profile or model that was asked"),
            ("what", Text, Always, "what it did"),
            USAGE,
            ESTIMATED,
            COST,
        ],
    ),
    ("reply_lost", "a reply broke off and was not used", &[TASK, USAGE, ESTIMATED, COST]),
    (
        "shortened",
        "the context of a task was shortened",
        &[
            TASK,
            ("how", Word(&["condensed", "truncated"]), Always, "by a summary, or without one"),
            ("left_out", Count, Always, "messages that are left out"),
            ("text", Text, Always, "what replaces them"),
            USAGE,
            ESTIMATED,
            COST,
        ],
    ),
    (
        "reminded",
        "the session said something to the model",
        &[
            TASK,
            ("text", Text, Always, "what"),
            ("mistake", Flag, Always, "whether the model had made a mistake"),
            ("about", Text, Sometimes, "what it is about, where it is said once"),
        ],
    ),
    (
        "judged",
        "a call was judged",
        &[
            TASK,
            CALL,
            ("headline", Text, Always, "the call in a line"),
            ("command", Text, Sometimes, "the script it would run"),
            ("verdicts", List, Always, "one verdict for each intent"),
            ("approval", Part, Sometimes, "the approval that lets held intents pass"),
        ],
    ),
    (
        "hooks_ran",
        "hooks of the repository were asked",
        &[
            TASK,
            CALL,
            ("event_name", Text, Always, "where in the file they stand"),
            ("hooks", List, Always, "each hook and how it ended"),
            ("stops", Flag, Sometimes, "whether a hook is against it"),
        ],
    ),
    (
        "decided",
        "a person decided on what waited",
        &[TASK, CALL, ("decision", Part, Always, "the decision, and whose")],
    ),
    (
        "performing",
        "a permitted call is about to be performed",
        &[TASK, CALL, ("before", List, Sometimes, "what the files held that it edits"), SNAPSHOT],
    ),
    (
        "promoting",
        "what a command wrote was judged",
        &[TASK, CALL, ("promotion", Part, Always, "what becomes of each file")],
    ),
    (
        "answered",
        "a call has its answer",
        &[
            TASK,
            CALL,
            ("tool", Text, Always, "the tool as the model wrote it"),
            ("observation", Part, Always, "the answer"),
            ("refusal", Part, Sometimes, "why it was refused"),
            ("mistake", Flag, Sometimes, "whether the model made a mistake"),
        ],
    ),
    (
        "checking",
        "the policy's checks are about to run",
        &[TASK, CALL, ("commands", Texts, Always, "the commands, in order"), SNAPSHOT],
    ),
    (
        "checked",
        "the policy's checks ended",
        &[
            TASK,
            CALL,
            ("checks", List, Always, "each check that ran"),
            ("handed_back", Flag, Sometimes, "whether the task continues with the failed one"),
        ],
    ),
    (
        "todos_changed",
        "the checklist of a task changed",
        &[TASK, ("todos", List, Always, "the whole checklist")],
    ),
    (
        "mode_switched",
        "a task goes on in another mode",
        &[
            TASK,
            ("from", Text, Always, "mode before"),
            ("to", Text, Always, "mode after"),
            ("reason", Text, Always, "why"),
            ("rule", Part, Sometimes, "what in the policy lets it be"),
            ("took_ms", Count, Sometimes, "milliseconds since the reply that asked for it"),
        ],
    ),
    (
        "checkpointed",
        "the files are safe on the session's ref",
        &[
            ("tree", Task, Sometimes, "the task whose worktree it is of"),
            ("commit", Text, Always, "commit that holds them"),
            ("touched", List, Always, "paths touched since the checkpoint before"),
            ("uncommitted", List, Sometimes, "files with changes in no commit, before a command"),
        ],
    ),
    (
        "task_ended",
        "a task ended",
        &[
            TASK,
            ("result", Text, Always, "its result, or why it failed"),
            ("completed", Flag, Always, "whether it reached its goal by its own account"),
            ("status", Text, Sometimes, "how far it came, where not all the way"),
            ("reason", Text, Sometimes, "why it did not reach its goal"),
            ("verdict", Word(&["pass", "fail", "neutral"]), Sometimes, "what a check comes to"),
        ],
    ),
    (
        "servers_listed",
        "MCP servers said which tools they have",
        &[("servers", Part, Always, "hashes by server and tool")],
    ),
    (
        "server_noted",
        "an MCP server did something unasked",
        &[("server", Text, Always, "name of the server"), ("what", Text, Always, "what it did")],
    ),
];

/// Returns the schema of a line.
pub fn schema() -> Value {
    let events = EVENTS.iter().map(|(name, about, keys)| event(name, about, keys));
    let last =
        [event("ended", "the session ended", report::ENDED), report::report(), report::mistake()];
    let lines: Vec<Value> = events.chain(last).collect();
    json!({ "oneOf": lines })
}

fn event(name: &str, about: &str, keys: &[Key]) -> Value {
    let mut properties = keys::properties(keys);
    properties.extend(keys::head(name));
    let required: Vec<&str> = ["at", "event"].into_iter().chain(keys::required(keys)).collect();
    json!({
        "type": "object", "description": about, "properties": properties,
        "required": required,
    })
}
