//! Steps of a workflow as text: those that run commands, and inputs of actions.

use crate::starter::ci::in_folder;

/// A step that uses an action.
pub(super) fn action(name: &str, inputs: &[(&str, &str)]) -> String {
    let with: String = inputs.iter().map(|(name, value)| input(name, value)).collect();
    let with = if with.is_empty() { with } else { format!("        with:\n{with}") };
    format!("      - uses: {name}\n{with}")
}

/// One input of an action; a value of several lines keeps them.
pub(super) fn input(name: &str, value: &str) -> String {
    if value.contains('\n') {
        let lines: String = value.lines().map(|line| format!("            {line}\n")).collect();
        return format!("          {name}: |\n{lines}");
    }
    format!("          {name}: {}\n", crate::written::quoted(value))
}

/// A step that runs commands, in their folder where one command has one.
pub(super) fn run(commands: &[&str]) -> String {
    match commands {
        [command] if in_folder(command).0.is_some() => {
            let (folder, command) = in_folder(command);
            let folder = folder.unwrap_or_default();
            format!("{}        working-directory: {folder}\n", run(&[command]))
        }
        [command] if !command.contains([':', '#', '&']) => format!("      - run: {command}\n"),
        _ => {
            let lines: String =
                commands.iter().map(|command| format!("          {command}\n")).collect();
            format!("      - run: |\n{lines}")
        }
    }
}
