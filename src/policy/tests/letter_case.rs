//! The case of letters in commands: what refuses does not ask for it, what allows does.

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::verdict::Decision;

const RULES: &str = "\
version: 1
commands: { contained: allow }
rules:
  - deny: [command(git config core.hooksPath:*), command(curl:*), command(Deploy now)]
  - deny: [command(git branch -D:*), command-prefix(aws s3)]
  - hold: command(git push:*)
  - allow: [read(**), command(make test:*)]
    except: command(make test slow)
";

fn decide(text: &str, contained: bool) -> Decision {
    let policy = Policy::parse(RULES, "policy.yml").unwrap();
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, contained, ..Facts::default() };
    policy.decide(&Intent::Command(Script::parse(text)), &facts).decision
}

#[test]
fn rules_that_refuse_count_for_words_in_any_case() {
    for (text, expected) in [
        ("git config core.hookspath x", Decision::Deny),
        ("git -C src config CORE.HOOKSPATH x", Decision::Deny),
        ("git config core.hooks x", Decision::Allow),
        ("CURL x", Decision::Deny),
        ("nice Curl x", Decision::Deny),
        ("curls x", Decision::Allow),
        ("deploy NOW", Decision::Deny),
        ("deploy now x", Decision::Allow),
        ("Aws S3 ls", Decision::Deny),
        ("aws s3api ls", Decision::Allow),
        ("Git Push", Decision::Hold),
        // Another option, which removes what is merged alone.
        ("git branch -D x", Decision::Deny),
        ("git branch -d x", Decision::Allow),
    ] {
        assert_eq!(decide(text, true), expected, "{text}");
    }
}

#[test]
fn rules_that_allow_count_for_words_as_they_are_written() {
    for (text, expected) in [
        ("make test fast", Decision::Allow),
        ("make Test fast", Decision::Deny),
        ("Make test fast", Decision::Deny),
        ("make test SLOW", Decision::Deny),
    ] {
        assert_eq!(decide(text, false), expected, "{text}");
    }
}
