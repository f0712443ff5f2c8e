//! Dot products, in the widest vectors that the processor has, chosen when the program runs.
//!
//! One kernel serves every exact comparison, so that a row's similarity has the same bits wherever
//! the row lies.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined into the dispatched function may use its instructions"
)]

use pulp::{Arch, NullaryFnOnce, Simd, WithSimd};

use crate::error::{Error, Result};

/// Independent sums in a loop: hides the latency of one addition behind the others.
const SUMS: usize = 4;
/// Elements that the loops over brain floats take at a time.
const LANES: usize = 64;

/// The dot products of this processor. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(Arch);

impl Kernel {
    /// The best kernel that this processor can run.
    #[must_use]
    pub fn detect() -> Self {
        Self(Arch::new())
    }

    /// What the kernel uses, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(_) => "avx512f",
            #[cfg(target_arch = "x86_64")]
            Arch::V3(_) => "avx2+fma",
            _ if cfg!(target_arch = "x86_64") => "sse2",
            _ if cfg!(target_arch = "aarch64") => "neon",
            _ => "scalar",
        }
    }

    /// Dot product of two vectors of one length.
    ///
    /// ```
    /// # use tree_expand::kernel::Kernel;
    /// assert_eq!(Kernel::detect().dot(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
    /// ```
    #[must_use]
    pub fn dot(self, left: &[f32], right: &[f32]) -> f32 {
        self.0.dispatch(Dot { left, right })
    }

    /// Replaces `out` by the dot products of `query` and each of the `rows`, which lie one behind
    /// another.
    pub fn scan(self, query: &[f32], rows: &[f32], out: &mut Vec<f32>) {
        out.clear();
        self.0.dispatch(Scan { query, rows, out });
    }

    /// Dot product of two vectors of brain floats (the upper half of an `f32`), summed in `f32`.
    #[must_use]
    pub fn dot_bf16(self, left: &[u16], right: &[u16]) -> f32 {
        // A processor without fused multiply-add would call a library function for each element.
        if matches!(self.0, Arch::Scalar) && cfg!(target_arch = "x86_64") {
            dot_bf16(left, right, |a, b, sum| a * b + sum)
        } else {
            self.0.dispatch(DotBf16 { left, right })
        }
    }

    /// Replaces `out` by the dot products of `query` and each of the `rows` of brain floats, which
    /// lie one behind another.
    ///
    /// ```
    /// # use tree_expand::kernel::Kernel;
    /// let (one, two) = (0x3f80, 0x4000);
    /// let mut dots = Vec::new();
    /// Kernel::detect().scan_bf16(&[3.0, 4.0], &[one, two, two, one], &mut dots);
    /// assert_eq!(dots, [11.0, 10.0]);
    /// ```
    pub fn scan_bf16(self, query: &[f32], rows: &[u16], out: &mut Vec<f32>) {
        out.clear();
        if matches!(self.0, Arch::Scalar) && cfg!(target_arch = "x86_64") {
            scan_bf16(query, rows, out, |a, b, sum| a * b + sum);
        } else {
            self.0.dispatch(ScanBf16 { query, rows, out });
        }
    }
}

struct Dot<'a> {
    left: &'a [f32],
    right: &'a [f32],
}

impl WithSimd for Dot<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        dot(simd, self.left, self.right)
    }
}

struct Scan<'a> {
    query: &'a [f32],
    rows: &'a [f32],
    out: &'a mut Vec<f32>,
}

impl WithSimd for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.rows.chunks_exact(self.query.len()) {
            self.out.push(dot(simd, self.query, row));
        }
    }
}

