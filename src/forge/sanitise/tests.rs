//! What leaves, before and after: each case also filtered twice.

use super::{
    BODY_LIMIT_CHARS, TextRefusal, TextRules, branch_name, commit_message, log_safe, markdown,
    patch, title, without_commands,
};
use crate::command;
use locum_base::secret::{Redactor, Secret};
use pretty_assertions::{assert_eq, assert_ne};

fn rules() -> TextRules {
    TextRules {
        hosts: vec!["docs.rs".to_owned(), "github.com".to_owned()],
        prefix: "/locum".to_owned(),
        ..TextRules::default()
    }
}

fn redactor() -> Redactor {
    Redactor::new([Secret::new("correct-horse-battery-staple-42")])
}

fn check(text: &str, expected: &str) {
    let filtered = markdown(text, &rules(), &redactor());
    assert_eq!(filtered, expected, "{text}");
    assert_eq!(markdown(&filtered, &rules(), &redactor()), filtered, "twice: {text}");
}

fn keeps(text: &str) {
    check(text, text);
}

#[test]
fn ordinary_text_survives() {
    keeps("mail me: a.b@example.com is in the docs");
    keeps("a < b && c > d");
    keeps("| a | b |\n|---|---|\n| 1 | `2` |");
    keeps("<details><summary>log</summary>\n\nok `@x`\n\n</details>");
    keeps("```js\nimport x from '@scope/pkg'\n```");
    keeps("1. one\n2. two `@x` and ``a ` b``\n   - [x] done\n\n> quoted\n");
    keeps(
        "see [the docs](https://docs.rs/a?b=1&c=2) and <https://docs.rs/x> and https://docs.rs/@a.",
    );
    keeps("use `cat x | grep y` at `/etc/hosts`\n\n/etc/hosts is a file");
    keeps("- step\n\n  ```sh\n  echo @x\n  ```\n- next");
    keeps("The commit is 3fce3b5bb0236da2df6d99672afb8a719642eca7, see #12.");
}

#[test]
fn a_target_without_its_link_mentions_nobody() {
    check("a](@octocat)", "a](%40octocat)");
    check("\\[a](/@octocat)", "\\[a](/%40octocat)");
    keeps("[write](mailto:a@b.example) or [read](https://docs.rs/@a)");
}

#[test]
fn an_address_takes_no_backtick_along() {
    check("https://docs.rs/`a @octocat`", "https://docs.rs/ `a @octocat`");
    check("https://docs.rs/a)`b @octocat`", "https://docs.rs/a) `b @octocat`");
    check("a](https://docs.rs/)`b @octocat`", "a](https://docs.rs/) `b @octocat`");
    keeps("https://docs.rs/ `a @b` and `https://docs.rs/``a @b`");
    let digits = "1".repeat(30);
    check(&format!("{digits}https://evil.example"), &format!("{digits}https\\://evil.example"));
}

#[test]
fn nobody_is_pinged() {
    for (text, expected) in [
        ("@octocat", "\u{ff20}octocat"),
        ("(@octocat)", "(\u{ff20}octocat)"),
        ("> @octocat", "> \u{ff20}octocat"),
        ("`@a` @octocat `@b`", "`@a` \u{ff20}octocat `@b`"),
        (
            "&commat;octocat &#64;octocat &#x40;octocat",
            "\u{ff20}octocat \u{ff20}octocat \u{ff20}octocat",
        ),
        ("&#&#54;4;octocat", "\u{ff20}octocat"),
        ("\\@octocat", "\u{ff20}octocat"),
        ("~~~\n@a\n~~~\n@octocat", "~~~\n@a\n~~~\n\u{ff20}octocat"),
        ("    @octocat", "    \u{ff20}octocat"),
    ] {
        check(text, expected);
    }
}

