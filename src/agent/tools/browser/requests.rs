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

/// A request that was not let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefusedRequest {
    /// Its address.
    pub(super) address: String,
    /// Why.
    pub(super) why: String,
}

/// Decides on requests during one action.
pub(super) struct RequestGuard<'g> {
    policy: &'g Policy,
    facts: &'g Facts,
    redactor: &'g Redactor,
    /// What was refused, each address once.
    pub(super) refused: Vec<RefusedRequest>,
    /// How many more were.
    more: usize,
    /// The refusal of the page itself or, where that was let through, the first one.
    pub(super) refusal: Option<Box<Refusal>>,
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
            refusal: None,
        }
    }

    /// Decides on a request.
    pub(super) fn lets(&mut self, address: &str) -> bool {
        // What a page made itself is on no network.
        if address.starts_with("data:") || address.starts_with("blob:") {
            return true;
        }
        let why = if self.redactor.finds_secret(address) {
            "its address holds a secret".to_owned()
        } else {
            match self.policy.admit(PageRequest(WebUrl::parse(address)), self.facts) {
                Ok(_) => return true,
                Err(refusal) => {
                    let why = refusal.verdicts.first().map(|verdict| verdict.reason());
                    self.refusal.get_or_insert(refusal);
                    why.unwrap_or_default()
                }
            }
        };
        let is_known = self.refused.iter().any(|known| known.address == address);
        if !is_known && self.refused.len() < NAMED_LIMIT {
            self.refused.push(RefusedRequest { address: address.to_owned(), why });
        } else if !is_known {
            self.more += 1;
        }
        false
    }

    /// Returns a line for each request that was refused, and forgets them.
    pub(super) fn take_refused(&mut self) -> Vec<String> {
        let refused = std::mem::take(&mut self.refused).into_iter();
        let line = |request: RefusedRequest| {
            let line = format!("{}: {}", request.address, request.why);
            head(&line, LINE_LIMIT_BYTES).to_owned()
        };
        let more = std::mem::take(&mut self.more);
        refused.map(line).chain((more > 0).then(|| format!("({more} more)"))).collect()
    }
}
