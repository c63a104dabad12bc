//! Scripts made at random, the same for the same seed: every way of quoting and everything a shell
//! does with words, mixed with plain ones so that many are allowed.

/// A generator of numbers (SplitMix64).
pub(crate) struct Dice(u64);

const PLAIN: &[&str] = &[
    "a",
    "b.rs",
    "src/x",
    "-n",
    "--opt=v",
    "-del\\ete",
    "x=y",
    "1",
    "HEAD~1",
    "@{u}",
    "a:b",
    "%s",
    "+x",
    "^a",
    "a#b",
    "-",
    "--",
    "ä",
    "日本",
    "{}",
    "a{b",
    "}",
    "!x",
];
const QUOTED: &[&str] = &[
    "a b",
    "$x",
    "*",
    "it",
    "`q`",
    ";",
    "#",
    "",
    "~",
    "a\tb",
    "-x",
    "$(touch PWNED)",
    "|",
    "&&",
    "\\",
    "\\\\n",
    "{a,b}",
    "!",
    "ü",
    ">f",
    "a\nb",
];
const PROGRAMS: &[&str] = &[
    "p", "q", "no", "p", "q", "cat", "ls", "find", "sort", "rg", "p\\", "'p'", "\"q\"", "p''",
    "\\q", "p\\\n", "no'p'",
];
const EXPANSIONS: &[&str] = &[
    "$X",
    "${X}",
    "${X:-a}",
    "${#X}",
    "$(touch PWNED)",
    "`touch PWNED`",
    "$((1+2))",
    "$[1+2]",
    "$'a\\x62'",
    "$\"a\"",
    "*",
    "?",
    "[ab]",
    "a*.rs",
    "~",
    "~/x",
    "{a,b}",
    "{1..3}",
    "$?",
    "$@",
    "$(p x)",
    "`q y`",
    "\"$X\"",
    "\"${X:-b c}\"",
    "\"$(q z)\"",
    "${X@P}",
    "${!X}",
    "${X:=y}",
    "$((X))",
    "<(p w)",
    ">(p w)",
    "@(a|b)",
    "${X:-$(touch PWNED)}",
    "\"`touch PWNED`\"",
    "$(touch PWNED",
    "$((a[$(touch PWNED)]))",
    "$(<f)",
    "$(p $(q i))",
    "${X%.*}",
    "\"a$(p \"b c\")d\"",
    "$(p 'x)y')",
    "$(p \")\")",
    "$(p # c\n)",
    "$(cat <<'E'\nx)\nE\n)",
    "a$",
    "\"a$\"",
    "$",
    "${X[0]}",
    "$(case a in a) p c;; esac)",
    "$X$(p)$X",
    "~root",
    "a=~",
    "\\$X",
    "'$X'\"$X\"",
];
const REDIRECTS: &[&str] = &[
    ">f",
    "> f",
    ">>f",
    ">> 'f g'",
    "2>f",
    "2>&1",
    ">&2",
    "&>f",
    "&>>f",
    "<f",
    "< a.rs",
    "<<<w",
    "<<< 'w x'",
    "<<'E'\nbody $X\nE\n",
    "<<E\nbody\nE\n",
    "<<-E\n\tbody\n\tE\n",
    "<<\"E\"\na'b\nE\n",
    "<<\\E\n$(touch PWNED)\nE\n",
    "<<E\n$(touch PWNED)\nE\n",
    "<<E\n\\$x\nE\n",
    ">|f",
    "<>f",
    "3>f",
    ">&f",
    "1>f",
    "2>/dev/null",
    ">/dev/null",
    "<&0",
    ">&-",
    "> f\\ g",
    "<<''\nx\n\n",
    "<<E'F'\nx\nEF\n",
    "> $X",
    ">$(p o)",
    "<<E <<'F'\n1\nE\n2\nF\n",
];
const NOISE: &[char] = &[
    '\'', '"', '\\', '$', '`', '(', ')', '{', '}', '<', '>', '|', '&', ';', '\n', ' ', '\t', '#',
    '*', '?', '[', ']', '~', '!', '=', '-', 'a', 'E', '\r', '\u{a0}', '\u{200b}', '\u{2212}',
    '\u{7f}', ',', '.', '/', '\u{2028}',
];

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((word ^ (word >> 31)) % sides as u64).unwrap()
    }

    pub(crate) fn one_of<'t, T: ?Sized>(&mut self, list: &[&'t T]) -> &'t T {
        list[self.roll(list.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }
}

/// How wild a script is: percent of words with an expansion, of commands with a redirection, of
/// scripts with an accident.
#[derive(Clone, Copy)]
pub(crate) struct Taste {
    pub(crate) expansions: usize,
    pub(crate) redirects: usize,
    pub(crate) accidents: usize,
    pub(crate) compounds: usize,
}

