//! Writing the file of a segment, so that it is either there as a whole and for good, or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Failure, Result};
use crate::gather::Gathered;
use crate::graph::{Builder, MATRIX_AT};
use crate::kernel::widen;
use crate::layout::{Footer, pack_documents};
use crate::sealed::{Reader, SegmentFile, opened};
use crate::segment::{Segment, row_number};

/// Rows of length 1 are never as far as this from what they are in brain floats, which have 8 bits.
const MOST_RESIDUAL: f64 = 1.0 / 128.0;
/// Error number of a full disk.
const NO_SPACE: i32 = 28;

/// Builds a graph over rows, writes them as `folder/name.segment` and opens that.
///
/// # Errors
/// The graph could not be built, rows could not be read, the name is none, or the file could not be
/// written or is there already. There is no new file then.
pub(crate) fn write(rows: &Gathered, folder: &Path, name: &str, reader: Reader) -> Result<Segment> {
    let path = SegmentFile::path(folder, name)?;
    let temporary = Temporary(folder.join(format!("{name}.segment.tmp")));
    let failed = |error: Failure| Error::SegmentWrite {
        path: path.display().to_string(),
        error,
    };
    // Before the graph is built, which takes long: what is wrong with the folder.
    if path.try_exists().map_err(|error| failed(error.into()))? {
        return Err(failed(io::Error::from(ErrorKind::AlreadyExists).into()));
    }
    File::create(&temporary.0).map_err(|error| failed(error.into()))?;
    let graph = saved_graph(rows, &temporary.0, reader, &failed)?;
    let footer = Footer {
        dimension: row_number(rows.dimension()),
        rows: rows.rows(),
        documents: row_number(rows.documents.len()),
        graph,
        residual: residual(rows, &temporary.0, &failed)?,
    };
    append(rows, &footer, &temporary.0, &failed)?;
    let segment = opened(&temporary.0, name, None, reader)
        .map_err(|text| failed(Failure { code: None, text }))?;
    publish(&temporary.0, &path).map_err(|error| failed(error.into()))?;
    Ok(segment.at(path))
}

/// A file that goes when this is dropped, if it is there still.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nothing can be done about a failure, and the next one of that name takes its place.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Builds and saves the graph; returns its bytes.
fn saved_graph(
    rows: &Gathered,
    path: &Path,
    reader: Reader,
    failed: &impl Fn(Failure) -> Error,
) -> Result<u64> {
    let mut builder = Builder::new(rows.nodes.len(), rows.dimension(), reader.kernel)?;
    rows.each_block(|block| builder.add(block))?;
    let right = builder.save(path).map_err(|error| {
        let text = error.to_string();
        failed(Failure { code: None, text })
    })?;
    drop(builder);
    let found = std::fs::metadata(path).map_err(|error| failed(error.into()))?;
    if found.len() == right {
        return Ok(right);
    }
    let text = format!(
        "{} bytes of {right} were written; the disk is full",
        found.len()
    );
    let code = Some(NO_SPACE);
    Err(failed(Failure { code, text }))
}

/// Greatest distance of a row from what it is in the saved graph.
fn residual(rows: &Gathered, path: &Path, failed: &impl Fn(Failure) -> Error) -> Result<f32> {
    let file = File::open(path).map_err(|error| failed(error.into()))?;
    let mut at = MATRIX_AT as u64;
    let mut greatest = 0f64;
    let mut halves: Vec<u16> = Vec::new();
    rows.each_block(|block| {
        halves.resize(block.len(), 0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut halves);
        file.read_exact_at(bytes, at)
            .map_err(|error| failed(error.into()))?;
        at += bytes.len() as u64;
        let exact = block.chunks_exact(rows.dimension());
        for (row, half) in exact.zip(halves.chunks_exact(rows.dimension())) {
            greatest = greatest.max(distance(row, half));
        }
        Ok(())
    })?;
    if greatest > MOST_RESIDUAL {
        let text = format!("a row read back is {greatest} away from what was written");
        return Err(failed(Failure { code: None, text }));
    }
    #[allow(clippy::cast_possible_truncation)] // what rounding takes away is added to the error
    Ok(greatest as f32)
}

fn distance(row: &[f32], half: &[u16]) -> f64 {
    let squares = row.iter().zip(half).map(|(&exact, &half)| {
        let off = f64::from(exact) - f64::from(widen(half));
        off * off
    });
    squares.sum::<f64>().sqrt()
}

/// Writes what comes behind the graph, down to the disk.
fn append(
    rows: &Gathered,
    footer: &Footer,
    path: &Path,
    failed: &impl Fn(Failure) -> Error,
) -> Result<()> {
    let failed = |error: io::Error| failed(error.into());
    let layout = footer
        .layout()
        .ok_or_else(|| failed(io::Error::from(ErrorKind::FileTooLarge)))?;
    let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
    file.seek(SeekFrom::End(0)).map_err(failed)?;
    let mut out = Sections {
        out: BufWriter::with_capacity(1 << 20, &file),
        at: footer.graph,
    };
    let nodes = bytemuck::cast_slice(&rows.nodes);
    out.section(layout.nodes, nodes).map_err(failed)?;
    let documents = pack_documents(&rows.documents);
    out.section(layout.documents, &documents).map_err(failed)?;
    out.section(layout.matrix, &[]).map_err(failed)?;
    rows.each_block(|block| out.write(bytemuck::cast_slice(block)).map_err(failed))?;
    out.section(layout.footer, &footer.pack()).map_err(failed)?;
    out.out.flush().map_err(failed)?;
    drop(out);
    file.sync_all().map_err(failed)
}

/// A file that is written from front to back.
struct Sections<'a> {
    out: BufWriter<&'a File>,
    at: u64,
}

impl Sections<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes zeros up to `start`, then bytes.
    fn section(&mut self, start: u64, bytes: &[u8]) -> io::Result<()> {
        let zeros = usize::try_from(start - self.at).map_err(io::Error::other)?;
        self.write(&vec![0; zeros])?;
        self.write(bytes)
    }
}

/// Gives a complete file its name, for good.
fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(temporary, path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    if synced.is_err() {
        let _ = std::fs::remove_file(path);
    }
    synced
}
