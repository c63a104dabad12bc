//! Input of a mouse: where an element is, and clicks; and a screenshot.
//!
//! In: a place. Out: the browser's own input events, dispatched to the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::tools::browser::devtools::BrowserError;
use crate::tools::browser::requests::RequestGuard;
use crate::tools::browser::running::Browser;

/// A place on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PagePlace {
    /// An element, by its number.
    Element(u64),
    /// A point of the window, in pixels.
    Point(u32, u32),
}

/// Says that an element is not there.
pub(super) fn gone(number: u64, error: BrowserError) -> BrowserError {
    match error {
        BrowserError::Failed(why) => BrowserError::Failed(format!(
            "element [{number}] is not there, or not visible ({why}); the numbers of the last \
             answer count"
        )),
        other => other,
    }
}

/// Returns the middle of an element, scrolled into view, or a point of the window as it is.
pub(super) async fn point(
    browser: &mut Browser,
    place: PagePlace,
    guard: &mut RequestGuard<'_>,
) -> Result<(f64, f64), BrowserError> {
    let number = match place {
        PagePlace::Point(x, y) => {
            let (width, height) = browser.size;
            if x >= width || y >= height {
                return Err(BrowserError::Failed(format!(
                    "{x},{y} is outside of the window, which is {width}x{height}: scroll, and \
                     count from its upper left corner"
                )));
            }
            return Ok((f64::from(x), f64::from(y)));
        }
        PagePlace::Element(number) => number,
    };
    let node = json!({ "backendNodeId": number });
    let gone = |error| gone(number, error);
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

/// Says where nothing but the page itself is at a point of the window; empty for an element.
pub(super) async fn nothing_at(
    browser: &mut Browser,
    place: PagePlace,
    guard: &mut RequestGuard<'_>,
) -> Result<String, BrowserError> {
    let PagePlace::Point(x, y) = place else { return Ok(String::new()) };
    let expression = format!(
        "(e => !e || e === document.body || e === document.documentElement)\
         (document.elementFromPoint({x}, {y}))"
    );
    let asked = json!({ "expression": expression, "returnByValue": true });
    let answer = browser.ask("Runtime.evaluate", &asked, guard).await?;
    let is_nothing = answer.pointer("/result/value").and_then(Value::as_bool) == Some(true);
    Ok(if is_nothing {
        format!("No element is at {x},{y}, only the page itself.")
    } else {
        String::new()
    })
}

/// Clicks at a point of the window.
pub(super) async fn click(
    browser: &mut Browser,
    at: (f64, f64),
    guard: &mut RequestGuard<'_>,
) -> Result<(), BrowserError> {
    for (kind, button) in
        [("mouseMoved", "none"), ("mousePressed", "left"), ("mouseReleased", "left")]
    {
        mouse(browser, at, (kind, button), guard).await?;
    }
    Ok(())
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

/// Returns what the page looks like, as PNG.
pub(super) async fn picture(
    browser: &mut Browser,
    guard: &mut RequestGuard<'_>,
) -> Result<Vec<u8>, BrowserError> {
    let answer = browser.ask("Page.captureScreenshot", &json!({ "format": "png" }), guard).await?;
    let data = answer.get("data").and_then(Value::as_str).unwrap_or_default();
    STANDARD.decode(data).map_err(|_| BrowserError::Failed("the picture cannot be read".to_owned()))
}
