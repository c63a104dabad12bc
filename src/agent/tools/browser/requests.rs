//! `RequestGuard`: decides on every request that a page makes, by its whole address.
//!
//! In: addresses, as the browser holds them up. Out: yes or no, and what was refused.

use crate::tools::ToolContext;
use locum_base::secret::Redactor;
use locum_base::text::head;
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::urls::WebUrl;
use locum_policy::verdict::Refusal;

/// Most different addresses that are named as refused.
const NAMED_LIMIT: usize = 20;

/// Most bytes that are said of one.
const LINE_LIMIT_BYTES: usize = 600;

/// Something a page requests.
#[derive(Debug)]
struct PageRequest(WebUrl);

impl Act for PageRequest {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Browse(self.0.clone())]
    }
}

/// A request that was not allowed.
#[derive(Debug)]
pub(super) struct RefusedRequest {
    /// Its address.
    pub(super) address: String,
    /// Why.
    pub(super) why: String,
    /// The policy's refusal; `None` where the address holds a secret.
    pub(super) refusal: Option<Box<Refusal>>,
}

/// Decides on requests during one action.
pub(super) struct RequestGuard<'g> {
    policy: &'g Policy,
    facts: &'g Facts,
    redactor: &'g Redactor,
    /// What was refused beside the page itself, each address once.
    refused: Vec<RefusedRequest>,
    /// How many more were.
    more: usize,
    /// The page itself, or what it redirects to, where that was refused; the last one.
    page: Option<RefusedRequest>,
}

impl<'g> RequestGuard<'g> {
    /// Takes whose rules count.
    pub(super) fn of(context: ToolContext<'g>) -> Self {
        let (run, facts) = (context.run, context.facts);
        Self {
            policy: run.policy,
            facts,
            redactor: run.redactor,
            refused: Vec::new(),
            more: 0,
            page: None,
        }
    }

    /// Decides on a request, which may be for the page itself.
    pub(super) fn allows(&mut self, address: &str, is_page: bool) -> bool {
        // What a page made itself is on no network.
        if address.starts_with("data:") || address.starts_with("blob:") {
            return true;
        }
        let (why, refusal) = if self.redactor.finds_secret(address) {
            ("its address holds a secret".to_owned(), None)
        } else {
            match self.policy.admit(PageRequest(WebUrl::parse(address)), self.facts) {
                Ok(_) => return true,
                Err(refusal) => {
                    let why = refusal.verdicts.first().map(|verdict| verdict.reason());
                    (why.unwrap_or_default(), Some(refusal))
                }
            }
        };
        let request = RefusedRequest { address: address.to_owned(), why, refusal };
        if is_page {
            self.page = Some(request);
        } else if self.refused.iter().all(|known| known.address != address) {
            if self.refused.len() < NAMED_LIMIT {
                self.refused.push(request);
            } else {
                self.more += 1;
            }
        }
        false
    }

    /// Returns the page itself where it was refused, and forgets it.
    pub(super) fn take_page(&mut self) -> Option<RefusedRequest> {
        self.page.take()
    }

    /// Returns the first refusal by the policy: of the page itself or else of what it holds.
    pub(super) fn take_refusal(&mut self) -> Option<Box<Refusal>> {
        let all = self.page.iter_mut().chain(&mut self.refused);
        all.filter_map(|request| request.refusal.take()).next()
    }

    /// Returns a line for each request that was refused.
    pub(super) fn refused_lines(&self) -> Vec<String> {
        let line = |request: &RefusedRequest| {
            let line = format!("{}: {}", request.address, request.why);
            head(&line, LINE_LIMIT_BYTES).to_owned()
        };
        let more = (self.more > 0).then(|| format!("({} more)", self.more));
        self.page.iter().chain(&self.refused).map(line).chain(more).collect()
    }
}
