//! Generates the messages of a reply from `proto/`, in pure Rust: no protoc is needed.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    println!("cargo:rerun-if-changed={}", proto.display());
    let files = protox::compile([proto.join("treespan/v1/chunk.proto")], [&proto])?;
    prost_build::Config::new().compile_fds(files)?;
    Ok(())
}
