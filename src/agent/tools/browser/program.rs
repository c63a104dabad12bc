//! Where the browser is. In: the place that the settings name, or the folders where systems keep
//! it. Out: the program itself, not a script around it: what such scripts read is not seen in the
//! sandbox.

#![expect(clippy::disallowed_methods, reason = "the first bytes of a named program are looked at")]

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
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

/// Finds it. `named` is the place that the settings name, `home` the folder of the user.
///
/// # Errors
/// Why there is none: a sentence's part, with the cure.
pub fn find(named: Option<&Path>, home: Option<&Path>) -> Result<PathBuf, String> {
    let Some(named) = named else {
        let found = PLACES.iter().map(Path::new).find(|place| place.is_file());
        return found.map(Path::to_owned).ok_or_else(|| {
            "no Chromium or Chrome was found; install one (Debian: `chromium`), or name it in your \
             own settings, as `browser.program`"
                .to_owned()
        });
    };
    check(named, home).map_err(|why| format!("`browser.program` is `{}`, {why}", named.display()))
}

/// Returns the file that a path leads to, where it is a program that a sandbox can show alone.
fn check(named: &Path, home: Option<&Path>) -> Result<PathBuf, &'static str> {
    if !named.is_absolute() {
        return Err("which is not an absolute path");
    }
    let program = named.canonicalize().map_err(|_| "and no such file is there")?;
    let facts = program.metadata().map_err(|_| "which cannot be looked at")?;
    if !facts.is_file() || facts.permissions().mode() & 0o111 == 0 {
        return Err("which is not a program");
    }
    let mut first = [0; 2];
    let read = File::open(&program).and_then(|mut file| file.read_exact(&mut first));
    if read.is_err() || first == *b"#!" {
        return Err("which is a script: name the program that it starts");
    }
    // The folder of the program is shown to the browser, and with it all that is below.
    let folder = program.parent().unwrap_or(Path::new("/"));
    let home = home.and_then(|home| home.canonicalize().ok());
    if folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder)) {
        return Err("in a folder that also holds your home: give it a folder of its own");
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use super::find;

    #[test]
    fn a_named_browser_is_a_program_in_a_folder_of_its_own_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for (name, text, mode) in [
            ("own/chrome", "\u{7f}ELF", 0o755),
            ("own/script", "#!/bin/sh\n", 0o755),
            ("own/text", "\u{7f}ELF", 0o644),
            ("chrome", "\u{7f}ELF", 0o755),
        ] {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("chrome", home.join("own/link")).unwrap();
        symlink("script", home.join("own/wrapped")).unwrap();
        let found = |name: &str| find(Some(&home.join(name)), Some(&home));
        assert_eq!(found("own/chrome"), Ok(home.join("own/chrome")));
        assert_eq!(found("own/link"), Ok(home.join("own/chrome")));
        for (name, why) in [
            ("own/script", "is a script"),
            ("own/wrapped", "is a script"),
            ("own/text", "is not a program"),
            ("own", "is not a program"),
            ("own/gone", "no such file"),
            ("chrome", "holds your home"),
        ] {
            let said = found(name).unwrap_err();
            let names = said.contains(&format!("`browser.program` is `{}/{name}`", home.display()));
            assert!(names && said.contains(why), "{name}: {said}");
        }
        assert!(find(Some(Path::new("chrome")), None).unwrap_err().contains("absolute"));
        assert_eq!(find(Some(&home.join("chrome")), None), Ok(home.join("chrome")));
    }
}
