//! Git's settings without the credentials that may be in them.
//!
//! In: a settings file of a git folder. Out: whether it holds anything secret, and the same text
//! without it. A workflow's checkout leaves its token there, and git has to find the rest.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use locum_base::secret::name::holds_word;
use rustix::fs::{CWD, FileType, Mode, OFlags};

/// Bytes of git's settings that are looked at; a longer file counts as a secret as a whole.
const LIMIT_BYTES: u64 = 1 << 20;

/// Whether a settings file can be shown as it is.
pub(crate) fn is_free_of_credentials(config: &Path) -> bool {
    read(config).is_ok_and(|text| text.is_some_and(|text| !holds_credential(&text)))
}

/// Returns a settings file's text without every line, and every section, that may hold a
/// credential. What cannot be read as text has none.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn without_credentials(config: &Path) -> io::Result<String> {
    Ok(read(config)?.map(|text| kept_lines(&text)).unwrap_or_default())
}

/// Reads a regular file: a command may have put a link to a file of this user in its place, or a
/// pipe that never ends.
fn read(config: &Path) -> io::Result<Option<String>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, config, flags, Mode::empty())?;
    let facts = rustix::fs::fstat(&opened)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    File::from(opened).take(LIMIT_BYTES).read_to_end(&mut bytes)?;
    let whole = u64::try_from(bytes.len()).is_ok_and(|length| length < LIMIT_BYTES);
    Ok(String::from_utf8(bytes).ok().filter(|_| whole))
}

fn kept_lines(text: &str) -> String {
    let mut kept = String::new();
    let mut section_dropped = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut setting = format!("{line}\n");
        let mut last = line;
        while goes_on(last)
            && let Some(more) = lines.next()
        {
            setting.push_str(more);
            setting.push('\n');
            last = more;
        }
        let dropped = holds_credential(&setting);
        if line.trim_start().starts_with('[') {
            section_dropped = dropped;
        }
        if !dropped && !section_dropped {
            kept.push_str(&setting);
        }
    }
    kept
}

/// Whether the next line belongs to the same setting: a backslash that is not escaped ends it.
fn goes_on(line: &str) -> bool {
    let backslashes = line.len() - line.trim_end_matches('\\').len();
    backslashes % 2 == 1 && !line.trim_start().starts_with(['#', ';', '['])
}

fn holds_credential(text: &str) -> bool {
    let mut lower = text.to_ascii_lowercase();
    // The name that every forge has for access by a key: no secret.
    for known in [" git@", "=git@", "\tgit@", "\"git@", "://git@"] {
        lower = lower.replace(known, "");
    }
    lower.contains('@') || holds_word(&lower)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test writes the files it reads")]
mod tests {
    use super::{is_free_of_credentials, without_credentials};

    #[test]
    fn what_may_hold_a_credential_is_left_out_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        for (text, kept) in [
            ("[core]\n\tbare = false\n", "[core]\n\tbare = false\n"),
            (
                "[remote \"origin\"]\n\turl = git@example.com:o/r.git\n",
                "[remote \"origin\"]\n\turl = git@example.com:o/r.git\n",
            ),
            (
                "[core]\n\tbare = false\n[http \"https://example.com/\"]\n\textraHeader = A: x\n\
                 [gc]\n\tauto = 0\n",
                "[core]\n\tbare = false\n[http \"https://example.com/\"]\n[gc]\n\tauto = 0\n",
            ),
            (
                "[http] extraheader = x\n\tsslVerify = true\n[gc]\n\tauto = 0\n",
                "[gc]\n\tauto = 0\n",
            ),
            (
                "[remote \"origin\"]\n\turl = https://x:abc@example.com/o/r\n\tfetch = +refs/*\n",
                "[remote \"origin\"]\n\tfetch = +refs/*\n",
            ),
            ("[url \"https://x:git@example.com/\"]\n\tinsteadOf = a\n", ""),
            (
                "[http]\n\textraheader = A: \\\n  basic eHg6eXl5\n\tproxy = p\n",
                "[http]\n\tproxy = p\n",
            ),
            ("[credential]\n\thelper = store\n", ""),
            ("[a]\n\tpassphrase = x\n\tb = c\n", "[a]\n\tb = c\n"),
            ("[a]\n\tb = c\\\\\n[credential]\n\thelper = x\n", "[a]\n\tb = c\\\\\n"),
            ("[a]\n# b \\\n[credential]\n\thelper = x\n", "[a]\n# b \\\n"),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(without_credentials(&file).unwrap(), kept, "{text}");
            assert_eq!(is_free_of_credentials(&file), text == kept, "{text}");
        }
        std::fs::write(&file, b"[a]\n\tb = \xff\n").unwrap();
        assert_eq!(without_credentials(&file).unwrap(), "");
        assert!(!is_free_of_credentials(&file));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for unread in ["none", "link"].map(|name| folder.path().join(name)) {
            assert!(without_credentials(&unread).is_err() && !is_free_of_credentials(&unread));
        }
    }
}
