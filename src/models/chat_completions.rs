//! OpenAI Chat Completions and everything compatible, streamed.
