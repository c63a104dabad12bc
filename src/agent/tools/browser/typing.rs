//! Typing: a text goes into the field that is named, or that has the focus, or nowhere.
//!
//! In: a text and a place. Out: key events, as a keyboard makes them, or the value of a field that
//! has no text (a date, a slider, a list), or why nothing was typed.

use serde_json::{Value, json};

use crate::tools::browser::devtools::BrowserError;
use crate::tools::browser::input::{PagePlace, click, gone, point};
use crate::tools::browser::keys::KeyPress;
use crate::tools::browser::requests::RequestGuard;
use crate::tools::browser::running::Browser;

/// Most characters that are typed key by key, the last ones of a text. What is before them is
/// inserted at once, as by pasting.
const KEYS_LIMIT: usize = 200;

/// How deep frames are followed to what has the focus.
const FRAMES_DEPTH: usize = 8;

/// Makes an element ready to be typed in, or gives it its value; says which it was, or why not.
const READY: &str = "function(text, named) {
  let at = this.nodeType === 1 ? this : this.parentElement;
  if (at && at.tagName === 'LABEL' && at.control) at = at.control;
  if (!at || (!named && !at.isContentEditable && ['BODY', 'HTML'].includes(at.tagName)))
    return { is: 'nothing' };
  if (at.matches(':disabled')) return { is: 'disabled' };
  const changed = () => ['input', 'change'].forEach(name =>
    at.dispatchEvent(new Event(name, { bubbles: true, composed: true })));
  if (at.tagName === 'SELECT') {
    const plain = t => t.trim().toLowerCase();
    const all = [...at.options].filter(o => !o.disabled);
    const found = all.find(o => plain(o.label) === plain(text)) || all.find(o => o.value === text);
    if (!found) return { is: 'no option' };
    found.selected = true;
    changed();
    return { is: 'chosen' };
  }
  const texts = ['text', 'search', 'url', 'tel', 'email', 'password', 'number'];
  const set = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];
  const takes = e => e.isContentEditable || e.tagName === 'TEXTAREA'
    || (e.tagName === 'INPUT' && texts.includes(e.type));
  if (at.tagName === 'INPUT' && set.includes(at.type)) {
    if (at.readOnly) return { is: 'readonly' };
    at.focus();
    const before = at.value;
    const give = value => Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
      .set.call(at, value);
    give(text);
    const fits = at.type === 'range' ? text.trim() !== '' && Number(at.value) === Number(text)
      : at.type === 'color' ? at.value === text.toLowerCase() : (at.value !== '') === (text !== '');
    if (fits) { changed(); return { is: 'set' }; }
    give(before);
    return { is: at.type, least: at.min || '0', most: at.max || '100', step: at.step || '1' };
  }
  if (at.tagName === 'INPUT' && !texts.includes(at.type))
    return { is: at.type === 'file' ? 'file' : 'no text' };
  if (['BUTTON', 'A', 'SUMMARY', 'OPTION'].includes(at.tagName) && !at.isContentEditable)
    return { is: 'no text' };
  const focused = () => {
    let now = at.ownerDocument.activeElement;
    while (now && now.shadowRoot && now.shadowRoot.activeElement) now = now.shadowRoot.activeElement;
    return now;
  };
  const before = focused();
  if (named) at.focus();
  const now = focused();
  let outer = now;
  while (outer && outer !== at) outer = outer.parentNode || outer.host;
  if (!outer) return { is: takes(at) ? 'no focus' : 'no text' };
  if (!takes(now)) return { is: 'no text' };
  if (now.readOnly && !now.isContentEditable) return { is: 'readonly' };
  if (now !== before) {
    // What comes to a field by its name goes on behind what it holds.
    if (now.isContentEditable) {
      const selection = at.ownerDocument.getSelection();
      selection.selectAllChildren(now);
      selection.collapseToEnd();
    } else {
      try { now.setSelectionRange(now.value.length, now.value.length); } catch { }
    }
  }
  return { is: now.tagName === 'INPUT' ? 'line' : 'lines' };
}";

