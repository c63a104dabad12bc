//! Scripts with expansions: which commands are found in them and what a shell is given.

use crate::command::{Script, ScriptExecution};
use crate::glob::PathGlob;
use pretty_assertions::assert_eq;

/// The commands in the order they are found, unknown words as `?`.
fn commands(script: &Script) -> String {
    let found = script.loose_commands().unwrap();
    let words: Vec<String> =
        found.iter().map(|command| command.simple.words.join(" ").replace('\0', "?")).collect();
    words.join(" | ")
}

#[test]
fn what_is_judged_is_what_a_shell_is_given() {
    for (text, shown, found) in [
        ("a $x", "'a' $x", "a ?"),
        ("a $x\nb\n\nc", "'a' $x\n'b'\n'c'", "a ? | b | c"),
        ("a $x; b", "'a' $x\n'b'", "a ? | b"),
        ("a $x", "'a' $x", "a ?"),
        ("a $x && b || c $y", "'a' $x && 'b' || 'c' $y", "a ? | b | c ?"),
        ("a $x | b | c", "'a' $x | 'b' | 'c'", "a ? | b | c"),
        ("! a $x", "! 'a' $x", "a ?"),
        ("a $x &", "'a' $x &", "a ?"),
        ("(a $x; b)", "( 'a' $x\n'b'\n)", "a ? | b"),
        ("(a $x) > y", "( 'a' $x\n) 1>'y'", "a ? | "),
        ("{ a $x; b; } 2>&1", "{ 'a' $x\n'b'\n} 2>&1", "a ? | b | "),
        (
            "for f in a $b c; do d \"$f\"; done",
            "for f in 'a' $b 'c'\ndo 'd' \"$f\"\ndone",
            "for a ? c | d ?",
        ),
        ("for f in a; do d; done > out", "for f in 'a'\ndo 'd'\ndone 1>'out'", "for a | d | "),
        ("for f; do a $f; done", "for f\ndo 'a' $f\ndone", "for | a ?"),
        ("while a $x; do b; done", "while 'a' $x\ndo 'b'\ndone", "while | a ? | b"),
        ("until a; do b $x; done", "until 'a'\ndo 'b' $x\ndone", "until | a | b ?"),
        (
            "if a $x; then b; elif c; then d; else e; fi",
            "if 'a' $x\nthen 'b'\nelif 'c'\nthen 'd'\nelse 'e'\nfi",
            "a ? | b | c | d | e",
        ),
        (
            "case $x in a|b) c;; *) d; e;; esac",
            "case $x in\n('a'|'b') 'c'\n;;\n(*) 'd'\n'e'\n;;\nesac",
            "case ? a b ? | c | d | e",
        ),
        ("case a in (b) ;; esac", "case 'a' in\n('b') \n;;\nesac", "case a b"),
        ("x=1 a", "x='1' 'a'", "x=1 a"),
        ("x=$y a b", "x=$y 'a' 'b'", "? a b"),
        ("x=(1 $y) a", "x=('1' $y) 'a'", "x=(1 $y) a"),
        ("x=1", "x='1'", "x=1"),
        ("rg x $y", "'rg' 'x' $y", "rg x ?"),
        ("a <(b $x)", "'a' <('b' $x\n)", "b ? | a ?"),
        ("a \"$x y\" 'c d' e\\ f", "'a' \"$x y\" 'c d' 'e f'", "a ? c d e f"),
        ("a \"it's \\\"q\\\" \\$x $y\"", "'a' \"it's \\\"q\\\" \\$x $y\"", "a ?"),
        ("$x", "$x", "?"),
        ("a \\$x$y", "'a' '$'x$y", "a ?"),
        ("a ~/b $x", "'a' ~/b $x", "a ? ?"),
        ("a ~u.x/b", "'a' ~u.x/b", "a ?"),
        ("a $(b $c)", "'a' $( 'b' $c\n)", "b ? | a ?"),
        (
            "gofmt -l $(find a -name b)",
            "'gofmt' '-l' $( 'find' 'a' '-name' 'b' '!' '-path' '*[[:space:]]*'\n)",
            "find a -name b ! -path *[[:space:]]* | gofmt -l ?",
        ),
        ("wc -l $(find a)", "'wc' '-l' $( 'find' 'a'\n)", "find a | wc -l ?"),
        ("a `b`", "'a' $( 'b'\n)", "b | a ?"),
        ("a \"$(b; c)\"", "'a' \"$( 'b'\n'c'\n)\"", "b | c | a ?"),
        ("a $((1+2)) $x", "'a' $((1+2)) $x", "a ? ?"),
        ("a *.rs lib/?.md", "'a' *.rs lib/?.md", "a ? ?"),
        ("a {b,c}", "'a' 'b' 'c'", "a b c"),
        ("a {b..d}", "'a' {b..d}", "a ?"),
        ("{a,b} c", "{a,b} 'c'", "? c"),
        ("a b{,.c}/*.d", "'a' b/*.d b.c/*.d", "a ? ?"),
        (
            "for f in x{1..2}; do a $f; done",
            "for f in 'x1' 'x2'\ndo 'a' \"$f\"\ndone",
            "for x1 x2 | a ?",
        ),
        ("a $x > out < in", "'a' $x 1>'out' 0<'in'", "a ?"),
        ("x=b; a > $x", "x='b'\n'a' 1>\"$x\"", "x=b | a"),
        ("x=b; a &>> $x", "x='b'\n'a' 1>>\"$x\" 2>&1", "x=b | a"),
        ("x=b; a < \"$x\"/c", "x='b'\n'a' 0<\"$x\"/c", "x=b | cat ? | a"),
        ("x=b; (a) 2> $x", "x='b'\n( 'a'\n) 2>\"$x\"", "x=b | a | "),
        ("x=b; a \"$x\"/c", "x='b'\n'a' 'b/c'", "x=b | a b/c"),
        ("x=b; a $x\"/c\"", "x='b'\n'a' $x\"/c\"", "x=b | a ?"),
        (
            "cat <<E\n$x \\$y \"' \\n\nE",
            "'cat' <<LOCUM_TEXT\n$x \\$y \"' \\\\n\nLOCUM_TEXT\n",
            "cat",
        ),
        (
            "cat <<E\nLOCUM_TEXT $(a b)\nE",
            "'cat' <<LOCUM_TEXT_\nLOCUM_TEXT $( 'a' 'b'\n)\nLOCUM_TEXT_\n",
            "a b | cat",
        ),
        ("wc <<< \"$x \\\"y\"", "'wc' <<LOCUM_TEXT\n$x \"y\nLOCUM_TEXT\n", "wc"),
        ("a & wait $!", "'a' &\n'wait' $!", "a | wait ?"),
        ("PYTHONPATH=$(pwd)/b a", "PYTHONPATH=\"$PWD/b\" 'a'", "a"),
        (
            "export PYTHONPATH=$PWD/b:$PYTHONPATH; a",
            "'export' PYTHONPATH=\"$PWD/b:$PYTHONPATH\"\n'a'",
            "export PYTHONPATH=b | a",
        ),
        (
            "FILES=$(find b -name c); wc $FILES",
            "FILES=$( 'find' 'b' '-name' 'c'\n)\n'wc' $FILES",
            "find b -name c | ? | wc ?",
        ),
        ("a b=c $x", "'a' 'b=c' $x", "a b=c ?"),
        ("a \"(b)\" $x", "'a' '(b)' $x", "a (b) ?"),
        ("a \"\" $x", "'a' '' $x", "a  ?"),
        ("a ''$x", "'a' ''$x", "a ?"),
        ("a b\\\n$x", "'a' b$x", "a ?"),
        ("x=b; a $x \"$x/c\"", "x='b'\n'a' 'b' 'b/c'", "x=b | a b b/c"),
        ("x=b && a $x", "x='b' && 'a' 'b'", "x=b | a b"),
        ("x=-b; a $x", "x='-b'\n'a' '-b'", "x=-b | a -b"),
        ("x=b; y=$x/c; a $y", "x='b'\ny=\"$x/c\"\n'a' 'b/c'", "x=b | ? | a b/c"),
        ("x=b; $x c", "x='b'\n\"$x\" 'c'", "x=b | ? c"),
        ("x=b; x=c; a $x", "x='b'\nx='c'\n'a' \"$x\"", "x=b | x=c | a ?"),
        ("x='b c'; a $x", "x='b c'\n'a' $x", "x=b c | a ?"),
        // Where it may not be set, it may be anything.
        ("b && x=c; a $x", "'b' && x='c'\n'a' $x", "b | x=c | a ?"),
        ("x=c && b; a $x", "x='c' && 'b'\n'a' 'c'", "x=c | b | a c"),
        ("b && x=c && a $x", "'b' && x='c' && 'a' 'c'", "b | x=c | a c"),
        ("b || x=c && a $x", "'b' || x='c' && 'a' $x", "b | x=c | a ?"),
        ("b || x=c; a $x", "'b' || x='c'\n'a' $x", "b | x=c | a ?"),
        ("b && x=c || a $x", "'b' && x='c' || 'a' $x", "b | x=c | a ?"),
        ("b || x=c || a $x", "'b' || x='c' || 'a' 'c'", "b | x=c | a c"),
        ("x=c || b && a $x", "x='c' || 'b' && 'a' 'c'", "x=c | b | a c"),
        ("b && d || x=c && a $x", "'b' && 'd' || x='c' && 'a' $x", "b | d | x=c | a ?"),
        ("b || { x=c; } && a $x", "'b' || { x='c'\n} && 'a' $x", "b | x=c | a ?"),
        ("b && x=c & a $x", "'b' && x='c' &\n'a' $x", "b | x=c | a ?"),
        ("b | x=c && a $x", "'b' | x='c' && 'a' $x", "b | x=c | a ?"),
        ("! x=c && a $x", "! x='c' && 'a' 'c'", "x=c | a c"),
        ("(b && x=c; a $x)", "( 'b' && x='c'\n'a' $x\n)", "b | x=c | a ?"),
        (
            "case b in b) x=c;; *) a $x;; esac; a $x",
            "case 'b' in\n('b') x='c'\n;;\n(*) 'a' $x\n;;\nesac\n'a' $x",
            "case b b ? | x=c | a ? | a ?",
        ),
        (
            "while b; do a $x; x=c; done",
            "while 'b'\ndo 'a' $x\nx='c'\ndone",
            "while | b | a ? | x=c",
        ),
        (
            "while b; do x=c; done; a $x",
            "while 'b'\ndo x='c'\ndone\n'a' $x",
            "while | b | x=c | a ?",
        ),
        ("if b; then x=c; else a $x; fi", "if 'b'\nthen x='c'\nelse 'a' $x\nfi", "b | x=c | a ?"),
        ("if b || x=c; then a $x; fi", "if 'b' || x='c'\nthen 'a' $x\nfi", "b | x=c | a ?"),
        ("if x=c; then a $x; fi", "if x='c'\nthen 'a' 'c'\nfi", "x=c | a c"),
        ("(x=c); a $x", "( x='c'\n)\n'a' $x", "x=c | a ?"),
        ("x=c | b; a $x", "x='c' | 'b'\n'a' $x", "x=c | b | a ?"),
        ("x=c & a $x", "x='c' &\n'a' $x", "x=c | a ?"),
        ("{ x=c; } < y; a $x", "{ x='c'\n} 0<'y'\n'a' $x", "x=c |  | a ?"),
        ("if b; then x=c; fi; a $x", "if 'b'\nthen x='c'\nfi\n'a' $x", "b | x=c | a ?"),
        ("x=$((1/0)); a $x", "x=$((1/0))\n'a' $x", "? | a ?"),
        (
            "for f in b c; do a; done; d $f",
            "for f in 'b' 'c'\ndo 'a'\ndone\n'd' $f",
            "for b c | a | d ?",
        ),
        // What the shell changes itself is never known.
        ("for _ in b; do a $_; done", "for _ in 'b'\ndo 'a' $_\ndone", "for b | a ?"),
        (
            "while read -r x; do a $x; done",
            "while 'read' '-r' 'x'\ndo 'a' $x\ndone",
            "while | read -r x | a ?",
        ),
        ("IFS= read -r x; a $x", "IFS='' 'read' '-r' 'x'\n'a' $x", "read -r x | a ?"),
        ("CI=1 a $x", "CI='1' 'a' $x", "a ?"),
        (
            "[[ -d a && ! b == c* ]] || d",
            "{ [[ -d 'a' ]] && { ! [[ 'b' == c* ]]; }; } || 'd'",
            "test -d a | test b == ? | d",
        ),
        ("[[ $x =~ ^[a-z]+$ ]]", "[[ $x =~ ^[a-z]+$ ]]", "test ? =~ ^[a-z]+$"),
        (
            "for c in $(seq 3); do a $c; done",
            "for c in $( 'seq' '3'\n)\ndo 'a' \"$c\"\ndone",
            "seq 3 | for ? | a ?",
        ),
        ("a $(b $(c $(d)))", "'a' $( 'b' $( 'c' $( 'd'\n)\n)\n)", "d | c ? | b ? | a ?"),
        (
            "a $(b) $(c) $(d) $(e)",
            "'a' $( 'b'\n) $( 'c'\n) $( 'd'\n) $( 'e'\n)",
            "b | c | d | e | a ? ? ? ?",
        ),
        ("a $x <<'E' | b\ntext\nE", "'a' $x <<'LOCUM_TEXT' | 'b'\ntext\nLOCUM_TEXT\n", "a ? | b"),
    ] {
        let script = Script::parse(text);
        let shown = Some(ScriptExecution::Shell(shown.to_owned()));
        assert_eq!(script.execution(), shown, "{text}");
        assert_eq!(commands(&script), found, "{text}");
    }
}

