//! Comments with and without a command.

use super::flag::Flag;
use super::verb::Verb;
use super::{CommentCommand, parse, quoted_above};
use pretty_assertions::assert_eq;

fn check(body: &str, verb: &str, flags: &[(&str, &str)], text: &str) {
    let flags = flags
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (!value.is_empty()).then(|| (*value).to_owned())))
        .collect();
    let verb = (!verb.is_empty()).then(|| verb.to_owned());
    let found = parse(body, "/locum").map(|found| CommentCommand { written: None, ..found });
    let expected = CommentCommand { verb, flags, text: text.to_owned(), written: None };
    assert_eq!(found, Some(expected), "{body}");
}

/// Checks a command whose verb is not written in small letters, or with a sign behind it.
fn check_written(body: &str, verb: &str, whole_text: &str) {
    let command = parse(body, "/locum").unwrap();
    assert_eq!(command.verb.as_deref(), Some(verb), "{body}");
    assert_eq!(command.whole_text(), whole_text, "{body}");
}

fn nothing(body: &str) {
    assert_eq!(parse(body, "/locum"), None, "{body}");
}

#[test]
fn every_verb_and_flag_is_read_by_its_own_word() {
    for verb in Verb::ALL {
        assert_eq!(Verb::parse(verb.as_str()), Some(*verb));
        assert!(!verb.help().is_empty());
    }
    for flag in Flag::ALL {
        assert_eq!(Flag::parse(flag.as_str()), Some(*flag));
    }
    assert_eq!((Verb::parse("cancel"), Verb::parse("code")), (Some(Verb::Stop), None));
    assert_eq!(Flag::parse("--mode"), None);
}

#[test]
fn reads_verb_flags_and_text() {
    check("/locum", "", &[], "");
    check("/locum fix the test", "fix", &[], "the test");
    check("/locum help", "help", &[], "");
    check("/locum _fix the test", "", &[], "_fix the test");
    check(
        "/locum code --dry-run --budget=2 do it",
        "code",
        &[("dry-run", ""), ("budget", "2")],
        "do it",
    );
    check(
        "/locum --mode code --paths src/** fix it --now",
        "fix",
        &[("mode", "code"), ("paths", "src/**")],
        "it --now",
    );
    check(
        "/locum --policy ./mine.yml --model evil fix",
        "",
        &[("policy", "")],
        "./mine.yml --model evil fix",
    );
    check("/locum --mode --dry-run", "", &[("mode", ""), ("dry-run", "")], "");
    check("/locum\tfix\tit", "fix", &[], "it");
    check("/LOCUM fix", "fix", &[], "");
}

#[test]
fn a_verb_is_known_however_people_type_it() {
    check_written("/locum Fix the test", "fix", "Fix the test");
    check_written("/locum Stop", "stop", "Stop");
    check_written("/locum STOP!!", "stop", "STOP!!");
    check_written("/locum stop.", "stop", "stop.");
    check_written("/locum Code: do it", "code", "Code: do it");
    check_written("/locum ?", "help", "?");
    check_written("/locum -h", "help", "-h");
    check_written("/locum Refactor:\n- a", "refactor", "Refactor:\n- a");
    check_written("/locum refactor\n- a\n- b", "refactor", "refactor\n- a\n- b");
    check_written("/locum fix --dry-run\nit", "fix", "fix it");
    check("/locum !", "", &[], "!");
    check("/locum \u{e4}ndern", "", &[], "\u{e4}ndern");
    check("/locum #12", "", &[], "#12");
    check("/locum #12.", "", &[], "#12.");
}

#[test]
fn text_goes_on_to_the_end() {
    check(
        "Hello,\n\n/locum fix this:\n\n```\nlog\n```\n/locum code\n",
        "fix",
        &[],
        "this:\n\n```\nlog\n```\n/locum code",
    );
    check("/locum\nfix it\r\nsoon", "", &[], "fix it\nsoon");
}

#[test]
fn whole_text_gives_back_a_first_word_that_is_no_verb() {
    assert_eq!(parse("/locum please look", "/locum").unwrap().whole_text(), "please look");
    assert_eq!(parse("/locum", "/locum").unwrap().whole_text(), "");
}

#[test]
fn finds_a_command_only_at_the_start_of_a_line() {
    check("\n\n  /locum fix", "fix", &[], "");
    for body in [
        "",
        "please /locum fix",
        "/locumfix",
        "/locum-evil x",
        "\u{200b}/locum fix",
        "~~/locum fix~~",
        "https://x.example/locum fix",
        "[x]: /locum fix",
        "- /locum fix",
        "\t/locum fix",
        "    /locum fix",
        "\\/locum fix",
        "/locum: fix",
        "**/locum fix**",
    ] {
        nothing(body);
    }
}

