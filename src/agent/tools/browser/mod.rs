//! A real browser, Chromium, for pages under test and pages of the web: `browser_action`.
//!
//! It runs in a sandbox of its own that holds nothing of the checkout, and reaches hosts only
//! through a proxy that admits those the policy's `browse(...)` rules name. Beside that, every
//! single request of a page waits until its address is judged. At `127.0.0.1` it finds what the
//! task has in the background. It is spoken to over two pipes in Chromium's own protocol (the
//! DevTools protocol), so no port is opened for it, and it ends with the task and with its mode.

pub mod action;
mod devtools;
mod grace_period;
mod input;
mod keys;
mod layout;
mod outline;
mod page;
mod part;
pub mod program;
mod requests;
mod running;
mod typing;

use std::cell::RefCell;

use crate::tools::browser::page::PageRecord;
use crate::tools::browser::running::Browser;
use locum_base::text::head;
use locum_policy::urls::WebUrl;

/// Most bytes of an address that are shown; a page may make its own as long as it likes.
const ADDRESS_SHOWN_BYTES: usize = 1024;

/// The browser that a task has, if any.
#[derive(Default)]
pub struct TaskBrowser(RefCell<Option<Browser>>);

impl TaskBrowser {
    /// Takes it for an action. Where the action is given up, it ends.
    fn take(&self) -> Option<Browser> {
        self.0.borrow_mut().take()
    }

    /// Puts it back after an action.
    fn put(&self, browser: Browser) {
        self.0.replace(Some(browser));
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.0.replace(None);
    }

    /// Returns the page that is open, or says why none is.
    fn open_page(&self) -> Result<WebUrl, String> {
        let browser = self.0.borrow();
        let page = browser.as_ref().map(|browser| &browser.page);
        let shown = |address: &str| head(address, ADDRESS_SHOWN_BYTES).to_owned();
        let why = match page {
            Some(page) if page.address.starts_with("http") => {
                return Ok(WebUrl::parse(&page.address));
            }
            Some(PageRecord { failed_address: Some(failed), .. }) => {
                format!(", because `{}` could not be loaded", shown(failed))
            }
            Some(page) if !page.address.is_empty() => {
                format!(", the browser shows `{}`", shown(&page.address))
            }
            Some(_) | None => String::new(),
        };
        Err(format!("No page is open{why}: `launch` one first, with its `url`."))
    }

    /// Returns whether there is one.
    pub(crate) fn is_open(&self) -> bool {
        self.0.borrow().is_some()
    }
}

#[cfg(test)]
mod tests;
