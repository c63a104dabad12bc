//! Runs a script in a checkout as the product does: judged, admitted, rendered, executed. Without a
//! sandbox around it, so that nothing but the words holds it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::ignore::IgnoreFiles;
use locum_policy::intent::{Act, Facts, Intent};
use locum_sandbox::exec::{self, CommandRun};
use locum_sandbox::{CommandReach, Sandbox};

/// One command and nothing else.
struct OneCommand(Script);

impl Act for OneCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

/// Returns a policy of these rules, in which ignore files hide what `ignored` names.
pub(crate) fn policy(rules: &[&str], commands: &str, ignored: &str) -> Policy {
    let rules = serde_json::json!({ "version": 1, "rules": [{ "allow": rules }] }).to_string();
    let text = format!(
        "{},\"commands\":{{max_complexity: 1.0{commands}}}}}",
        rules.strip_suffix('}').unwrap()
    );
    let mut files = IgnoreFiles::default();
    files.add(".locumignore", ignored).unwrap();
    Policy::parse(&text, "policy").unwrap().with_ignored(files)
}

/// Runs a script in a folder of a checkout; returns what it printed, or why it was refused.
pub(crate) fn run(
    policy: &Policy,
    root: &Path,
    folder: &str,
    text: &str,
) -> Result<String, String> {
    let folder = RepoPath::parse(folder).unwrap();
    let script = Script::parse_in(text, &folder)
        .below(root.to_str().unwrap())
        .leaving_out(policy.settings().commands.unseen.clone());
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    let permit = policy
        .admit(OneCommand(script.clone()), &facts)
        .map_err(|refusal| refusal.verdicts[0].reason())?;
    let home = tempfile::tempdir().unwrap();
    let env: BTreeMap<String, String> =
        [("PATH", std::env::var("PATH").unwrap()), ("HOME", home.path().display().to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
    let sandbox = Sandbox::around_nothing();
    let run = CommandRun {
        tail: None,
        script: &script,
        folder: root.join(folder.as_str()),
        env: &env,
        timeout: Duration::from_secs(20),
        output_bytes: 1024 * 1024,
        redactor: &Redactor::default(),
        sandbox: &sandbox,
        reach: CommandReach::open(root),
        proxy: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let output = runtime.block_on(exec::run(&permit, run)).map_err(|error| error.to_string())?;
    Ok(output.output.text)
}
