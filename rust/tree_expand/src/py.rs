//! The Python module `treespan._core`: the only file that knows `PyO3`. Its stub is
//! `python/treespan/_core.pyi`.
//!
//! Numbers and bytes come in, numbers and bytes go out; what works in between does so without the
//! interpreter's lock.

#![allow(clippy::needless_pass_by_value, reason = "arguments arrive by value")]
#![allow(missing_docs, reason = "the stub has the docstrings")]

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Error;
use crate::filter::Allowed;
use crate::kernel::Kernel;
use crate::reply::{self, Extras, Scored};
use crate::top::Hit;
use crate::vectors::{self, Query, Settings};
use crate::window::{Mode, Options, window};
use crate::{document, merge, planner};

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{ContextOptions, Document, Hits, VectorIndex, answer, simd};

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
    #[pyo3(signature = (dimension, *, exact_rows = 10_000, seal_rows = 20_000, threads = 16))]
    fn new(
        #[pyo3(from_py_with = number)] dimension: usize,
        #[pyo3(from_py_with = number)] exact_rows: u32,
        #[pyo3(from_py_with = number)] seal_rows: u32,
        #[pyo3(from_py_with = number)] threads: usize,
    ) -> PyResult<Self> {
        vectors::VectorIndex::new(Settings {
            dimension,
            exact_rows,
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

    fn seal(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.0.seal()).map_err(into_py)
    }

    #[pyo3(signature = (vectors, limit, threshold = None, allowed = None))]
    fn search(
        &self,
        py: Python<'_>,
        vectors: &[u8],
        #[pyo3(from_py_with = number)] limit: usize,
        threshold: Option<f32>,
        #[pyo3(from_py_with = keys)] allowed: Option<Vec<u64>>,
    ) -> PyResult<Vec<Hits>> {
        py.detach(|| {
            let allowed = allowed.map(Allowed::new);
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
fn simd() -> &'static str {
    Kernel::detect().name()
}

/// Numbers of `SIZE` bytes each, one behind another.
fn packed<T, const SIZE: usize>(
    bytes: &[u8],
    what: &'static str,
    number: impl Fn([u8; SIZE]) -> T,
) -> Result<Vec<T>, Error> {
    let (whole, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(Error::PartialNumber {
            what,
            size: SIZE,
            found: bytes.len(),
        });
    }
    Ok(whole
        .iter()
        .map(|&number_bytes| number(number_bytes))
        .collect())
}

/// Keys of documents: whole numbers, or bytes that pack them in 8 bytes each.
fn keys(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u64>>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        let keys = packed(bytes.as_bytes(), "keys", u64::from_le_bytes);
        return keys.map(Some).map_err(into_py);
    }
    numbers(value).map(Some)
}

fn number<'a, 'py, T: Whole + FromPyObject<'a, 'py>>(value: &'a Bound<'py, PyAny>) -> PyResult<T> {
    extracted(value, T::RANGE)
}

fn optional_number<'py, T: Whole + FromPyObjectOwned<'py>>(
    value: &Bound<'py, PyAny>,
) -> PyResult<Option<T>> {
    (!value.is_none()).then(|| number(value)).transpose()
}

fn numbers<'py, T: Whole + FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>) -> PyResult<Vec<T>> {
    extracted(value, T::RANGE)
}

/// Takes a value over; a number out of range is a `ValueError`, as all bad input is.
fn extracted<'a, 'py, T: FromPyObject<'a, 'py>>(
    value: &'a Bound<'py, PyAny>,
    range: impl Display,
) -> PyResult<T> {
    value.extract().map_err(|error: T::Error| {
        let error: PyErr = error.into();
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            PyValueError::new_err(format!("a number is out of range; it should be {range}"))
        } else {
            error
        }
    })
}

/// The one map from errors of the core to exceptions.
fn into_py(error: Error) -> PyErr {
    match error {
        Error::ReplyTooLarge { .. } => PyOverflowError::new_err(error.to_string()),
        Error::Graph(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Whole numbers and the range they can have.
trait Whole {
    const RANGE: &'static str;
}

impl Whole for i32 {
    const RANGE: &'static str = "-2^31 to 2^31-1";
}

impl Whole for u32 {
    const RANGE: &'static str = "0 to 2^32-1";
}

impl Whole for u64 {
    const RANGE: &'static str = "0 to 2^64-1";
}

impl Whole for usize {
    const RANGE: &'static str = "0 to 2^64-1";
}
