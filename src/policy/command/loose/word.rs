//! Words of a script with expansions, piece by piece: what an expansion may look like, and how text
//! is written so that a shell takes it for that text.
//!
//! In: pieces of words as the shell grammar cut them. Out: the same in text, or why it is refused.

use brush_parser::ParserOptions;
use brush_parser::word::WordPieceWithSource;

use crate::words;
use locum_base::secret::name::{Sureness, sureness};

/// Cuts a word into pieces.
pub(super) fn parsed(raw: &str) -> Result<Vec<WordPieceWithSource>, String> {
    brush_parser::word::parse(raw, &ParserOptions::default())
        .map_err(|_| format!("the word `{raw}` cannot be read"))
}

/// Lets through an expansion of a parameter that holds no code and sets nothing: `$NAME`,
/// `${NAME}`, `${#NAME}`, `${NAME:-plain}` and the like.
pub(super) fn check_parameter(source: &str, raw: &str) -> Result<(), String> {
    let refused = || Err(format!("the word `{raw}` holds an expansion that could run code"));
    let Some(inner) = source.strip_prefix('$') else { return refused() };
    let named: String = inner
        .trim_start_matches(['{', '#'])
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
        .collect();
    if !named.is_empty() && sureness(&named) != Sureness::No && named == named.to_uppercase() {
        return Err(format!("the word `{raw}` shows a variable that may hold credentials"));
    }
    let is_special = |text: &str| matches!(text, "?" | "@" | "*" | "#" | "$" | "!" | "-");
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let Some(body) = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) else {
        return if is_special(inner) || (!inner.is_empty() && inner.chars().all(is_name)) {
            Ok(())
        } else {
            refused()
        };
    };
    if is_special(body) {
        return Ok(());
    }
    let body = body.strip_prefix('#').unwrap_or(body);
    let named = body.trim_start_matches(is_name);
    if named.len() == body.len() {
        return refused();
    }
    // An index is arithmetic, unless it is a number.
    let rest = ["[@]", "[*]"].iter().find_map(|index| named.strip_prefix(index));
    let numbered = || {
        let (index, rest) = named.strip_prefix('[')?.split_once(']')?;
        words::is_number(index).then_some(rest)
    };
    let rest = rest.or_else(numbered).unwrap_or(named);
    // An offset is arithmetic, in which names can hold code.
    let offset = rest.strip_prefix(':').filter(|rest| !rest.starts_with(['-', '+', '?', '=']));
    let sets = rest.starts_with('=') || rest.starts_with(":=");
    let plain = |letter: char| letter.is_ascii_alphanumeric() || " _.,:/+-*?#%^=".contains(letter);
    let escapes = rest.split('\\').skip(1).all(|after| {
        after.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '.')
    });
    let cuts = rest.starts_with(['%', '#']);
    let plain = rest.chars().all(|letter| plain(letter) || (cuts && letter == '\\')) && escapes;
    let counted = offset.is_none_or(|offset| {
        offset.chars().all(|letter| letter.is_ascii_digit() || " :-".contains(letter))
    });
    if plain && counted && !sets { Ok(()) } else { refused() }
}

/// Lets through arithmetic of numbers alone: the value of a name can be code.
pub(super) fn check_arithmetic(inner: &str, raw: &str) -> Result<(), String> {
    let plain = |letter: char| letter.is_ascii_digit() || " +-*/%<>=!&|~^?:,".contains(letter);
    if inner.chars().all(plain) {
        Ok(())
    } else {
        Err(format!("the word `{raw}` holds arithmetic with more than numbers"))
    }
}

/// Words of which scripts make the names of their own variables, joined by `_`: `BASE`, `LOG_FILE`.
/// No shell and no common program reads a variable that is called so, as `PATH` or `TMPDIR` are.
const OWN_NAMES: &str = "\
    ACTUAL AFTER ALL BASE BEFORE BODY BRANCH BUILD CHANGED CHANGES CHECK CMD CODE COMMIT COMMITS \
    CONTENT COUNT CUR CURRENT DATE DEST DIFF DIR DIRS DOC DOCS DST END ERR ERRORS EXIT EXPECTED \
    FAIL FAILED FILE FILES FIRST FOUND FULL GOT HASH HEAD HITS ID IDS IN INPUT ITEM ITEMS LAST \
    LEFT LINE LIST LOG LOGS MAIN MATCH MATCHES MAX MERGE MIN MODULE MODULES MSG NAME NAMES NEW \
    NEXT NUM NUMBER OLD ORIG OUT OUTPUT PACKAGE PACKAGES PASSED PATTERN PKG PKGS PREV PROJECT RC \
    REF REPO REPORT RES RESULT RESULTS RET REV RIGHT ROOT RUN SCRIPT SHA SIZE SRC START STATUS \
    STEP SUM TARGET TEST TESTS TEXT TMP TO TOTAL VERSION WANT WORK";