#[test]
fn what_could_hold_code_is_refused_even_so() {
    for (text, said) in [
        ("f() { a $x; }", "the script defines a function"),
        (
            "[[ -v a[$x] ]]",
            "the script uses `-v` in `[[ ... ]]`, whose words may hold code; use `[ ... ]`",
        ),
        (
            "[[ $x -eq 1 ]]",
            "the script uses `-eq` in `[[ ... ]]`, whose words may hold code; use `[ ... ]`",
        ),
        (
            "[[ $x < 1 ]]",
            "the script uses `<` in `[[ ... ]]`, whose words may hold code; use `[ ... ]`",
        ),
        ("[[ $x =~ a|b ]]", "the script uses `[[ ... =~ ... ]]` with more than a plain pattern"),
        ("[[ $x =~ $y ]]", "the script uses `[[ ... =~ ... ]]` with more than a plain pattern"),
        ("[[ -n $x ]] > y", "the script redirects `[[ ... ]]`"),
        ("((x=1))", "the script uses arithmetic (`((...))`)"),
        ("for ((;;)); do a; done", "the script is not complete shell syntax"),
        ("coproc a $x", "the script uses a coprocess"),
        ("a >(b) $x", "the script uses a process substitution that is written to"),
        ("x+=1 a $y", "the script changes a variable or a part of one (`x+=1`)"),
        ("x+=(1) a $y", "the script sets an array"),
        ("x[1]=2 a $y", "the script changes a variable or a part of one (`x[1]=2`)"),
        ("x=([1]=2) a $y", "the script sets a part of an array"),
        ("a x=(1) $y", "the script sets an array"),
        (
            "PATH=$x a; for PATH in a; do b; done",
            "the script sets the variable `PATH`, which may change what programs do",
        ),
        (
            "for IFS in a; do b $x; done",
            "the script sets the variable `IFS`, which may change what programs do",
        ),
        (
            "for HOME in a; do b; done",
            "the script sets the variable `HOME`, which may change what programs do",
        ),
        (
            "for npm_x in a; do b; done",
            "the script sets the variable `npm_x`, which may change what programs do",
        ),
        (
            "for no_proxy in a; do b; done",
            "the script sets the variable `no_proxy`, which may change what programs do",
        ),
        ("case $x in a) b;& c) d;; esac", "the script goes on from one case to the next"),
        ("case $x in a) b;;& c) d;; esac", "the script goes on from one case to the next"),
        ("a ${x:=1}", "the word `${x:=1}` holds an expansion that could run code"),
        ("a $'x' $y", "the word `$'x'` holds a `$'...'` quote"),
        ("a $(b $(c $(d $(e))))", "the script nests substitutions too deeply"),
        ("a $((x)) $y", "the word `$((x))` holds arithmetic with more than numbers"),
        ("a x(y) $z", "the script is not complete shell syntax"),
        ("a $x (", "the script is not complete shell syntax"),
        ("a <<E", "the script is not complete shell syntax"),
        ("a <&3 $x", "the script uses a redirection other than `<`, `>`, `>>` and `2>&1`"),
        ("a > $x", "the word `$x` holds an expansion (`$`); its value is not known before it runs"),
        (
            "sh <<E\n$x\nE",
            "a here-document in which the shell expands; quote its delimiter (`<<'EOF'`)",
        ),
        ("cat <<E\n$API_KEY\nE", "the word `$API_KEY` shows a variable that may hold credentials"),
        ("a `b \\c`", "the word ``b \\c`` holds nested backticks"),
    ] {
        let script = Script::parse(text);
        assert_eq!(script.loose_commands().unwrap_err(), said, "{text}");
        assert_eq!(script.execution(), None, "{text}");
    }
}

