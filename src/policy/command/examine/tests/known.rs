//! What is known of single programs and of their options, each beside what is not.

use super::examined;
use pretty_assertions::assert_eq;

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(examined(text, "."), *expected, "{text}");
    }
}

#[test]
fn git_removes_and_moves_the_files_that_it_names() {
    check(&[
        ("git rm a b/c", "deep >a >b/c"),
        ("git rm -r -q .github", "deep >.github"),
        ("git rm -rfq --cached --ignore-unmatch -- a", "deep >a"),
        ("git rm -r .", "deep >!."),
        ("git rm ../a", "deep >!../a"),
        ("git rm *.yml", "deep !2 >*.yml"),
        ("git rm :/.github", "deep !2 >:/.github"),
        ("git rm --pathspec-from-file=a", "deep !2"),
        ("git mv a .github/b", "deep >a >.github/b"),
        ("git mv -f -k -v a b", "deep >a >b"),
        ("git mv --unheard a b", "deep !2 >a >b"),
        ("git restore :(top)a", "deep !2 >:(top)a"),
        ("git checkout -- a/*.yml", "deep !3 >a/*.yml"),
    ]);
}