#[test]
fn finds_no_command_in_code_quotes_and_hidden_text() {
    for body in [
        "```\n/locum fix\n```",
        "~~~ text\n/locum fix\n~~~",
        "````\n```\n/locum fix\n````",
        "- ```\n  /locum fix\n  ```",
        "> /locum fix",
        "> > /locum fix",
        "<!--\n/locum fix\n-->",
        "text <!-- a\n/locum fix\n--> b",
        "`\n/locum fix\n`",
        "`` a\n/locum fix ``",
        "```\n/locum never closed",
        "<pre>\n/locum fix\n</pre>",
        "<PRE lang=sh>\n\n/locum fix\n</pre>",
        "text <code>\n/locum fix\n</code>",
        "<blockquote>\n\n/locum fix\n\n</blockquote>",
        "<del>\n/locum fix\n</del>",
        "<script>\n/locum fix\n</script>",
        "<?php\n/locum fix\n?>",
        "<![CDATA[\n/locum fix\n]]>",
        "<pre>\n/locum never closed",
        // A fence that looks closed, and one that was never open.
        "```\n> ```\n/locum fix\n```",
        "```\nx\n    ```\n/locum fix\n```",
        "````\n> ````\n/locum fix\n````",
        "```\n```\u{a0}\n/locum fix\n```",
        "    ```\n\n```\n/locum fix\n```",
        "para\n    ```\n```\n/locum fix\n```",
        "\t~~~\n\n~~~\n/locum fix\n~~~",
        "-~~~\n\n~~~\n/locum fix\n~~~",
        "> ```\n> x\n\n```\n/locum fix\n```",
        "- ```\n\n```\n/locum fix\n```",
        "1. ~~~\n   /locum fix\n   ~~~",
        ">>~~~\n\n~~~\n/locum fix\n~~~",
        // A quote goes on where a line of it has no mark.
        "> text\n/locum fix",
        // Titles, words for images, attributes, declarations and formulas.
        "[x]: y '\n/locum fix\n'",
        "[x]:\n/locum 'fix it'",
        "[x]:\n/locum",
        "![alt\n/locum fix\n](https://x.example)",
        "[text\n/locum fix\n](https://x.example)",
        "<a title=\"\n/locum fix\n\">x</a>",
        "a <img alt='\n/locum fix\n'>",
        "<!X\n/locum fix\n>",
        "`<pre>\n\n/locum fix",
        "~~a\n/locum fix~~",
        "$$\n/locum fix\n$$",
        "<blockquote><blockquote>a</blockquote>\n\n/locum fix",
        "a <span title='</code>'><code>\n/locum fix",
        "> <!-- a\n\n/locum fix",
        "> <div>\n> <a href=\"\n\n/locum fix",
        // Where browsers and Markdown read HTML in different ways.
        "<div \"><code \">\n\n/locum fix",
        "<div a=b\"><code c=d\">\n\n/locum fix",
        "<!X \"><code \">\n\n/locum fix",
        "<div><code></code:x>\n\n/locum fix",
        "<code>\n\n![</code>](x)\n\n/locum fix",
        "<!--><code>-->\n\n/locum fix",
        "<!-- --!><code>-->\n\n/locum fix",
        "<blockquote><table></blockquote>\n\n/locum fix",
        "> <table>\n\n</table>\n/locum fix",
        "<kbd>\n\n</kbd>- \n/locum fix",
        "<kbd><div>\n</kbd>\n/locum fix",
        "<kbd><p></kbd>\n\n/locum fix",
        "<pre><code></pre>\n\n/locum fix",
        "> <object>\n\n/locum fix",
        // In HTML, a line goes on behind its end.
        "<p>To start a run, write\n/locum fix\n</p>",
        "<div>Write <b>only</b>\n/locum fix\n</div>",
        "- <div>\n  a\n  /locum fix",
        "<div>a <!-- b\n-->\n/locum fix</div>",
        "<del></div><p></del></div>\n/locum fix",
        "<a href=x>\n\n/locum fix",
        "<a href=x>\n/locum fix\n</a>",
        "<rp>\n\n/locum fix\n\n</rp>",
        "> [!NOTE]\n/locum fix",
        "<div>\n<code>\n/locum fix\n</code></div>",
        "<div a=\"\n/locum fix\n\">",
        "<div> <!--\n/locum fix\n--></div>",
    ] {
        nothing(body);
    }
    check("> ```\n> x\n\n/locum fix", "fix", &[], "");
    check("- ```\n  x\n\n/locum fix", "fix", &[], "");
    check("Please:\n- do a\n- do b\n/locum fix", "fix", &[], "");
    check("/locum fix\n--\nBob", "fix", &[], "--\nBob");
    check("a\n/locum fix", "fix", &[], "");
    check("a  \n  /locum fix", "fix", &[], "");
    check("[x]: y\n/locum fix", "fix", &[], "");
    check("[x]: y\n[z]:\n w\na `b\nc` d\n/locum fix\nmore", "fix", &[], "more");
    check("a\n/locum fix\n=====", "fix", &[], "=====");
    check("[x]: y\n/locum fix\n---\n", "fix", &[], "---");
    check("It is the ` key\n/locum fix", "fix", &[], "");
    check("- [ ] a\n\n/locum fix", "fix", &[], "");
    // A picture or a log that was pasted, and what stands directly below.
    check("<img width=\"4\" src=\"https://x.example/a>b\" />\n/locum fix", "fix", &[], "");
    check("</details>\n/locum fix", "fix", &[], "");
    check("<details><summary>x</summary>\n/locum fix\n</details>", "fix", &[], "</details>");
    check("<br>\n/locum fix", "fix", &[], "");
    // What was pasted without an end tag of its own.
    check("<pre>error: <unknown> x, Vec<u8></pre>\n\n/locum fix", "fix", &[], "");
    check("<table><tr><td>a<td>b</table>\n\n/locum fix", "fix", &[], "");
    check("<blockquote><p>t</blockquote>\n\n/locum fix", "fix", &[], "");
    check("<kbd>a<b>c</kbd></b>\n\n/locum fix", "fix", &[], "");
    check("<table><tr><td><img src=x><p>a</p></td></tr></table>\n/locum fix", "fix", &[], "");
    check("<p align=\"center\">x</p>\n/locum fix", "fix", &[], "");
    check("<pre>\n\na</pre>\n/locum fix", "fix", &[], "");
    check("<!--\n\n--> b\n/locum fix", "fix", &[], "");
    check("- <div>\n  a\n  <br>\n  /locum fix", "fix", &[], "");
    check("<code>\na\n\nb\n</code>\n\n/locum fix", "fix", &[], "");
    check("<svg><path d=\"a\"/></svg>\n\n/locum fix", "fix", &[], "");
    check("> <div>\n> a\n/locum fix", "fix", &[], "");
    check("<div>\na < b\n</div>\n\n/locum fix", "fix", &[], "");
    check("| a |\n|---|\n| b |\n\n/locum fix", "fix", &[], "");
    check("<pre>\n/locum ask\n</PRE>\n/locum fix", "fix", &[], "");
    check("a <code>b</code> c\n/locum fix", "fix", &[], "");
    check("<details>\n\n/locum fix", "fix", &[], "");
    check("a < pre and Vec<prefix>\n/locum fix", "fix", &[], "");
    check("```\n/locum ask\n```\n/locum fix", "fix", &[], "");
    check("<!-- a -->\n/locum fix", "fix", &[], "");
    check("a ` stray\n\n/locum fix", "fix", &[], "");
    check("a `b` c\n/locum fix", "fix", &[], "");
    check("> quoted\n\n/locum fix", "fix", &[], "");
}

