//! AVX2, BMI1, BMI2, LZCNT and POPCNT: every x86-64 server since 2013 to 2015.
#![allow(unsafe_code)]

use super::isa::{FEW, Isa};
use super::planes::Plane;
use super::row::{NEAR, STRETCH, SlotBytes};
use super::scalar::Scalar;
use super::x86_64_row::{
    bytes_beginning, bytes_holding, gather, near_bytes_holding, open_byte, scatter,
};
use core::arch::x86_64::*;

/// Whether the CPU has a feature: without the standard library, whether every CPU that this is compiled
/// for has.
macro_rules! has {
    ($feature:tt) => {{
        #[cfg(feature = "std")]
        let has = is_x86_feature_detected!($feature);
        #[cfg(not(feature = "std"))]
        let has = cfg!(target_feature = $feature);
        has
    }};
}

/// Holding one proves that this CPU has AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// Asks the CPU.
    pub fn detect() -> Option<Self> {
        let found = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        found.then_some(Self(()))
    }
}

impl Isa for Avx2 {
    #[inline(always)]
    fn vectorize<R>(self, operation: impl FnOnce() -> R) -> R {
        // SAFETY: `self` exists only if all the features were detected.
        unsafe { with_features(operation) }
    }

    #[inline(always)]
    fn vectorize_apart<R>(self, operation: impl FnOnce() -> R) -> R {
        // SAFETY: `self` exists only if all the features were detected.
        unsafe { with_features_apart(operation) }
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        // SAFETY: `self` exists only if BMI2 was detected.
        unsafe { _pext_u64(word, mask) }
    }

    #[inline(always)]
    fn deposit(self, word: u64, mask: u64) -> u64 {
        // SAFETY: `self` exists only if BMI2 was detected.
        unsafe { _pdep_u64(word, mask) }
    }

    #[inline(always)]
    fn low_bits(self, word: u64, count: u32) -> u64 {
        // SAFETY: `self` exists only if BMI2 was detected.
        unsafe { _bzhi_u64(word, count) }
    }

    #[inline(always)]
    fn drop_ones(self, word: u64, count: u32) -> u64 {
        // Beyond 64 the selector is all ones, and nothing is left.
        word ^ self.deposit(self.low_bits(u64::MAX, count), word)
    }

    #[inline(always)]
    fn differing(self, planes: &[Plane], value: u64) -> u64 {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { differing(planes, value) }
    }

    #[inline(always)]
    fn get(self, planes: &[Plane], slot: u64) -> u64 {
        if planes.len() < LANES {
            return few(planes, |planes| Scalar.get(planes, slot));
        }
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { get(planes, slot) }
    }

    #[inline(always)]
    fn set(self, planes: &mut [Plane], slot: u64, value: u64) {
        // Here, so that few planes never cost a call.
        if planes.len() < LANES {
            return few_mut(planes, |planes| Scalar.set(planes, slot, value));
        }
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { set(planes, slot, value) }
    }

    #[inline(always)]
    fn insert(self, planes: &mut [Plane], slot: u64, value: u64) {
        // Here, so that few planes never cost a call.
        if planes.len() < LANES {
            return few_mut(planes, |planes| Scalar.insert(planes, slot, value));
        }
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { insert(planes, slot, value) }
    }

    #[inline(always)]
    fn open_byte(self, row: &mut SlotBytes, slot: u32, value: u8) {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { open_byte(row, slot, value) }
    }

    #[inline(always)]
    fn bytes_holding(self, row: &SlotBytes, mask: u8, value: u8) -> u64 {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { bytes_holding(row, mask, value) }
    }

    #[inline(always)]
    fn near_bytes_holding(self, bytes: &[u8; NEAR], masks: &[u8; NEAR], value: u8) -> u64 {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { near_bytes_holding(bytes, masks, value) }
    }

    #[inline(always)]
    fn bytes_beginning(self, bytes: &[u8; STRETCH], value: u8) -> u32 {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { bytes_beginning(bytes, value) }
    }

