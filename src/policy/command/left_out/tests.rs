//! What a run leaves out of what scripts show.

use crate::command::Script;
use crate::glob::PathGlob;
use locum_base::path::RepoPath;
use pretty_assertions::assert_eq;

/// What is looked at: `git` with its folder, `added`, `elsewhere`, paths below which all
/// counts, `?` before those of searches, and what the options of these say.
fn left_out(script: &Script) -> String {
    let found = script.left_out();
    let git = |folder: &RepoPath| {
        if folder.is_root() { "git".to_owned() } else { format!("git:{folder}") }
    };
    let mut shown: Vec<String> = found.committed.iter().map(git).collect();
    shown.extend(found.added.then(|| "added".to_owned()));
    shown.extend(found.elsewhere.then(|| "elsewhere".to_owned()));
    shown.extend(found.below.iter().map(ToString::to_string));
    for search in &found.searches {
        let types = if search.hidden_names { "+" } else { "" };
        shown.push(format!("?{}{types}{}", search.below, search.globs.join(",")));
    }
    shown.join(" ")
}

fn unseen() -> std::sync::Arc<[PathGlob]> {
    [PathGlob::parse("**/.env").unwrap()].into()
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let script = Script::parse(text).leaving_out(unseen());
        assert_eq!(left_out(&script), *expected, "{text}");
        assert_eq!(left_out(&Script::parse(text)), "", "{text}, where everything may be seen");
    }
}

#[test]
fn what_a_run_leaves_out_lies_below_what_a_command_goes_through() {
    check(&[
        ("grep -rn x src docs", "docs src"),
        ("grep -rn x src && rg x src/a", "src ?src/a"),
        ("grep -n x src/a", ""),
        ("cat src/a", ""),
        ("rg x", "?."),
        ("rg x src", "?src"),
        ("rg -n -A3 --sort=path x src", "?src"),
        ("rg -u x src", "."),
        ("rg -nu x src", "."),
        ("rg --hidden x src", "src"),
        ("rg -. x src", "."),
        ("rg --no-ignore x src", "src"),
        ("rg -g '*' x src", "?src*"),
        ("rg -g '*.rs' -g '!a' x", "?.*.rs,!a"),
        // Of a type are files with hidden names too.
        ("rg -tsh x src", "?src+"),
        ("rg x src | head", "?src"),
        ("rg x src && rg x", "?. ?src"),
        ("timeout 5 rg x src", "?src"),
        ("rg --unheard x src", "."),
        ("cd src && rg x a", "?."),
        ("cd src && rg -g '*' x a", "."),
        // What is not known may be an option.
        ("for f in a b; do rg x $f; done", "."),
        // Files that are named are searched whatever git ignores.
        ("rg x src/*", "."),
        ("LANG=C rg x src", "?src"),
        // Names alone.
        ("rg --files src", ""),
        ("rg -e --files src", "?src"),
    ]);
}

#[test]
fn a_search_passes_over_nothing_where_the_script_may_have_said_so() {
    let configured = Script::parse("RIPGREP_CONFIG_PATH=a rg x src").leaving_out(unseen());
    assert!(configured.left_out().searches.is_empty() && !configured.left_out().below.is_empty());
    check(&[
        ("echo '!.env' > .ignore && rg x", "."),
        ("rm .gitignore && rg x", "."),
        ("rm a/.gitignore && rg x src", "src"),
        ("cp a.txt .rgignore; rg x", "."),
        ("cp docs/.ignore . && rg x", "."),
        ("sed -i 1d .gitignore && rg x", "."),
        ("git checkout HEAD -- . && rg x", "."),
        ("git checkout HEAD -- a.rs && rg x", "?."),
        ("git add -A && rg x", "?."),
        ("rm .gitignore && git add -A && git diff --cached", "git ."),
        // These say nothing of it.
        ("cat .gitignore && rg x", "?."),
        ("sed -i s/a/b/ src/a.rs && rg x", "?."),
        ("mkdir -p src/a && rg x", "?."),
        ("rg x > out.txt", "?."),
    ]);
}

