//! A point in time as flags take it: a day, a moment, or how long ago.

use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// What `--since`, `--until` and `--older-than` take, for their help.
pub(super) const MOMENT: &str = "DATE|TIME|AGE";

/// A point in time as it was typed.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// The beginning of a day in UTC, or an instant.
    At(Timestamp),
    /// So long ago.
    Ago(Span),
}

impl Moment {
    /// Returns the instant; the earliest one there is for an age that goes back further.
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(span) => {
                let then = now.to_zoned(TimeZone::UTC).checked_sub(span.abs());
                then.map_or(Timestamp::MIN, |then| then.timestamp())
            }
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self::At(at));
        }
        if let Ok(day) = text.parse::<Date>() {
            let at = day.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?;
            return Ok(Self::At(at.timestamp()));
        }
        text.parse::<Span>().map(Self::Ago).map_err(|_| {
            "write a day (2026-01-31), a moment (2026-01-31T06:00:00Z) or an age (7d, 36h)"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;
    use jiff::Timestamp;
    use pretty_assertions::assert_eq;

    #[test]
    fn days_moments_and_ages_are_read() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        for (typed, at) in [
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("2026-03-01T06:00:00+02:00", "2026-03-01T04:00:00Z"),
            ("7d", "2026-03-03T12:00:00Z"),
            ("36h", "2026-03-09T00:00:00Z"),
            ("2 weeks", "2026-02-24T12:00:00Z"),
            ("1 month", "2026-02-10T12:00:00Z"),
            ("9999y", "-007973-03-10T12:00:00Z"),
        ] {
            let read = typed.parse::<Moment>().unwrap().at(now);
            assert_eq!(read, at.parse::<Timestamp>().unwrap(), "{typed}");
        }
        for wrong in ["", "yesterday", "2026-13-01", "7", "7 parsecs"] {
            let error = wrong.parse::<Moment>().unwrap_err();
            assert!(error.contains("an age (7d, 36h)"), "{wrong}: {error}");
        }
    }
}
