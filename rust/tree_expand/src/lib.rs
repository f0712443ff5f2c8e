//! The native core of treespan: document trees, token budgets, context expansion, vector search and
//! reply bytes.
//!
//! Plain Rust that needs no Python; the feature `python` adds the module `treespan._core` (`py`).

pub mod budget;
pub mod document;
pub mod error;
pub mod expand;
pub mod filter;
mod graph;
pub mod kernel;
pub mod merge;
pub mod nearest;
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
mod segment;
pub mod top;
pub mod trace;
pub mod tree;
pub mod vectors;
pub mod window;
