//! A repository of source files to search in, made once and kept in the build folder: functions
//! with made-up names, few of which are common.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::repository::{import_with, next, write_file};

/// Returns a repository of 10,000 source files of 100 MB, made when it is not there yet.
pub(crate) fn code() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("repository-of-10000-sources-1");
    if !folder.join("complete").exists() {
        let _ = std::fs::remove_dir_all(&folder);
        import_with(&folder.join("checkout"), |stream, random| {
            for number in 0..10_000 {
                let path = format!("part{:02}/{}{number}.rs", number / 200, word(number));
                write_file(stream, &path, &source(random));
            }
        });
        std::fs::write(folder.join("complete"), "").unwrap();
    }
    folder.join("checkout")
}

/// Returns a file of functions, about 10 kB.
fn source(random: &mut u64) -> String {
    let mut text = String::new();
    // Few words are common, as in a language.
    let name = |random: &mut u64| {
        let rare = usize::try_from(next(random) % 64).unwrap();
        word(usize::try_from(next(random) % 100_000).unwrap() % (40 << (rare % 12)))
    };
    for _ in 0..24 {
        let (one, two, three) = (name(random), name(random), name(random));
        let _ = writeln!(text, "/// Makes a {one} of each {two}.\npub fn {one}_{two}(&self) {{");
        for _ in 0..8 {
            let line = format!("    let {} = self.{}({three});\n", name(random), name(random));
            text.push_str(&line);
        }
        text.push_str("}\n\n");
    }
    text
}

/// Returns the made-up word of a number.
pub(crate) fn word(number: usize) -> String {
    const PARTS: [&str; 16] = [
        "ba", "col", "di", "fer", "gu", "hal", "jo", "kes", "li", "mon", "ne", "pur", "ra", "sti",
        "to", "vel",
    ];
    let part = |shift: usize| PARTS[(number >> shift) % PARTS.len()];
    [part(0), part(4), part(8), part(12)].concat()
}
