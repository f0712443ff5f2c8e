//! A segment in a file: written once, then read by any number of processes.
//!
//! The graph, with its rows in brain floats, is mapped, so that processes share it and memory holds
//! it once. The exact rows stay in the file and are read one by one where they decide something.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::graph::{Gate, Graph};
use crate::kernel::Kernel;
use crate::layout::{FOOTER_BYTES, Footer, unpack_documents};
use crate::segment::Segment;

/// Bytes that are read at a time to hash a file.
const BLOCK_BYTES: usize = 1 << 20;

/// Name, size and hash of a segment file: what says which one is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentFile {
    /// Name of the file without `.segment`.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Its XXH3 hash, 128 bits.
    pub hash: u128,
}

impl SegmentFile {
    /// Where a segment of this name is.
    ///
    /// # Errors
    /// The name is no part of a file name.
    pub(crate) fn path(folder: &Path, name: &str) -> Result<PathBuf> {
        if name.is_empty() || name.contains(['/', '\0']) {
            return Err(Error::SegmentName(name.into()));
        }
        Ok(folder.join(format!("{name}.segment")))
    }
}

/// What every search through a graph needs.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) dimension: usize,
    pub(crate) gate: &'a Gate,
    pub(crate) kernel: Kernel,
}

/// The rows of a segment that is a file.
pub(crate) struct Sealed {
    graph: Graph,
    file: File,
    path: PathBuf,
    id: SegmentFile,
    /// First byte of the exact rows.
    matrix: u64,
    dimension: usize,
    /// Most by which a dot product with a row in brain floats is off.
    error: f32,
}

impl Sealed {
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn id(&self) -> &SegmentFile {
        &self.id
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The file is at another path now.
    pub(crate) fn moved(&mut self, path: PathBuf) {
        self.path = path;
    }

    pub(crate) fn error(&self) -> f32 {
        self.error
    }

    /// Rows in brain floats.
    pub(crate) fn halves(&self, rows: Range<u32>) -> &[u16] {
        &self.graph.matrix()
            [rows.start as usize * self.dimension..rows.end as usize * self.dimension]
    }

    /// Reads exact rows.
    pub(crate) fn read(&self, rows: Range<u32>, out: &mut [f32]) -> Result<()> {
        let row_bytes = (self.dimension * size_of::<f32>()) as u64;
        let at = self.matrix + u64::from(rows.start) * row_bytes;
        self.file
            .read_exact_at(bytemuck::cast_slice_mut(out), at)
            .map_err(|error| Error::SegmentRead {
                path: self.path.display().to_string(),
                error: error.into(),
            })
    }
}

/// Opens a segment of a folder.
///
/// # Errors
/// The file is missing, or is not the one that is meant, or no segment of vectors of this dimension.
pub(crate) fn open(folder: &Path, wanted: &SegmentFile, reader: Reader) -> Result<Segment> {
    let path = SegmentFile::path(folder, &wanted.name)?;
    opened(&path, &wanted.name, Some(wanted), reader).map_err(|what| Error::SegmentFile {
        path: path.display().to_string(),
        what,
    })
}

/// Opens a file as the segment `name`; else says what is wrong with it.
pub(crate) fn opened(
    path: &Path,
    name: &str,
    wanted: Option<&SegmentFile>,
    reader: Reader,
) -> std::result::Result<Segment, String> {
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if let Some(wanted) = wanted
        && wanted.size != size
    {
        let right = wanted.size;
        return Err(format!("it has {size} bytes and should have {right}"));
    }
    let hash = hash(&file, size).map_err(unreadable)?;
    if wanted.is_some_and(|wanted| wanted.hash != hash) {
        return Err("it is damaged: its hash is another than when it was written".into());
    }
    let name = name.to_owned();
    let id = SegmentFile { name, size, hash };
    checked(file, path, id, reader)
}

/// The segment of a file that is what was written.
fn checked(
    file: File,
    path: &Path,
    id: SegmentFile,
    reader: Reader,
) -> std::result::Result<Segment, String> {
    let mut bytes = [0; FOOTER_BYTES];
    let footer_at = id.size.checked_sub(FOOTER_BYTES as u64);
    let footer_at = footer_at.ok_or("it is no segment file, or not a whole one")?;
    file.read_exact_at(&mut bytes, footer_at)
        .map_err(unreadable)?;
    let footer = Footer::unpack(&bytes, reader.dimension)?;
    let layout = footer
        .layout()
        .filter(|layout| layout.size() == id.size)
        .ok_or("its sections are not as long as its footer says")?;
    let mut nodes = vec![0u32; footer.rows as usize].into_boxed_slice();
    file.read_exact_at(bytemuck::cast_slice_mut(&mut nodes), layout.nodes)
        .map_err(unreadable)?;
    let mut documents = vec![0; footer.documents as usize * crate::layout::DOCUMENT_BYTES];
    file.read_exact_at(&mut documents, layout.documents)
        .map_err(unreadable)?;
    let documents = unpack_documents(&documents, &nodes)?;
    let graph_bytes = usize::try_from(footer.graph).map_err(|error| error.to_string())?;
    let shape = (footer.rows, reader.dimension);
    let graph = Graph::open(&file, graph_bytes, shape, reader.gate, reader.kernel)?;
    let sealed = Sealed {
        graph,
        file,
        path: path.to_owned(),
        id,
        matrix: layout.matrix,
        dimension: reader.dimension,
        error: footer.residual + rounding(reader.dimension),
    };
    Ok(Segment::sealed(nodes, documents, sealed))
}

/// Most by which two dot products of the same unit vectors differ, in whatever order they are summed.
#[allow(clippy::cast_precision_loss)] // dimensions are at most 65,536
fn rounding(dimension: usize) -> f32 {
    dimension as f32 * f32::EPSILON + 1e-5
}

/// The hash of a file, as the manifest of a cache has it: XXH3 of 128 bits, 32 hexadecimal digits.
///
/// # Errors
/// The file cannot be read.
pub fn file_hash(path: &Path) -> Result<String> {
    let read = || {
        let file = File::open(path)?;
        hash(&file, file.metadata()?.len())
    };
    match read() {
        Ok(hash) => Ok(format!("{hash:032x}")),
        Err(error) => Err(Error::SegmentRead {
            path: path.display().to_string(),
            error: error.into(),
        }),
    }
}

/// Hashes a file by reading it, so that its pages do not count as memory of this process.
fn hash(file: &File, size: u64) -> std::io::Result<u128> {
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; BLOCK_BYTES];
    for start in (0..size).step_by(BLOCK_BYTES) {
        let bytes = usize::try_from(size - start).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
        file.read_exact_at(&mut buffer[..bytes], start)?;
        hasher.update(&buffer[..bytes]);
    }
    Ok(hasher.digest128())
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` wants it
fn unreadable(error: std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::NotFound {
        "it is missing".into()
    } else {
        format!("it could not be read: {error}")
    }
}
