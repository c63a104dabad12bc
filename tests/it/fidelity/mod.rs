//! Edits land where they were meant: made-up files are changed as a model would change them, with
//! and without noise. `cargo bench --bench fidelity` does the same with commits of repositories.

mod replay;

use replay::{Fate, FileChange, Rolls, Tally};

/// Files that are made up and changed.
const FILES: u64 = 200;

/// Makes up a file that repeats itself as code does: few words, few depths, whole blocks twice.
fn file(rolls: &mut Rolls) -> Vec<String> {
    const WORDS: &[&str] = &[
        "return x",
        "x = 1",
        "}",
        "else {",
        "",
        "// ... ",
        "call(a, b)",
        "def f():",
        "=======",
        "say \u{201c}hi\u{201d}",
        "12 | a",
        "- item",
        "x = 1  ",
    ];
    let unit = ["    ", "\t", "  "][usize::try_from(rolls.below(3)).unwrap()];
    let mut lines = Vec::new();
    while lines.len() < 20 + usize::try_from(rolls.below(100)).unwrap() {
        if rolls.below(8) == 0 && lines.len() > 10 {
            let start = usize::try_from(rolls.below(lines.len() as u64 - 6)).unwrap();
            let block: Vec<String> = lines[start..start + 6].to_vec();
            lines.extend(block);
            continue;
        }
        let word = WORDS[usize::try_from(rolls.below(WORDS.len() as u64)).unwrap()];
        let number =
            if rolls.below(2) == 0 { format!(" {}", rolls.below(40)) } else { String::new() };
        let depth = usize::try_from(rolls.below(4)).unwrap();
        let line = format!("{}{word}{number}", unit.repeat(depth));
        lines.push(if word.is_empty() { String::new() } else { line });
    }
    lines
}

/// Changes some lines: takes out, puts in, replaces.
fn changed(lines: &[String], rolls: &mut Rolls) -> Vec<String> {
    let mut lines = lines.to_vec();
    for number in 0..1 + rolls.below(3) {
        let at = usize::try_from(rolls.below(lines.len() as u64)).unwrap();
        let indent = " ".repeat(usize::try_from(4 * rolls.below(3)).unwrap());
        match rolls.below(4) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, format!("{indent}new {number}")),
            2 => lines.insert(at, String::new()),
            _ => lines[at] = format!("{indent}other {number}"),
        }
    }
    lines
}

#[test]
fn made_up_changes_land_where_they_were_meant_or_are_refused() {
    let mut tally = Tally::default();
    for seed in 0..FILES {
        let mut rolls = Rolls::new(seed);
        let old = file(&mut rolls);
        let new = changed(&old, &mut rolls);
        let end = if rolls.below(3) == 0 { "\r\n" } else { "\n" };
        let mark = if rolls.below(8) == 0 { "\u{feff}" } else { "" };
        let text = |lines: &[String], ended: bool| {
            format!("{mark}{}{}", lines.join(end), if ended { end } else { "" })
        };
        let (old_ended, new_ended) = (rolls.below(6) != 0, rolls.below(6) != 0);
        let (before, after) = (text(&old, old_ended), text(&new, new_ended));
        if before == after {
            continue;
        }
        let change = FileChange::new(before, after);
        assert!(change.count() > 0);
        let mut one = Tally::default();
        let replays = change.replayed(&mut one.asked);
        one.add(&change, &replays, &mut rolls, |tool, noise, fate| {
            let fine = match (noise, fate) {
                (None, Fate::Same) => true,
                (None, Fate::Refused(why)) => {
                    ["several places", "blank lines alone", "placeholder"].contains(why)
                }
                // Texts have no line ends of their own, and a file may get its first.
                (None, Fate::LineEnds) => tool != "apply_diff" && tool != "apply_patch",
                (None, _) => false,
                (Some(_), fate) => !matches!(fate, Fate::WrongPlace | Fate::OtherCopy),
            };
            let (before, after) = (&change.before, &change.after);
            assert!(fine, "seed {seed}, {tool}, {noise:?}: {fate:?}\n{before:?}\n{after:?}");
        });
        tally.merge(one);
    }
    for tool in ["apply_diff", "multi_edit", "search_and_replace", "notebook_edit"] {
        let same = tally.exact[tool].get(&Fate::Same).copied().unwrap_or_default();
        assert!(same > usize::try_from(FILES).unwrap() * 4 / 5, "{tool}\n{}", tally.table());
    }
    assert_eq!(tally.wrong(), 0, "{}", tally.table());
}
