//! A row of bytes in AVX2.
#![allow(unsafe_code)]

use super::planes::Plane;
use super::row::{NEAR, STRETCH, SlotBytes};
use core::arch::x86_64::*;

/// Slots in half a row.
const HALF: usize = 32;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn open_byte(row: &mut SlotBytes, slot: u32, value: u8) {
    let [low, high] = [0, HALF].map(|at| load_bytes(row, at));
    let before_high = load_bytes(row, HALF - 1);
    // The lower half of `low` in the upper half, zeros below it.
    let carried = _mm256_permute2x128_si256::<0x08>(low, low);
    let before_low = _mm256_alignr_epi8::<15>(low, carried);
    let slots = _mm256_set1_epi8(slot as i8);
    let numbers = load_bytes(&NUMBERS, 0);
    let numbers_high = load_bytes(&NUMBERS, HALF);
    let low = _mm256_blendv_epi8(low, before_low, _mm256_cmpgt_epi8(numbers, slots));
    let high = _mm256_blendv_epi8(high, before_high, _mm256_cmpgt_epi8(numbers_high, slots));
    for (half, bytes) in row.as_chunks_mut::<HALF>().0.iter_mut().zip([low, high]) {
        // SAFETY: half a row is 32 writable bytes; the store may be unaligned.
        unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), bytes) }
    }
    row[slot as usize % row.len()] = value;
}

/// The numbers of the slots.
static NUMBERS: SlotBytes = {
    let mut numbers = [0; 64];
    let mut slot = 0;
    while slot < numbers.len() {
        numbers[slot] = slot as u8;
        slot += 1;
    }
    numbers
};

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bytes_holding(row: &SlotBytes, mask: u8, value: u8) -> u64 {
    let (mask, value) = (_mm256_set1_epi8(mask as i8), _mm256_set1_epi8(value as i8));
    let [low, high] = [0, HALF].map(|at| {
        let equal = _mm256_cmpeq_epi8(_mm256_and_si256(load_bytes(row, at), mask), value);
        _mm256_movemask_epi8(equal) as u32
    });
    u64::from(high) << HALF | u64::from(low)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn near_bytes_holding(bytes: &[u8; NEAR], masks: &[u8; NEAR], value: u8) -> u64 {
    let [bytes, masks, all_but_last] = [bytes, masks, &ALL_BUT_LAST].map(|bytes| {
        // SAFETY: these are 16 readable bytes; the load may be unaligned.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    });
    let wanted = _mm_shuffle_epi8(_mm_cvtsi32_si128(value.into()), all_but_last);
    let equal = _mm_cmpeq_epi8(_mm_and_si128(bytes, masks), wanted);
    _mm_movemask_epi8(equal) as u64
}

/// A shuffle that puts the first byte into all places but the last, which gets zero.
static ALL_BUT_LAST: [u8; NEAR] = {
    let mut bytes = [0; NEAR];
    bytes[NEAR - 1] = 0x80;
    bytes
};

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bytes_beginning(bytes: &[u8; STRETCH], value: u8) -> u32 {
    let (bytes, value) = (load_stretch(bytes), _mm256_set1_epi8(value as i8));
    let end = _mm256_xor_si256(bytes, _mm256_sub_epi8(bytes, _mm256_set1_epi8(1)));
    let differing = _mm256_andnot_si256(end, _mm256_xor_si256(bytes, value));
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(differing, _mm256_setzero_si256())) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn gather(planes: &[Plane]) -> SlotBytes {
    // Each of the four bytes of half a plane in eight places, and in each of these another bit of it.
    let places =
        _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let mut row = [0; 64];
    for (half, at) in row.as_chunks_mut::<HALF>().0.iter_mut().zip([0, HALF / 8]) {
        let mut gathered = _mm256_setzero_si256();
        for (plane, bit) in planes.iter().zip(0..u8::BITS) {
            let word = i32::from_le_bytes(*plane[at..].first_chunk().unwrap());
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(word), places);
            let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), bits);
            let value = _mm256_set1_epi8((1_u8 << bit) as i8);
            gathered = _mm256_or_si256(gathered, _mm256_and_si256(set, value));
        }
        // SAFETY: half a row is 32 writable bytes; the store may be unaligned.
        unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), gathered) }
    }
    row
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scatter(row: &SlotBytes, planes: &mut [Plane]) {
    let mut halves = [0, HALF].map(|at| load_bytes(row, at));
    for bit in (0..u8::BITS as usize).rev() {
        // The highest bit of every byte; then the next becomes that.
        if let Some(plane) = planes.get_mut(bit) {
            let [low, high] = halves.map(|half| _mm256_movemask_epi8(half) as u32);
            *plane = (u64::from(high) << HALF | u64::from(low)).to_le_bytes();
        }
        halves = halves.map(|half| _mm256_add_epi8(half, half));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_stretch(bytes: &[u8; STRETCH]) -> __m256i {
    // SAFETY: 32 readable bytes; the load may be unaligned.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Half a row from `at` on.
#[inline]
#[target_feature(enable = "avx2")]
fn load_bytes(row: &SlotBytes, at: usize) -> __m256i {
    let half: &[u8; HALF] = row[at..].first_chunk().unwrap();
    // SAFETY: 32 readable bytes; the load may be unaligned.
    unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
}
