//! `SessionId`: names one session.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use uuid::{NoContext, Timestamp};

/// The key of [`SessionStart::caller`](crate::session::event::SessionStart::caller) that says that
/// a session was imported, and from where.
pub const IMPORTED: &str = "imported";

/// Names one session: a UUID version 7 in its plain form, so that names sort by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Returns a new name.
    pub fn fresh() -> Self {
        Self::at(SystemTime::UNIX_EPOCH.elapsed().is_ok())
    }

    /// Names a session that begins now, or in 1970 where the clock is before that.
    fn at(is_after_1970: bool) -> Self {
        let uuid = if is_after_1970 {
            uuid::Uuid::now_v7()
        } else {
            uuid::Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0))
        };
        Self(uuid.simple().to_string())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_names_sessions_too_and_none_twice() {
        let [one, other] = [SessionId::at(false), SessionId::at(false)];
        assert_ne!(one, other);
        assert_eq!((one.made_at_s(), SessionId::parse(one.as_str())), (Some(0), Some(one.clone())));
        assert!(SessionId::fresh().made_at_s().unwrap() > 0);
    }
}
