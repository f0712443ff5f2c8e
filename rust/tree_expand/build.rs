//! Generates the messages of a reply from `proto/`, in pure Rust: no protoc is needed.

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let crate_folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let proto = crate_folder.join("../../proto");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", proto.display());
    let files = protox::compile([proto.join("treespan/v1/chunk.proto")], [&proto])?;
    prost_build::Config::new().compile_fds(files)?;
    Ok(())
}
