//! MCP servers: tools and resources of other programs, offered to the model like tools of our own.
//!
//! A [`definition`] says what a server is; [`servers`] starts those the policy names, lists what
//! they have and keeps them until the run ends; [`call`], [`resource`] and [`prompt`] are the
//! tools. [`connection`] speaks the protocol over a [`transport`]: a program's streams, [`http`],
//! or [`sse`], which older servers speak. [`service`] sends the requests of the latter two, with
//! tokens of [`oauth`] where a service wants one, for which a [`signing_key`] can sign. [`message`]
//! is what is said, [`catalogue`] what models are shown of it, [`schema`] what arguments are held
//! to, [`content`] how results are shown.
//!
//! The client is our own. A run needs few requests of the protocol. The rest is a matter of the
//! sandbox, the network's connector and the journal, not of a library: whose process it is, which
//! address is connected to, how long a line may be, what happens when a server ends.

pub mod call;
pub mod catalogue;
mod connection;
pub mod content;
pub mod definition;
mod events;
mod http;
mod mcp_error;
pub mod message;
mod oauth;
mod progress;
pub mod prompt;
pub mod resource;
pub mod schema;
mod server_start;
pub mod servers;
mod service;
pub mod signing_key;
mod sse;
mod transport;
