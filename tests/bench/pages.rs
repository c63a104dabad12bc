//! Compares what `web_fetch` makes of saved pages with what another converter makes of them: words,
//! links and headings that both have, and how long it took.
//!
//! `cargo bench --bench pages -- FOLDER`: each folder in it has a page, `source.html`, and the
//! other converter's Markdown, `other.md`. `tests/pages.sh` makes such a folder.
#![expect(clippy::unwrap_used, reason = "what goes wrong ends the benchmark")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use locum_agent::tools::web::markdown::render;
use locum_policy::urls::WebUrl;
use regex::Regex;

/// What of one text is in another one, counted.
#[derive(Clone, Copy, Default)]
struct Shared {
    ours: usize,
    theirs: usize,
    both: usize,
}

impl Shared {
    fn of(ours: &[String], theirs: &[String]) -> Self {
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for item in theirs {
            *left.entry(item).or_default() += 1;
        }
        let mut both = 0;
        for item in ours {
            if let Some(count) = left.get_mut(item.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                both += 1;
            }
        }
        Self { ours: ours.len(), theirs: theirs.len(), both }
    }

    fn add(&mut self, other: Self) {
        self.ours += other.ours;
        self.theirs += other.theirs;
        self.both += other.both;
    }

    fn line(self, what: &str) {
        let percent = |whole: usize| self.both as f64 * 100.0 / whole.max(1) as f64;
        println!(
            "{what:9} theirs {:7}  of them here {:5.1} %  here {:7}  of them theirs {:5.1} %",
            self.theirs,
            percent(self.theirs),
            self.ours,
            percent(self.ours)
        );
    }
}

/// Finds the parts of Markdown that are compared.
struct Parts {
    link: Regex,
    word: Regex,
}

impl Parts {
    fn links(&self, text: &str) -> Vec<String> {
        let target = |found: regex::Captures<'_>| {
            found[1].trim_matches(['<', '>']).replace("\\(", "(").replace("\\)", ")")
        };
        let links = self.link.captures_iter(text).map(target);
        links.filter(|target| target.starts_with("http")).collect()
    }

    /// Words without the addresses of links.
    fn words(&self, text: &str) -> Vec<String> {
        let text = self.link.replace_all(text, "]");
        self.word.find_iter(&text).map(|found| found.as_str().to_lowercase()).collect()
    }

    fn headings(&self, text: &str) -> Vec<String> {
        let heading = |line: &str| {
            // Entries of lists and quotes hold headings, too.
            let line = line.trim_start_matches(|mark| " >-*.0123456789".contains(mark));
            let words = line.starts_with('#').then(|| self.words(line).join(" "));
            words.filter(|words| !words.is_empty())
        };
        text.lines().filter_map(heading).collect()
    }
}

fn main() {
    let folder = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let Some(folder) = folder.map(PathBuf::from) else {
        println!("pages: name a folder of saved pages (tests/pages.sh makes one)");
        return;
    };
    let parts = Parts {
        link: Regex::new(r"\]\(\s*(<[^>]*>|(?:\\.|[^\s)\\])*)[^)]*\)").unwrap(),
        word: Regex::new(r"[\p{L}\p{N}]+").unwrap(),
    };
    let url = WebUrl::parse("https://page.example.com/");
    let [mut words, mut links, mut headings] = [Shared::default(); 3];
    let (mut pages, mut bytes, mut took, mut worst) = (0, [0_usize; 3], Duration::ZERO, Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let page = entry.unwrap().path();
        let Ok(html) = std::fs::read(page.join("source.html")) else { continue };
        let html = String::from_utf8_lossy(&html);
        let theirs = std::fs::read_to_string(page.join("other.md")).unwrap();
        let begin = Instant::now();
        let ours = render(&html, &url);
        took += begin.elapsed();
        pages += 1;
        for (sum, size) in bytes.iter_mut().zip([html.len(), ours.len(), theirs.len()]) {
            *sum += size;
        }
        let of_page = Shared::of(&parts.words(&ours), &parts.words(&theirs));
        worst.push((
            of_page.both * 1000 / of_page.theirs.max(1),
            page.file_name().unwrap().to_owned(),
        ));
        words.add(of_page);
        links.add(Shared::of(&parts.links(&ours), &parts.links(&theirs)));
        headings.add(Shared::of(&parts.headings(&ours), &parts.headings(&theirs)));
    }
    println!(
        "{pages} pages: {} bytes of HTML; Markdown here {}, theirs {}",
        bytes[0], bytes[1], bytes[2]
    );
    words.line("words");
    links.line("links");
    headings.line("headings");
    println!("{:.1} MB/s here", bytes[0] as f64 / 1e6 / took.as_secs_f64());
    worst.sort();
    for (share, page) in worst.iter().take(5) {
        println!("least words in common: {:.1} % {}", *share as f64 / 10.0, page.display());
    }
}
