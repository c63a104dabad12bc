//! Repositories to measure in: a small one, and one of 60,000 files and 600 MB, made once and kept
//! in the build folder.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};

/// Files of the large repository.
pub(crate) const LARGE_FILES: usize = 60_000;

/// Files of one folder of the large repository.
const FOLDER_FILES: usize = 100;

/// Files every repository has, to be read by turns.
pub(crate) const READ_FILES: usize = 50;

/// A line that stands in three files of the large repository and nowhere else.
pub(crate) const NEEDLE: &str = "the needle lies here";

const WORDS: &[&str] = &[
    "let", "value", "return", "self", "match", "state", "(", ")", "{", "}", "=", "->", "fn",
    "path", "result", "error", "index", "count", "while", "buffer", "0", "1", "17", "\"text\"",
    "&mut", "for", "in", "parse", "write", "read",
];

/// Makes a small repository in an empty folder.
pub(crate) fn small(folder: &Path) {
    import(folder, 0);
}

/// Returns the large repository, made when it is not there yet.
pub(crate) fn large() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("repository-of-60000-files-1");
    if !folder.join("complete").exists() {
        let _ = std::fs::remove_dir_all(&folder);
        import(&folder.join("checkout"), LARGE_FILES);
        std::fs::write(folder.join("complete"), "").unwrap();
    }
    folder.join("checkout")
}

/// Takes back what runs wrote into a checkout, the private refs included.
pub(crate) fn clean(checkout: &Path) {
    git(checkout, &["checkout", "--quiet", "--force", "HEAD"]);
    git(checkout, &["clean", "--quiet", "--force", "-d"]);
    let listed = Command::new("git")
        .current_dir(checkout)
        .args(["for-each-ref", "--format=%(refname)", "refs/locum"])
        .output()
        .unwrap();
    for name in String::from_utf8(listed.stdout).unwrap().lines() {
        git(checkout, &["update-ref", "-d", name]);
    }
    git(checkout, &["prune", "--expire=now"]);
}

/// Makes a repository of these many files besides those that every one has.
fn import(folder: &Path, files: usize) {
    import_with(folder, |stream, random| {
        for number in 0..READ_FILES {
            write_file(stream, &format!("src/file{number}.txt"), &text(random, 2_000));
        }
        for number in 0..files {
            // Between 1 and 19 kB, 10 kB on average.
            let size_bytes = 1_000 + usize::try_from(next(random) % 18_000).unwrap();
            let mut content = text(random, size_bytes);
            if number % (files / 3) == 7 {
                content.push_str(NEEDLE);
                content.push('\n');
            }
            let folder = number / FOLDER_FILES;
            let name = format!("code/part{:02}/module{folder:03}/file{number:05}.txt", folder / 20);
            write_file(stream, &name, &content);
        }
    });
}

/// Makes a repository of one commit, packed as a clone is, in an empty folder.
pub(crate) fn import_with(
    folder: &Path,
    write_files: impl FnOnce(&mut BufWriter<ChildStdin>, &mut u64),
) {
    std::fs::create_dir_all(folder).unwrap();
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    let command =
        ["-c", "core.compression=1", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"];
    let mut child = Command::new("git")
        .current_dir(folder)
        .args(command)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stream = BufWriter::new(child.stdin.take().unwrap());
    stream.write_all(b"commit refs/heads/main\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 5\nfirst").unwrap();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    write_files(&mut stream, &mut random);
    stream.flush().unwrap();
    drop(stream);
    assert!(child.wait().unwrap().success(), "git fast-import");
    git(folder, &["checkout", "--quiet", "--force", "main"]);
}

/// Adds a file to a repository that is being made.
pub(crate) fn write_file(stream: &mut impl Write, path: &str, content: &str) {
    write!(stream, "\nM 100644 inline {path}\ndata {}\n{content}", content.len()).unwrap();
}

/// Returns lines of words, the same in every run of the benchmarks.
fn text(random: &mut u64, size_bytes: usize) -> String {
    let mut text = String::with_capacity(size_bytes + 16);
    while text.len() < size_bytes {
        for _ in 0..4 + next(random) % 8 {
            text.push_str(WORDS[usize::try_from(next(random)).unwrap() % WORDS.len()]);
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

/// Returns the next of a row of numbers.
pub(crate) fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

fn git(folder: &Path, words: &[&str]) {
    assert!(
        Command::new("git").current_dir(folder).args(words).status().unwrap().success(),
        "git {words:?}"
    );
}