    #[inline(always)]
    fn gather(self, planes: &[Plane]) -> SlotBytes {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { gather(planes) }
    }

    #[inline(always)]
    fn scatter(self, row: &SlotBytes, planes: &mut [Plane]) {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { scatter(row, planes) }
    }

    #[inline(always)]
    fn count_below(self, numbers: &[i16; FEW], than: i16) -> u32 {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { count_below(numbers, than) }
    }

    #[inline(always)]
    fn covers(self, block: &[u64; 4], mask: &[u64; 4]) -> bool {
        // SAFETY: `self` exists only if AVX2 was detected.
        unsafe { covers(block, mask) }
    }
}

/// The caller must know that the CPU has the features.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn with_features<R>(operation: impl FnOnce() -> R) -> R {
    operation()
}

/// The same, on its own.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn with_features_apart<R>(operation: impl FnOnce() -> R) -> R {
    operation()
}

/// Planes in a vector. The last vector overlaps the one before it, so that no plane is left over;
/// fewer planes are scalar.
const LANES: usize = 4;

#[inline]
#[target_feature(enable = "avx2")]
fn differing(planes: &[Plane], value: u64) -> u64 {
    let Some((last, last_value)) = last(planes, value) else {
        return few(planes, |planes| Scalar.differing(planes, value));
    };
    let mut differing = _mm256_xor_si256(load(last), Bits::of(last_value).next());
    let mut bits = Bits::of(value);
    let mut add =
        |four| differing = _mm256_or_si256(differing, _mm256_xor_si256(load(four), bits.next()));
    // The usual widths without a loop: the compiler would unroll it and spend more on counting than
    // on planes.
    match all_but_last(planes) {
        [] => {}
        [first] => add(first),
        [first, second] => {
            add(first);
            add(second);
        }
        more => more.iter().for_each(add),
    }
    any_lane(differing)
}

/// The four lanes, joined by `or`.
#[inline]
#[target_feature(enable = "avx2")]
fn any_lane(words: __m256i) -> u64 {
    let halves = _mm_or_si128(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
    (_mm_cvtsi128_si64(halves) | _mm_extract_epi64::<1>(halves)) as u64
}

/// At least four planes.
#[inline]
#[target_feature(enable = "avx2")]
fn get(planes: &[Plane], slot: u64) -> u64 {
    let Some((last, _)) = last(planes, 0) else { return 0 };
    let slots = _mm256_set1_epi64x(slot as i64);
    let lanes = |planes| {
        let set = _mm256_cmpeq_epi64(_mm256_and_si256(planes, slots), slots);
        _mm256_movemask_pd(_mm256_castsi256_pd(set)) as u64
    };
    let mut value = lanes(load(last)) << (planes.len() - LANES);
    for (index, four) in all_but_last(planes).iter().enumerate() {
        value |= lanes(load(four)) << (LANES * index);
    }
    value
}

/// At least four planes.
#[inline]
#[target_feature(enable = "avx2")]
fn set(planes: &mut [Plane], slot: u64, value: u64) {
    let slots = _mm256_set1_epi64x(slot as i64);
    change(planes, value, |words, bits| {
        _mm256_or_si256(_mm256_andnot_si256(slots, words), _mm256_and_si256(slots, bits))
    });
}

/// At least four planes.
#[inline]
#[target_feature(enable = "avx2")]
fn insert(planes: &mut [Plane], slot: u64, value: u64) {
    let slots = _mm256_set1_epi64x(slot as i64);
    let above = _mm256_set1_epi64x(slot.wrapping_neg() as i64);
    change(planes, value, |words, bits| {
        let moved = _mm256_add_epi64(words, _mm256_and_si256(words, above));
        _mm256_or_si256(moved, _mm256_and_si256(slots, bits))
    });
}

/// Replaces every plane, at least four, given its bit of the value in all slots.
#[inline]
#[target_feature(enable = "avx2")]
fn change(planes: &mut [Plane], value: u64, changed: impl Fn(__m256i, __m256i) -> __m256i) {
    let Some((last, last_value)) = last(planes, value) else { return };
    // Read before any of its planes is written.
    let last = changed(load(last), Bits::of(last_value).next());
    let mut bits = Bits::of(value);
    let count = all_but_last(planes).len();
    let mut apply = |four: &mut [Plane; LANES]| {
        let words = changed(load(four), bits.next());
        store(four, words);
    };
    match &mut planes.as_chunks_mut::<LANES>().0[..count] {
        [] => {}
        [first] => apply(first),
        [first, second] => {
            apply(first);
            apply(second);
        }
        more => more.iter_mut().for_each(apply),
    }
    if let Some(four) = planes.last_chunk_mut() {
        store(four, last);
    }
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn count_below(numbers: &[i16; FEW], than: i16) -> u32 {
    // SAFETY: these are 32 readable bytes; the load may be unaligned.
    let numbers = unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) };
    let below = _mm256_cmpgt_epi16(_mm256_set1_epi16(than), numbers);
    // Two bits for each.
    _mm256_movemask_epi8(below).count_ones() / 2
}

