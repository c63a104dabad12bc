//! `ServerProgress`: what a server says of how far it is with a request.
//!
//! In: its notices. Out: lines for who watches the run, and one for the journal. They give the
//! server no more time.

use serde_json::Value;

use crate::tools::mcp::schema::one_line;
use locum_sandbox::exec::tail::OutputTail;

/// Longest text of a notice that is shown, in bytes.
const TEXT_LIMIT_BYTES: usize = 200;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerProgress {
    notices: usize,
    last: String,
}

impl ServerProgress {
    /// Takes in a notice, if it is about the request with this token.
    pub(super) fn take_in(&mut self, token: &Value, notice: &Value, tail: Option<&OutputTail>) {
        let number = |name: &str| notice.get(name).and_then(Value::as_f64);
        let Some(progress) =
            number("progress").filter(|_| notice.get("progressToken") == Some(token))
        else {
            return;
        };
        let total = number("total").map(|total| format!(" of {total}")).unwrap_or_default();
        let text = notice.get("message").and_then(Value::as_str).unwrap_or_default();
        let text = match one_line(text, TEXT_LIMIT_BYTES) {
            text if text.is_empty() => text,
            text => format!(": {text}"),
        };
        self.notices += 1;
        self.last = format!("{progress}{total}{text}");
        tail.iter().for_each(|tail| tail.push(format!("{}\n", self.last).as_bytes()));
    }

    /// Takes what a journal says of it; `None` where the server said nothing.
    pub(super) fn take_summary(&mut self) -> Option<String> {
        let Self { notices, last } = std::mem::take(self);
        (notices > 0).then(|| format!("reported progress, {notices} times; at last {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::ServerProgress;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn only_notices_of_the_request_count() {
        let mut progress = ServerProgress::default();
        for notice in [
            json!({ "progressToken": 8, "progress": 1 }),
            json!({ "progressToken": "7", "progress": 1 }),
            json!({ "progressToken": 7, "progress": "much" }),
            json!({ "progress": 1 }),
            json!(null),
        ] {
            progress.take_in(&json!(7), &notice, None);
        }
        assert_eq!(progress.take_summary(), None);
        let text = "half\n\u{202e}way ".to_owned() + &"x".repeat(500);
        let notice = json!({ "progressToken": 7, "progress": 0.5, "total": 1, "message": text });
        progress.take_in(&json!(7), &json!({ "progressToken": 7, "progress": 0 }), None);
        progress.take_in(&json!(7), &notice, None);
        let summary = progress.take_summary().unwrap();
        assert!(summary.starts_with("reported progress, 2 times; at last 0.5 of 1: half way xxx"));
        assert!(summary.len() < 300, "{summary}");
        assert_eq!(progress.take_summary(), None, "each call has its own");
    }
}
