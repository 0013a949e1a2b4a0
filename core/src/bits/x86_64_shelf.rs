//! Slots of bins moved by one in AVX2: four words of a bin at a time.
#![allow(unsafe_code)]

use super::shelf::Edge;
use core::arch::x86_64::*;

/// Words of a vector.
pub(super) const LANES: usize = 4;

const SLOTS: usize = 64;

/// Bytes of a vector.
const BYTES: usize = 32;

/// Moves the bytes from `first` on up by one, into `free`, and puts a value into `first`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn move_bytes_up(bytes: &mut [u8], first: usize, free: usize, value: u8) {
    assert!(first <= free && free < bytes.len());
    let all = bytes.len();
    let at = bytes.as_mut_ptr();
    // SAFETY: whatever is read or written is up to `free` or below `all`, both of which are within the bytes.
    unsafe {
        if free - first > BYTES {
            // The lowest are read before any is written: a read of what was just written in other pieces
            // has to wait for it.
            let lowest = load(at.add(first).cast());
            let mut end = free;
            while end - first > BYTES {
                let moved = load(at.add(end - BYTES).cast());
                store(at.add(end - BYTES + 1).cast(), moved);
                end -= BYTES;
            }
            store(at.add(first + 1).cast(), lowest);
        } else if all - first > BYTES {
            // Those from `free` on stay.
            let few = _mm256_set1_epi8((free - first) as i8);
            let moving = _mm256_cmpgt_epi8(few, _mm256_loadu_si256(NUMBERS.as_ptr().cast()));
            let stays = load(at.add(first + 1).cast());
            let moved = _mm256_blendv_epi8(stays, load(at.add(first).cast()), moving);
            store(at.add(first + 1).cast(), moved);
        } else {
            bytes.copy_within(first..free, first + 1);
        }
    }
    bytes[first] = value;
}

/// The numbers of the bytes of a vector.
static NUMBERS: [u8; BYTES] = {
    let mut numbers = [0; BYTES];
    let mut at = 0;
    while at < BYTES {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};

/// As [`move_up`](super::shelf::move_up); bins have at least four words.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn move_up(bins: &mut [u64], bits: usize, first: usize, free: usize, value: u64) {
    let (lowest, highest) = (first / SLOTS, free / SLOTS);
    assert!(bits >= LANES && lowest <= highest && (highest + 1) * bits <= bins.len());
    let words = bins.as_mut_ptr();
    // Of the highest bin what is up to the free slot, of the lowest what is from the first on.
    let mut changing = u64::MAX >> (SLOTS - 1 - free % SLOTS);
    if lowest < highest {
        let mask = _mm256_set1_epi64x(changing as i64);
        // SAFETY: all bins up to the highest are in the slice; each change reads from its bin and the one
        // before it.
        unsafe {
            change_up(words.add(highest * bits), bits, |at| {
                let word = load(at);
                let comes = _mm256_srli_epi64::<63>(load(at.sub(bits)));
                let moved = _mm256_or_si256(_mm256_slli_epi64::<1>(word), comes);
                _mm256_or_si256(_mm256_andnot_si256(mask, word), _mm256_and_si256(mask, moved))
            });
            let between = (highest - lowest - 1) * bits;
            if between > 0 {
                change_down(words.add((lowest + 1) * bits), between, |at| {
                    let comes = _mm256_srli_epi64::<63>(load(at.sub(bits)));
                    _mm256_or_si256(_mm256_slli_epi64::<1>(load(at)), comes)
                });
            }
        }
        changing = u64::MAX;
    }
    changing &= u64::MAX << (first % SLOTS);
    let mask = _mm256_set1_epi64x(changing as i64);
    // But for the first slot, which gets the value.
    let moving = _mm256_set1_epi64x((changing & (changing - 1)) as i64);
    let place = _mm_cvtsi64_si128((first % SLOTS) as i64);
    // SAFETY: as above, and this reads its own bin only.
    unsafe {
        let bin = words.add(lowest * bits);
        change_up(bin, bits, |at| {
            let word = load(at);
            let comes = bits_from(value, bits, at.offset_from_unsigned(bin));
            let moved = _mm256_and_si256(moving, _mm256_slli_epi64::<1>(word));
            let stays = _mm256_andnot_si256(mask, word);
            _mm256_or_si256(_mm256_or_si256(stays, moved), _mm256_sll_epi64(comes, place))
        });
    }
}

