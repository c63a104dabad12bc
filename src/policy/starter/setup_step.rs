//! Steps of a workflow as text: those that run commands, and inputs of actions.

use crate::starter::ci::in_folder;

/// A step that uses an action.
pub(super) fn action(name: &str, inputs: &[(&str, &str)]) -> String {
    let with: String = inputs.iter().map(|(name, value)| input(name, value)).collect();
    let with = if with.is_empty() { with } else { format!("        with:\n{with}") };
    format!("      - uses: {name}\n{with}")
}

/// Variables of a step.
pub(super) fn variables(variables: &[(&str, &str)]) -> String {
    let lines: String = variables.iter().map(|(name, value)| input(name, value)).collect();
    if lines.is_empty() { lines } else { format!("        env:\n{lines}") }
}

/// One input of an action or variable of a step; a value of several lines keeps them.
pub(super) fn input(name: &str, value: &str) -> String {
    // What a block begins with says how far it is indented.
    let is_block = value.contains('\n')
        && !value.starts_with(char::is_whitespace)
        && value.chars().all(|letter| letter == '\n' || !letter.is_control());
    if is_block {
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
