//! Models that propose edits: an endpoint that completes chats, prompts as files, and retrieval of
//! examples.

mod client;
mod encoder;
mod prompt;
mod propose;
mod retrieval;

pub use client::{Client, Completion, Endpoint, Message, Usage};
pub use encoder::{EndpointEncoder, StrategyEncoder, TokenEncoder};
pub(crate) use prompt::NO_PROGRAM;
pub use prompt::{Example, METHODS, Prompt, unfenced};
pub use propose::{ProposeOptions, ProposeReport, Shown, propose};
pub use retrieval::{Encoder, Index};
