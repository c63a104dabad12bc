//! `go on`: the words that ask for what was begun, and are no task of their own.
//!
//! In: a command, the modes that runs may start in. Out: whether it asks for nothing else. What it
//! goes on with is what the thread holds.

use locum_forge::command::CommentCommand;

/// Every way to say it, in small letters and without marks.
const WORDS: &[&str] =
    &["go on", "go on with it", "continue", "carry on", "keep going", "proceed", "go on here"];
/// Words that may stand before and behind it.
const POLITE: &[&str] = &["please", "now", "then", "just"];

/// Returns whether a command asks to go on, and for nothing else.
pub(super) fn is_asked(command: &CommentCommand, modes: &[String]) -> bool {
    let is_mode = |verb: &String| modes.contains(verb);
    let said = match &command.verb {
        Some(verb) if is_mode(verb) || verb == "fix" => command.text.clone(),
        Some(_) | None => command.whole_text(),
    };
    let plain = said.replace(|letter: char| !letter.is_alphanumeric(), " ").to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().filter(|word| !POLITE.contains(word)).collect();
    WORDS.contains(&words.join(" ").as_str())
}

#[cfg(test)]
mod tests {
    use super::is_asked;
    use locum_forge::command::parse;

    #[test]
    fn going_on_is_asked_for_by_these_words_and_nothing_else() {
        let modes = ["code".to_owned()];
        let asks =
            |said: &str| is_asked(&parse(&format!("/locum {said}"), "/locum").unwrap(), &modes);
        for said in
            ["go on", "Go on!", "code go on", "please go on.", "--budget=1 go on", "carry on"]
        {
            assert!(asks(said), "{said}");
        }
        for said in ["go on with the docs", "code say go on twice", "retry", "code", "plan go on"] {
            assert!(!asks(said), "{said}");
        }
    }
}
