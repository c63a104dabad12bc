//! `ClaimList`: the claims of a repository, each read once for all that a sweep asks of them.
//!
//! In: the refs at the remote, at the first question. Out: when the claim of a comment ends, and
//! whether one on a thread is renewed. Nothing is known where a claim that may be the one cannot be
//! read, or where there are more than are read: the run counts as one at work then.

use std::cell::RefCell;
use std::collections::BTreeMap;

use jiff::Timestamp;
use tokio::sync::OnceCell;

use crate::run::action::claim::record::ClaimRecord;
use crate::run::action::claim::refs::ClaimRef;
use crate::run::error::RunError;
use crate::run::kept_file::KeptAt;
use crate::run::plan::RunSubject;
use locum_workspace::carried::CLAIM_REFS;

/// Claims that are read at most to find one: each is fetched.
const READ_LIMIT: usize = 100;

/// The claims of a repository.
pub(in crate::run::action) struct ClaimList<'a> {
    at: KeptAt<'a>,
    /// The names of their refs; a remote that cannot be reached is asked once.
    names: OnceCell<Result<Vec<String>, ClaimUnread>>,
    /// Those that were read; `None` for one that was given up meanwhile or cannot be read.
    read: RefCell<BTreeMap<String, Result<Option<ClaimRecord>, ClaimUnread>>>,
}

/// That a claim could not be read; the log says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run::action) struct ClaimUnread;

impl<'a> ClaimList<'a> {
    /// Returns those at a remote; nothing is read yet.
    pub(in crate::run::action) fn new(at: KeptAt<'a>) -> Self {
        Self { at, names: OnceCell::new(), read: RefCell::default() }
    }

    /// Returns when the claim of the run ends whose comment has this hidden line; `None` where no
    /// claim names it.
    ///
    /// # Errors
    /// When the claims cannot be listed, are more than are read, or none names the comment and one
    /// of them cannot be read.
    pub(in crate::run::action) async fn end_of_comment(
        &self,
        comment: &str,
    ) -> Result<Option<Timestamp>, ClaimUnread> {
        let names = self.names().await?.iter().map(String::as_str).collect();
        let found = self.find(names, |record| record.comment == comment).await?;
        Ok(found.map(|record| record.ends()))
    }

    /// Returns whether another run than `own` has a claim on an issue, pull request or discussion,
    /// or on a check of it, and renews it.
    ///
    /// # Errors
    /// When the claims cannot be listed, those on it are more than are read, or none of them is
    /// renewed and one cannot be read.
    pub(in crate::run::action) async fn is_renewed_on(
        &self,
        number: u64,
        (own, now): (&str, Timestamp),
    ) -> Result<bool, ClaimUnread> {
        let names = self.names().await?.iter().map(String::as_str);
        let on_it = names.filter(|name| RunSubject::is_claim_on(name, number));
        let is_renewed = |record: &ClaimRecord| record.run() != own && record.ends() > now;
        Ok(self.find(on_it.collect(), is_renewed).await?.is_some())
    }

    /// Returns the first of these claims that is as wanted.
    async fn find(
        &self,
        names: Vec<&str>,
        is_wanted: impl Fn(&ClaimRecord) -> bool,
    ) -> Result<Option<ClaimRecord>, ClaimUnread> {
        if names.len() > READ_LIMIT {
            tracing::warn!(claims = names.len(), "more claims are kept than are read");
            return Err(ClaimUnread);
        }
        let mut found = Ok(None);
        for name in names {
            match self.record(name).await {
                Ok(Some(record)) if is_wanted(&record) => return Ok(Some(record)),
                Ok(_) => {}
                Err(unread) => found = Err(unread),
            }
        }
        found
    }

    async fn names(&self) -> Result<&[String], ClaimUnread> {
        let names = self.names.get_or_init(|| async {
            let refs = self.at.git.own_refs(self.at.remote).await;
            let refs = refs.map_err(|error| unread("all of them", &RunError::internal(error)))?;
            let names = refs.iter().filter_map(|(name, _)| name.strip_prefix(CLAIM_REFS));
            Ok(names.map(str::to_owned).collect())
        });
        names.await.as_deref().map_err(|unread| *unread)
    }

    async fn record(&self, name: &str) -> Result<Option<ClaimRecord>, ClaimUnread> {
        let known = self.read.borrow().get(name).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = ClaimRef::named(name, self.at).look().await;
        let record = found
            .map(|found| found.map(|(_, record)| record))
            .map_err(|error| unread(name, &error));
        self.read.borrow_mut().insert(name.to_owned(), record.clone());
        record
    }
}

fn unread(name: &str, error: &RunError) -> ClaimUnread {
    tracing::warn!(name, %error, "a claim cannot be read; its run counts as one at work");
    ClaimUnread
}