#[test]
fn long_comments_take_linear_time() {
    for piece in
        ["`", "<!--", "/locum ", "``` ", "> ", "--a ", "a `", "<q>", "</s>", "<q></s>", "<div>\n"]
    {
        let body = format!("{}\n\n/locum fix", piece.repeat(300_000 / piece.len()));
        let _ = parse(&body, "/locum");
    }
    let _ = parse(&format!("/locum {}", "--a ".repeat(75_000)), "/locum");
}

#[test]
fn what_is_quoted_above_a_command_is_found_unless_the_command_needs_none_of_it() {
    let quoted = |body: &str| quoted_above(body, "/locum");
    assert_eq!(
        quoted("> Which colour?\r\n>\r\n> * red\r\n\r\n/locum blue").as_deref(),
        Some("Which colour?\n\n* red")
    );
    assert_eq!(quoted("> a\n\n/locum the blue one\n\n> b").as_deref(), Some("a"));
    for body in [
        "/locum blue",
        "> Which colour?\n\nblue",
        "/locum blue\n> Which colour?",
        "> Which colour?\n\n/locum answer blue",
        "> Which colour?\n\n/locum stop",
        "> Which colour?\n>\n> /locum answer 0123456789abcdef\n\n/locum blue",
        "```\n> Which colour?\n```\n\n/locum blue",
        "<!--\n> Which colour?\n-->\n\n/locum blue",
        "a `b\n> c` d\n\n/locum answer",
    ] {
        assert_eq!(quoted(body), None, "{body}");
    }
}
