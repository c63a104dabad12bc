//! `Rejection`: why a check refuses a text. Its reader adds the place.

/// What is wrong with a text, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// A lowercase fragment without a full stop.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl Rejection {
    /// Returns the same with what to do.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<String> for Rejection {
    fn from(message: String) -> Self {
        Self { message, hint: None }
    }
}

impl From<&str> for Rejection {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}
