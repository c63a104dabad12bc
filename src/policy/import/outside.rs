//! Path rules with absolute paths: `Read(//etc/**)`, `Read(~/.ssh/**)`.
//!
//! In: such a path and where the repository lies. Out: which part of it lies in the repository, and
//! globs of what does not. A refusal may be wider here than it was; what is allowed never is.

use std::collections::BTreeSet;

use crate::glob::{PathGlob, folded, name_matches};

/// Folders below which home directories lie.
const HOMES: &[&str] = &["/home/*", "/root", "/Users/*"];
/// Absolute folders that are never opened to commands.
const CLOSED: &[&str] = &["proc", "sys", "dev", "run"];

/// Whether a path rule says where in the file system its path lies.
pub(super) fn is_absolute(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("~/") || text == "~"
}

/// What an absolute path is about.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AbsolutePath {
    /// Globs of paths of the repository.
    pub(super) inside: Vec<String>,
    /// Absolute globs of what may lie outside.
    pub(super) outside: Vec<String>,
}

/// Reads a path that is allowed, where the repository lies at any of `roots`; none where that is
/// not known.
pub(super) fn allowed(text: &str, roots: &[String]) -> AbsolutePath {
    let mut found = AbsolutePath::default();
    for root in roots {
        let absolute = match (text.strip_prefix("//"), home_of(root)) {
            (Some(absolute), _) => absolute.to_owned(),
            (None, Some(home)) => format!("{home}/{}", text.trim_start_matches(['~', '/'])),
            (None, None) => continue,
        };
        let (parts, folders) = (parts_of(&absolute), parts_of(root));
        if parts.len() > folders.len() && parts.starts_with(&folders) {
            found.inside.extend(remainders(&parts, &folders));
            return found;
        }
    }
    let Some(absolute) = text.strip_prefix("//") else { return found };
    let first = parts_of(absolute).first().copied().unwrap_or_default();
    if !first.contains(['*', '?', '[', '{']) && !CLOSED.contains(&first) {
        found.outside.push(format!("/{absolute}"));
    }
    found
}

/// Reads a path that is refused. The repository lies at each of `roots`; the first is free of
/// links, and there are none when its place is unknown. Nobody may know whose home directory `~`
/// is: with `everywhere`, a path below it is refused wherever it may lie outside the repository.
pub(super) fn refused(text: &str, roots: &[String], everywhere: bool) -> AbsolutePath {
    let in_home = text.trim_start_matches(['~', '/']);
    let absolute = match text.strip_prefix("//") {
        Some(absolute) => vec![format!("/{absolute}")],
        None => {
            let homes = HOMES.iter().map(|home| (*home).to_owned());
            let homes = homes.chain(roots.iter().filter_map(|root| home_of(root)));
            homes.map(|home| format!("{home}/{in_home}")).collect()
        }
    };
    let mut found = AbsolutePath::default();
    let roots: Vec<Vec<&str>> = roots.iter().map(|root| parts_of(root)).collect();
    for glob in absolute.iter().flat_map(|line| PathGlob::of_ignore_line(line)) {
        let parts: Vec<&str> = glob.parts().iter().map(String::as_str).collect();
        // What begins with `**` lies in the repository too, wherever that lies.
        let anywhere = (roots.is_empty() && parts.starts_with(&["**"])).then(Vec::new);
        for rest in roots.iter().chain(&anywhere).flat_map(|root| remainders(&parts, root)) {
            if !found.inside.contains(&rest) {
                found.inside.push(rest);
            }
        }
        // A command may name what lies in the repository by way of a link.
        if roots.first().is_none_or(|root| !parts.starts_with(root)) {
            found.outside.push(format!("/{}", glob.text()));
        }
    }
    if everywhere && !text.starts_with("//") {
        let globs = PathGlob::of_ignore_line(&format!("/**/{in_home}"));
        found.outside.extend(globs.iter().map(|glob| format!("/{}", glob.text())));
    }
    found
}

/// Returns what is left of a glob behind the folder that the repository is, in every way in which
/// it reaches there; `**` where it matches that folder or one around it.
fn remainders(glob: &[&str], root: &[&str]) -> Vec<String> {
    // The places in the glob that the folders so far may reach.
    let mut places = BTreeSet::from([0]);
    for folder in root {
        let mut next = BTreeSet::new();
        let mut waiting: Vec<usize> = places.into_iter().collect();
        while let Some(at) = waiting.pop() {
            match glob.get(at) {
                None => return vec!["**".to_owned()],
                Some(&"**") => {
                    next.insert(at);
                    waiting.push(at + 1);
                }
                // A file system may not tell letters by their case.
                Some(part) if name_matches(&folded(part), &folded(folder)) => {
                    next.insert(at + 1);
                }
                Some(_) => {}
            }
        }
        places = next;
    }
    let rests = places.into_iter().filter_map(|at| glob.get(at..));
    rests.map(|rest| if rest.is_empty() { "**".to_owned() } else { rest.join("/") }).collect()
}

