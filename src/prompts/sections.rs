//! The sections of a system prompt, each a function from facts to text.