/// What has the focus of a document.
const FOCUSED: &str = "(() => {
  let now = document.activeElement;
  while (now && now.shadowRoot && now.shadowRoot.activeElement) now = now.shadowRoot.activeElement;
  return now;
})()";

/// What stands in the field that has the focus; of a long text its length.
const HELD: &str = "function() {
  let now = this.ownerDocument.activeElement;
  while (now && now.shadowRoot && now.shadowRoot.activeElement) now = now.shadowRoot.activeElement;
  const text = !now ? '' : now.isContentEditable ? now.textContent : String(now.value);
  return text.length > 4096 ? text.length : text;
}";

/// Types a text where it belongs; says what else was done with it.
pub(super) async fn typed(
    browser: &mut Browser,
    (text, place): (&str, Option<PagePlace>),
    guard: &mut RequestGuard<'_>,
) -> Result<String, BrowserError> {
    let text = text.replace("\r\n", "\n");
    let (object, named) = match place {
        Some(PagePlace::Element(number)) => {
            let node = json!({ "backendNodeId": number });
            let found = browser.ask("DOM.resolveNode", &node, guard).await;
            let found = found.map_err(|error| gone(number, error))?;
            (found.pointer("/object/objectId").cloned(), format!("element [{number}]"))
        }
        Some(place @ PagePlace::Point(x, y)) => {
            let at = point(browser, place, guard).await?;
            click(browser, at, guard).await?;
            (focused(browser, guard).await?, format!("what a click at {x},{y} gives the focus"))
        }
        None => (focused(browser, guard).await?, "what has the focus".to_owned()),
    };
    let Some(object) = object else { return Err(refused("nothing", &Value::Null, &named)) };
    let is_named = matches!(place, Some(PagePlace::Element(_)));
    let ready = called(browser, (&object, READY), &json!([text, is_named]), guard).await?;
    let has_lines = match ready.get("is").and_then(Value::as_str).unwrap_or_default() {
        "chosen" => return Ok("It was chosen from the list.".to_owned()),
        "set" => return Ok("The value was set.".to_owned()),
        "line" => false,
        "lines" => true,
        other => return Err(refused(other, &ready, &named)),
    };
    if text.is_empty() {
        return Ok("Nothing was typed. To empty a field, `press` Control+A and Delete.".to_owned());
    }
    let none = json!([]);
    let before = called(browser, (&object, HELD), &none, guard).await?;
    keys(browser, &text, has_lines, guard).await?;
    // The field may be gone by then, with its page.
    let after = called(browser, (&object, HELD), &none, guard).await.ok();
    let mut said = Vec::new();
    if after.is_some_and(|after| after == before) {
        said.push("The field holds what it held before: it does not take this text.");
    }
    if !has_lines && text.contains('\n') {
        said.push("The field has one line: line ends were left out. `press` Enter sends it.");
    }
    Ok(said.join(" "))
}

/// Says why nothing was typed.
fn refused(why: &str, ready: &Value, it: &str) -> BrowserError {
    let number = |name: &str| ready.get(name).and_then(Value::as_str)?.parse::<f64>().ok();
    let of = |name: &str| number(name).map(|number| number.to_string()).unwrap_or_default();
    let form = |form: &str| format!("{it} takes another form of text: write it as {form}");
    BrowserError::Failed(match why {
        "nothing" => "nothing that can be typed in has the focus: name the `element`, or `click` \
                      it first"
            .to_owned(),
        "disabled" => format!("{it} is disabled"),
        "readonly" => format!("{it} is read-only"),
        "no option" => "the list has no such entry".to_owned(),
        "file" => format!("{it} chooses files, and no file can be given to a page here"),
        "no focus" => format!("{it} does not take the focus: it may be hidden"),
        "date" => form("2026-01-31"),
        "time" => form("13:45"),
        "datetime-local" => form("2026-01-31T13:45"),
        "month" => form("2026-01"),
        "week" => form("2026-W05"),
        "color" => form("#1e90ff"),
        "range" => format!(
            "{it} is a slider: write a number from {} to {}, in steps of {}",
            of("least"),
            of("most"),
            of("step")
        ),
        _ => format!("{it} takes no text: `click` it, or `press` single keys"),
    })
}