#[test]
fn code_that_is_not_code_everywhere_does_not_hide_a_ping() {
    for text in [
        "- ```\n  x\n  ```\n@octocat",
        "- ```\n@octocat\n  ```",
        "  ```\n@octocat\n",
        "- a\n  ```\n@octocat\n  ```\n@octocat",
        "<details>\n```\n@octocat\n```\n</details>",
        "<b>\n`@octocat`\n</b>",
        "| x ` y | ` z ` @octocat ` |\n|---|---|",
        "foo\n2. ```\n@octocat",
        "> ```\n@octocat\n> ```",
        "\\`@octocat`",
        "``@octocat`",
        "<!--\n```\n-->\n@octocat\n```",
        "\t```\n@octocat\n\t```",
    ] {
        let filtered = markdown(text, &rules(), &redactor());
        let outside = [" ", "  ", "   ", "      "]
            .iter()
            .fold(filtered.replace("```\n@octocat\n", ""), |text, indent| {
                text.replace(&format!("\n{indent}@octocat"), "")
            });
        assert!(!outside.contains("@octocat"), "{text:?} -> {filtered:?}");
        assert_eq!(markdown(&filtered, &rules(), &redactor()), filtered, "twice: {text}");
    }
    check("text <!--\n```\n-->\n@x", "text &lt;!--\n```\n-->\n@x\n```");
    check("a ` b\nc ` @x ` d", "a \\` b\nc ` @x ` d");
    check(
        "- a\n  ```\n@octocat\n  ```\n@octocat",
        "- a\n  ```\n  @octocat\n  ```\n\u{ff20}octocat",
    );
    check("- ```\n@x\n```", "- ```\n  @x\n  ```");
    check("<details>\n```\n@x\n```\n</details>", "<details>\n\n```\n@x\n```\n</details>");
    check("```\n@x", "```\n@x\n```");
}

#[test]
fn nothing_is_closed_unless_allowed() {
    check("This CLOSES #12.", "This CLOSES \u{b7} #12.");
    check("fixes &#35;1 and fixes \\#1", "fixes \u{b7} #1 and fixes \u{b7} #1");
    check(
        "fixes [#1](https://github.com/a/b/issues/1)",
        "fixes \u{b7} [\u{b7} #1](https://github.com/a/b/issues/1)",
    );
    check(
        "closes https://github.com/a/b/issues/1",
        "closes \u{b7} https://github.com/a/b/issues/1",
    );
    check("`fixes #1`", "`fixes #1`");
    let open = TextRules { closing: true, ..rules() };
    assert_eq!(markdown("Closes #1", &open, &redactor()), "Closes #1");
}

#[test]
fn nothing_is_hidden() {
    check("ok <!-- a <!-- b --> c --> d", "ok  c --> d");
    check("x <!--! y --!>", "x ");
    check("a\n<!-- b\nc -->\nd", "a\nd");
    check("<!-- never ends", "&lt;!-- never ends");
    check("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>");
    check("\\<script>", "&lt;script>");
    check("<b title='x'>y</b>", "<b>y</b>");
    check("[x]: https://docs.rs/a \"hidden\"", "[x]\\: https://docs.rs/a \"hidden\"");
    check("[^1]: note", "[^1]\\: note");
    check("```text and hidden words\nx\n```", "```text\nx\n```");
    check("$\\color{white}{\\text{hidden}}$", "$\\\\color{white}{\\text{hidden}}$");
    check("a&shy;b&#8203;c", "abc");
    keeps("generic Vec&lt;T> and `Vec<T>` and 1 <2");
}

#[test]
fn a_drawing_shows_all_it_says() {
    keeps("```mermaid\ngraph TD\n  A --> B\n```");
    for line in ["%% hidden words", "click A \"/x\"", "A[<img src=x>]", "A@{ img: \"/x\" }", "---"]
    {
        check(
            &format!("```mermaid\ngraph TD\n  {line}\n```"),
            &format!("```text\ngraph TD\n  {line}\n```"),
        );
    }
    check("```geojson\n{\"a\": 1}\n```", "```json\n{\"a\": 1}\n```");
    check("- ```STL\n  solid x\n  ```", "- ```text\n  solid x\n  ```");
}

#[test]
fn only_our_own_marker_stays() {
    let marker = "<!-- locum:v1 kind=progress run=1 -->".to_owned();
    let ours = TextRules { markers: vec![marker.clone()], ..rules() };
    let text = format!("{marker}\nhello\n<!-- locum:v1 kind=progress run=2 -->\n{marker}\nend");
    assert_eq!(markdown(&text, &ours, &redactor()), format!("{marker}\nhello\nend"));
    assert_eq!(markdown(&text, &rules(), &redactor()), "hello\nend");
}

