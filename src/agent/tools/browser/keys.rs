//! Keys by their names: `Enter`, `a`, `Control+A`.
//!
//! In: what a model writes. Out: key events for the browser. Names are those of the web platform
//! (`KeyboardEvent.key`).

use serde_json::{Value, json};

/// Keys with a name: the name, `code` where it is another, and the number that Windows has for it.
const NAMED: &[(&str, &str, u32)] = &[
    ("Enter", "Enter", 13),
    ("Tab", "Tab", 9),
    ("Escape", "Escape", 27),
    ("Backspace", "Backspace", 8),
    ("Delete", "Delete", 46),
    ("ArrowUp", "ArrowUp", 38),
    ("ArrowDown", "ArrowDown", 40),
    ("ArrowLeft", "ArrowLeft", 37),
    ("ArrowRight", "ArrowRight", 39),
    ("Home", "Home", 36),
    ("End", "End", 35),
    ("PageUp", "PageUp", 33),
    ("PageDown", "PageDown", 34),
    ("Insert", "Insert", 45),
    ("F1", "F1", 112),
    ("F2", "F2", 113),
    ("F3", "F3", 114),
    ("F4", "F4", 115),
    ("F5", "F5", 116),
    ("F6", "F6", 117),
    ("F7", "F7", 118),
    ("F8", "F8", 119),
    ("F9", "F9", 120),
    ("F10", "F10", 121),
    ("F11", "F11", 122),
    ("F12", "F12", 123),
];

/// Other names that are understood.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("Esc", "Escape"),
    ("Return", "Enter"),
    ("Del", "Delete"),
    ("Up", "ArrowUp"),
    ("Down", "ArrowDown"),
    ("Left", "ArrowLeft"),
    ("Right", "ArrowRight"),
];

/// Keys that are held, and their bits.
const HELD: &[(&str, u32)] =
    &[("Alt", 1), ("Control", 2), ("Ctrl", 2), ("Meta", 4), ("Command", 4), ("Shift", 8)];

/// Signs of a keyboard of the United States: both that a key has, its `code`, and its number.
const SIGNS: &[(&str, &str, u32)] = &[
    (";:", "Semicolon", 186),
    ("=+", "Equal", 187),
    (",<", "Comma", 188),
    ("-_", "Minus", 189),
    (".>", "Period", 190),
    ("/?", "Slash", 191),
    ("`~", "Backquote", 192),
    ("[{", "BracketLeft", 219),
    ("\\|", "Backslash", 220),
    ("]}", "BracketRight", 221),
    ("'\"", "Quote", 222),
];

/// The bits of keys that turn a letter into a command.
const COMMANDS: u32 = 1 | 2 | 4;

/// A key, perhaps with others held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyPress {
    key: String,
    code: String,
    number: u32,
    held: u32,
    text: Option<String>,
}

