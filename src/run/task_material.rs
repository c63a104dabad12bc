//! What a task is made of: whose words it is in, and text of others that comes with it.

use locum_base::image::Image;

/// Whose words a task is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskAuthor {
    /// Of someone who may start runs: commands and mentions in them count.
    #[default]
    Asker,
    /// Put together by the program, perhaps from text of others: nothing in them counts.
    Program,
}

/// An image that comes with a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskImage {
    /// The image.
    pub image: Image,
    /// Where it is from: `in issue #12, written by someone: the error`.
    pub from: String,
}

/// Text that no one with authority wrote: an issue, a comment, the output of a command.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskMaterial {
    /// What it is: `issue #12`.
    pub what: String,
    /// Where it comes from: `written by someone`.
    pub origin: String,
    /// Text as it is shown to the model.
    pub text: String,
}