#[test]
fn links_lead_to_listed_hosts_only() {
    check("see https://evil.example/?d=1 now", "see (link removed) now");
    check("![x](https://evil.example/?d=abc)", "! [x] (link removed)");
    check("![x]( <https://evil.example/a b> )", "! [x] (link removed)");
    check("![x][r]\n\n[r]: https://evil.example/?d=abc", "! [x][r]\n\n[r]\\: (link removed)");
    check("[x](javascript:alert(1))", "[x] (link removed)");
    check(
        "[x](//evil.example) <https://evil.example> www.evil.example",
        "[x] (link removed) (link removed) (link removed)",
    );
    check("[x](https://docs.rs \"title\")", "[x](https://docs.rs)");
    check("[x](\nhttps://evil.example)", "[x]\\(\n(link removed))");
    check("&#104;ttps://evil.example", "(link removed)");
    keeps("`https://evil.example`");
    let any = TextRules { hosts: Vec::new(), ..rules() };
    assert_eq!(
        markdown("https://evil.example ![a](b.png)", &any, &redactor()),
        "https://evil.example ! [a](b.png)"
    );
}

#[test]
fn own_output_never_triggers() {
    check("/locum fix this", "\\/locum fix this");
    check("  /locum: x", "  \\/locum: x");
    check("\u{a0}/locum x", "\u{a0}\\/locum x");
    check("> \u{3000}/merge", "> \u{3000}\\/merge");
    check("> - /merge", "> - \\/merge");
    check("@locum fix", "\u{ff20}locum fix");
    keeps("say `/locum fix` to start");
    assert_eq!(
        crate::command::parse(&markdown("/locum fix", &rules(), &redactor()), "/locum"),
        None
    );
}

#[test]
fn secrets_go_also_from_code_and_from_joined_parts() {
    check("```\ncorrect-horse-battery-staple-42\n```", "```\n***\n```");
    check("correct-horse-<!-- x -->battery-staple-42", "***");
    check(
        "[a](https://docs.rs/?d=correct%2Dhorse-battery-staple-42)",
        "[a](https://docs.rs/?d=***)",
    );
}

#[test]
fn long_text_is_cut_and_left_whole() {
    let (rules, redactor) = (rules(), redactor());
    for piece in [
        "\u{1f600}",
        "line of text @x\n",
        "<a",
        "`",
        "[",
        "](",
        "&#64;",
        "fixes #1 ",
        "<!--",
        "> ",
        "| a `b` | c\n|---|---|\n",
    ] {
        let text = piece.repeat(300_000 / piece.len());
        let filtered = markdown(&text, &rules, &redactor);
        assert!(
            filtered.chars().map(char::len_utf16).sum::<usize>() <= BODY_LIMIT_CHARS,
            "{piece}"
        );
        assert_eq!(markdown(&filtered, &rules, &redactor), filtered, "twice: {piece}");
    }
    let code = format!("<details>\n\n```diff\n{}\n```\n\n</details>\n", "+ @x\n".repeat(30_000));
    let filtered = markdown(&code, &rules, &redactor);
    assert!(
        filtered.contains("\n```\n\n</details>\n\n*Cut here"),
        "{}",
        &filtered[filtered.len() - 200..]
    );
}

