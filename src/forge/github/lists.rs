//! Lists of the REST API: one that is looked through is read to its end or not at all, so that what
//! is there is not taken for missing. The others begin with what is wanted, and their end is of no
//! use.

use serde::de::DeserializeOwned;

use crate::ForgeError;
use crate::github::client::{NAME, RestClient};

/// Items on one page of a list: the most GitHub gives.
const PAGE: usize = 100;

/// Pages read of one list.
pub(super) const PAGES: usize = 30;

impl RestClient {
    /// Reads a list to its end, page by page, and returns what `keep` makes of its items. What is
    /// looked for in a part of a list and not found may be in the rest, so a part is an error.
    /// Pages are counted: the `Link` header of a server behind a gateway may name an address that
    /// is not reachable.
    ///
    /// # Errors
    /// As [`RestClient::get`], and when the list has more than 3,000 items.
    pub(super) async fn list<T: DeserializeOwned, U>(
        &self,
        path: &str,
        keep: impl Fn(T) -> Option<U>,
    ) -> Result<Vec<U>, ForgeError> {
        let (kept, next) = self.pages(PAGES, path, &keep).await?;
        let Some(next) = next else { return Ok(kept) };
        let behind: Vec<T> = self.get(&next).await?;
        if behind.is_empty() {
            Ok(kept)
        } else {
            Err(too_long(format!("GET {path}"), PAGES * PAGE, named(path)))
        }
    }

    /// Reads the first pages of a list, of 100 items each; it is for lists whose end is of no use,
    /// such as those that begin with what changed last.
    ///
    /// # Errors
    /// As [`RestClient::get`].
    pub(super) async fn list_first<T: DeserializeOwned, U>(
        &self,
        pages: usize,
        path: &str,
        keep: impl Fn(T) -> Option<U>,
    ) -> Result<Vec<U>, ForgeError> {
        Ok(self.pages(pages, path, &keep).await?.0)
    }

    /// Reads the first pages of a list; returns the path of the page behind them as well, where the
    /// list may have one.
    async fn pages<T: DeserializeOwned, U>(
        &self,
        pages: usize,
        path: &str,
        keep: &impl Fn(T) -> Option<U>,
    ) -> Result<(Vec<U>, Option<String>), ForgeError> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let page = |number: usize| format!("{path}{joint}per_page={PAGE}&page={number}");
        let mut kept = Vec::new();
        for number in 1..=pages {
            let items: Vec<T> = self.get(&page(number)).await?;
            let is_last = items.len() < PAGE;
            kept.extend(items.into_iter().filter_map(keep));
            if is_last {
                return Ok((kept, None));
            }
        }
        Ok((kept, Some(page(pages + 1))))
    }
}

/// Returns what the items of a list are called: the last part of its path.
fn named(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the error of a list that is longer than what is read of one; `items` are what is in it.
pub(super) fn too_long(action: String, limit: usize, items: &str) -> ForgeError {
    let message = format!("there are more than {limit} {items}");
    ForgeError::Failed { forge: NAME, action, message }
}