impl KeyPress {
    /// Reads a key.
    ///
    /// # Errors
    /// A sentence that says what can be written.
    pub(super) fn parse(written: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{written}` is no key: write a name such as `Enter`, `Tab`, `Escape`, `ArrowDown`, \
                 one character, or a combination such as `Control+A`"
            )
        };
        let mut held = 0;
        let mut name = written;
        while let Some((first, rest)) = name.split_once('+').filter(|(_, rest)| !rest.is_empty()) {
            let bit = HELD.iter().find(|(known, _)| known.eq_ignore_ascii_case(first));
            held |= bit.ok_or_else(wrong)?.1;
            name = rest;
        }
        let other = OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        let name = other.map_or(name, |(_, name)| name);
        let named = NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
        if let Some((key, code, number)) = named {
            let text = (*key == "Enter").then(|| "\r".to_owned());
            let (key, code) = ((*key).to_owned(), (*code).to_owned());
            return Ok(Self { key, code, number: *number, held, text });
        }
        let name = if name.eq_ignore_ascii_case("Space") { " " } else { name };
        let mut characters = name.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else {
            return Err(wrong());
        };
        let plain = Self::of(character);
        let upper = character.to_ascii_uppercase();
        let key = if held & 8 == 8 { upper } else { character }.to_string();
        let key = if held & COMMANDS == 0 { key } else { key.to_lowercase() };
        let text = (held & COMMANDS == 0).then(|| key.clone());
        Ok(Self { key, held, text, ..plain })
    }

    /// Takes the key that writes a character. A line ends without anything being sent, as with
    /// Shift+Enter.
    pub(super) fn of(character: char) -> Self {
        let upper = character.to_ascii_uppercase();
        let sign = SIGNS.iter().find(|(signs, ..)| signs.contains(character));
        let (code, number) = match character {
            '\n' => ("Enter".to_owned(), 13),
            ' ' => ("Space".to_owned(), 32),
            _ if upper.is_ascii_uppercase() => (format!("Key{upper}"), u32::from(upper)),
            _ if character.is_ascii_digit() => (format!("Digit{character}"), u32::from(character)),
            _ => sign.map_or((String::new(), 0), |(_, code, number)| ((*code).to_owned(), *number)),
        };
        let (key, text, held) = match character {
            '\n' => ("Enter".to_owned(), "\r".to_owned(), 8),
            _ => (character.to_string(), character.to_string(), 0),
        };
        Self { key, code, number, held, text: Some(text) }
    }

    /// Returns the events of pressing and releasing it.
    pub(super) fn events(&self) -> [Value; 2] {
        let kind = if self.text.is_some() { "keyDown" } else { "rawKeyDown" };
        [kind, "keyUp"].map(|kind| {
            let mut event = json!({
                "type": kind,
                "key": self.key,
                "code": self.code,
                "modifiers": self.held,
                "windowsVirtualKeyCode": self.number,
            });
            if let (Some(text), "keyDown", Value::Object(fields)) = (&self.text, kind, &mut event) {
                fields.insert("text".to_owned(), json!(text));
            }
            event
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::KeyPress;

    #[test]
    fn keys_are_read_by_name_and_with_others_held() {
        for (written, expected) in [
            ("Enter", ("Enter", "Enter", 13, 0, Some("\r"))),
            ("enter", ("Enter", "Enter", 13, 0, Some("\r"))),
            ("Esc", ("Escape", "Escape", 27, 0, None)),
            ("Shift+Tab", ("Tab", "Tab", 9, 8, None)),
            ("a", ("a", "KeyA", 65, 0, Some("a"))),
            ("Shift+a", ("A", "KeyA", 65, 8, Some("A"))),
            ("Control+A", ("a", "KeyA", 65, 2, None)),
            ("Ctrl+Shift+z", ("z", "KeyZ", 90, 10, None)),
            ("7", ("7", "Digit7", 55, 0, Some("7"))),
            ("Space", (" ", "Space", 32, 0, Some(" "))),
            ("+", ("+", "Equal", 187, 0, Some("+"))),
            ("é", ("é", "", 0, 0, Some("é"))),
        ] {
            let read = KeyPress::parse(written).unwrap();
            let found = (&*read.key, &*read.code, read.number, read.held, read.text.as_deref());
            assert_eq!(found, expected, "{written}");
        }
        let end = KeyPress::of('\n');
        assert_eq!(
            (&*end.key, end.number, end.held, end.text.as_deref()),
            ("Enter", 13, 8, Some("\r"))
        );
        for written in ["", "hello", "Hyper+a", "Control+", "+Control+a"] {
            assert!(KeyPress::parse(written).is_err(), "{written}");
        }
    }

    #[test]
    fn only_what_goes_down_writes() {
        let [down, up] = KeyPress::parse("x").unwrap().events();
        assert_eq!((&down["type"], &down["text"]), (&"keyDown".into(), &"x".into()));
        assert_eq!((&up["type"], up.get("text")), (&"keyUp".into(), None));
        let [down, _] = KeyPress::parse("Control+x").unwrap().events();
        assert_eq!((&down["type"], down.get("text")), (&"rawKeyDown".into(), None));
    }
}
