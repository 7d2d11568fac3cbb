//! BLAKE3 of several short inputs of one length at once, for processors with AVX2.
//!
//! A compression of BLAKE3 is a chain of operations. Each waits for the one before. Here a vector register has a word of
//! each input. An input is at most a chunk of 1024 bytes, so that there is no tree. The constants and the order of
//! operations are those of the paper, section 2. Other processors hash one input after the other.
//!
//! Compilers do not vectorise this from plain loops: they unroll them first.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_or_si256, _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setr_epi32,
    _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_xor_si256,
};

use super::LANES;

/// Longest input, in bytes.
pub const LONGEST: usize = 1024;
/// Bytes of a block.
const BLOCK: usize = 64;

const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
const CHUNK_START: u32 = 1 << 0;
const CHUNK_END: u32 = 1 << 1;
const ROOT: u32 = 1 << 3;
const DERIVE_KEY_MATERIAL: u32 = 1 << 6;

/// How inputs are hashed: the key, and the flag of all blocks.
#[derive(Clone, Copy)]
pub struct Keyed {
    key: [u32; 8],
    flag: u32,
}

impl Keyed {
    /// The plain hash.
    pub const PLAIN: Self = Self { key: INITIAL, flag: 0 };

    /// The hash for one purpose.
    pub fn derive(context: &str) -> Self {
        let key = blake3::hazmat::hash_derive_key_context(context);
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(key.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { key: words, flag: DERIVE_KEY_MATERIAL }
    }

    /// The hashes of inputs of one length. `None`: the processor has no AVX2, or the inputs are not of one length, at most
    /// [`LONGEST`].
    pub fn hash(&self, inputs: &[&[u8]; LANES]) -> Option<[[u8; 32]; LANES]> {
        let length = inputs[0].len();
        let can_hash = length <= LONGEST && inputs.iter().all(|input| input.len() == length);
        if !can_hash || !std::arch::is_x86_feature_detected!("avx2") {
            return None;
        }
        // SAFETY: the processor has AVX2, which is all that the callee needs.
        Some(unsafe { self.hash_with_avx2(inputs) })
    }

    #[target_feature(enable = "avx2")]
    fn hash_with_avx2(&self, inputs: &[&[u8]; LANES]) -> [[u8; 32]; LANES] {
        let length = inputs[0].len();
        let mut chain = self.key.map(|word| _mm256_set1_epi32(word as i32));
        let blocks = length.div_ceil(BLOCK).max(1);
        for number in 0..blocks {
            let part = number * BLOCK..length.min((number + 1) * BLOCK);
            let mut bytes = [[0; BLOCK]; LANES];
            for (bytes, input) in bytes.iter_mut().zip(inputs) {
                bytes[..part.len()].copy_from_slice(&input[part.clone()]);
            }
            let word = |lane: usize, at: usize| {
                let bytes = &bytes[lane];
                i32::from_le_bytes([bytes[4 * at], bytes[4 * at + 1], bytes[4 * at + 2], bytes[4 * at + 3]])
            };
            let block = std::array::from_fn(|at| {
                let [a, b, c, d, e, f, g, h] = std::array::from_fn(|lane| word(lane, at));
                _mm256_setr_epi32(a, b, c, d, e, f, g, h)
            });
            let begin = if number == 0 { CHUNK_START } else { 0 };
            let end = if number + 1 == blocks { CHUNK_END | ROOT } else { 0 };
            compress(&mut chain, &block, part.len() as u32, self.flag | begin | end);
        }
        let mut hashes = [[0; 32]; LANES];
        for (place, word) in chain.into_iter().enumerate() {
            // SAFETY: both types are 32 bytes, for which any bits are valid.
            let words: [u32; LANES] = unsafe { std::mem::transmute(word) };
            for (hash, word) in hashes.iter_mut().zip(words) {
                hash[4 * place..4 * place + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        hashes
    }
}

/// The order of a block's words in the next round.
const NEXT: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ROUNDS: usize = 7;

/// The order of a block's words in each round.
const ORDER: [[usize; 16]; ROUNDS] = {
    let mut order = [[0; 16]; ROUNDS];
    let (mut round, mut at) = (0, 0);
    while at < 16 {
        order[0][at] = at;
        at += 1;
    }
    while round + 1 < ROUNDS {
        at = 0;
        while at < 16 {
            order[round + 1][at] = order[round][NEXT[at]];
            at += 1;
        }
        round += 1;
    }
    order
};

/// Mix two words of the block into four of the state.
#[inline]
#[target_feature(enable = "avx2")]
fn quarter(state: &mut [__m256i; 16], [a, b, c, d]: [usize; 4], first: __m256i, second: __m256i) {
    let right_16 = _mm256_setr_epi8(
        2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,
    );
    let right_8 = _mm256_setr_epi8(
        1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12,
    );
    state[a] = _mm256_add_epi32(_mm256_add_epi32(state[a], state[b]), first);
    state[d] = _mm256_shuffle_epi8(_mm256_xor_si256(state[d], state[a]), right_16);
    state[c] = _mm256_add_epi32(state[c], state[d]);
    let mixed = _mm256_xor_si256(state[b], state[c]);
    state[b] = _mm256_or_si256(_mm256_srli_epi32::<12>(mixed), _mm256_slli_epi32::<20>(mixed));
    state[a] = _mm256_add_epi32(_mm256_add_epi32(state[a], state[b]), second);
    state[d] = _mm256_shuffle_epi8(_mm256_xor_si256(state[d], state[a]), right_8);
    state[c] = _mm256_add_epi32(state[c], state[d]);
    let mixed = _mm256_xor_si256(state[b], state[c]);
    state[b] = _mm256_or_si256(_mm256_srli_epi32::<7>(mixed), _mm256_slli_epi32::<25>(mixed));
}

/// Put a block of each input into the chaining values. The inputs are in their first chunk.
#[inline]
#[target_feature(enable = "avx2")]
fn compress(chain: &mut [__m256i; 8], block: &[__m256i; 16], length: u32, flags: u32) {
    let [c0, c1, c2, c3, c4, c5, c6, c7] = *chain;
    let [i0, i1, i2, i3, ..] = INITIAL;
    let [i0, i1, i2, i3, counter, length, flags] =
        [i0, i1, i2, i3, 0, length, flags].map(|word| _mm256_set1_epi32(word as i32));
    let mut state = [c0, c1, c2, c3, c4, c5, c6, c7, i0, i1, i2, i3, counter, counter, length, flags];
    for order in &ORDER {
        let word = |at: usize| block[order[at]];
        quarter(&mut state, [0, 4, 8, 12], word(0), word(1));
        quarter(&mut state, [1, 5, 9, 13], word(2), word(3));
        quarter(&mut state, [2, 6, 10, 14], word(4), word(5));
        quarter(&mut state, [3, 7, 11, 15], word(6), word(7));
        quarter(&mut state, [0, 5, 10, 15], word(8), word(9));
        quarter(&mut state, [1, 6, 11, 12], word(10), word(11));
        quarter(&mut state, [2, 7, 8, 13], word(12), word(13));
        quarter(&mut state, [3, 4, 9, 14], word(14), word(15));
    }
    for (place, word) in chain.iter_mut().enumerate() {
        *word = _mm256_xor_si256(state[place], state[place + 8]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_have_the_hashes_of_blake3() {
        let context = "hobgoblin test of lanes";
        for length in (0..200).chain([1022, 1023, 1024]) {
            let byte = |lane: usize, at: usize| (at * 31 % 251) as u8 ^ lane as u8;
            let inputs: [Vec<u8>; LANES] = std::array::from_fn(|lane| (0..length).map(|at| byte(lane, at)).collect());
            let inputs: [&[u8]; LANES] = std::array::from_fn(|lane| &inputs[lane][..]);
            let plain = inputs.map(|input| *blake3::hash(input).as_bytes());
            let derived = inputs.map(|input| blake3::derive_key(context, input));
            let Some(hashes) = Keyed::PLAIN.hash(&inputs) else { return };
            assert_eq!(hashes, plain, "{length} bytes");
            assert_eq!(Keyed::derive(context).hash(&inputs), Some(derived), "{length} bytes");
        }
        let long = [0; LONGEST + 1];
        assert_eq!(Keyed::PLAIN.hash(&[&long[..]; LANES]), None);
        assert_eq!(Keyed::PLAIN.hash(&std::array::from_fn(|lane| &long[..lane])), None);
    }
}