#[test]
fn filtering_twice_changes_nothing() {
    let (rules, redactor) = (rules(), redactor());
    // A small generator of nasty texts; the seed is fixed, so a failure repeats.
    const PIECES: &[&str] = &[
        "@octocat",
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "2) ",
        "    ",
        "<b>",
        "</b>",
        "<details>",
        "<!--",
        "-->",
        "--!>",
        "<!-",
        "&#64;",
        "&commat;",
        "&#&#54;4;",
        "\\",
        "|",
        "|---|",
        "[a](",
        "](b)",
        "[r]:",
        "![x]",
        "https://evil.example/a",
        "https://docs.rs/@x",
        "fixes",
        " #1",
        "a/b#2",
        "/locum x",
        "x",
        " ",
        "$\\color{a}",
        "<https://docs.rs>",
        "\u{200b}",
        "\t",
        "_",
        "*",
        "(",
        ")",
        "\"",
        "correct-horse-",
        "battery-staple-42",
        "<script",
        "&lt;",
        "&amp;",
        "GH-1",
        "!",
        ":",
        "<img src=x>",
    ];
    let mut seed: u64 = 7;
    for round in 0..3000 {
        let mut text = String::new();
        for _ in 0..(round % 30) + 1 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(PIECES[(seed >> 33) as usize % PIECES.len()]);
        }
        let filtered = markdown(&text, &rules, &redactor);
        assert_eq!(markdown(&filtered, &rules, &redactor), filtered, "round {round}: {text:?}");
        for absent in ["<!--", "<script", "<img", "battery-staple-42", "\u{200b}", "]:"] {
            let plain = !filtered.contains('`') && !filtered.contains("~~~");
            assert!(
                !plain || !filtered.contains(absent),
                "round {round}: {text:?} -> {filtered:?}"
            );
        }
    }
}

#[test]
fn commits_and_titles_ping_close_and_skip_nothing() {
    let commit = |text: &str| commit_message(text, &rules(), &redactor());
    assert_eq!(
        commit("feat: x\n\nFixes #1\n@octocat"),
        "feat: x\n\nFixes \u{b7} #1\n\u{ff20}octocat"
    );
    for word in [
        "skip ci",
        "ci skip",
        "no ci",
        "skip actions",
        "actions skip",
        "Skip CI",
        "skip-ci",
        "skip\u{a0}ci",
        "no\tci",
    ] {
        assert_eq!(commit(&format!("x [{word}]")), format!("x ({word})"));
    }
    assert_eq!(commit("x\n\nskip-checks: true"), "x\n\n(skip-checks): true");
    assert_eq!(commit("see [docs] and a[skip]"), "see [docs] and a[skip]");
    assert_eq!(title("fix: x\n\nInjected-By: y", &rules(), &redactor()), "fix: x");
    assert_eq!(title(&"a".repeat(300), &rules(), &redactor()).chars().count(), 256);
    assert_eq!(
        title("Fixes #1 for @octocat [skip ci]", &rules(), &redactor()),
        "Fixes \u{b7} #1 for \u{ff20}octocat (skip ci)"
    );
}

#[test]
fn branches_are_ours_or_refused() {
    let name = |name: &str| branch_name(name, "locum/", "main", &redactor());
    assert_eq!(name("locum/issue-7-fix"), Ok("locum/issue-7-fix".to_owned()));
    for bad in [
        "",
        "main",
        "refs/heads/main",
        "HEAD",
        "--force",
        "locum/",
        "locum//a",
        "locum/..",
        "locum/a..b",
        "locum/a b",
        "locum/a.lock",
        "locum/.a",
        "locum/a\nb",
        "locum/a:b",
        "locum/@{u}",
        "other/a",
        "locum/a\u{202e}b",
        "locum/correct-horse-battery-staple-42",
        "locum/$(x)",
    ] {
        assert!(matches!(name(bad), Err(TextRefusal::Branch { .. })), "{bad}");
    }
    assert!(name(&format!("locum/{}", "a".repeat(300))).is_err());
}

#[test]
fn a_patch_with_a_secret_is_refused() {
    assert_eq!(
        patch("+token=correct-horse-battery-staple-42", &redactor()),
        Err(TextRefusal::SecretInPatch)
    );
    assert_eq!(patch("+token=env.TOKEN", &redactor()), Ok(()));
}

#[test]
fn no_line_of_a_log_commands_the_runner() {
    let log = |text: &str| log_safe(text, &redactor());
    assert_eq!(log("out\n::error::x\n"), "out\n: :error::x\n");
    assert_eq!(log(" \t::add-path::."), " \t: :add-path::.");
    assert_eq!(log("text ##[add-mask]x"), "text ## [add-mask]x");
    assert_eq!(log("\u{1b}[0m::error::x"), ": :error::x");
    assert_eq!(log("a\r::echo::on"), "a\n: :echo::on");
    assert_eq!(log("\u{feff}::error::x \u{3000}"), ": :error::x \u{3000}");
    assert_eq!(log("a::b std::fmt ok"), "a::b std::fmt ok");
}

