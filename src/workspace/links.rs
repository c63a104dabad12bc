//! Follows links as text, wherever they are kept: on disk, in a layer, in a commit.
//!
//! In: a path, and what stands at each place on its way. Out: where it leads. Nothing is opened for
//! use.

use std::path::Path;

use locum_base::path::RepoPath;

/// Links followed before a path counts as a loop (Linux follows 40).
const LINKS_LIMIT: usize = 40;

/// What stands at a place on the way.
pub(super) enum OnTheWay<'r> {
    /// Nothing, so there is nothing below it either.
    Nothing,
    /// Anything but a link.
    NotALink,
    /// A link.
    Link {
        /// Where it points.
        target: Vec<u8>,
        /// What the root is called in targets that are absolute. Any other leads out.
        roots: Vec<&'r Path>,
    },
}

/// Why a path leads nowhere.
#[derive(Debug)]
pub(super) enum FollowError<E> {
    /// It leads out of the root.
    Outside,
    /// `..` follows a part that does not exist, or a link has no target.
    Missing,
    /// It goes around.
    Loop,
    /// A target cannot be written as a [`RepoPath`].
    Unnamable,
    /// It could not be found out what stands there.
    Unread(E),
}

/// Follows every link on the way from the folder `here` along `ahead`. Parts that do not exist stay
/// as they are.
///
/// # Errors
/// Why it leads nowhere.
pub(super) fn follow<'r, E>(
    mut here: RepoPath,
    ahead: &str,
    mut look: impl FnMut(&RepoPath) -> Result<OnTheWay<'r>, E>,
) -> Result<RepoPath, FollowError<E>> {
    let mut ahead: Vec<String> = reversed_parts(ahead).collect();
    let (mut links, mut is_missing) = (0, false);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            if is_missing {
                return Err(FollowError::Missing);
            }
            if here.is_root() {
                return Err(FollowError::Outside);
            }
            here = here.parent();
            continue;
        }
        let next = here.child(&part).map_err(|_| FollowError::Unnamable)?;
        let found = if is_missing {
            OnTheWay::Nothing
        } else {
            look(&next).map_err(FollowError::Unread)?
        };
        let OnTheWay::Link { target, roots } = found else {
            is_missing = matches!(found, OnTheWay::Nothing);
            here = next;
            continue;
        };
        links += 1;
        if links > LINKS_LIMIT {
            return Err(FollowError::Loop);
        }
        let target = String::from_utf8(target).map_err(|_| FollowError::Unnamable)?;
        if target.is_empty() {
            return Err(FollowError::Missing);
        }
        if target.starts_with('/') {
            here = RepoPath::root();
            let below = roots.iter().find_map(|root| Path::new(&target).strip_prefix(root).ok());
            let below = below.ok_or(FollowError::Outside)?;
            ahead.extend(reversed_parts(below.to_str().ok_or(FollowError::Unnamable)?));
        } else {
            ahead.extend(reversed_parts(&target));
        }
    }
    Ok(here)
}

fn reversed_parts(path: &str) -> impl Iterator<Item = String> {
    path.split('/').rev().filter(|part| !matches!(*part, "" | ".")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pretty_assertions::assert_eq;

    use super::{FollowError, OnTheWay, follow};
    use locum_base::path::RepoPath;

    const LINKS: &[(&str, &str)] = &[
        ("here", "a/b"),
        ("a/up", ".."),
        ("a/b/out", "../../../x"),
        ("own", "/repo/a/../c"),
        ("other", "/etc/passwd"),
        ("around", "around"),
        ("empty", ""),
        ("hole", "none/../a"),
    ];

    fn followed(path: &str) -> String {
        let found = follow(RepoPath::root(), path, |at| {
            let link = LINKS.iter().find(|(link, _)| *link == at.as_str());
            Ok::<_, ()>(match link {
                Some((_, target)) => {
                    let (target, roots) = (target.as_bytes().to_vec(), vec![Path::new("/repo")]);
                    OnTheWay::Link { target, roots }
                }
                None if at.parts().any(|part| part == "none") => OnTheWay::Nothing,
                None => OnTheWay::NotALink,
            })
        });
        match found {
            Ok(path) => path.to_string(),
            Err(FollowError::Outside) => "outside".to_owned(),
            Err(FollowError::Missing) => "missing".to_owned(),
            Err(FollowError::Loop) => "loop".to_owned(),
            Err(FollowError::Unnamable | FollowError::Unread(())) => "other".to_owned(),
        }
    }

    #[test]
    fn links_lead_where_the_kernel_would_find_it() {
        for (path, expected) in [
            ("a/./b//c", "a/b/c"),
            ("here/c", "a/b/c"),
            ("here/../d", "a/d"),
            ("a/up/here/c", "a/b/c"),
            ("none/b/c", "none/b/c"),
            ("own/x", "c/x"),
            ("other", "outside"),
            ("a/b/out", "outside"),
            ("around/x", "loop"),
            ("empty", "missing"),
            ("hole", "missing"),
            ("a/\0", "other"),
        ] {
            assert_eq!(followed(path), expected, "{path:?}");
        }
    }
}
