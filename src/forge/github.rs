//! GitHub through octocrab; the base URL comes from the environment, so Enterprise servers and local ones work.
