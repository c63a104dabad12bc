//! Which release of a tool chain fits what a manifest requires of it.
//!
//! In: a requirement as Python, Poetry, Composer, Bundler and Mix write it, and releases as
//! `MAJOR.MINOR`. Out: the newest that fits. A requirement that cannot be read fits no release, and
//! a bound that names a patch release leaves out the whole minor one, as its newest patch may lie
//! beyond it.
//!
//! `~8.1` means `>=8.1 <8.2` to Poetry and `>=8.1 <9.0` to Composer. It is read as the first, which is
//! within the second: a release of Composer's project may be older than it could be.

/// A major and a minor number.
type Release = (u32, u32);

/// Letters of operators.
const OPERATORS: [char; 6] = ['^', '~', '<', '>', '=', '!'];

/// Returns the first of these releases that fits.
pub(super) fn newest<'r>(releases: &[&'r str], requirement: &str) -> Option<&'r str> {
    let fits = |text: &&'r str| release(text).is_some_and(|release| fits(requirement, release));
    releases.iter().copied().find(fits)
}

/// Returns true where a release fits one of the alternatives: all of its conditions.
pub(super) fn fits(requirement: &str, release: Release) -> bool {
    let text = closed_up(requirement);
    let holds = |word: &str| {
        word == "*" || Condition::parse(word).is_some_and(|condition| condition.holds(release))
    };
    text.split('|')
        .filter(|alternative| !alternative.trim().is_empty())
        .any(|alternative| alternative.split([',', ' ']).filter(|word| !word.is_empty()).all(holds))
}

fn release(text: &str) -> Option<Release> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Takes out the blanks behind operators.
fn closed_up(requirement: &str) -> String {
    let mut text = String::new();
    for word in requirement.split_whitespace() {
        if !text.is_empty() && !text.ends_with(OPERATORS) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// One condition, such as `>=3.9`.
struct Condition<'r> {
    operator: &'r str,
    major: u32,
    minor: Option<u32>,
    /// Whether it names a patch release.
    has_patch: bool,
    /// Whether an asterisk stands in the place of a number.
    is_wild: bool,
}

impl<'r> Condition<'r> {
    fn parse(text: &'r str) -> Option<Self> {
        let at = text.find(|letter: char| !OPERATORS.contains(&letter))?;
        let (operator, version) = text.split_at(at);
        let mut parts = version.trim_start_matches('v').split('.');
        let major = number(parts.next()?)?;
        let (minor, patch) = (parts.next(), parts.next());
        let is_wild = |part: Option<&str>| part.is_some_and(|part| matches!(part, "*" | "x"));
        Some(Self {
            operator,
            major,
            minor: minor.and_then(number),
            has_patch: patch.and_then(number).is_some(),
            is_wild: is_wild(minor) || is_wild(patch),
        })
    }

    fn holds(&self, release: Release) -> bool {
        let own = (self.major, self.minor.unwrap_or_default());
        let is_same_major = release.0 == self.major;
        let is_same = is_same_major && self.minor.is_none_or(|minor| minor == release.1);
        let is_above = is_same_major && release.1 >= own.1;
        match self.operator {
            "" | "=" | "==" | "===" | "~" => is_same,
            "!=" => !(self.is_wild && is_same),
            ">" if self.minor.is_none() => release.0 > self.major,
            ">" if !self.has_patch => release > own,
            ">" | ">=" => release >= own,
            "<" | "<=" => release < own,
            "^" if self.major == 0 => is_same,
            "~>" | "~=" if self.has_patch => is_same,
            "^" | "~>" | "~=" => is_above,
            _ => false,
        }
    }
}

/// Reads the digits that a part begins with.
fn number(part: &str) -> Option<u32> {
    part.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{fits, newest};
    use pretty_assertions::assert_eq;

    const PYTHONS: &[&str] = &["3.14", "3.13", "3.12", "3.11", "3.10", "3.9", "3.8"];

    #[test]
    fn the_newest_release_that_fits_is_taken() {
        for (requirement, expected) in [
            (">=3.9,<3.12", Some("3.11")),
            (">= 3.9, < 3.12", Some("3.11")),
            (">=3.9,<3.12.4", Some("3.11")),
            (">=3.9,<=3.12", Some("3.11")),
            ("^3.9", Some("3.14")),
            ("~3.10", Some("3.10")),
            ("~3.10.2", Some("3.10")),
            ("~3", Some("3.14")),
            ("~=3.9", Some("3.14")),
            ("~=3.9.1", Some("3.9")),
            ("==3.10.*", Some("3.10")),
            ("3.9.18", Some("3.9")),
            (">=3.8,!=3.14.*", Some("3.13")),
            (">=3.8,!=3.14.1", Some("3.14")),
            (">3.8,<3.10", Some("3.9")),
            ("<3.9 || ~3.11", Some("3.11")),
            ("3.8.*|3.9.*", Some("3.9")),
            ("*", Some("3.14")),
            (">=3.15", None),
            ("^2.7", None),
            ("1.0 - 3.9", None),
            ("=>3.9", None),
            ("REQUIRED", None),
            ("", None),
        ] {
            assert_eq!(newest(PYTHONS, requirement), expected, "{requirement}");
        }
    }

    #[test]
    fn a_requirement_without_an_end_fits_what_is_not_known_yet() {
        for (requirement, expected) in
            [(">=3.9", true), ("^3.9", true), ("<4", true), (">=3.9,<3.15", false), ("3.9", false)]
        {
            assert_eq!(fits(requirement, (3, 999)), expected, "{requirement}");
        }
    }
}
