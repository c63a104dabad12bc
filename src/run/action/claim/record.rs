//! `ClaimRecord`: who works on a subject, as it stands in the claim's commit.
//!
//! In: its JSON text; who asks, and when. Out: the record, whether it may be taken over, and the
//! sentence that others read. It reads no clock and no ref.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How long a claim holds that nobody renews: a run that was killed blocks its subject for no
/// longer.
pub(super) const LEASE_MINUTES: u32 = 10;

/// Who works on a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimRecord {
    /// Version of this format.
    version: u32,
    /// Fencing number: a later claim on the same subject has a higher one.
    pub(super) number: i64,
    /// Name of this claim, as no other has.
    pub(super) id: String,
    /// Number of the workflow run.
    run: String,
    /// Attempt of that workflow run, from 1.
    attempt: u32,
    /// Page of the workflow run; empty where it has none.
    url: String,
    /// Login of who asked; empty for a schedule.
    by: String,
    /// Hidden line of the run's comment; empty without one.
    pub(super) comment: String,
    /// When it was taken.
    since: Timestamp,
    /// When it was renewed last.
    renewed: Timestamp,
    /// Minutes that it holds after that.
    lease_minutes: u32,
}

/// Who asks for a claim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claimant<'a> {
    /// Name of the claim, as no other has.
    pub(super) id: &'a str,
    /// Number of the workflow run.
    pub(super) run: &'a str,
    /// Attempt of that workflow run, from 1.
    pub(super) attempt: u32,
    /// Page of the workflow run.
    pub(super) url: &'a str,
    /// Login of who asked.
    pub(super) by: &'a str,
    /// Hidden line of the run's comment.
    pub(super) comment: &'a str,
}

impl ClaimRecord {
    /// Returns a claim on what `previous` held, if anything. Numbers begin with the time: they
    /// grow also where the claim before was given back and is gone.
    pub(super) fn new(who: Claimant<'_>, previous: Option<&Self>, now: Timestamp) -> Self {
        let Claimant { id, run, attempt, url, by, comment } = who;
        let least = previous.map_or(i64::MIN, |previous| previous.number.saturating_add(1));
        Self {
            version: 1,
            number: now.as_millisecond().max(least),
            id: id.to_owned(),
            run: run.to_owned(),
            attempt,
            url: url.to_owned(),
            by: by.to_owned(),
            comment: comment.to_owned(),
            since: now,
            renewed: now,
            lease_minutes: LEASE_MINUTES,
        }
    }

    /// Returns the same claim, renewed.
    pub(super) fn renewed(&self, now: Timestamp) -> Self {
        Self { renewed: now, ..self.clone() }
    }

    /// Returns whether both are one claim, however often it was renewed.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id && self.number == other.number
    }

    /// Returns when it ends unless it is renewed.
    pub(super) fn ends(&self) -> Timestamp {
        let lease = SignedDuration::from_mins(i64::from(self.lease_minutes));
        self.renewed.checked_add(lease).unwrap_or(Timestamp::MAX)
    }

    /// Returns whether somebody may take it over: its time has passed, or it is of an earlier
    /// attempt of the same workflow run. Attempts follow each other.
    pub(super) fn may_be_taken_over(&self, who: Claimant<'_>, now: Timestamp) -> bool {
        let is_earlier_attempt =
            !who.run.is_empty() && self.run == who.run && self.attempt < who.attempt;
        is_earlier_attempt || self.ends() <= now
    }

    /// Returns the text of the record.
    pub(super) fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// Reads the text of a record.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if record.version != 1 {
            return Err(format!("its version is {}, not 1", record.version));
        }
        Ok(record)
    }

    /// Returns the number of the workflow run that has it; empty where it is of none.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    /// Names the workflow run that has it.
    pub(super) fn holder(&self) -> String {
        let run = if self.run.is_empty() {
            "another run".to_owned()
        } else {
            format!("workflow run {}", self.run)
        };
        if self.url.is_empty() { run } else { format!("{run} ({})", self.url) }
    }

    /// Says who works on a subject, for whom and since when.
    pub(super) fn sentence(&self) -> String {
        let by = if self.by.is_empty() { String::new() } else { format!(" for {}", self.by) };
        format!(
            "{} works here{by} since {} UTC; ask again when it has ended, or after {} UTC if it was \
             killed",
            self.holder(),
            self.since.strftime("%F %H:%M"),
            self.ends().strftime("%F %H:%M")
        )
    }
}