/// Variables with a meaning for shells and programs are written in capital letters, but for a few.
/// A script's own are not exported, so what matters are names that may be in the environment.
pub(super) fn check_variable(name: &str) -> Result<(), String> {
    let small = name.chars().any(|letter| letter.is_ascii_lowercase()) || name.len() <= 2;
    let is_own = name.split('_').all(|part| words::holds(OWN_NAMES, part));
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.is_empty();
    let is_for_programs =
        ["AR", "AS", "CC", "CI", "CO", "ED", "FC", "LD", "PC", "RM", "TMP", "TZ", "VI"]
            .contains(&name)
            || name.ends_with("_proxy")
            || name.starts_with("npm_");
    if (small || is_own) && plain && !is_for_programs {
        Ok(())
    } else {
        Err(format!("the script sets the variable `{name}`, which may change what programs do"))
    }
}

/// Text outside quotes: wildcards and braces keep their meaning, everything else is literal.
pub(super) fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii()
            && !letter.is_ascii_alphanumeric()
            && !"_-./,:=+%@^~*?[]{}!#".contains(letter)
        {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Text between double quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '$' | '`' | '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{bare, check_arithmetic, check_parameter, check_variable, escaped};
    use pretty_assertions::assert_eq;

    #[test]
    fn lets_no_expansion_through_that_runs_code_or_sets_a_variable() {
        for source in [
            "$a",
            "${a}",
            "${#a}",
            "$?",
            "${a:-b c}",
            "${a%.rs}",
            "${a##*/}",
            "${a:1:2}",
            "${a: -1}",
            "${a[@]}",
            "${a[0]}",
            "${#a[12]}",
            "${PIPESTATUS[0]}",
            "${a/b/c}",
            "${a%\\.rs}",
            "${a##*\\n}",
            "$1",
            "${@}",
        ] {
            assert_eq!(check_parameter(source, source), Ok(()), "{source}");
        }
        for source in [
            "$API_KEY",
            "${GITHUB_TOKEN:-x}",
            "${#DB_PASSWORD}",
            "${a:=b}",
            "${a=b}",
            "${a:b}",
            "${a:1:b}",
            "${!a}",
            "${a@P}",
            "${a[b]}",
            "${a[0b]}",
            "${a[1]:$b}",
            "${a[]}",
            "${a[0}",
            "${a[-1]}",
            "${a:-$(b)}",
            "${a:-`b`}",
            "${a:-\"b\"}",
            "${a:-${b}}",
            "${a:+\\u0060b}",
            "${a%\\}}",
            "${a%$b}",
            "${a%(b)}",
            "${a#'b'}",
            "${a/\\n/b}",
            "${}",
            "$(",
        ] {
            assert!(check_parameter(source, source).is_err(), "{source}");
        }
        assert!(check_arithmetic("1 + 2*3", "").is_ok());
        for inner in ["a", "1+a[0]", "$a", "0x1f"] {
            assert!(check_arithmetic(inner, "").is_err(), "{inner}");
        }
    }

    #[test]
    fn a_variable_of_a_loop_has_no_meaning_for_programs() {
        for name in ["f", "file", "i", "X", "AB", "Ab", "a_b1", "proxy", "NPM"] {
            assert_eq!(check_variable(name).is_ok(), name != "NPM", "{name}");
        }
        for name in ["BASE", "OUT", "FILES", "LOG", "LOG_FILE", "MERGE_BASE", "TMP_DIR"] {
            assert_eq!(check_variable(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "PATH",
            "IFS",
            "ABC",
            "BASE_",
            "LOG_LEVEL",
            "TMP",
            "TMPDIR",
            "HOME",
            "PWD",
            "OLDPWD",
            "PS4",
            "ENV",
            "BASH_ENV",
            "CDPATH",
            "GLOBIGNORE",
            "LINES",
            "MODULE_PATH",
            "LD_PRELOAD",
            "GIT_BASE",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "EDITOR",
            "PAGER",
            "DESTDIR",
            "CFLAGS",
            "http_proxy",
            "npm_config_x",
            "a-b",
            "a b",
            "-",
            "\u{e9}",
            "a\u{e9}",
            "a[0]",
            "CC",
            "TZ",
        ] {
            assert!(check_variable(name).is_err(), "{name}");
        }
    }

    #[test]
    fn writes_text_so_that_a_shell_takes_it_for_itself() {
        assert_eq!(bare("a*b?{c,d};e f$"), "a*b?{c,d}\\;e\\ f\\$");
        assert_eq!(escaped("a\"b$c`d\\e'(f)"), "a\\\"b\\$c\\`d\\\\e'(f)");
    }
}