/// As [`move_down`](super::shelf::move_down); bins have at least four words.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn move_down(bins: &mut [u64], bits: usize, free: usize, last: usize, value: u64) {
    let (lowest, highest) = (free / SLOTS, last / SLOTS);
    assert!(bits >= LANES && lowest <= highest && (highest + 1) * bits <= bins.len());
    let words = bins.as_mut_ptr();
    if lowest < highest {
        let edge = Mask::of(Edge::of_down(lowest, free, last));
        // SAFETY: all bins up to the highest are in the slice; each change reads from its bin and the one
        // after it.
        unsafe {
            change_up(words.add(lowest * bits), bits, |at| {
                let moved = _mm256_srli_epi64::<1>(_mm256_and_si256(load(at), edge.moving));
                let comes = _mm256_slli_epi64::<63>(load(at.add(bits)));
                let stays = _mm256_and_si256(load(at), edge.staying);
                _mm256_or_si256(_mm256_or_si256(stays, moved), comes)
            });
            let between = (highest - lowest - 1) * bits;
            if between > 0 {
                change_up(words.add((lowest + 1) * bits), between, |at| {
                    let comes = _mm256_slli_epi64::<63>(load(at.add(bits)));
                    _mm256_or_si256(_mm256_srli_epi64::<1>(load(at)), comes)
                });
            }
        }
    }
    let edge = Mask::of(Edge::of_down(highest, free, last));
    let place = _mm_cvtsi64_si128((last % SLOTS) as i64);
    // SAFETY: as above, and this reads its own bin only.
    unsafe {
        let bin = words.add(highest * bits);
        change_up(bin, bits, |at| {
            let comes = bits_from(value, bits, at.offset_from_unsigned(bin));
            let moved = _mm256_srli_epi64::<1>(_mm256_and_si256(load(at), edge.moving));
            let stays = _mm256_and_si256(load(at), edge.staying);
            let comes = _mm256_sll_epi64(comes, place);
            _mm256_or_si256(_mm256_or_si256(stays, moved), comes)
        });
    }
}

struct Mask {
    staying: __m256i,
    moving: __m256i,
}

impl Mask {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(edge: Edge) -> Self {
        let staying = _mm256_set1_epi64x(edge.staying as i64);
        Self { staying, moving: _mm256_set1_epi64x(edge.moving as i64) }
    }
}

/// Changes so many words, at least four, from the first on. The last four overlap those before them, so
/// they are made before any is written: what is written twice is the same.
///
/// # Safety
///
/// All may be written, and `make` may be asked about all places in it. What it reads elsewhere is not
/// below them.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn change_up(words: *mut u64, count: usize, make: impl Fn(*const u64) -> __m256i) {
    // SAFETY: there are at least four, and the caller answers for all.
    unsafe {
        let last = words.add(count - LANES);
        let made = make(last);
        let mut at = words;
        while at < last {
            store(at, make(at));
            at = at.add(LANES);
        }
        store(last, made);
    }
}

/// The same from the last on: what `make` reads elsewhere is not above them.
///
/// # Safety
///
/// As above.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn change_down(words: *mut u64, count: usize, make: impl Fn(*const u64) -> __m256i) {
    // SAFETY: as above.
    unsafe {
        let made = make(words);
        let mut left = count;
        while left > LANES {
            left -= LANES;
            let at = words.add(left);
            store(at, make(at));
        }
        store(words, made);
    }
}

/// The bits of a value of so many bits from one on, the highest being the first; one to a lane.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_from(value: u64, bits: usize, first: usize) -> __m256i {
    let value = _mm256_set1_epi64x((value << (SLOTS - bits) << first) as i64);
    _mm256_srli_epi64::<63>(_mm256_sllv_epi64(value, _mm256_setr_epi64x(0, 1, 2, 3)))
}

/// # Safety
///
/// Four words may be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(at: *const u64) -> __m256i {
    // SAFETY: the caller says so, and the load may be unaligned.
    unsafe { _mm256_loadu_si256(at.cast()) }
}

/// # Safety
///
/// Four words may be written.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(at: *mut u64, words: __m256i) {
    // SAFETY: the caller says so, and the store may be unaligned.
    unsafe { _mm256_storeu_si256(at.cast(), words) }
}
