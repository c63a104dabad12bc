//! `SessionId`: names one session.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The key of [`SessionStart::caller`](crate::session::event::SessionStart::caller) that says that a
/// session was imported, and from where.
pub const IMPORTED: &str = "imported";

/// Names one session: a UUID version 7 in its plain form, so that names sort by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Returns a new name.
    pub fn fresh() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }

    /// Reads a name as typed by a user; only hexadecimal digits and `-`, so that it is safe as a
    /// file name.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = !text.is_empty()
            && text.len() <= 64
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        plain.then(|| Self(text.to_owned()))
    }

    /// Returns when it was created, in seconds since 1970; `None` for a name that does not
    /// contain it.
    pub fn made_at_s(&self) -> Option<i64> {
        let (seconds, _) = uuid::Uuid::try_parse(&self.0).ok()?.get_timestamp()?.to_unix();
        i64::try_from(seconds).ok()
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
