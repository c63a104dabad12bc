//! The seven built-in modes, from `config/modes.yml`.

use crate::modes::Mode;

/// Returns the built-in modes in listing order.
#[must_use]
pub fn modes() -> Vec<Mode> {
    todo!()
}