#[inline]
#[target_feature(enable = "avx2")]
fn covers(block: &[u64; 4], mask: &[u64; 4]) -> bool {
    // SAFETY: both are 32 readable bytes; the loads may be unaligned.
    let [block, mask] =
        [block, mask].map(|words| unsafe { _mm256_loadu_si256(words.as_ptr().cast()) });
    _mm256_testc_si256(block, mask) != 0
}

/// The last four planes and their part of the value.
#[inline(always)]
fn last(planes: &[Plane], value: u64) -> Option<(&[Plane; LANES], u64)> {
    let last = planes.last_chunk()?;
    Some((last, value.unbounded_shr((planes.len() - LANES) as u32)))
}

/// Whole vectors from the first plane on, as many as are needed beside the last four. There must be
/// at least four.
#[inline(always)]
fn all_but_last(planes: &[Plane]) -> &[[Plane; LANES]] {
    planes[..planes.len() - 1].as_chunks().0
}

/// Up to three planes. Each number for itself: a loop would spend more on counting than on planes.
#[inline(always)]
fn few<R>(planes: &[Plane], f: impl Fn(&[Plane]) -> R) -> R {
    match planes {
        [] => f(&[]),
        [_] => f(&planes[..1]),
        [_, _] => f(&planes[..2]),
        _ => f(&planes[..3]),
    }
}

/// The same, to be changed.
#[inline(always)]
fn few_mut(planes: &mut [Plane], f: impl Fn(&mut [Plane])) {
    match planes {
        [] => {}
        [_] => f(&mut planes[..1]),
        [_, _] => f(&mut planes[..2]),
        _ => f(&mut planes[..3]),
    }
}

/// The bits of a value, four at a time from the lowest, each spread over its lane.
struct Bits(__m256i);

impl Bits {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(value: u64) -> Self {
        Self(_mm256_set1_epi64x(value as i64))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn next(&mut self) -> __m256i {
        // The bit of each lane becomes the sign, and the sign fills the lane.
        let signs = _mm256_sllv_epi64(self.0, _mm256_setr_epi64x(63, 62, 61, 60));
        self.0 = _mm256_srli_epi64::<4>(self.0);
        _mm256_cmpgt_epi64(_mm256_setzero_si256(), signs)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(planes: &[Plane; LANES]) -> __m256i {
    // SAFETY: four planes are 32 readable bytes; the load may be unaligned.
    unsafe { _mm256_loadu_si256(planes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(planes: &mut [Plane; LANES], words: __m256i) {
    // SAFETY: four planes are 32 writable bytes; the store may be unaligned.
    unsafe { _mm256_storeu_si256(planes.as_mut_ptr().cast(), words) }
}
