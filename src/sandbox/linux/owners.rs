//! Files of other owners, which a layer cannot copy: an ordinary user's commands run in a user
//! namespace that knows this user and one group, and overlayfs copies no file up whose owner or
//! group is another one.

use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, Stat};

use crate::linux::view::base;

/// Returns why a layer cannot lie over a folder that this user may write to; `None` where it can.
pub fn unlayered(folder: &Path) -> Option<String> {
    let known = base::only_known()?;
    let stat = rustix::fs::stat(folder).ok()?;
    // What may not be written to anyway needs no copy.
    let may_write =
        || rustix::fs::accessat(CWD, folder, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    differs(&stat, known).filter(|_| may_write())
}

/// Says how the owner of a file differs from a user and a group.
fn differs(stat: &Stat, (user, group): (u32, u32)) -> Option<String> {
    let rest = "so what commands write cannot go to a layer: it goes to the checkout itself";
    if stat.st_uid != user {
        return Some(format!(
            "the checkout belongs to user {} and Locum runs as user {user}, {rest}",
            stat.st_uid
        ));
    }
    (stat.st_gid != group).then(|| {
        format!(
            "the checkout's group is {} and Locum's is {group}, {rest}; start Locum with that \
             group (`sg`, `newgrp`) or change the group of the files (`chgrp -R`)",
            stat.st_gid
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_user_and_group_can_be_layered_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let stat = rustix::fs::stat(folder.path()).unwrap();
        let (user, group) = (stat.st_uid, stat.st_gid);
        assert_eq!(differs(&stat, (user, group)), None);
        assert!(differs(&stat, (user + 1, group)).unwrap().contains(&format!("user {}", user + 1)));
        assert!(differs(&stat, (user, group + 1)).unwrap().contains("chgrp"));
        assert_eq!(unlayered(folder.path()), None);
        assert_eq!(unlayered(Path::new("/no/such")), None);
    }
}