/// A commit that is only known to be one is shown as one.
#[test]
fn a_commit_of_a_loop_can_be_no_other_object() {
    let unseen = [PathGlob::parse("kept/**").unwrap()];
    for (text, part) in [
        (
            "for c in $(git log --format=%h -3); do git show $c; done",
            "'show' '--no-ext-diff' '--no-textconv' \"$c^{commit}\" ':(top",
        ),
        ("for c in $(git log --format=%h -3); do git show \"$c:kept/a\"; done", "\"$c:kept/a\""),
        ("git diff $(git merge-base a b)..HEAD", "'a' 'b'\n)^{commit}..HEAD\""),
        ("c=$(git merge-base a b) && git diff \"$c..HEAD\"", "\"$c^{commit}..HEAD\""),
        ("c=$(git merge-base a b) && git diff \"$c\"..HEAD", "\"$c^{commit}\"..HEAD"),
        ("for c in $(cat a); do git show $c; done", "'--no-textconv' $c ':(top"),
    ] {
        let script = Script::parse(text).leaving_out(unseen.clone().into());
        let Some(ScriptExecution::Shell(shown)) = script.execution() else { panic!("{text}") };
        assert!(shown.contains(part), "{text}: {shown}");
    }
}

#[test]
fn words_are_added_behind_assignments() {
    let unseen = [PathGlob::parse("kept/**").unwrap()];
    for (text, parts) in [
        (
            "a=1 b=$x git show abcd1234",
            [
                "a='1' b=$x 'git' '--no-pager' ",
                " 'abcd1234^{commit}' ':(top,exclude,icase,glob)kept/**'",
            ],
        ),
        (
            "a=$x git show abcd1234",
            ["a=$x 'git' '--no-pager' ", " 'abcd1234^{commit}' ':(top,exclude,icase,glob)kept/**'"],
        ),
        ("a=1 git log -p $x", ["a='1' 'git' '--no-pager' ", "glob)kept/**'"]),
        ("git log $x", ["'git' '--no-pager' ", " 'log' '--no-ext-diff' '--no-textconv' $x"]),
        ("a=1 rg x $y", ["a='1' 'rg' 'x' $y", " '--iglob=!**/kept/**'"]),
    ] {
        let script = Script::parse(text).leaving_out(unseen.clone().into());
        let Some(ScriptExecution::Shell(shown)) = script.execution() else { panic!("{text}") };
        let [start, end] = parts;
        assert!(shown.starts_with(start) && shown.ends_with(end), "{text}: {shown}");
    }
}
