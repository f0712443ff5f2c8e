//! The native core of treespan: document trees, token budgets, context expansion, vector search and reply bytes.
//!
//! Plain Rust that needs no Python; the feature `python` adds the module `treespan._core` (`py`).

pub mod error;
pub mod tree;