#[test]
fn a_command_is_taken_apart_wherever_the_runner_begins_a_line_and_the_rest_stays() {
    for (text, expected) in [
        ("a\r::stop-commands::z", "a\r: :stop-commands::z"),
        ("a\r\n::x::y\r\n", "a\r\n: :x::y\r\n"),
        ("\u{feff} ::x::y", "\u{feff} : :x::y"),
        ("a\n\u{85}\u{a0}::x::y", "a\n\u{85}\u{a0}: :x::y"),
        ("\u{1b}[1merror\u{1b}[0m ##[x]", "\u{1b}[1merror\u{1b}[0m ## [x]"),
        ("a\r\rb ::x::y\t\u{0}", "a\r\rb ::x::y\t\u{0}"),
    ] {
        assert_eq!(without_commands(text), expected, "{text:?}");
        assert_eq!(without_commands(expected), expected, "twice: {text:?}");
    }
}

/// Each hostile text leaves changed; where the rules allow it, it leaves as it is.
#[test]
fn an_attack_by_text_does_not_leave() {
    let (strict, secret) = (rules(), "correct-horse-battery-staple-42");
    let known = TextRules { mentions: vec!["octocat".to_owned()], ..rules() };
    let closing = TextRules { closing: true, ..rules() };
    for (text, sign, lax) in
        [("thanks @octocat", "@octocat", &known), ("fixes #7", "fixes #7", &closing)]
    {
        assert!(!markdown(text, &strict, &redactor()).contains(sign), "{text}");
        assert_eq!(markdown(text, lax, &redactor()), text);
    }
    assert!(!markdown(secret, &strict, &redactor()).contains("correct-horse"));
    assert_eq!(markdown(secret, &strict, &Redactor::default()), secret);
    assert_eq!(markdown("a\u{200b}b", &strict, &redactor()), "ab");
    for (text, harmless) in [
        ("::set-output name=x::y", "set-output name=x::y"),
        (" \t::add-mask::x", " \tadd-mask::x"),
        ("a ##[set-env name=x;]y", "a ## [set-env name=x;]y"),
    ] {
        assert_ne!(log_safe(text, &redactor()), text);
        assert_eq!(log_safe(harmless, &redactor()), harmless);
    }
}

#[test]
fn a_command_whose_word_is_letters_is_none_either() {
    let rules = TextRules { prefix: "agent".to_owned(), ..rules() };
    assert_eq!(
        markdown("Agent undo, agent\n\n- agent undo\n\nan agent", &rules, &redactor()),
        "\\Agent undo, agent\n\n- \\agent undo\n\nan agent"
    );
}

#[test]
fn a_word_that_only_begins_like_a_command_stays() {
    let rules = TextRules { prefix: "bot".to_owned(), ..rules() };
    for text in ["bottle it", "- Bottles\n- bots", "bot's turn", "bot, go", "robot fix", "bot.rs"] {
        assert_eq!(markdown(text, &rules, &redactor()), text);
    }
    for text in ["bot", "> bot fix", "bot\tfix", "bot\u{a0}fix", "BOT\nfix", "bot&#32;fix"] {
        let published = markdown(text, &rules, &redactor());
        assert_ne!(published, text);
        assert_eq!(markdown(&published, &rules, &redactor()), published, "twice: {text}");
        assert_eq!(command::parse(&published, "bot"), None, "{text}: {published}");
    }
}

#[test]
fn a_command_that_begins_like_a_mention_is_none_whoever_may_be_mentioned() {
    for prefix in ["@locum", "@_locum", "@/locum"] {
        let mentions = vec!["locum".to_owned(), "alice".to_owned()];
        let rules = TextRules { prefix: prefix.to_owned(), mentions, ..rules() };
        for text in [format!("{prefix} undo"), format!("\\{prefix} undo"), format!("- {prefix}")] {
            let published = markdown(&text, &rules, &redactor());
            assert_eq!(command::parse(&published, prefix), None, "{published}");
            assert_eq!(markdown(&published, &rules, &redactor()), published, "twice: {text}");
        }
        assert_eq!(markdown("@alice, see", &rules, &redactor()), "@alice, see");
    }
}
