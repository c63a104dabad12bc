//! Which words of a command a rule that refuses counts for: in whatever case, behind whatever
//! options; and that one that allows counts for those that it spells out.

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
  - deny: [command(locum run:*), command(apk add:*), command(git push --force:*)]
  - deny: [command(git stash drop:*), command(firebase deploy:*), command(npm run publish:*)]
  - deny: [command(docker run:*), command(npm install:*)]
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

#[test]
fn rules_that_refuse_count_behind_options_of_any_program() {
    for (text, expected) in [
        ("locum -v run x", Decision::Deny),
        ("locum --repo x run y", Decision::Deny),
        ("locum sessions run", Decision::Allow),
        ("apk --no-cache add x", Decision::Deny),
        ("apk info -q add", Decision::Allow),
        ("firebase --project x deploy", Decision::Deny),
        ("git stash -q drop", Decision::Deny),
        ("git stash list drop", Decision::Allow),
        ("git push -q --force", Decision::Deny),
        ("git push x --force", Decision::Hold),
    ] {
        assert_eq!(decide(text, true), expected, "{text}");
    }
}

#[test]
fn rules_that_refuse_count_for_every_name_of_a_verb() {
    for (text, expected) in [
        ("npm rum publish", Decision::Deny),
        ("npm -s urn publish", Decision::Deny),
        ("npm run test", Decision::Allow),
        ("npm i x", Decision::Deny),
        ("npm ls x", Decision::Allow),
        ("docker container run x", Decision::Deny),
        ("docker container ls", Decision::Allow),
    ] {
        assert_eq!(decide(text, true), expected, "{text}");
    }
}
