//! Reads who is meant: tiers, and accounts by name.

use crate::actors::Tier;
use crate::rule::TIERS;
use crate::schema::ListedUser;
use locum_files::rejection::Rejection;
use locum_files::section::Section;
use locum_files::shape::{OneOf, OneOrMany, ParsedText};

/// Reads the tiers that may start something.
pub(super) fn tiers(section: &mut Section<'_>) -> Vec<Tier> {
    let about = "Tiers that may start a run this way; none when absent.";
    section.key("tiers", about, OneOrMany(OneOf(TIERS))).unwrap_or_default()
}

fn is_login(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 60
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

/// An account that issues can be assigned to.
pub(super) const LOGIN: ParsedText<String> = ParsedText {
    parse: |text| {
        let name = text.strip_suffix("[bot]").unwrap_or(text);
        is_login(name)
            .then(|| text.to_owned())
            .ok_or_else(|| Rejection::from(format!("`{text}` is not a login")))
    },
    write: Some(String::clone),
    pattern: r"^[A-Za-z0-9_-]+(\[bot\])?$",
    example: "locum-bot",
};

/// A label. An event without one would have an empty one in GitHub's expressions.
pub(super) const LABEL: ParsedText<String> = ParsedText {
    parse: |text| {
        let is_name = !text.trim().is_empty() && !text.chars().any(char::is_control);
        is_name
            .then(|| text.to_owned())
            .ok_or_else(|| Rejection::from("a label has a name of one line"))
    },
    write: Some(String::clone),
    pattern: r"\S",
    example: "locum",
};

/// A person, perhaps with the number of their account.
pub(super) const USER: ParsedText<ListedUser> = ParsedText {
    parse: |text| {
        let (login, id) = text
            .split_once(':')
            .map_or((text, None), |(login, id)| (login, Some(id.parse::<u64>())));
        if text.ends_with("[bot]") {
            return Err(Rejection::from(format!("`{text}` is a bot"))
                .hint("bots are listed under `triggers.bots`"));
        }
        match id.transpose() {
            Ok(id) if is_login(login) => Ok(ListedUser { login: login.to_owned(), id }),
            Ok(_) | Err(_) => Err(Rejection::from(format!("`{text}` is not a login"))
                .hint("users are listed by name, `bob` or `bob:583231`, never by a wildcard")),
        }
    },
    write: None,
    pattern: "^[A-Za-z0-9_-]+(:[0-9]+)?$",
    example: "bob:583231",
};

/// A bot.
pub(super) const BOT: ParsedText<String> = ParsedText {
    parse: |text| {
        let good = !text.is_empty() && !text.contains(['*', '?']);
        good.then(|| text.to_owned()).ok_or_else(|| {
            Rejection::from(format!("`{text}`: bots are listed by name, never by a wildcard"))
        })
    },
    write: Some(String::clone),
    pattern: r"^[^*?]+$",
    example: "renovate[bot]",
};
