//! The comment on an issue or pull request: state line, checklist, result, refusals, cost.
