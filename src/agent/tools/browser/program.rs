//! Where the browser is. In: the folders where systems keep it. Out: the program itself, not a
//! script around it: what such scripts read is not seen in the sandbox.

use std::path::{Path, PathBuf};

/// Where Debian, Ubuntu, Fedora, Alpine, Arch and Google's own packages put Chromium and Chrome.
const PLACES: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium/chrome",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chromium",
    "/opt/microsoft/msedge/msedge",
];

/// Finds it; `None` where there is none.
pub fn find() -> Option<PathBuf> {
    PLACES.iter().map(Path::new).find(|place| place.is_file()).map(Path::to_owned)
}