/// Calls a function on an object of a page; returns its result.
async fn called(
    browser: &mut Browser,
    (object, function): (&Value, &str),
    arguments: &Value,
    guard: &mut RequestGuard<'_>,
) -> Result<Value, BrowserError> {
    let arguments: Vec<Value> = arguments
        .as_array()
        .into_iter()
        .flatten()
        .map(|argument| json!({ "value": argument }))
        .collect();
    let call = json!({
        "objectId": object, "functionDeclaration": function, "arguments": arguments,
        "returnByValue": true, "userGesture": true,
    });
    let mut answer = browser.ask("Runtime.callFunctionOn", &call, guard).await?;
    Ok(answer.pointer_mut("/result/value").map(Value::take).unwrap_or_default())
}

/// Returns what has the focus, in whatever frame.
async fn focused(
    browser: &mut Browser,
    guard: &mut RequestGuard<'_>,
) -> Result<Option<Value>, BrowserError> {
    let mut world = None;
    for _ in 0..FRAMES_DEPTH {
        let mut question = json!({ "expression": FOCUSED });
        if let (Some(world), Value::Object(fields)) = (world.take(), &mut question) {
            fields.insert("contextId".to_owned(), world);
        }
        let found = browser.ask("Runtime.evaluate", &question, guard).await?;
        let Some(object) = found.pointer("/result/objectId").cloned() else { return Ok(None) };
        let asked = json!({ "objectId": object });
        let node = browser.ask("DOM.describeNode", &asked, guard).await?;
        let name = node.pointer("/node/nodeName").and_then(Value::as_str).unwrap_or_default();
        let frame = node.pointer("/node/frameId").filter(|_| matches!(name, "IFRAME" | "FRAME"));
        let Some(frame) = frame else { return Ok(Some(object)) };
        let own = json!({ "frameId": frame });
        let made = browser.ask("Page.createIsolatedWorld", &own, guard).await?;
        world = made.get("executionContextId").cloned();
        if world.is_none() {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Types a text key by key, as far as it is not too long for that.
async fn keys(
    browser: &mut Browser,
    text: &str,
    has_lines: bool,
    guard: &mut RequestGuard<'_>,
) -> Result<(), BrowserError> {
    let start = text.char_indices().rev().nth(KEYS_LIMIT - 1).map_or(0, |(at, _)| at);
    let (pasted, typed) = text.split_at(start);
    if !pasted.is_empty() {
        browser.ask("Input.insertText", &json!({ "text": pasted }), guard).await?;
    }
    for character in typed.chars() {
        if character == '\n' && !has_lines {
            continue;
        }
        if character.is_control() && character != '\n' {
            let text = json!({ "text": character.to_string() });
            browser.ask("Input.insertText", &text, guard).await?;
            continue;
        }
        for event in KeyPress::of(character).events() {
            browser.ask("Input.dispatchKeyEvent", &event, guard).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::refused;

    #[test]
    fn why_nothing_was_typed_says_what_to_do() {
        let slider = json!({ "least": "0", "most": "10", "step": "any<b>" });
        for (why, words) in [
            ("no text", "element [3] takes no text: `click` it, or `press` single keys"),
            ("something new", "element [3] takes no text: `click` it, or `press` single keys"),
            ("readonly", "element [3] is read-only"),
            ("date", "element [3] takes another form of text: write it as 2026-01-31"),
            ("range", "element [3] is a slider: write a number from 0 to 10, in steps of "),
        ] {
            assert_eq!(refused(why, &slider, "element [3]").to_string(), words);
        }
    }
}