/// Returns a script.
pub(crate) fn script(dice: &mut Dice, taste: Taste) -> String {
    let mut text = list(dice, taste, 0);
    let loops = text.contains("while") || text.contains("until");
    if !loops && dice.chance(taste.accidents) {
        for _ in 0..=dice.roll(2) {
            text = accident(dice, &text);
        }
    }
    text
}

/// Changes one character, as a slip or an attacker would.
pub(crate) fn accident(dice: &mut Dice, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = dice.roll(letters.len() + 1);
    let letter = NOISE[dice.roll(NOISE.len())];
    match dice.roll(4) {
        0 if at < letters.len() => drop(letters.remove(at)),
        1 if at < letters.len() => letters[at] = letter,
        2 if at + 1 < letters.len() => letters.swap(at, at + 1),
        _ => letters.insert(at, letter),
    }
    letters.into_iter().collect()
}

fn list(dice: &mut Dice, taste: Taste, depth: usize) -> String {
    let mut text = pipeline(dice, taste, depth);
    let more = if depth == 0 { [0, 0, 0, 1, 1, 2][dice.roll(6)] } else { dice.roll(2) };
    for _ in 0..more {
        text.push_str(dice.one_of(&[
            "; ",
            "\n",
            " && ",
            " || ",
            ";",
            "&&",
            " ;\n",
            "\n# a 'comment\n",
            " &&\n",
            if dice.0.is_multiple_of(8) { " & " } else { "; " },
        ]));
        text.push_str(&pipeline(dice, taste, depth));
    }
    text
}

fn pipeline(dice: &mut Dice, taste: Taste, depth: usize) -> String {
    let mut text = if dice.chance(4) { "! ".to_owned() } else { String::new() };
    text.push_str(&command(dice, taste, depth));
    if dice.chance(20) {
        text.push_str(dice.one_of(&[" | ", "|", " |\n", " |& "]));
        text.push_str(&command(dice, taste, depth));
    }
    text
}

fn command(dice: &mut Dice, taste: Taste, depth: usize) -> String {
    if depth > 1 || !dice.chance(taste.compounds) {
        return simple(dice, taste);
    }
    let mut inner = || list(dice, taste, depth + 1);
    let (one, two, three) = (inner(), inner(), inner());
    let mut text = match dice.roll(9) {
        0 => format!("({one})"),
        1 => format!("{{ {one}; }}"),
        2 => format!("if {one}; then {two}; else {three}; fi"),
        3 => format!("if {one}\nthen {two}\nfi"),
        4 => format!("for v in a 'b c' {}; do {one}; done", word(dice, taste)),
        5 => format!("while no; do {one}; done"),
        6 => format!("case {} in a|'b') {one};; *) {two};; esac", word(dice, taste)),
        7 => format!("until p; do {one}; done"),
        _ => format!("f() {{ {one}; }}; f"),
    };
    if dice.chance(taste.redirects) {
        text.push(' ');
        text.push_str(dice.one_of(REDIRECTS));
    }
    text
}

fn simple(dice: &mut Dice, taste: Taste) -> String {
    let mut text = String::new();
    if dice.chance(taste.expansions / 6) {
        text.push_str(dice.one_of(&[
            "A=b ",
            "A='b c' ",
            "A=$X ",
            "A=$(p v) ",
            "A=b\n",
            "A=~/x ",
            "A+=b ",
            "A=(1 2)\n",
        ]));
    }
    text.push_str(dice.one_of(PROGRAMS));
    for _ in 0..dice.roll(4) {
        text.push_str(dice.one_of(&[" ", " ", "  ", "\t", " \\\n"]));
        text.push_str(&word(dice, taste));
    }
    if dice.chance(taste.redirects) {
        text.push(' ');
        text.push_str(dice.one_of(REDIRECTS));
    }
    if dice.chance(3) {
        text.push_str(" # it's\n");
    }
    text
}

fn word(dice: &mut Dice, taste: Taste) -> String {
    let mut text = String::new();
    for _ in 0..=dice.roll(3) {
        match dice.roll(6) {
            0 => text.push_str(&format!("'{}'", dice.one_of(QUOTED))),
            1 => text.push_str(&format!(
                "\"{}\"",
                dice.one_of(QUOTED).replace(['$', '`', '\\'], "\\$").replace('"', "\\\"")
            )),
            2 => text.push_str(&format!("\\{}", NOISE[dice.roll(NOISE.len() - 8)])),
            _ => text.push_str(dice.one_of(PLAIN)),
        }
        if dice.chance(taste.expansions) {
            text.push_str(dice.one_of(EXPANSIONS));
        }
    }
    text
}
