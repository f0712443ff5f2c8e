//! The messages of `treespan.v1` that replies are made of, generated from `proto/`.

#![allow(
    missing_docs,
    clippy::pedantic,
    reason = "generated; proto/ has the comments"
)]

include!(concat!(env!("OUT_DIR"), "/treespan.v1.rs"));
