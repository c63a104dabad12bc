//! `fetch_instructions`: says how to write what this program reads, a mode or an MCP server. The
//! texts are part of the program; nothing is read and nothing is created.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::text::{code_list, head};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Each task there are instructions for, and these.
const INSTRUCTIONS: &[(&str, &str)] = &[
    ("create_mode", include_str!("../../../../config/prompts/create-mode.md")),
    ("create_mcp_server", include_str!("../../../../config/prompts/create-mcp-server.md")),
];
/// Bytes of an unknown task in an error.
const TASK_LIMIT_BYTES: usize = 100;

/// Instructions about to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchInstructions {
    task: &'static str,
    text: &'static str,
}

impl Tool for FetchInstructions {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Read how to write a mode or the definition of an MCP \
        server, before you write one.";
    const REQUIRED: &'static [&'static str] = &["task"];

    fn properties() -> Value {
        let tasks: Vec<&str> = tasks().collect();
        json!({ "task": { "type": "string", "enum": tasks } })
    }

    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let asked = arguments.words("task", "what you are about to create")?;
        arguments.finish()?;
        let asked = asked.trim();
        let found = INSTRUCTIONS.iter().find(|(task, _)| *task == asked);
        let (task, text) = *found.ok_or_else(|| {
            let known = code_list(tasks());
            let asked = head(asked, TASK_LIMIT_BYTES);
            CallError(format!("There are no instructions for `{asked}`. There are: {known}."))
        })?;
        Ok(Self { task, text })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        format!("read the instructions of {}", self.task)
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        Ok(Observation::said(self.text))
    }

    fn only_reads(&self) -> bool {
        true
    }
}

fn tasks() -> impl Iterator<Item = &'static str> {
    INSTRUCTIONS.iter().map(|(task, _)| *task)
}

#[cfg(test)]
mod tests {
    use super::INSTRUCTIONS;
    use crate::tools::fixture::ToolFixture;
    use crate::tools::mcp::definition::ServerFile;
    use crate::tools::mcp::definition::endpoint::ServerEndpoint;
    use locum_base::path::RepoPath;
    use locum_base::tool::ToolName;
    use locum_modes::{ModeSource, access, loader};
    use locum_policy::Policy;
    use locum_policy::intent::{Act, Facts, Intent};
    use locum_policy::verdict::Decision;
    use pretty_assertions::assert_eq;

    fn instructions(task: &str) -> String {
        let fixture = ToolFixture::new(&[]);
        let arguments = format!(r#"{{"task": "{task}"}}"#);
        let call = fixture.parse("fetch_instructions", &arguments, ToolName::ALL).unwrap();
        assert_eq!((call.intents(), call.only_reads()), (vec![Intent::Session], true));
        assert_eq!(call.headline(), format!("read the instructions of {task}"));
        let seen = fixture.call("fetch_instructions", &arguments);
        assert!(!seen.is_error, "{}", seen.text);
        seen.text
    }

    /// Returns the fenced blocks of a language, in order.
    fn blocks(text: &str, language: &str) -> Vec<String> {
        let fence = format!("```{language}\n");
        let inner = text.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
        inner.map(str::to_owned).collect()
    }

    #[test]
    fn the_mode_of_the_example_is_one_that_we_read_without_a_warning() {
        let text = instructions("create_mode");
        for file in [".locum/modes.yml", ".roomodes"] {
            let source = ModeSource::Project { file: file.to_owned() };
            let modes = loader::parse(&blocks(&text, "yaml")[0], &source).unwrap();
            assert_eq!(modes.len(), 1);
            let may_edit = |path: &str| {
                let path = RepoPath::parse(path).unwrap();
                access::check_edit(&modes[0], ToolName::WriteToFile, &path).is_ok()
            };
            assert_eq!(
                ["docs/a.md", "docs/a/b.mdx", "docs/a.rs", "src/docs/a.md"].map(may_edit),
                [true, true, false, false]
            );
        }
    }

    #[test]
    fn the_servers_of_the_example_are_read_and_its_policy_allows_them() {
        let text = instructions("create_mcp_server");
        let file = ServerFile::parse(".mcp.json", &blocks(&text, "json")[0]);
        assert_eq!((file.mistakes, file.warnings), (Vec::new(), Vec::new()));
        let names: Vec<&str> = file.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["time", "issues"]);
        assert!(matches!(file.servers[0].endpoint, ServerEndpoint::Program { .. }));
        let policy = format!("version: 1\n{}", blocks(&text, "yaml")[1]);
        let policy = Policy::parse(&policy, "policy.yml").unwrap();
        let decide = |server: &str, tool: &str| {
            let intent = Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() };
            let facts = Facts { mode: "code".to_owned(), ..Facts::default() };
            policy.decide(&intent, &facts).decision
        };
        assert_eq!(decide("time", "now"), Decision::Allow);
        assert_eq!(decide("issues", "search"), Decision::Allow);
        assert_eq!(decide("issues", "delete"), Decision::Deny);
    }

    #[test]
    fn there_are_two_and_they_are_short() {
        for (task, text) in INSTRUCTIONS {
            assert!(text.len() < 4 * 1024, "{task}: {}", text.len());
        }
        let fixture = ToolFixture::new(&[]);
        for (arguments, message) in [
            ("{}", "`fetch_instructions` needs `task`"),
            (r#"{"task": " "}"#, "`task` of `fetch_instructions` is empty"),
            (
                r#"{"task": "create_skill"}"#,
                "There are no instructions for `create_skill`. There are: `create_mode`, \
                 `create_mcp_server`.",
            ),
            (r#"{"task": ["create_mode"]}"#, "must be a text"),
        ] {
            let seen = fixture.call("fetch_instructions", arguments);
            assert!(seen.is_error && seen.text.contains(message), "{message}: {}", seen.text);
        }
    }
}
