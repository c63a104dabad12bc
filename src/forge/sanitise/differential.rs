//! Whether two readers agree on what is code: ours, and comrak, which follows GitHub's own parser.
//!
//! Documents are generated from pieces that open, close and break code, with mentions between them.
//! A mention that we keep because we read it as code has to be code to comrak as well, or part of
//! an address. Otherwise it would ping an account.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};

use super::{TextRules, markdown};
use crate::command;
use locum_base::secret::Redactor;

const DOCUMENTS: u64 = 3_000;

const MENTION: &str = "(@p)";

const PIECES: &[&str] = &[
    "`",
    "`",
    "``",
    "```",
    "```\n",
    "\n```",
    "~~~",
    "~~~\n",
    "````",
    "``` rs\n",
    "- ",
    "1. ",
    "10) ",
    "> ",
    ">",
    "    ",
    "\t",
    "   ",
    " ",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "| ",
    " | ",
    "|---|---|\n",
    "a ",
    "<details>",
    "</details>",
    "<b>",
    "</b>",
    "<code>",
    "<pre>",
    "</pre>",
    "<!--",
    "-->",
    "<!-- c -->",
    "<x",
    ">",
    "\\",
    "\\`",
    "[a](",
    "[a]: ",
    "](https://docs.rs/x)",
    "---\n",
    "# ",
    "&#96;",
    "*",
    "**",
    "~~",
    "[^1]",
    "[^1]: ",
    "- [ ] ",
    "<https://docs.rs/",
    "![",
    "$",
    "$`",
    "`$",
];

/// A generator of pseudo-random numbers (xorshift64).
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// A document with one of these pieces here and there.
    fn document(&mut self, wanted: &[&str]) -> String {
        let mut text = String::new();
        for _ in 0..3 + self.below(20) {
            text.push_str(PIECES[self.below(PIECES.len())]);
            if self.below(3) == 0 {
                text.push_str(wanted[self.below(wanted.len())]);
            }
        }
        text
    }
}

/// Counts the mentions that comrak takes for code, or for part of an address.
fn harmless_mentions(text: &str) -> usize {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.alerts = true;
    let arena = Arena::new();
    let root = parse_document(&arena, text, &options);
    let code = root.descendants().map(|node| match &node.data().value {
        NodeValue::Code(code) => code.literal.matches(MENTION).count(),
        NodeValue::CodeBlock(block) => block.literal.matches(MENTION).count(),
        NodeValue::Link(link) => link.url.matches(MENTION).count(),
        _ => 0,
    });
    code.sum()
}

#[test]
fn a_mention_that_is_left_alone_is_code_to_both_readers() {
    let (rules, redactor) = (TextRules::default(), Redactor::new([]));
    let mut total = 0;
    for seed in 1..=DOCUMENTS {
        let text = Xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).document(&[MENTION]);
        let published = markdown(&text, &rules, &redactor);
        let ours = published.matches(MENTION).count();
        assert!(ours <= harmless_mentions(&published), "{text:?}\n{published}");
        total += ours;
    }
    assert!(total > 500, "too few mentions in code to show anything: {total}");
}

#[test]
fn no_command_is_found_in_what_was_published() {
    let redactor = Redactor::new([]);
    let mut total = 0;
    for (prefix, commands) in [
        ("/locum", ["/locum fix", "\n/Locum\n", "/locum&#32;fix", "&#47;locum fix"]),
        ("bot", ["bot fix", "\nBot\n", "bot&nbsp;fix", "b&#111;t fix"]),
        ("@bot", ["@bot fix", "\n@Bot\n", "@bot&#32;fix", "&#64;bot fix"]),
    ] {
        let mentions = vec!["bot".to_owned()];
        let rules = TextRules { prefix: prefix.to_owned(), mentions, ..TextRules::default() };
        for seed in 1..=DOCUMENTS {
            let text = Xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).document(&commands);
            let published = markdown(&text, &rules, &redactor);
            assert_eq!(command::parse(&published, prefix), None, "{text:?}\n{published}");
            total += usize::from(command::parse(&text, prefix).is_some());
        }
    }
    assert!(total > 500, "too few commands to show anything: {total}");
}
