//! What scripts are understood as, and how they run: whole scripts in, refusal, words or shell text
//! out.

use pretty_assertions::assert_eq;

use super::limits::{LOOSE_LIMIT_BYTES, OPENERS_LIMIT, SCRIPT_LIMIT_BYTES, WORDS_LIMIT};
use super::loose::UnknownWord;
use super::parse::COMMANDS_LIMIT;
use super::{Script, ScriptExecution, change_of_folder};
use crate::glob::PathGlob;
use locum_base::path::RepoPath;

fn words(list: &[&str]) -> ScriptExecution {
    ScriptExecution::Words(list.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn a_simple_command_runs_as_its_words() {
    for (text, expected) in [
        ("git\tls-files", words(&["git"])),
        ("echo 'a'\\''; touch X #'", words(&["echo", "a'; touch X #"])),
        ("  ls  -la \n", words(&["ls", "-la"])),
        ("gi\\\nt", words(&["git"])),
        ("[ -f x ]", words(&["[", "-f", "x", "]"])),
        ("echo a=b 'c d' \"e\"f", words(&["echo", "a=b", "c d", "ef"])),
        ("# a comment\nls src # and another", words(&["ls", "src"])),
        (
            "find . -name '*.rs' -o -name \\*.md",
            words(&["find", ".", "-name", "*.rs", "-o", "-name", "*.md"]),
        ),
    ] {
        let found = Script::parse(text)
            .execution()
            .unwrap_or_else(|| panic!("{text}: {:?}", Script::parse(text).problem()));
        match (&found, &expected) {
            (ScriptExecution::Words(found), ScriptExecution::Words(expected))
                if expected.first().is_some_and(|word| word == "git") =>
            {
                assert_eq!(found.first(), expected.first(), "{text}");
            }
            _ => assert_eq!(found, expected, "{text}"),
        }
    }
}

#[test]
fn everything_else_runs_as_text_made_from_the_tree() {
    for (text, expected) in [
        ("ls src | rg main", "'ls' 'src' | 'rg' 'main'"),
        ("[ -f x ] && cat x", "'[' '-f' 'x' ']' && 'cat' 'x'"),
        ("a && b || c; d", "'a' && 'b' || 'c'\n'd'"),
        ("! a", "! 'a'"),
        ("a 2>&1 >/dev/null", "'a' 2>&1 1>'/dev/null'"),
        ("a &>> log", "'a' 1>>'log' 2>&1"),
        ("(a; b) > x", "( 'a'\n'b'\n) 1>'x'"),
        (
            "if a; then b; elif c; then d; else e; fi",
            "if 'a'\nthen 'b'\nelif 'c'\nthen 'd'\nelse 'e'\nfi",
        ),
        ("cat <<'EOF' | wc\n$(x)\nEOF", "'cat' <<'LOCUM_TEXT' | 'wc'\n$(x)\nLOCUM_TEXT\n"),
        ("cat <<'EOF'\nLOCUM_TEXT\nEOF\nb", "'cat' <<'LOCUM_TEXT_'\nLOCUM_TEXT\nLOCUM_TEXT_\n'b'"),
        ("CI=1 LC_ALL='C' a b | c", "CI='1' LC_ALL='C' 'a' 'b' | 'c'"),
        ("RUST_BACKTRACE=1 a", "RUST_BACKTRACE='1' 'a'"),
        ("cat <<< 'x y'", "'cat' <<'LOCUM_TEXT'\nx y\nLOCUM_TEXT\n"),
    ] {
        assert_eq!(
            Script::parse(text).execution(),
            Some(ScriptExecution::Shell(expected.to_owned())),
            "{text}"
        );
    }
}

#[test]
fn what_cannot_be_known_before_it_runs_is_refused() {
    let deep = format!("{}x{}", "(".repeat(200), ")".repeat(200));
    let nested = format!("echo {}x{}", "$(".repeat(100), ")".repeat(100));
    let ifs = "if a; then ".repeat(60);
    let quotes = "\"$(".repeat(80);
    let ticks = "`".repeat(5001);
    let long = "a ".repeat(40_000);
    for text in [
        "",
        "   ",
        "# x",
        "ls &",
        "ls & ls",
        "a=1",
        "a=1 ls",
        "for x in a; do ls; done",
        "while a; do b; done",
        "case x in x) ls;; esac",
        "f() { ls; }",
        "[[ -f x ]]",
        "((1))",
        "coproc ls",
        "time ls",
        "ls <(a)",
        "ls >(a)",
        "ls <&3",
        "ls 3>x",
        "ls <>x",
        "ls >&x",
        "ls >&-",
        "> x",
        "ls ;; a",
        "ls |",
        "ls &&",
        "ls | | a",
        "(",
        ")",
        "'",
        "ls $(a)",
        "ls `a`",
        "ls ${a}",
        "ls $a",
        "ls *",
        "ls [a]",
        "ls a[",
        "ls {a,b}",
        "ls ~",
        "a=(1 2)",
        "cat <<EOF\n$x\nEOF",
        "cat <<-EOF\n\t`x`\n\tEOF",
        "ls \u{202e}",
        "ls \u{a0}x",
        "ls \r",
        "ls\u{2003}x",
        "ls \u{7f}",
        "echo a\\",
        "echo \u{2212}x",
        "if a; then b",
        "select x in a; do b; done",
        "echo $((1+1))",
        "echo $[1+1]",
        &deep,
        &nested,
        &ifs,
        &quotes,
        &ticks,
        &long,
    ] {
        let script = Script::parse(text);
        assert!(script.problem().is_some(), "{text:.60} became {:?}", script.execution());
    }
}

#[test]
fn joining_both_streams_into_a_pipe_is_not_lost() {
    let script = Script::parse("a |& b");
    assert!(matches!(script.execution(), None | Some(ScriptExecution::Shell(_))));
    if let Some(ScriptExecution::Shell(text)) = script.execution() {
        assert_eq!(text, "'a' 2>&1 | 'b'");
    }
}

#[test]
fn only_what_is_known_to_read_only_reads() {
    for (text, expected) in [
        ("git status --short", true),
        ("rg TODO src | head -20", true),
        ("find . -name '*.rs'", true),
        ("find . -delete", false),
        ("cargo test", false),
        ("sort -o x y", false),
        ("sed -i s/a/b/ x", false),
        ("echo x > y", false),
        ("echo x > /dev/null", true),
        ("mytool", false),
        ("git push", false),
        ("ls $x", false),
    ] {
        assert_eq!(Script::parse(text).only_reads(), expected, "{text}");
    }
}

#[test]
fn names_the_paths_it_uses_from_where_it_runs() {
    let script = Script::parse_in("cat a ../b < c > /dev/null", &RepoPath::parse("sub").unwrap());
    assert_eq!(
        script.paths().iter().map(RepoPath::as_str).collect::<Vec<_>>(),
        ["b", "sub/a", "sub/c"]
    );
}

#[test]
fn a_folder_to_run_in_makes_no_absolute_path_a_relative_one() {
    for words in ["/etc/passwd", "'~/x'", "../../x"] {
        let script = Script::parse_in(&format!("cat {words}"), &RepoPath::parse("sub").unwrap());
        assert_eq!(script.paths(), [], "{words}");
    }
}

#[test]
fn names_of_files_that_are_changed_end_where_no_name_can() {
    for (text, shown) in [
        ("find docs | xargs rm", "'find' 'docs' '-print0' | 'xargs' '-0' 'rm'"),
        (
            "find docs -name a -print | head -1 | grep -v b | xargs -n1 rm",
            "'find' 'docs' '-name' 'a' '-print0' | 'head' '-z' '-n1' | 'grep' '-z' '-v' 'b' | \
             'xargs' '-0' '-n1' 'rm'",
        ),
        (
            "find docs | sort -- | grep -ve -l -- | xargs rm",
            "'find' 'docs' '-print0' | 'sort' '-z' '--' | 'grep' '-z' '-ve' '-l' '--' | \
             'xargs' '-0' 'rm'",
        ),
        ("rg -l x docs | xargs rm", "'rg' '--null' '-l' 'x' 'docs' | 'xargs' '-0' 'rm'"),
        ("find docs | xargs cat", "'find' 'docs' | 'xargs' 'cat'"),
        ("find src | xargs gofmt -l", "'find' 'src' '-print0' | 'xargs' '-0' 'gofmt' '-l'"),
        ("find docs | xargs -rn 1 rm", "'find' 'docs' '-print0' | 'xargs' '-0' '-rn' '1' 'rm'"),
        ("find docs | xargs -n=1 rm", "'find' 'docs' | 'xargs' '-n=1' 'rm'"),
        ("find docs | xargs -L1 rm", "'find' 'docs' | 'xargs' '-L1' 'rm'"),
        ("find docs -print0 | xargs -0 rm", "'find' 'docs' '-print0' | 'xargs' '-0' 'rm'"),
        ("cat docs | xargs rm", "'cat' 'docs' | 'xargs' 'rm'"),
    ] {
        let shown = Some(ScriptExecution::Shell(shown.to_owned()));
        assert_eq!(Script::parse(text).execution(), shown, "{text}");
    }
}

#[test]
fn complexity_adds_up_what_is_hard_to_see_through() {
    for (text, expected) in [
        ("ls", 0.0),
        ("ls | rg x", 0.3),
        ("ls 2>&1 | rg x", 0.5),
        ("(ls)", 0.3),
        ("(ls 2>&1 | rg x)", 0.8),
        ("a $x", 0.2),
        ("a $x | b > c", 0.7),
        ("for x in a; do b $x | c > d; done", 1.0),
        ("a &", 0.3),
        ("f() { a; }", 1.0),
    ] {
        assert!((Script::parse(text).complexity() - expected).abs() < 1e-9, "{text}");
    }
}

#[test]
fn nothing_makes_the_grammar_choke() {
    let n = 24;
    for (name, text) in [
        ("words", "a|".repeat(400) + "a"),
        ("o8", "( ".repeat(8)),
        ("b8", "{ ".repeat(8)),
        ("if8", "if ".repeat(8)),
        ("mix8", "( { if ( { if ( {".to_owned()),
        ("parens", format!("{}a{}", "(".repeat(n), ")".repeat(n))),
        ("parens sp", format!("{}a{}", "( ".repeat(n), " )".repeat(n))),
        ("braces", format!("{}a{}", "{ ".repeat(n), "; }".repeat(n))),
        ("mixed", format!("{}a{}", "( { ".repeat(n / 2), "; } )".repeat(n / 2))),
        ("open parens", "( ".repeat(n)),
        ("parens below a text", format!("a <<<x\n{}a{}", "( ".repeat(n), " )".repeat(n))),
        ("ifs", format!("{}a{}", "if ".repeat(n), "; then a; fi".repeat(n))),
        ("ifs nl", format!("{}a{}", "if a\nthen ".repeat(200), "\nfi".repeat(200))),
        ("ifs nl open", "if a\nthen ".repeat(400)),
        ("while nl", format!("{}a{}", "while a\ndo ".repeat(200), "\ndone".repeat(200))),
        ("bangs", "! ".repeat(3000) + "a"),
        ("semis", "a;".repeat(30000)),
        ("pipes", "a|".repeat(30000) + "a"),
        ("ands", "a&&".repeat(20000) + "a"),
        ("heredocs", "a <<E\n".repeat(5000)),
        ("quotes", "\"a\"'b'".repeat(9000)),
        ("dollars", "$".repeat(60000)),
        ("subst", format!("echo {}a{}", "$(".repeat(n), ")".repeat(n))),
        ("dq subst", format!("echo {}a{}", "\"$(".repeat(n), ")\"".repeat(n))),
        ("param", format!("echo {}a{}", "${a:-".repeat(n), "}".repeat(n))),
        ("arith", format!("echo {}1{}", "$((".repeat(12), "))".repeat(12))),
        ("func", "f() ".repeat(2000) + "{ a; }"),
        ("case", "case a in a) ".repeat(23)),
        ("redirs", "a ".to_owned() + &"> b ".repeat(10000)),
        ("assign", "a=b ".repeat(15000)),
        ("extglob", format!("ls {}a{}", "@(".repeat(n), ")".repeat(n))),
        ("extglob2", format!("ls {}a", "@(".repeat(n))),
        ("brackets", "a=(".repeat(n)),
        ("backslashes", "\\".repeat(60000)),
        ("ticks", "`".repeat(60000)),
        ("time", "time ".repeat(10000)),
        ("coproc", "coproc ".repeat(5000)),
    ] {
        let script = Script::parse(&text);
        assert!(
            script.problem().is_some() || matches!(name, "quotes" | "backslashes" | "words"),
            "{name}"
        );
    }
}

#[test]
fn redirections_are_to_files_or_between_the_usual_streams() {
    for (script, expected) in [
        ("a >&1", "'a' 1>&1"),
        ("a >&2", "'a' 1>&2"),
        ("a 2>&1", "'a' 2>&1"),
        ("a 2>x", "'a' 2>'x'"),
        ("a 0<<<x", "'a' <<'LOCUM_TEXT'\nx\nLOCUM_TEXT\n"),
        ("a <<-'E'\n\tx\n\t\ty\tz\n\tE", "'a' <<'LOCUM_TEXT'\nx\ny\tz\nLOCUM_TEXT\n"),
    ] {
        let execution = Script::parse(script).execution();
        assert_eq!(execution, Some(ScriptExecution::Shell(expected.to_owned())), "{script}");
    }
    for (script, said) in [
        ("a >&0", "other than 1 or 2"),
        ("a >&3", "other than 1 or 2"),
        ("a >&x", "other than 1 or 2"),
        ("a 3>x", "redirects descriptor 3"),
        ("a 3<<<x", "a descriptor other than 0"),
        ("a 3<<'E'\nE", "a descriptor other than 0"),
        ("a <(b)", "process substitution"),
        ("a > >(b)", "process substitution"),
    ] {
        let script = Script::parse(script);
        assert!(script.problem().is_some_and(|problem| problem.contains(said)), "{script:?}");
    }
}

#[test]
fn a_glob_stands_for_files_only_where_their_ending_is_known() {
    let unknown = |word: &str| {
        let script = Script::parse(&format!("mytool {word}"));
        script.loose_commands().unwrap()[0].unknown.clone()
    };
    for word in ["lib/*.rs", "*.rs", "a?.rs", "a/b-*_c.t1"] {
        assert_eq!(unknown(word), [(1, UnknownWord::Files(word.to_owned()))], "{word}");
    }
    for word in ["*", "lib/*", "a.*", "a.r?", "*/a.rs", "a/?/b*.rs", ".*.rs", "a/.*.rs", "[ab].rs"]
    {
        assert_eq!(unknown(word), [(1, UnknownWord::Value)], "{word}");
    }
}

#[test]
fn scripts_are_the_same_where_text_and_place_are() {
    let sub = RepoPath::parse("sub").unwrap();
    let script = || Script::parse("ls");
    assert_eq!(script(), Script::parse("ls"));
    assert_eq!(script().below("/a/"), script().below("/a"));
    let unseen = || script().leaving_out([PathGlob::parse("x").unwrap()].into());
    assert_eq!(unseen(), unseen());
    for other in
        [Script::parse("ls a"), Script::parse_in("ls", &sub), script().below("/a"), unseen()]
    {
        assert_ne!(script(), other);
    }
    assert_eq!(Script::parse_in(" ls ", &sub).with_folder(), "cd sub && ls");
    assert_eq!(Script::parse_in(" ls ", &sub).folder(), &sub);
    assert_eq!(Script::parse(" ls ").with_folder(), "ls");
    assert_eq!(Script::parse(" ls ").text(), " ls ");
}

#[test]
fn a_change_of_folder_at_the_front_is_one_plain_word() {
    for (text, expected) in [
        ("cd src && ls", Some(("src", "ls"))),
        (" cd a/b-c_d.e&&ls && x", Some(("a/b-c_d.e", "ls && x"))),
        ("cd src", None),
        ("cd src &&", None),
        ("cd src && ", None),
        ("cd && ls", None),
        ("cd  && ls", None),
        ("cd - && ls", None),
        ("cd -P && ls", None),
        ("cd $x && ls", None),
        ("cd 'a' && ls", None),
        ("cd a b && ls", None),
        ("cd a; ls && x", Some(("a", "ls && x"))),
        ("cd a\nls\nx", Some(("a", "ls\nx"))),
        ("(cd a && ls)", Some(("a", "ls"))),
        ("( cd a; ls; (x))", Some(("a", "ls; (x)"))),
        ("(cd a && ls) && x", None),
        ("(cd a && ls) | x", None),
        ("(cd a && ls) > x", None),
        ("(cd a && ls) && (x)", None),
        ("! (cd a && ls)", None),
        ("{ cd a && ls; }", None),
        ("(cd a) && (ls)", None),
        ("cd a & ls", None),
        ("cd a | ls", None),
        ("cd a > b; ls", None),
        ("cd a;; ls", Some(("a", "; ls"))),
        ("cdsrc && ls", None),
    ] {
        assert_eq!(change_of_folder(text), expected, "{text}");
    }
}

#[test]
fn a_cd_to_where_it_runs_is_nothing_and_any_other_is_judged() {
    let commands = |text: &str, folder: &str, root: &str| {
        let folder = RepoPath::parse(folder).unwrap();
        let strict = Script::parse_in(text, &folder).below(root).examinations().len();
        let loose = Script::parse_in(&format!("{text} $x"), &folder).below(root);
        (strict, loose.loose_examinations().unwrap().len())
    };
    for (text, folder, root, expected) in [
        ("cd /repo && ls", ".", "/repo", 1),
        ("cd /repo/ && ls", ".", "/repo", 1),
        ("cd . && ls", ".", "/repo", 1),
        ("cd . && ls", "sub", "", 1),
        ("cd /repo/sub && ls", "sub", "/repo", 1),
        ("cd /repo && ls", "sub", "/repo", 2),
        ("cd /repo/sub && ls", ".", "/repo", 2),
        ("cd / && ls", ".", "", 2),
        ("cd /sub && ls", "sub", "", 2),
        ("cd .. && ls", ".", "/repo", 2),
        ("cd && ls", ".", "/repo", 2),
        ("cd /repo x && ls", ".", "/repo", 2),
        ("pushd /repo && ls", ".", "/repo", 2),
        ("pushd . && ls", ".", "/repo", 2),
    ] {
        assert_eq!(commands(text, folder, root), (expected, expected), "{text} in {folder}");
    }
}

#[test]
fn scripts_that_name_git_get_its_settings_by_variables_too() {
    let value = |text: &str, wanted: &str| {
        let found = Script::parse(text).below("/repo").environment(false);
        found.into_iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
    };
    for text in
        ["git log", "mytool 'x; git log'", "ls && git status", "echo $(git log)", "/bin/git x"]
    {
        assert_eq!(value(text, "GIT_PAGER").as_deref(), Some("cat"), "{text}");
        assert_eq!(value(text, "GIT_DIR").as_deref(), Some("/repo/.git"), "{text}");
        assert_eq!(value(text, "GIT_WORK_TREE").as_deref(), Some("/repo"), "{text}");
    }
    let settings = Script::parse("git log").environment(false);
    let named = |name: &str| settings.iter().any(|(known, _)| known == name);
    assert!(named("GIT_CONFIG_KEY_0") && named("GIT_ATTR_SOURCE"));
    assert!(!named("GIT_DIR") && !named("GIT_WORK_TREE"));
    for text in ["ls", "cat .gitignore", "mytool digit gitk", "ls $x"] {
        assert_eq!(Script::parse(text).below("/repo").environment(false), [], "{text}");
    }
}

#[test]
fn a_script_may_be_as_long_as_the_limits_and_no_longer() {
    let filled = |length: usize| format!("ls {}", "a".repeat(length - 3));
    let loose = |text: &str| Script::parse(text).loose_commands().is_ok();
    let strict = |text: &str| Script::parse(text).problem().is_none();
    assert_eq!((SCRIPT_LIMIT_BYTES, LOOSE_LIMIT_BYTES), (65_536, 4_096));
    assert!(strict(&filled(SCRIPT_LIMIT_BYTES)) && !strict(&filled(SCRIPT_LIMIT_BYTES + 1)));
    let expanding = |length: usize| format!("{} $x", filled(length - 3));
    assert!(loose(&expanding(LOOSE_LIMIT_BYTES)) && !loose(&expanding(LOOSE_LIMIT_BYTES + 1)));
    let words = |count: usize| "a ".repeat(count);
    assert!(strict(&words(WORDS_LIMIT)) && !strict(&words(WORDS_LIMIT + 1)));
    let commands = |count: usize| "a;".repeat(count);
    assert!(strict(&commands(COMMANDS_LIMIT)) && !strict(&commands(COMMANDS_LIMIT + 1)));
    let groups = |count: usize| "(a);".repeat(count);
    let negations = |count: usize| "! a;".repeat(count);
    for text in [groups, negations] {
        assert!(strict(&text(OPENERS_LIMIT)) && !strict(&text(OPENERS_LIMIT + 1)));
    }
    for (open, most) in [("(a $x); ", 10), ("{ a $x; }; ", 5), ("! a $x; ", 10), ("a $(b); ", 10)] {
        assert!(loose(&open.repeat(most)), "{open}");
        assert!(!loose(&open.repeat(most + 1)), "{open}");
    }
    // Four of one kind and seven of the other are too many together.
    assert!(!loose(&format!("{}{}", "! a $x; ".repeat(4), "(a $x); ".repeat(7))));
    let text = |length: usize| format!("ls {}", "a".repeat(length - 3));
    let heavy = |length: usize| Script::parse(&text(length)).complexity() > 0.0;
    assert!(!heavy(100) && heavy(101));
}
