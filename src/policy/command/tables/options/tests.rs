//! Options that a table has, and words that are read by it.

use pretty_assertions::assert_eq;

use super::{OptionArgument, OptionTable};
use crate::command::word::split;

#[test]
fn options_take_what_their_notation_says() {
    let options = OptionTable::new([
        "-l --color=?  -n=",
        "--file=< -o=> -L=: --report=+ --arg== -p=@ -W=~ -k=* -n",
    ]);
    let expected = [
        ("-l", OptionArgument::Nothing),
        ("--color", OptionArgument::Optional),
        ("-n", OptionArgument::Value),
        ("--file", OptionArgument::ReadFile),
        ("-o", OptionArgument::WrittenFile),
        ("-L", OptionArgument::Lines),
        ("--report", OptionArgument::KindAndFile),
        ("--arg", OptionArgument::Two),
        ("-p", OptionArgument::Setting),
        ("-W", OptionArgument::Attached),
        ("-k", OptionArgument::Text),
    ];
    assert_eq!(options.0, expected.into());
}

/// What the first word of a text holds: each option with its value, then where it goes on, and `?`
/// where something is not known.
fn read(text: &str) -> String {
    let table = OptionTable::new([
        "-l -x -n= -# -ex=@ --all --",
        "--file=< -o=> --color=? -i=? --arg== -W=~ --log:=@ -Z:",
    ]);
    let words = split(text).unwrap();
    let read = table.read(&words, 0);
    let shown = read.given.iter().map(|option| {
        let value = option.value.map_or_else(String::new, |value| format!(":{value}"));
        let apart = if option.at == 0 { String::new() } else { format!("@{}", option.at) };
        let equals = if option.after_equals { "=" } else { "" };
        format!("{}{equals}{value}{apart} ", option.name)
    });
    let known = if read.is_known { "" } else { "?" };
    format!("{}{}{known}", shown.collect::<String>(), read.next)
}

#[test]
fn a_word_of_options_is_read_with_its_values() {
    for (text, expected) in [
        ("-l a", "-l 1"),
        ("--all a", "--all 1"),
        ("-lx a", "-l -x 1"),
        ("-n 3 a", "-n:3@1 2"),
        ("-n3 a", "-n:3 1"),
        ("-n -l", "-n:-l@1 2"),
        ("-lxn 3 a", "-l -x -n:3@1 2"),
        ("-lxn3l a", "-l -x -n:3l 1"),
        ("-o=a b", "-o=:a 1"),
        ("-lo=a b", "-l -o=:a 1"),
        ("--file a b", "--file:a@1 2"),
        ("--file=a=b b", "--file:a=b 1"),
        ("--file= b", "--file: 1"),
        ("--color a", "--color 1"),
        ("--color=never a", "--color:never 1"),
        ("-i a", "-i 1"),
        ("-i.bak a", "-i:.bak 1"),
        ("-li a", "-l -i 1"),
        ("-lil a", "-l -i:l 1"),
        ("-17 a", "-#:17 1"),
        ("-ex run a", "-ex:run@1 2"),
        ("--arg a b c", "--arg:a@1 --arg:b@2 3"),
        ("-Wall a", "-W:all 1"),
        ("-Wno-error=x a", "-W:no-error=x 1"),
        ("-W a", "-W 1"),
        ("-- a", "-- 1"),
        ("--log:a=b:c d", "--log::a=b:c 1"),
        ("--log: d", "--log::d@1 2"),
        ("-Z: a", "-Z: 1"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn what_a_table_does_not_have_is_not_known() {
    for (text, expected) in [
        ("--unheard a", "1?"),
        ("-y a", "1?"),
        ("-ly a", "-l 1?"),
        ("-l=3 a", "1?"),
        ("--all=3 a", "1?"),
        ("--arg=a b", "1?"),
        ("-W=x a", "1?"),
        ("-lW a", "-l 1?"),
        ("-3l a", "1?"),
        ("- a", "1?"),
        ("--unheard=-l a", "1?"),
        ("--log a", "1?"),
        ("--log=a:b", "1?"),
        ("-Z:a b", "1?"),
        ("--all:a b", "1?"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn a_value_that_is_missing_is_said() {
    let table = OptionTable::new(["-n= --color=?", "--arg=="]);
    for (text, lacks) in [("-n", true), ("-n 1", false), ("--color", false), ("--arg a", true)] {
        let words = split(text).unwrap();
        let read = table.read(&words, 0);
        assert_eq!(read.given.iter().any(super::GivenOption::lacks_value), lacks, "{text}");
    }
}

#[test]
fn letters_do_not_combine_where_long_options_begin_with_one_dash() {
    let table = OptionTable::new(["- -o=> -m=? -x -race=? -p:=@", ""]);
    for (text, is_known) in [
        ("-o a", true),
        ("-o=a", true),
        ("-m", true),
        ("-m=true", true),
        ("-race", true),
        ("-p:a=b", true),
        ("-oa", false),
        ("-overlay=a", false),
        ("-modfile=a", false),
        ("-xm", false),
        ("-=a", false),
    ] {
        let words = split(text).unwrap();
        assert_eq!(table.read(&words, 0).is_known, is_known, "{text}");
    }
}
