//! The Python module `treespan._core`; nothing else knows `PyO3`. Its stub is
//! `python/treespan/_core.pyi`.
//!
//! Numbers and bytes come in, numbers and bytes go out; what works in between does so without the
//! interpreter's lock.

#![allow(clippy::needless_pass_by_value, reason = "arguments arrive by value")]
#![allow(missing_docs, reason = "the stub has the docstrings")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyOSError, PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Error, Failure};
use crate::filter::Allowed;
use crate::kernel::Kernel;
use crate::reply::{self, Extras, Scored};
use crate::sealed::{self, SegmentFile};
use crate::top::Hit;
use crate::vectors::{self, Query, Settings};
use crate::window::{Mode, Options, window};
use crate::{document, merge, planner};

mod numbers;

use numbers::{Whole, extracted, number, numbers, optional_number, packed};

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{ContextOptions, Document, Hits, VectorIndex, answer, file_hash, simd};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

#[pyclass(frozen, module = "treespan._core")]
struct Document(Arc<document::Document>);

#[pymethods]
impl Document {
    #[new]
    fn new(py: Python<'_>, doc_id: &str, tree: &[u8], head: &[u8]) -> PyResult<Self> {
        py.detach(|| document::Document::new(doc_id, tree, head))
            .map(|document| Self(Arc::new(document)))
            .map_err(into_py)
    }

    fn __len__(&self) -> usize {
        self.0.packed().tree().len()
    }

    #[getter]
    fn byte_size(&self) -> usize {
        self.0.byte_size()
    }

    fn expand<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers)] hits: Vec<u32>,
        options: Bound<'_, ContextOptions>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let options = options.get().options;
        let windows = py
            .detach(|| {
                let tree = self.0.packed().tree();
                hits.into_iter()
                    .map(|hit| {
                        let taken = window(tree, hit, &options)?;
                        let mut positions = Vec::with_capacity(4 * taken.len());
                        for position in taken.positions() {
                            positions.extend_from_slice(&position.to_le_bytes());
                        }
                        Ok(positions)
                    })
                    .collect::<Result<Vec<Vec<u8>>, Error>>()
            })
            .map_err(into_py)?;
        Ok(windows
            .iter()
            .map(|taken| PyBytes::new(py, taken))
            .collect())
    }
}

#[pyclass(frozen, module = "treespan._core")]
struct ContextOptions {
    options: Options,
    extras: Extras,
}

#[pymethods]
impl ContextOptions {
    #[new]
    #[pyo3(signature = (
        mode, token_budget, answer_token_budget = None, *,
        gaps = false, merge = false, sentences = 3, nodes = false, trace = false,
    ))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
    fn new(
        #[pyo3(from_py_with = number)] mode: i32,
        #[pyo3(from_py_with = number)] token_budget: u32,
        #[pyo3(from_py_with = optional_number)] answer_token_budget: Option<u32>,
        gaps: bool,
        merge: bool,
        #[pyo3(from_py_with = number)] sentences: u32,
        nodes: bool,
        trace: bool,
    ) -> PyResult<Self> {
        let options = Options {
            mode: Mode::try_from(mode).map_err(into_py)?,
            token_budget,
            answer_token_budget,
            gaps,
            merge,
            sentences,
            trace,
        };
        let extras = Extras { nodes, trace };
        Ok(Self { options, extras })
    }
}

#[pyclass(frozen, module = "treespan._core")]
struct Hits(planner::Hits);

#[pymethods]
impl Hits {
    #[staticmethod]
    fn of_nodes(nodes: Bound<'_, PyAny>) -> PyResult<Self> {
        let nodes: Vec<(u64, u32)> = extracted(&nodes, "(document key, position)")?;
        let list = nodes
            .into_iter()
            .map(|(document, node)| Hit {
                document,
                node,
                similarity: 0.0,
            })
            .collect();
        let plan = planner::Plan::default();
        Ok(Self(planner::Hits { list, plan }))
    }

    fn __len__(&self) -> usize {
        self.0.list.len()
    }

    fn items(&self) -> Vec<(u64, u32, f32)> {
        let hits = self.0.list.iter();
        hits.map(|hit| (hit.document, hit.node, hit.similarity))
            .collect()
    }

    fn documents(&self) -> Vec<u64> {
        self.scored().0
    }