fn parts_of(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Returns the home directory that the repository lies in, as far as its path shows.
fn home_of(root: &str) -> Option<String> {
    match parts_of(root).as_slice() {
        ["root", _, ..] => Some("/root".to_owned()),
        [homes @ ("home" | "Users"), name, _, ..] => Some(format!("/{homes}/{name}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{allowed, refused};
    use pretty_assertions::assert_eq;

    fn at(root: &str) -> Vec<String> {
        root.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_lies_in_the_repository_becomes_a_path_of_it() {
        for (text, root, inside) in [
            ("//ws/a", "/ws", "a/** a"),
            ("//ws/src/**", "/ws", "src/**"),
            ("//ws", "/ws", "**"),
            ("//ws/**", "/ws", "**"),
            ("//w*/a", "/ws", "a/** a"),
            ("//home/**", "/home/me/p", "**"),
            ("//other/a", "/ws", ""),
            ("//wsx/a", "/ws", ""),
            ("~/p/.env", "/home/me/p", ".env/** .env"),
            ("~/q/.env", "/home/me/p", ""),
            ("~/.env", "/ws", ""),
            ("//ws/a", "", ""),
            ("//**/key", "/ws", "**/key/** **/key"),
            ("//**/key", "", "**/key/** **/key"),
            ("//**/ws/key", "/a/ws", "**/ws/key/** key/** **/ws/key key"),
            ("//**/.[ab]", "/ws", "**/.?/** **/.?"),
            ("//*/key", "/ws", "key/** key"),
            ("//*/key", "/a/ws", ""),
            ("//", "/ws", "**"),
            ("//**", "", "**"),
            ("//etc/a", "/", "etc/a/** etc/a"),
            ("//tmp/link/k", "/srv/ws /tmp/link", "k/** k"),
            ("//srv/ws/k", "/srv/ws /tmp/link", "k/** k"),
            ("//srv/link/k", "/srv/ws /tmp/link", ""),
            ("~/p/k", "/srv/ws /home/me/p", "k/** k"),
        ] {
            assert_eq!(refused(text, &at(root), false).inside.join(" "), inside, "{text} {root}");
        }
        for (text, root, inside, outside) in [
            ("//ws/src/**", "/ws", "src/**", ""),
            ("//ws", "/ws", "", "/ws"),
            ("//etc/**", "/ws", "", "/etc/**"),
            ("//**", "/ws", "", ""),
            ("//proc/1/environ", "/ws", "", ""),
            ("~/p/src/**", "/home/me/p", "src/**", ""),
            ("~/q/**", "/home/me/p", "", ""),
            ("~/p/**", "/ws", "", ""),
            ("//etc/**", "/", "etc/**", ""),
            ("//tmp/link/src/**", "/srv/ws /tmp/link", "src/**", ""),
            ("~/p/src/**", "/srv/ws /home/me/p", "src/**", ""),
            ("//tmp/**", "/srv/ws /tmp/link", "", "/tmp/**"),
        ] {
            let found = allowed(text, &at(root));
            assert_eq!(found.inside.join(" "), inside, "{text} {root}");
            assert_eq!(found.outside.join(" "), outside, "{text} {root}");
        }
    }

    #[test]
    fn a_glob_of_many_wildcards_is_read_at_once() {
        let text = format!("//tmp/{}x", "**/*/".repeat(200));
        let root = format!("/tmp{}", "/d".repeat(60));
        let inside = refused(&text, &at(&root), false).inside;
        assert!(inside.len() < 1_000, "{}", inside.len());
        assert!(inside.iter().any(|glob| glob == "**/x" || glob.ends_with("/x")));
    }

    #[test]
    fn what_lies_in_a_home_directory_is_refused_in_everybodys() {
        assert_eq!(
            refused("~/.ssh/**", &at("/ws"), false).outside,
            ["/home/*/.ssh/**", "/root/.ssh/**", "/Users/*/.ssh/**"]
        );
        assert_eq!(refused("~/.ssh/**", &at("/ws"), true).inside, [""; 0]);
        assert!(refused("~/.ssh/**", &at("/ws"), true).outside.contains(&"/**/.ssh/**".to_owned()));
        assert_eq!(refused("//ws/a", &at("/ws"), false).outside, [""; 0]);
        assert_eq!(refused("//etc/a", &at("/ws"), false).outside, ["/etc/a/**", "/etc/a"]);
        let by_link = refused("//tmp/link/k", &at("/srv/ws /tmp/link"), false);
        assert_eq!(by_link.outside, ["/tmp/link/k/**", "/tmp/link/k"]);
    }
}