#[inline(always)]
fn dot<S: Simd>(simd: S, left: &[f32], right: &[f32]) -> f32 {
    let (left, left_rest) = S::as_simd_f32s(left);
    let (right, right_rest) = S::as_simd_f32s(right);
    let mut sums = [simd.splat_f32s(0.0); SUMS];
    let (left_blocks, left_words) = left.as_chunks::<SUMS>();
    let (right_blocks, right_words) = right.as_chunks::<SUMS>();
    for (a, b) in left_blocks.iter().zip(right_blocks) {
        for i in 0..SUMS {
            sums[i] = simd.mul_add_e_f32s(a[i], b[i], sums[i]);
        }
    }
    for (&a, &b) in left_words.iter().zip(right_words) {
        sums[0] = simd.mul_add_e_f32s(a, b, sums[0]);
    }
    if !left_rest.is_empty() {
        let (a, b) = (
            simd.partial_load_f32s(left_rest),
            simd.partial_load_f32s(right_rest),
        );
        sums[1] = simd.mul_add_e_f32s(a, b, sums[1]);
    }
    let [a, b, c, d] = sums;
    simd.reduce_sum_f32s(simd.add_f32s(simd.add_f32s(a, b), simd.add_f32s(c, d)))
}

struct DotBf16<'a> {
    left: &'a [u16],
    right: &'a [u16],
}

impl NullaryFnOnce for DotBf16<'_> {
    type Output = f32;

    #[inline(always)]
    fn call(self) -> f32 {
        dot_bf16(self.left, self.right, f32::mul_add)
    }
}

struct ScanBf16<'a> {
    query: &'a [f32],
    rows: &'a [u16],
    out: &'a mut Vec<f32>,
}

impl NullaryFnOnce for ScanBf16<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        scan_bf16(self.query, self.rows, self.out, f32::mul_add);
    }
}

#[inline(always)]
fn scan_bf16(
    query: &[f32],
    rows: &[u16],
    out: &mut Vec<f32>,
    mul_add: impl Fn(f32, f32, f32) -> f32 + Copy,
) {
    for row in rows.chunks_exact(query.len()) {
        out.push(sum(query, row, |a| a, widen, mul_add));
    }
}

#[inline(always)]
fn dot_bf16(left: &[u16], right: &[u16], mul_add: impl Fn(f32, f32, f32) -> f32) -> f32 {
    sum(left, right, widen, widen, mul_add)
}

/// Sum of the products of two vectors of one length. Written as a plain loop: compilers turn the
/// widening of brain floats into shifts of whole vectors.
#[inline(always)]
fn sum<L: Copy, R: Copy>(
    left: &[L],
    right: &[R],
    of_left: impl Fn(L) -> f32,
    of_right: impl Fn(R) -> f32,
    mul_add: impl Fn(f32, f32, f32) -> f32,
) -> f32 {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0f32; LANES];
    for (a, b) in left.iter().zip(right) {
        for i in 0..LANES {
            sums[i] = mul_add(of_left(a[i]), of_right(b[i]), sums[i]);
        }
    }
    for (i, (&a, &b)) in left_rest.iter().zip(right_rest).enumerate() {
        sums[i] = mul_add(of_left(a), of_right(b), sums[i]);
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            sums[i] += sums[i + width];
        }
    }
    sums[0]
}