    #[getter]
    fn exact_segments(&self) -> u32 {
        self.0.plan.exact_segments
    }

    #[getter]
    fn graph_segments(&self) -> u32 {
        self.0.plan.graph_segments
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.plan.rows
    }

    #[getter]
    fn allowed_rows(&self) -> u64 {
        self.0.plan.allowed_rows
    }

    #[getter]
    fn compared_rows(&self) -> u64 {
        self.0.plan.compared_rows
    }

    #[getter]
    fn below_threshold(&self) -> u32 {
        self.0.plan.below_threshold
    }
}

impl Hits {
    /// The distinct documents in order of first appearance, and the hits with their documents as
    /// indices of that list.
    fn scored(&self) -> (Vec<u64>, Vec<Scored>) {
        let mut documents = Vec::new();
        let mut index: HashMap<u64, usize> = HashMap::new();
        let hits = self.0.list.iter().map(|hit| Scored {
            hit: merge::Hit {
                document: *index.entry(hit.document).or_insert_with(|| {
                    documents.push(hit.document);
                    documents.len() - 1
                }),
                node: hit.node,
            },
            score: hit.similarity,
            similarity: hit.similarity,
        });
        let hits = hits.collect();
        (documents, hits)
    }
}

#[pyclass(frozen, module = "treespan._core")]
struct VectorIndex(vectors::VectorIndex);

#[pymethods]
impl VectorIndex {
    #[new]
    #[pyo3(signature = (dimension, *, proposal_cost = 40, seal_rows = 20_000, threads = 16))]
    fn new(
        #[pyo3(from_py_with = number)] dimension: usize,
        #[pyo3(from_py_with = number)] proposal_cost: u32,
        #[pyo3(from_py_with = number)] seal_rows: u32,
        #[pyo3(from_py_with = number)] threads: usize,
    ) -> PyResult<Self> {
        vectors::VectorIndex::new(Settings {
            dimension,
            proposal_cost,
            seal_rows,
            threads,
        })
        .map(Self)
        .map_err(into_py)
    }

    #[pyo3(signature = (document, nodes, vectors, *, replaces = None))]
    fn add(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] document: u64,
        nodes: &[u8],
        vectors: &[u8],
        replaces: Option<u64>,
    ) -> PyResult<()> {
        py.detach(|| {
            let nodes = packed(nodes, "nodes", u32::from_le_bytes)?;
            let vectors = packed(vectors, "vectors", f32::from_le_bytes)?;
            self.0.replace(replaces, document, nodes, vectors)
        })
        .map_err(into_py)
    }

    fn remove(&self, py: Python<'_>, #[pyo3(from_py_with = number)] document: u64) -> bool {
        py.detach(|| self.0.remove(document))
    }

    fn holds(&self, py: Python<'_>, #[pyo3(from_py_with = number)] document: u64) -> bool {
        py.detach(|| self.0.holds(document))
    }

    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let keys = py.detach(|| {
            let keys = self.0.keys().into_iter();
            keys.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
        });
        PyBytes::new(py, &keys)
    }

    fn seal(&self, py: Python<'_>, folder: &str, name: &str) -> PyResult<bool> {
        py.detach(|| self.0.seal(folder.as_ref(), name))
            .map_err(into_py)
    }

    #[pyo3(signature = (folder, segments, live = None))]
    fn install(
        &self,
        py: Python<'_>,
        folder: &str,
        segments: Bound<'_, PyAny>,
        live: Option<&[u8]>,
    ) -> PyResult<()> {
        let segments: Vec<(String, u64, String)> = extracted(&segments, u64::RANGE)?;
        py.detach(|| {
            let files: Result<Vec<SegmentFile>, Error> =
                segments.into_iter().map(segment_file).collect();
            let live = live.map(|live| packed(live, "keys", u64::from_le_bytes));
            self.0
                .install(folder.as_ref(), &files?, live.transpose()?.as_deref())
        })
        .map_err(into_py)
    }

    #[getter]
    fn sealed(&self, py: Python<'_>) -> Vec<(String, u64, String, u32)> {
        let segments = py.detach(|| self.0.sealed()).into_iter();
        segments
            .map(|segment| {
                let SegmentFile { name, size, hash } = segment.file;
                (name, size, format!("{hash:032x}"), segment.rows)
            })
            .collect()
    }

    #[pyo3(signature = (vectors, limit, threshold = None, allowed = None, allowed_nodes = None))]
    fn search(
        &self,
        py: Python<'_>,
        vectors: &[u8],
        #[pyo3(from_py_with = number)] limit: usize,
        threshold: Option<f32>,
        allowed: Option<Bound<'_, PyAny>>,
        allowed_nodes: Option<&[u8]>,
    ) -> PyResult<Vec<Hits>> {
        let packed_keys = allowed
            .as_ref()
            .is_some_and(PyAnyMethods::is_instance_of::<PyBytes>);
        if allowed_nodes.is_some() && !packed_keys {
            let text = "allowed_nodes come with `allowed` as bytes, one key for each node";
            return Err(PyValueError::new_err(text));
        }
        let keys = allowed.as_ref().map(keys).transpose()?;
        py.detach(|| {
            let allowed = keys.map(|keys| allow(keys, allowed_nodes)).transpose()?;
            let found = self.0.search(&Query {
                vectors: &packed(vectors, "vectors", f32::from_le_bytes)?,
                limit,
                threshold,
                allowed: allowed.as_ref(),
            })?;
            Ok(found.into_iter().map(Hits).collect())
        })
        .map_err(into_py)
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.0.settings().dimension
    }

    #[getter]
    fn documents(&self) -> usize {
        self.0.sizes().documents
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.sizes().rows
    }

    #[getter]
    fn sealed_rows(&self) -> u64 {
        self.0.sizes().sealed_rows
    }

    #[getter]
    fn segments(&self) -> usize {
        self.0.sizes().segments
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.0.sizes().memory_bytes
    }
}

