//! `ServerLayers`: what a server that is a program writes over the checkout. It goes to a layer
//! that lives as long as the server. After each request it is taken out of that, and judged like
//! what a command wrote.
//!
//! In: the folder of the session and the checkout. Out: a layer to start the server with, and one
//! with what a request wrote. Nothing is judged here.

use std::io;
use std::path::Path;
use std::rc::Rc;

use locum_base::path::RepoPath;
use locum_sandbox::Sandbox;
use locum_workspace::Workspace;
use locum_workspace::layer::{Layer, LayerChanges};
use locum_workspace::repo::{Repo, RepoError};

/// Where it is kept with the session what a server wrote and no request asked for.
const UNASKED: &str = "unasked";

/// The layers of one server.
pub(super) struct ServerLayers {
    /// The one the server has while it runs.
    pub(super) live: Layer,
    /// What the last request wrote.
    pub(super) taken: Rc<Layer>,
}

impl ServerLayers {
    /// Opens the layers of a server; `None` where this machine gives none.
    ///
    /// # Errors
    /// When their folders cannot be made.
    pub(super) fn open(
        session_folder: &Path,
        server: &str,
        workspace: &Workspace,
        sandbox: &Sandbox,
    ) -> io::Result<Option<Self>> {
        let live = format!("server-{server}");
        let live = Layer::over(&workspace.checkout, (session_folder, &live), sandbox)?;
        let Some(live) = live else { return Ok(None) };
        let taken = Rc::new(Layer::open(&taken_in(session_folder, server))?);
        taken.begin_again()?;
        Ok(Some(Self { live, taken }))
    }

    /// Makes them ready for a request; returns what is kept out because somebody else changed it
    /// after the server wrote it unasked.
    ///
    /// # Errors
    /// When the checkout or the layers cannot be read or changed.
    pub(super) fn ready(&self, repo: &Repo) -> Result<Vec<RepoPath>, ServerLayerError> {
        let stale = repo.leave_stale(&self.live, UNASKED)?;
        self.taken.begin()?;
        Ok(stale)
    }

    /// Takes out what the server wrote.
    ///
    /// # Errors
    /// When the layers cannot be changed.
    pub(super) fn take(&self, repo: &Repo) -> Result<(), ServerLayerError> {
        Ok(repo.take(&self.live, &self.taken)?)
    }

    /// Returns what was taken out and is not judged yet.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn changes(&self, repo: &Repo) -> Result<LayerChanges, RepoError> {
        repo.layer_changes(&self.taken)
    }

    /// Keeps out of the checkout what the server wrote after its last request; returns how many
    /// files that are.
    ///
    /// # Errors
    /// When the layers cannot be read or changed.
    pub(super) fn close(&self, repo: &Repo) -> Result<usize, ServerLayerError> {
        self.take(repo)?;
        let left = self.changes(repo)?;
        for path in left.paths.keys() {
            self.taken.keep_out(path, UNASKED)?;
        }
        for path in left.unread.keys() {
            self.taken.keep_whole(path, UNASKED)?;
        }
        Ok(left.paths.len().saturating_add(left.unread.len()))
    }
}

/// Returns the folder with what a request to a server wrote.
pub(super) fn taken_in(session_folder: &Path, server: &str) -> std::path::PathBuf {
    Layer::place(session_folder, &format!("taken-{server}"))
}

/// Why what a server wrote cannot be found.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServerLayerError {
    /// A folder of the layers.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// The layers or the checkout.
    #[error(transparent)]
    Checkout(#[from] RepoError),
}
