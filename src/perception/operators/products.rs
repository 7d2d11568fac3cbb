//! Dot products of a template and the pixels of all positions of some blocks: the part of a squared difference that
//! depends on both. Exists as plain arithmetic, with AVX2, and with the dot products of bytes of AVX-512 (VNNI). All
//! numbers are whole and wrap at 32 bits, so all give the same results.
//!
//! The template is centred: 128 is subtracted from its numbers, so that they fit in signed bytes. It has rows of zeros
//! above and below. So each row of pixels counts for all rows of positions in the same loop, and is loaded once.
//!
//! Uses intrinsics, because the compiler finds no dot products of bytes. 4 blocks of 64 positions with a template of
//! 32×32 take .65 µs with AVX-512.

use crate::base::{Result, try_filled};

use super::distances::POSITIONS;

/// Rows of positions that are computed together.
pub const ROWS: usize = 4;
/// Bytes behind the pixels that the kernels may read.
pub const SLACK: usize = 2 * POSITIONS;

/// For each position of blocks one above the other: its dot product.
pub type Products = [[u32; POSITIONS]; ROWS];

/// The code that computes the products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// All kernels, the fastest one first.
    const ALL: &[Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        Self::Plain,
    ];

    /// The kernels that the processor can run, the fastest one first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kernel| match kernel {
            Self::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vnni")
            }
        })
    }

    /// Numbers of the template in a word.
    fn group(self) -> usize {
        match self {
            Self::Plain => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 2,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 4,
        }
    }

    fn word(self, numbers: &[u8]) -> u32 {
        let centred = |index: usize| numbers.get(index).map_or(0, |number| i32::from(*number) - 128);
        match self.group() {
            4 => u32::from_le_bytes([0, 1, 2, 3].map(|index| centred(index) as u8)),
            2 => centred(0) as u16 as u32 | (centred(1) as u32) << 16,
            _ => centred(0) as u32,
        }
    }
}

/// A template in the form that its kernel needs.
#[derive(Debug)]
pub struct Centred {
    kernel: Kernel,
    /// Rows of groups of numbers. The ends of rows are padded with zeros.
    words: Vec<u32>,
    /// Words of a row.
    row_size: usize,
    /// Rows of the plane from a row of positions to the next one.
    step: usize,
}

impl Centred {
    /// A template with rows of `width` numbers. A row of positions is `step` rows of the plane.
    pub fn new(template: &[u8], width: usize, step: usize, kernel: Kernel) -> Result<Self> {
        let row_size = width.div_ceil(kernel.group());
        let padding = (ROWS - 1) * step * row_size;
        let rows = template.len() / width;
        let mut words = try_filled(0, rows * row_size + 2 * padding)?;
        let numbers = template.chunks_exact(width).flat_map(|row| row.chunks(kernel.group()));
        words[padding..].iter_mut().zip(numbers).for_each(|(word, numbers)| *word = kernel.word(numbers));
        Ok(Self { kernel, words, row_size, step })
    }

    pub fn memory_used(&self) -> usize {
        self.words.capacity() * size_of::<u32>()
    }

