//! The native core of treespan: document trees, token budgets, context expansion, vector search and
//! reply bytes.
//!
//! Plain Rust that needs no Python; the feature `python` adds the module `treespan._core` (`py`).

pub mod budget;
pub mod document;
pub mod error;
pub mod expand;
pub mod filter;
mod gather;
mod graph;
pub mod kernel;
mod layout;
pub mod merge;
mod near;
pub mod nearest;
mod opening;
pub mod packed;
pub mod passage;
pub mod piece;
pub mod planner;
pub mod proto;
#[cfg(feature = "python")]
#[allow(unsafe_code, reason = "what PyO3's macros write")]
mod py;
pub mod ranges;
pub mod reply;
pub mod sealed;
mod sealing;
mod segment;
pub mod top;
pub mod trace;
pub mod tree;
mod upkeep;
pub mod vectors;
pub mod window;
