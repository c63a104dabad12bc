//! `PeerWords`: what other agents call a tool's parameters. Models that were trained on those
//! agents use their words here too; [`aliases`](crate::tools::aliases) gives them the tool's own.

use crate::tools::aliases::decisive::DecisiveLists;

/// Other names of parameters, each with the tool's own.
pub(crate) type Renames = &'static [(&'static str, &'static str)];

/// Other names of `path`, where it is a file.
pub(crate) const PATH: Renames = &[
    ("file_path", "path"),
    ("filePath", "path"),
    ("absolute_path", "path"),
    ("target_file", "path"),
    ("filename", "path"),
    ("notebook_path", "path"),
];

/// Other names of `path`, where it is a folder.
pub(crate) const FOLDER: Renames = &[
    ("directory", "path"),
    ("dir", "path"),
    ("dir_path", "path"),
    ("folder", "path"),
    ("directory_path", "path"),
    ("relative_workspace_path", "path"),
];

/// Other names of the `id` of a command in the background.
pub(crate) const COMMAND_ID: Renames = &[
    ("bash_id", "id"),
    ("shell_id", "id"),
    ("task_id", "id"),
    ("command_id", "id"),
    ("process_id", "id"),
    ("session_id", "id"),
];

/// Other names of the mode that is switched to.
pub(crate) const MODE_SLUG: Renames =
    &[("mode", "mode_slug"), ("slug", "mode_slug"), ("target", "mode_slug")];

/// Other names of an MCP server.
pub(crate) const SERVER_NAME: Renames = &[("server", "server_name")];

/// Other names of a note that is kept between runs.
pub(crate) const NOTE_NAME: Renames = &[("file_path", "name"), ("key", "name")];

/// The words that other agents have for a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerWords {
    /// Other names of its parameters, in the order they are looked for.
    pub(crate) renames: &'static [Renames],
    /// Parameters that it does not have and that may not be ignored.
    pub(crate) decisive: DecisiveLists,
    /// Its names in Claude Code, which hooks are written for; its own where there are none, so that
    /// hooks for every tool are for it, too.
    pub(crate) hook_names: &'static [&'static str],
    /// Whether others call it with a list of files, of which it takes one a call.
    pub(crate) lists_files: bool,
}

impl PeerWords {
    /// No words but its own.
    pub(crate) const NONE: Self =
        Self { renames: &[], decisive: &[], hook_names: &[], lists_files: false };
}
