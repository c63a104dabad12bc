//! `Formats`: the shapes of tokens and keys that give themselves away, whoever they belong to.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// Recognises the formats of tokens and keys. No pattern asks for a word boundary before it: colour
/// codes and the `n` of an escaped newline may touch a token.
#[derive(Clone, Debug)]
pub struct Formats {
    whole: Regex,
    joined: Regex,
}

/// Formats as they are written in one piece.
const WHOLE: &[&str] = &[
    r"gh[pousr]_[A-Za-z0-9_.-]{20,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"sk-ant-[A-Za-z0-9_-]{16,}",
    r"sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{16,}",
    r"sk-[A-Za-z0-9]{32,}",
    r"(?:gsk|xai|hf|r8|pplx|nvapi)[_-][A-Za-z0-9_-]{30,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?:[A-Za-z0-9+/=\s\\:,]|-[A-Za-z0-9])*(?:-----END [A-Z0-9 ]{0,40}-----)?",
    r"PuTTY-User-Key-File-[0-9][^\x00]*?Private-MAC: [0-9a-f]+",
    r"AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"cio[A-Za-z0-9]{32}",
    r"dckr_pat_[A-Za-z0-9_-]{20,}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"GOCSPX-[0-9A-Za-z_-]{20,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{20,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}",
    r"dop_v1_[a-f0-9]{64}",
    r"lin_api_[A-Za-z0-9]{30,}",
    r"sbp_[a-f0-9]{40}",
    r"AccountKey=[A-Za-z0-9+/=]{40,}",
    r"[a-z][a-z0-9+.-]*://[^/\s:@<>]*:[^/\s@:$<>{}*]{6,}@",
    r"(?i:authorization)[^\S\n]*:[^\S\n]*(?i:basic|bearer|token)[^\S\n]+[A-Za-z0-9+/=._~-]{16,}",
    r"(?i:x-api-key|api-key|private-token)[^\S\n]*:[^\S\n]*[A-Za-z0-9+/=._~-]{16,}",
];

/// Formats sure enough to be looked for when everything between their letters is left out; of fixed
/// length where they have one, so that the words after them stay.
const JOINED: &[&str] = &[
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    r"sk-ant-[a-z]{3,5}[0-9]{2}-[A-Za-z0-9_-]{40}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"xox[bp]-[0-9]{10,13}-[0-9]{10,13}-[A-Za-z0-9-]{24}",
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{20}",
    r"-----BEGIN[A-Z0-9]{0,40}PRIVATEKEY-----[A-Za-z0-9+/=]{16,}",
    r"npm_[A-Za-z0-9]{36}",
    r"AIzaSy[0-9A-Za-z_-]{33}",
    r"sk_live_[A-Za-z0-9]{24}",
];

impl Formats {
    /// Returns the patterns, which are compiled once for the whole process.
    pub fn new() -> Self {
        static COMPILED: LazyLock<Formats> =
            LazyLock::new(|| Formats { whole: compile(WHOLE), joined: compile(JOINED) });
        COMPILED.clone()
    }

    /// Returns where formats stand in a text as it is read.
    pub fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.whole.find_iter(bytes).map(|found| found.range()).collect()
    }

    /// Returns where formats stand in a text whose blanks are left out. Only what holds two digits
    /// at least counts: words that follow a prefix in prose don't.
    pub fn find_joined(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let looks_random = |bytes: &[u8]| {
            bytes.starts_with(b"-----")
                || bytes.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
        };
        self.joined
            .find_iter(bytes)
            .filter(|found| looks_random(found.as_bytes()))
            .map(|found| found.range())
            .collect()
    }
}

impl Default for Formats {
    fn default() -> Self {
        Self::new()
    }
}

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants; every test of redaction compiles them"
)]
fn compile(patterns: &[&str]) -> Regex {
    // Bytes, not Unicode classes: smaller machines that compile in a fraction of the time.
    Regex::new(&format!("(?-u){}", patterns.join("|")))
        .expect("invariant: constant patterns compile")
}
