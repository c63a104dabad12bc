//! Thoughts whose opening tag stands in the model's prompt, so that only the closing one comes.

use pretty_assertions::assert_eq;

use super::{check, outline_of};
use locum_base::chat::StopReason;

const DRAFT: &str = "I could write a draft:\n<write_to_file>\n<path>a</path>\n<content>\nbad\n\
                     </content>\n</write_to_file>\nNo, that is wrong.";
const CALL: &str = "<read_file><path>b</path></read_file>";
const CALLED: &str = r#"read_file {"path":"b"}"#;

#[test]
fn what_stands_before_a_closing_tag_that_nothing_opened_calls_nothing() {
    let thought = format!("[{DRAFT}]");
    check(&format!("{DRAFT}\n</think>\n\n{CALL}"), &[&thought, CALLED]);
    check(&format!("{DRAFT}</thinking>So:\n{CALL}"), &["So:", &thought, CALLED]);
    check(
        &format!("```xml\n{CALL}\n```\n</think>\n{CALL}"),
        &[&format!("[```xml\n{CALL}\n```]"), CALLED],
    );
    check(&format!("{DRAFT}\n</think>\n"), &[&thought]);
    check(&format!("</think>\n\n{CALL}"), &[CALLED]);
    check("hm\n</think>\n\nDone.", &["Done.", "[hm]"]);
    let opened = format!("<think>hm</think>\n{CALL}\nno");
    check(&format!("{opened}</think>{CALL}"), &[&format!("[{opened}]"), CALLED]);
    let cut = format!("{DRAFT}\n</think>\n\n{CALL}");
    assert_eq!(outline_of(&[&cut], StopReason::Length), [thought.as_str(), CALLED, "cut"]);
}

#[test]
fn a_draft_that_was_never_finished_ends_with_the_thoughts() {
    for draft in [
        "<write_to_file>\n<path>a</path>\n<content>\nhm",
        "<write_to_file>\n<path>a",
        "I call <write_to_file> now.",
        "<read_file><path>a</path></read_file>\n<tool_result>\nx\n</tool_result>\nhm",
        "<execute_command><command>ls",
    ] {
        let thought = format!("[{draft}]");
        for (call, called) in [
            (CALL, CALLED),
            (
                "<write_to_file>\n<path>b</path>\n<content>\nx\n</content>\n</write_to_file>",
                r#"write_to_file {"path":"b","content":"x\n"}"#,
            ),
            (
                "<execute_command>\n<command>cargo test</command>\n</execute_command>",
                r#"execute_command {"command":"cargo test"}"#,
            ),
        ] {
            check(&format!("{draft}\n</think>\n{call}"), &[&thought, called]);
        }
    }
}

#[test]
fn a_closing_tag_in_a_value_or_in_backticks_ends_nothing() {
    let result = |text: &str| format!("attempt_completion {{\"result\":\"{text}\"}}");
    check(
        "<attempt_completion><result>the </think> is gone</result></attempt_completion>",
        &[&result("the </think> is gone")],
    );
    check(
        "<attempt_completion>the </think> is gone</attempt_completion>",
        &[&result("the </think> is gone")],
    );
    check(
        "<attempt_completion><result><![CDATA[</result></think>]]></result></attempt_completion>",
        &[&result("</result></think>")],
    );
    check(&format!("The tag is `</think>`.\n{CALL}"), &["The tag is `</think>`.", CALLED]);
    check("Mind `<think>` and `</think>`.", &["Mind `<think>` and `</think>`."]);
}