#[pyfunction]
fn answer<'py>(
    py: Python<'py>,
    hits: Bound<'py, Hits>,
    documents: Vec<Bound<'py, Document>>,
    options: Bound<'py, ContextOptions>,
    #[pyo3(from_py_with = number)] max_bytes: usize,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let documents: Vec<&document::Document> = documents.iter().map(|it| &*it.get().0).collect();
    let (hits, ContextOptions { options, extras }) = (hits.get(), options.get());
    let reply = py
        .detach(|| {
            let (keys, scored) = hits.scored();
            if keys.len() != documents.len() {
                return Err(Error::DocumentCount {
                    right: keys.len(),
                    found: documents.len(),
                });
            }
            reply::answer(&documents, &scored, options, *extras, max_bytes)
        })
        .map_err(into_py)?;
    Ok((PyBytes::new(py, &reply.bytes), reply.tokens))
}

#[pyfunction]
fn file_hash(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    py.detach(|| sealed::file_hash(&path)).map_err(into_py)
}

#[pyfunction]
fn simd() -> &'static str {
    Kernel::detect().name()
}

/// Keys of documents: whole numbers, or bytes that pack them in 8 bytes each.
fn keys(value: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    match value.cast::<PyBytes>() {
        Ok(bytes) => packed(bytes.as_bytes(), "keys", u64::from_le_bytes).map_err(into_py),
        Err(_) => numbers(value),
    }
}

fn allow(keys: Vec<u64>, nodes: Option<&[u8]>) -> Result<Allowed, Error> {
    match nodes {
        None => Ok(Allowed::new(keys)),
        Some(nodes) => Allowed::of_nodes(&keys, packed(nodes, "nodes", u32::from_le_bytes)?),
    }
}

fn segment_file((name, size, hash): (String, u64, String)) -> Result<SegmentFile, Error> {
    match u128::from_str_radix(&hash, 16) {
        Ok(hash) => Ok(SegmentFile { name, size, hash }),
        Err(_) => Err(Error::SegmentFile {
            path: name,
            what: format!("its hash is {hash:?}; it is written in 32 hexadecimal digits"),
        }),
    }
}

/// The one map from errors of the core to exceptions.
fn into_py(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::ReplyTooLarge { .. } => PyOverflowError::new_err(text),
        Error::Graph(_) => PyRuntimeError::new_err(text),
        Error::SegmentWrite { error, .. } | Error::SegmentRead { error, .. } => {
            os_error(error, text)
        }
        _ => PyValueError::new_err(text),
    }
}

/// With a number, Python chooses the subclass, `FileNotFoundError` for example.
fn os_error(failure: Failure, text: String) -> PyErr {
    match failure.code {
        Some(code) => PyOSError::new_err((code, text)),
        None => PyOSError::new_err(text),
    }
}