#[test]
fn git_shows_what_the_repository_keeps_in_whose_folder_it_runs() {
    check(&[
        ("git grep x src", "git"),
        ("git grep --untracked x", "git ."),
        ("git grep --no-index x", "git ."),
        ("git show HEAD", "git"),
        ("git -P diff -- src", "git"),
        ("git diff | head", "git"),
        ("git -C src diff", "git:src"),
        ("git -C src -C a --no-pager diff", "git:src/a"),
        ("git -C .. diff", "elsewhere"),
        ("git -c a=b diff", "elsewhere"),
        ("git --git-dir=a diff", "elsewhere"),
        ("GIT_DIR=a git diff", "elsewhere"),
        ("GIT_EXTERNAL_DIFF=cat git diff", "elsewhere"),
        ("NO_COLOR=1 git diff", "git"),
        ("timeout 5 git log -p", "git"),
        ("git status -s && git diff", "git"),
        ("git remote -v && git diff", "git"),
        ("git log -p", "git"),
        ("git log", ""),
        ("git branch", ""),
        ("git diff | grep git", "git"),
        ("git diff > out.patch", "git"),
        ("git diff && rg x src", "git ?src"),
        ("sed -i s/a/b/ src/a.rs && git diff", "git"),
        // What it was given first.
        ("git add -A && git diff --cached", "git added"),
        ("git add -f a.rs && git diff --cached", "git ."),
        ("git add src/a.rs && git commit -m x && git show", "git added"),
        ("git update-index --add a && git diff --cached", "git ."),
        // Names alone.
        ("git status -s", ""),
        ("git status -v", "git ."),
        ("git ls-files", ""),
        ("git ls-files | head", ""),
        ("git ls-files | xargs wc -l", "git"),
        ("git ls-files -o | xargs wc -l", "git ."),
        ("cat $(git ls-files src)", "git ."),
        ("git diff --stat", ""),
        ("git diff --name-only main...HEAD", ""),
        ("git show --stat HEAD", ""),
        ("git log --oneline --name-status -3", ""),
        ("git diff --stat -p", "git"),
        ("git diff --stat --word-diff", "git"),
        ("git log --stat -Sx", "git"),
        // By its number, any file is shown.
        ("git show --stat abcd1234", "git"),
    ]);
}

#[test]
fn a_file_is_looked_at_that_is_moved_or_given_to_a_program_that_no_table_has() {
    check(&[
        ("mv a.txt b.txt", "a.txt"),
        ("mv a b c", "a b"),
        ("git mv a b", "a"),
        ("cp a b", ""),
        ("egrep -rn x src", "src x"),
        ("egrep -n x src/a", ""),
        ("rgrep x", "."),
        ("zgrep x a.gz", ""),
    ]);
    let named = |text: &str| {
        let found = Script::parse(text).leaving_out(unseen()).left_out();
        found.named.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for (text, path) in [
        ("bat src/.env", "src/.env"),
        ("unheard --file=.env", ".env"),
        ("timeout 5 bat .env", ".env"),
    ] {
        assert!(named(text).contains(&path.to_owned()), "{text}: {:?}", named(text));
    }
    assert_eq!(named("cat a.txt"), [""; 0]);
}

#[test]
fn paths_are_those_of_the_folder_that_the_script_runs_in() {
    let inside = |text: &str| {
        let script = Script::parse_in(text, &RepoPath::parse("src").unwrap());
        left_out(&script.leaving_out(unseen()).below("/r"))
    };
    assert_eq!(inside("rg x . ../docs"), "?docs ?src");
    assert_eq!(inside("git diff"), "git:src");
    assert_eq!(inside("git -C .. diff"), "git");
    assert_eq!(inside("git -C /r diff"), "git");
    assert_eq!(inside("git -C /r/docs diff"), "git:docs");
    assert_eq!(inside("git -C /rest diff"), "elsewhere");
}
