//! Which release this program is of: what the release workflow says while it builds.
//!
//! In: variables at compile time. Out: repository, commit and date, and the Action that belongs to
//! this release. A build by hand has none of them.

use locum_policy::starter::workflow::ActionReference;

/// What the release says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The repository on GitHub, as `OWNER/NAME`.
    pub repository: &'static str,
    /// The commit of the sources.
    pub commit: &'static str,
    /// Its date, as `YYYY-MM-DD`.
    pub date: &'static str,
    /// The commit of the Action that downloads this version's program: a child of `commit` that
    /// adds only the checksums. The program that the Action downloads does not know it, since its
    /// own checksum is in there.
    pub action: Option<&'static str>,
}

/// The version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the release that this program is of, if it is of one.
pub const fn release() -> Option<Release> {
    let (Some(repository), Some(commit), Some(date)) = (
        option_env!("RELEASE_REPOSITORY"),
        option_env!("RELEASE_COMMIT"),
        option_env!("RELEASE_DATE"),
    ) else {
        return None;
    };
    Some(Release { repository, commit, date, action: option_env!("RELEASE_ACTION") })
}

/// Returns the Action of this release, as workflows name it.
pub fn own_action() -> Option<ActionReference> {
    let Release { repository, action, .. } = release()?;
    let mut reference: ActionReference = format!("{repository}@{}", action?).parse().ok()?;
    reference.version = Some(format!("v{VERSION}"));
    Some(reference)
}

/// Describes the program: version, commit, target and date, a line each.
pub fn describe() -> String {
    let mut lines = vec![format!("locum {VERSION}")];
    match release() {
        Some(Release { repository, commit, date, action }) => {
            lines.push(format!("repository: {repository}"));
            lines.push(format!("commit: {commit}"));
            lines.push(format!("date: {date}"));
            lines.extend(action.map(|commit| format!("action: {repository}@{commit}")));
        }
        None => lines.push("commit: unknown, not built by a release".to_owned()),
    }
    lines.push(format!("target: {}", target()));
    lines.join("\n")
}

/// The platform that the program was built for, as Rust names it.
fn target() -> String {
    let system = match (std::env::consts::OS, cfg!(target_env = "musl")) {
        ("macos", _) => "apple-darwin",
        (_, true) => "unknown-linux-musl",
        (_, false) => "unknown-linux-gnu",
    };
    format!("{}-{system}", std::env::consts::ARCH)
}