/// The number that a brain float is.
#[inline(always)]
pub(crate) fn widen(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// The brain float that is nearest to a finite number, as a number.
pub(crate) fn rounded(x: f32) -> f32 {
    let bits = x.to_bits();
    let to_even = bits >> 16 & 1;
    f32::from_bits(bits.wrapping_add(0x7fff + to_even) & 0xffff_0000)
}

/// Scales every row to length 1.
///
/// # Errors
/// A row is zero or not finite.
pub(crate) fn normalise(rows: &mut [f32], dimension: usize) -> Result<()> {
    for (number, row) in rows.chunks_exact_mut(dimension).enumerate() {
        let squares: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        if !squares.is_finite() {
            return Err(Error::VectorNotFinite(number));
        }
        if squares == 0.0 {
            return Err(Error::VectorZero(number));
        }
        let scale = squares.sqrt().recip();
        for x in row {
            *x = shortened(f64::from(*x) * scale);
        }
    }
    Ok(())
}

#[allow(clippy::cast_possible_truncation)] // rounding to the nearest `f32` is what is meant
fn shortened(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(left: &[f32], right: &[f32]) -> f64 {
        left.iter()
            .zip(right)
            .map(|(&a, &b)| f64::from(a) * f64::from(b))
            .sum()
    }

    fn halves(row: &[f32]) -> Vec<u16> {
        let half = |x: &f32| u16::try_from(x.to_bits() >> 16).unwrap();
        row.iter().map(half).collect()
    }

    fn vector(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0f32..1.0, length)
    }

    proptest! {
        #[test]
        fn dot_is_the_sum_of_products(left in vector(1..700), right in vector(700..701)) {
            let right = &right[..left.len()];
            let found = f64::from(Kernel::detect().dot(&left, right));
            prop_assert!((found - exact(&left, right)).abs() < 1e-4);
        }

        #[test]
        fn dot_of_brain_floats_is_that_of_the_floats_they_are(row in vector(1..700)) {
            let half = halves(&row);
            let wide: Vec<f32> = half.iter().map(|&x| widen(x)).collect();
            let found = f64::from(Kernel::detect().dot_bf16(&half, &half));
            prop_assert!((found - exact(&wide, &wide)).abs() < 1e-3);
            let plain = f64::from(dot_bf16(&half, &half, |a, b, sum| a * b + sum));
            prop_assert!((plain - found).abs() < 1e-3);
        }

        #[test]
        fn a_scan_of_brain_floats_gives_the_dots_with_the_floats_they_are(
            query in vector(1..200),
            matrix in vector(600..700),
        ) {
            let half = halves(&matrix);
            let wide: Vec<f32> = half.iter().map(|&x| widen(x)).collect();
            let right = wide.chunks_exact(query.len()).map(|row| exact(&query, row));
            let (mut found, mut plain) = (Vec::new(), Vec::new());
            Kernel::detect().scan_bf16(&query, &half, &mut found);
            scan_bf16(&query, &half, &mut plain, |a, b, sum| a * b + sum);
            prop_assert_eq!(found.len(), right.len());
            for ((&found, &plain), right) in found.iter().zip(&plain).zip(right) {
                prop_assert!((f64::from(found) - right).abs() < 1e-4);
                prop_assert!((f64::from(plain) - right).abs() < 1e-4);
            }
        }

        #[test]
        fn no_brain_float_is_nearer_than_the_one_rounded_to(x in -1.0f32..1.0) {
            let found = rounded(x);
            prop_assert_eq!(found.to_bits() & 0xffff, 0);
            for neighbour in [found.to_bits() - 0x1_0000, found.to_bits() + 0x1_0000] {
                let other = f32::from_bits(neighbour);
                prop_assert!((found - x).abs() <= (other - x).abs());
            }
        }

        #[test]
        fn scan_gives_the_bits_of_dot(matrix in vector(300..1_000), dimension in 1usize..300) {
            let query = &matrix[..dimension];
            let mut found = Vec::new();
            Kernel::detect().scan(query, &matrix, &mut found);
            let rows = matrix.chunks_exact(dimension);
            let dots = rows.map(|row| Kernel::detect().dot(row, query).to_bits());
            let right: Vec<u32> = dots.collect();
            prop_assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<_>>(), right);
        }
    }

    #[test]
    fn normalise_scales_to_length_one_whatever_the_size() {
        let mut rows = [3.0, 4.0, 3e-30, 4e-30, 3e30, -4e30];
        normalise(&mut rows, 2).unwrap();
        for (found, right) in rows.iter().zip([0.6, 0.8, 0.6, 0.8, 0.6, -0.8f32]) {
            assert!((found - right).abs() < 1e-7, "{rows:?}");
        }
    }

    #[test]
    fn normalise_refuses_what_has_no_direction() {
        let refused = |rows: &mut [f32]| normalise(rows, 2).unwrap_err();
        assert_eq!(refused(&mut [1.0, 0.0, 0.0, -0.0]), Error::VectorZero(1));
        assert_eq!(refused(&mut [f32::NAN, 1.0]), Error::VectorNotFinite(0));
        assert_eq!(
            refused(&mut [1.0, f32::INFINITY]),
            Error::VectorNotFinite(0)
        );
    }
}