    /// The products of blocks whose first position is at `start`. Behind its pixels the plane has `ROWS` - 1 more rows of
    /// positions and [`SLACK`] bytes.
    #[inline(never)]
    pub fn at(&self, plane: &[u8], start: usize, stride: usize, out: &mut Products) {
        match self.kernel {
            Kernel::Plain => plain(self, plane, start, stride, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found that the processor has AVX2.
            Kernel::Avx2 => unsafe { x86::avx2(self, plane, start, stride, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found that the processor has AVX-512 with VNNI.
            Kernel::Avx512 => unsafe { x86::avx512(self, plane, start, stride, out) },
        }
    }

    /// Rows of pixels that the positions see.
    fn rows(&self) -> usize {
        self.words.len() / self.row_size - (ROWS - 1) * self.step
    }

    /// The template's words that a row of pixels meets at each row of positions.
    #[inline(always)]
    fn words_of(&self, row: usize) -> [&[u32]; ROWS] {
        std::array::from_fn(|k| &self.words[(row + (ROWS - 1 - k) * self.step) * self.row_size..][..self.row_size])
    }
}

fn plain(template: &Centred, plane: &[u8], start: usize, stride: usize, out: &mut Products) {
    *out = [[0; POSITIONS]; ROWS];
    for row in 0..template.rows() {
        let pixels = &plane[start + row * stride..][..template.row_size + POSITIONS];
        for (out, words) in out.iter_mut().zip(template.words_of(row)) {
            for (pixels, word) in pixels.windows(POSITIONS).zip(words) {
                let products = out.iter_mut().zip(pixels);
                products.for_each(|(out, pixel)| *out = out.wrapping_add(u32::from(*pixel).wrapping_mul(*word)));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::array::from_fn;

    use super::{Centred, POSITIONS, Products, ROWS};

    /// Lane i of the sum f is position 2 i + f of 16.
    #[target_feature(enable = "avx2")]
    pub fn avx2(template: &Centred, plane: &[u8], start: usize, stride: usize, out: &mut Products) {
        for part in (0..POSITIONS).step_by(16) {
            let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
            for row in 0..template.rows() {
                let pixels = &plane[start + part + row * stride..][..2 * template.row_size + 16];
                let words = template.words_of(row);
                for column in 0..template.row_size {
                    // SAFETY: 16 bytes are read from 2 * column + 1 at most, of any alignment.
                    let load = |f: usize| unsafe { _mm_loadu_si128(pixels.as_ptr().add(2 * column + f).cast()) };
                    let pixels: [__m256i; 2] = from_fn(|f| _mm256_cvtepu8_epi16(load(f)));
                    for (sums, words) in sums.iter_mut().zip(words) {
                        let word = _mm256_set1_epi32(words[column] as i32);
                        for (sum, pixels) in sums.iter_mut().zip(pixels) {
                            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pixels, word));
                        }
                    }
                }
            }
            for (out, [even, odd]) in out.iter_mut().zip(sums) {
                let (low, high) = (_mm256_unpacklo_epi32(even, odd), _mm256_unpackhi_epi32(even, odd));
                let out = &mut out[part..part + 16];
                // SAFETY: 16 numbers are written to 16, of any alignment.
                unsafe {
                    _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_permute2x128_si256::<0x20>(low, high));
                    _mm256_storeu_si256(out.as_mut_ptr().add(8).cast(), _mm256_permute2x128_si256::<0x31>(low, high));
                }
            }
        }
    }

    /// Lane i of the sum f is position 4 i + f.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub fn avx512(template: &Centred, plane: &[u8], start: usize, stride: usize, out: &mut Products) {
        let mut sums = [[_mm512_setzero_si512(); 4]; ROWS];
        for row in 0..template.rows() {
            let pixels = &plane[start + row * stride..][..4 * template.row_size + POSITIONS];
            let words = template.words_of(row);
            for column in 0..template.row_size {
                // SAFETY: 64 bytes are read from 4 * column + 3 at most, of any alignment.
                let load = |f: usize| unsafe { _mm512_loadu_si512(pixels.as_ptr().add(4 * column + f).cast()) };
                let pixels: [__m512i; 4] = from_fn(load);
                for (sums, words) in sums.iter_mut().zip(words) {
                    let word = _mm512_set1_epi32(words[column] as i32);
                    for (sum, pixels) in sums.iter_mut().zip(pixels) {
                        *sum = _mm512_dpbusd_epi32(*sum, pixels, word);
                    }
                }
            }
        }
        for (out, [a, b, c, d]) in out.iter_mut().zip(sums) {
            let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
            let (ef, gh) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
            // Part p of each has four positions from 16 p on, 16 p + 4, 16 p + 8 and 16 p + 12.
            let fours = [
                _mm512_unpacklo_epi64(ab, cd),
                _mm512_unpackhi_epi64(ab, cd),
                _mm512_unpacklo_epi64(ef, gh),
                _mm512_unpackhi_epi64(ef, gh),
            ];
            for (index, four) in fours.into_iter().enumerate() {
                let parts = [
                    _mm512_extracti32x4_epi32::<0>(four),
                    _mm512_extracti32x4_epi32::<1>(four),
                    _mm512_extracti32x4_epi32::<2>(four),
                    _mm512_extracti32x4_epi32::<3>(four),
                ];
                for (out, part) in out.chunks_exact_mut(16).zip(parts) {
                    // SAFETY: 4 numbers are written at 12 at most of 16, of any alignment.
                    unsafe { _mm_storeu_si128(out.as_mut_ptr().add(index * 4).cast(), part) };
                }
            }
        }
    }
}
