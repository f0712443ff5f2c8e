//! Numbers that come from Python: packed in bytes, or one by one and in range.

use std::fmt::Display;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::error::Error;

/// Numbers of `SIZE` bytes each, one behind another.
pub(super) fn packed<T, const SIZE: usize>(
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

pub(super) fn number<'a, 'py, T: Whole + FromPyObject<'a, 'py>>(
    value: &'a Bound<'py, PyAny>,
) -> PyResult<T> {
    extracted(value, T::RANGE)
}

pub(super) fn optional_number<'py, T: Whole + FromPyObjectOwned<'py>>(
    value: &Bound<'py, PyAny>,
) -> PyResult<Option<T>> {
    (!value.is_none()).then(|| number(value)).transpose()
}

pub(super) fn numbers<'py, T: Whole + FromPyObjectOwned<'py>>(
    value: &Bound<'py, PyAny>,
) -> PyResult<Vec<T>> {
    extracted(value, T::RANGE)
}

/// Takes a value over; a number out of range is a `ValueError`, as all bad input is.
pub(super) fn extracted<'a, 'py, T: FromPyObject<'a, 'py>>(
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

/// Whole numbers and the range they can have.
pub(super) trait Whole {
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
