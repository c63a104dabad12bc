//! What a person should know of a model that was chosen: a guessed window, an unknown price, a key
//! that is missing or travels in the open.
//!
//! In: a profile, its limits, where it leads. Out: notes, a line each.

use url::Url;

use crate::address::{is_loopback, origin};
use crate::catalogue::{Catalogue, ModelLimits};
use crate::profile::Profile;

pub(super) fn notes(
    profile: &Profile,
    limits: &ModelLimits,
    url: &Url,
    has_key: bool,
    catalogue: &Catalogue,
) -> Vec<String> {
    let mut notes = Vec::new();
    if limits.guessed {
        notes.push(format!(
            "model `{}` is not in the catalogue of {}: its window is taken to be {} tokens; set \
             `context_window` in its profile",
            profile.model, catalogue.date, limits.context_window
        ));
    }
    if limits.price.is_none() {
        notes.push(format!(
            "model `{}` has no known price: its cost counts as 0; set `price` in its profile",
            profile.model
        ));
    }
    if !has_key && !is_loopback(url) {
        notes.push(format!(
            "no key is sent to `{}`; if it needs one, name its variable in the profile's \
             `api_key_env`",
            origin(url)
        ));
    }
    if has_key && url.scheme() == "http" && !is_loopback(url) {
        notes.push(format!(
            "the key travels to `{}` unencrypted, and through no proxy",
            origin(url)
        ));
    }
    notes
}
