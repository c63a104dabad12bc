//! Reads durations such as `1h30m`.

/// Returns the seconds in a duration such as `1h30m` or `45s`, or `None` when the text is none.
pub fn seconds(text: &str) -> Option<u64> {
    let mut total = 0;
    let mut number = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' => number.push(letter),
            'h' => total += take(&mut number)? * 3600,
            'm' => total += take(&mut number)?,
            's' => total += take(&mut number)?,
            _ => return None,
        }
    }
    Some(total)
}

fn take(number: &mut String) -> Option<u64> {
    std::mem::take(number).parse().ok()
}
