//! Where the layers of a session lie, and whether they can lie over a checkout.
use std::io;
use std::path::{Path, PathBuf};

use super::Layer;
use crate::checkout::Checkout;
use locum_sandbox::Sandbox;

/// Folder of a session with the layers over its checkouts.
const LAYERS_FOLDER: &str = "layers";

impl Layer {
    /// Opens a layer of a session over a checkout; `None` where this machine gives none.
    ///
    /// # Errors
    /// When its folder cannot be made.
    pub fn over(
        checkout: &Checkout,
        (session_folder, name): (&Path, &str),
        sandbox: &Sandbox,
    ) -> io::Result<Option<Self>> {
        let root = checkout.root();
        if !Self::can_lie_over(session_folder, root) || !sandbox.holds() {
            return Ok(None);
        }
        let layer = Self::open(&Self::place(session_folder, name))?;
        if sandbox.can_layer(root, layer.folders()) {
            layer.begin_again()?;
            return Ok(Some(layer));
        }
        layer.discard()?;
        Ok(None)
    }

    /// Returns the folder of a layer of a session.
    pub fn place(session_folder: &Path, name: &str) -> PathBuf {
        session_folder.join(LAYERS_FOLDER).join(name)
    }

    /// Whether a layer in a folder, which need not exist yet, can lie over the checkout at `root`:
    /// what lies in a checkout cannot lie over it. Nor may sessions and state lie there.
    pub fn can_lie_over(folder: &Path, root: &Path) -> bool {
        let there = folder.ancestors().find_map(|above| above.canonicalize().ok());
        !there.is_some_and(|there| there.starts_with(root))
    }

    /// Removes the layers of a session that is over; what was kept out of a checkout stays.
    ///
    /// # Errors
    /// When something of them cannot be removed.
    pub fn discard_of(session_folder: &Path) -> io::Result<()> {
        Self::discard_all(&session_folder.join(LAYERS_FOLDER))
    }
}
