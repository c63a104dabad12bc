//! Which programs are installed: a look at `PATH`, as commands get it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns the programs that no folder of `PATH` has, in the order given.
pub fn missing(env: &BTreeMap<String, String>, names: &[String]) -> Vec<String> {
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    let is_there = |name: &str| {
        path.split(':').filter(|folder| !folder.is_empty()).any(|folder| {
            let metadata = Path::new(folder).join(name).metadata();
            metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
    };
    names.iter().filter(|name| !name.contains('/') && !is_there(name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::missing;

    #[test]
    fn names_what_no_folder_of_the_path_has() {
        let env = BTreeMap::from([("PATH".to_owned(), ":/bin:/usr/bin".to_owned())]);
        let names = ["sh", "no-such-program", "./step.sh"].map(str::to_owned);
        assert_eq!(missing(&env, &names), ["no-such-program"]);
        assert_eq!(missing(&BTreeMap::new(), &names).len(), 2);
    }
}
