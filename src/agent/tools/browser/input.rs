//! Input of mouse and keyboard: where an element is, clicks, typing, choosing from a list; and a
//! screenshot.
//!
//! In: a place, or a text. Out: the browser's own input events, dispatched to the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::tools::browser::devtools::BrowserError;
use crate::tools::browser::requests::RequestGuard;
use crate::tools::browser::running::Browser;

/// Chooses what a list offers, or makes an element ready to type in; says which it was.
const CHOOSE_OR_FOCUS: &str = "function(text) {
  if (this.tagName !== 'SELECT') { this.focus(); return 'focused'; }
  const plain = t => t.trim().toLowerCase();
  const all = [...this.options];
  const found = all.find(o => plain(o.label) === plain(text)) || all.find(o => o.value === text);
  if (!found) return 'none';
  found.selected = true;
  this.dispatchEvent(new Event('input', { bubbles: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return 'chosen';
}";

/// A place on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PagePlace {
    /// An element, by its number.
    Element(u64),
    /// A point of the window, in pixels.
    Point(u32, u32),
}

/// Returns the middle of an element, scrolled into view, or a point as it is.
pub(super) async fn point(
    browser: &mut Browser,
    place: PagePlace,
    guard: &mut RequestGuard<'_>,
) -> Result<(f64, f64), BrowserError> {
    let number = match place {
        PagePlace::Point(x, y) => return Ok((f64::from(x), f64::from(y))),
        PagePlace::Element(number) => number,
    };
    let node = json!({ "backendNodeId": number });
    let gone = |error| match error {
        BrowserError::Failed(why) => BrowserError::Failed(format!(
            "element [{number}] is not there, or not visible ({why}); the numbers of the last \
             answer count"
        )),
        other => other,
    };
    browser.ask("DOM.scrollIntoViewIfNeeded", &node, guard).await.map_err(gone)?;
    let quads = browser.ask("DOM.getContentQuads", &node, guard).await.map_err(gone)?;
    let corners: Vec<f64> = quads
        .pointer("/quads/0")
        .and_then(Value::as_array)
        .map(|quad| quad.iter().filter_map(Value::as_f64).collect())
        .unwrap_or_default();
    let [x1, y1, _, _, x2, y2, ..] = corners.as_slice() else {
        return Err(gone(BrowserError::Failed("it has no place".to_owned())));
    };
    Ok((f64::midpoint(*x1, *x2), f64::midpoint(*y1, *y2)))
}

pub(super) async fn mouse(
    browser: &mut Browser,
    (x, y): (f64, f64),
    (kind, button): (&str, &str),
    guard: &mut RequestGuard<'_>,
) -> Result<(), BrowserError> {
    let params = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
    browser.ask("Input.dispatchMouseEvent", &params, guard).await.map(drop)
}

/// Types a text where it belongs; says what else was done with it.
pub(super) async fn typed(
    browser: &mut Browser,
    (text, place): (&str, Option<PagePlace>),
    guard: &mut RequestGuard<'_>,
) -> Result<String, BrowserError> {
    if let Some(PagePlace::Element(number)) = place {
        let node = json!({ "backendNodeId": number });
        let object = browser.ask("DOM.resolveNode", &node, guard).await?;
        let object = object.pointer("/object/objectId").cloned().unwrap_or_default();
        let call = json!({
            "objectId": object, "functionDeclaration": CHOOSE_OR_FOCUS,
            "arguments": [{ "value": text }], "returnByValue": true,
        });
        let answer = browser.ask("Runtime.callFunctionOn", &call, guard).await?;
        match answer.pointer("/result/value").and_then(Value::as_str).unwrap_or_default() {
            "chosen" => return Ok("It was chosen from the list.".to_owned()),
            "none" => return Err(BrowserError::Failed("the list has no such entry".to_owned())),
            _ => {}
        }
    } else if let Some(place) = place {
        let at = point(browser, place, guard).await?;
        for kind in ["mousePressed", "mouseReleased"] {
            mouse(browser, at, (kind, "left"), guard).await?;
        }
    }
    browser.ask("Input.insertText", &json!({ "text": text }), guard).await?;
    Ok(String::new())
}

/// Returns what the page looks like, as PNG.
pub(super) async fn picture(
    browser: &mut Browser,
    guard: &mut RequestGuard<'_>,
) -> Result<Vec<u8>, BrowserError> {
    let answer = browser.ask("Page.captureScreenshot", &json!({ "format": "png" }), guard).await?;
    let data = answer.get("data").and_then(Value::as_str).unwrap_or_default();
    STANDARD.decode(data).map_err(|_| BrowserError::Failed("the picture cannot be read".to_owned()))
}
