//! The name of the branch a change goes to, from the policy's template.

/// Longest name, in bytes: what file systems and the forges' pages take without trouble.
const NAME_LIMIT_BYTES: usize = 100;
/// Longest `{slug}`, in bytes.
const SLUG_LIMIT_BYTES: usize = 40;

/// Fills a template (`locum/{subject}-{slug}`) and returns a name git takes, whatever the parts
/// are. `subject` is ours (`issue-12`, `job-docs`), `title` a user's or a model's.
pub fn name(template: &str, subject: &str, title: &str) -> String {
    let (subject, title) = (slug(subject), slug(title));
    // A job without a description is named by its name alone.
    let template =
        if title == subject { template.replace("-{slug}", "") } else { template.to_owned() };
    let filled = template.replace("{subject}", &subject).replace("{slug}", &title);
    let parts: Vec<String> = filled.split('/').map(part).filter(|part| !part.is_empty()).collect();
    let name = parts.join("/");
    let name = locum_base::text::head(&name, NAME_LIMIT_BYTES).trim_end_matches(['/', '-', '.']);
    // A cut may have left a part that git keeps for itself; `HEAD` and full refs would be read as
    // something else.
    let name = name.trim_end_matches(".lock");
    if name.is_empty() || name.starts_with("refs/") || name.eq_ignore_ascii_case("head") {
        "locum/change".to_owned()
    } else {
        name.to_owned()
    }
}

/// Returns words as `lower-case-words`, at most `SLUG_LIMIT_BYTES` and never empty.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() => slug.push(letter.to_ascii_lowercase()),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let cut = locum_base::text::head(&slug, SLUG_LIMIT_BYTES);
    // Prefer to end with a whole word, unless that leaves next to nothing.
    let whole = if cut.len() < slug.len() {
        cut.rfind('-').filter(|at| *at > SLUG_LIMIT_BYTES / 2).and_then(|at| cut.get(..at))
    } else {
        None
    };
    let slug = whole.unwrap_or(cut).trim_matches('-');
    if slug.is_empty() { "change".to_owned() } else { slug.to_owned() }
}

/// Keeps what git allows in one part of a ref (git-check-ref-format): no dot at its start or
/// doubled, no `.lock` at its end, none of the letters with a meaning in revisions. Also no `-` at
/// its start, where a command would take it for an option.
fn part(text: &str) -> String {
    let mut part = String::new();
    for letter in text.chars() {
        match letter {
            '.' if part.ends_with('.') => {}
            letter if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-') => {
                part.push(letter)
            }
            _ if part.ends_with('-') => {}
            _ => part.push('-'),
        }
    }
    let mut part = part.trim_start_matches(['.', '-']);
    loop {
        let shorter = part.trim_end_matches(['.', '-']).trim_end_matches(".lock");
        if shorter == part {
            return part.to_owned();
        }
        part = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::name;
    use pretty_assertions::assert_eq;

    #[test]
    fn fills_the_template() {
        for (template, subject, title, expected) in [
            (
                "locum/{subject}-{slug}",
                "issue-12",
                "Fix the flaky test!",
                "locum/issue-12-fix-the-flaky-test",
            ),
            ("locum/{subject}-{slug}", "job-docs", "", "locum/job-docs-change"),
            ("locum/{subject}-{slug}", "issue-1", "日本語", "locum/issue-1-change"),
            ("{slug}", "issue-1", "--upload-pack=x", "upload-pack-x"),
            ("{subject}", "issue-12", "x", "issue-12"),
        ] {
            assert_eq!(name(template, subject, title), expected);
        }
        let long = name("locum/{subject}-{slug}", "issue-12", &"words ".repeat(50));
        assert_eq!(long, "locum/issue-12-words-words-words-words-words-words");
    }

    #[test]
    fn is_always_a_name_git_takes() {
        for template in [
            "a..b",
            "/x//y/",
            ".hidden/x",
            "x.lock",
            "x.lock/y.lock",
            "a b~c^d:e?f*g[h\\i",
            "@{x}",
            "HEAD",
            "refs/heads/x",
            "-x",
            "",
            "...",
            "x.",
            "ä",
            "{unknown}",
        ] {
            for title in ["", "a.lock", "../..", "\u{202e}x", "@{-1}"] {
                let name = name(&format!("{template}{{slug}}"), "issue-1", title);
                assert!(
                    git2::Branch::name_is_valid(&name).unwrap_or(false),
                    "{template} {title}: {name}"
                );
                assert!(
                    !name.starts_with('-') && !name.starts_with("refs/"),
                    "{template} {title}: {name}"
                );
            }
            let bare = name(template, "issue-1", "");
            assert!(git2::Branch::name_is_valid(&bare).unwrap_or(false), "{template}: {bare}");
        }
        let long = name(&"part.lock/".repeat(40), "x", "y");
        assert!(long.len() <= 100 && git2::Branch::name_is_valid(&long).unwrap_or(false), "{long}");
    }
}
