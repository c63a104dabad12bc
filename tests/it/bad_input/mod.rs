//! What is not as it should be: settings, the repository, the model, what the model asks for, the
//! machine. Each case ends with the right word and exit code, a message a maintainer can act on, a
//! whole journal, and the checkout as it was or at its last checkpoint.

mod effects;
mod mistakes;
mod model;
mod modes;
mod setup;
mod words;
