//! The condition of a workflow's step, as far as it is known before the workflow runs.
//!
//! In: the text of an `if:` and the chosen values of a matrix. Out: whether it holds, or that only
//! a running workflow knows.

use std::collections::BTreeMap;

/// Conditions that hold as long as the steps before succeed.
const ALWAYS: [&str; 3] = ["success()", "always()", "!cancelled()"];

/// Returns whether a condition holds for the chosen matrix; `None` where only a running workflow
/// knows it.
pub(super) fn holds(condition: &str, known: &BTreeMap<String, String>) -> Option<bool> {
    let plain = condition.replace("${{", "").replace("}}", "");
    let is_group = |part: &str| part.contains('(') && !ALWAYS.contains(&part.trim());
    if plain.contains("||") || plain.split("&&").any(is_group) {
        return None;
    }
    let parts: Vec<Option<bool>> =
        plain.split("&&").map(|part| part_holds(part.trim(), known)).collect();
    if parts.contains(&Some(false)) {
        return Some(false);
    }
    parts.iter().all(Option::is_some).then_some(true)
}

fn part_holds(part: &str, known: &BTreeMap<String, String>) -> Option<bool> {
    if ALWAYS.contains(&part) {
        return Some(true);
    }
    let (name, operator, value) = ["==", "!=", ">=", "<="].iter().find_map(|operator| {
        let (name, value) = part.split_once(operator)?;
        Some((name.trim(), *operator, value.trim().trim_matches('\'')))
    })?;
    let own = match name {
        "runner.os" => "Linux",
        _ if name.starts_with("matrix.") && is_name(name) => {
            known.get(name).map_or("", String::as_str)
        }
        _ => return None,
    };
    Some(match operator {
        "==" => own == value,
        "!=" => own != value,
        ">=" => release(own) >= release(value),
        _ => release(own) <= release(value),
    })
}

/// Whether an expression is nothing but a name.
pub(super) fn is_name(expression: &str) -> bool {
    expression.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Reads a release such as `3.12` or `24.x`.
pub(super) fn release(text: &str) -> Option<Vec<u32>> {
    text.trim_end_matches(".x").split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::holds;

    #[test]
    fn a_condition_with_groups_or_alternatives_is_not_known() {
        for (condition, expected) in [
            ("runner.os == 'Linux' && success()", Some(true)),
            ("runner.os == 'Windows' && github.ref == 'x'", Some(false)),
            ("runner.os == 'Windows' && github.ref == 'x' || runner.os == 'Linux'", None),
            ("(success() && runner.os == 'Linux')", None),
            ("${{ always() }}", Some(true)),
        ] {
            assert_eq!(holds(condition, &BTreeMap::new()), expected, "{condition}");
        }
    }
}
