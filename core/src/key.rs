//! What can be a key, and which bytes it stands for.
//!
//! A key is bytes, and its bytes become one hash: the same in every release, on every platform, in
//! the command, the module and the library. So a filter that one of them wrote answers alike in the
//! others. FORMAT.md states the rule, and the vectors below pin it:
//!
//! | Key | Its bytes |
//! |---|---|
//! | bytes, text | as they are |
//! | an integer of any type | its value in eight bytes, least first, negative ones as two's complement; in sixteen if it does not fit |
//! | a tuple | of each part the length in eight bytes, least first, and its bytes |
//! | [`Structural`] | what `#[derive(Hash)]` feeds to a hasher, numbers least byte first |
//! | [`Hashed`] | none: the caller has hashed |
//!
//! `42_u8` and `42_i64` are the same key; `"42"` is another.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use siphasher::sip::SipHasher24;
use xxhash_rust::xxh3::Xxh3;

use crate::hash::Hashing;

/// Something that can be looked up: text, bytes, an integer, a tuple of those, or one of the two
/// wrappers [`Structural`] and [`Hashed`].
///
/// ```
/// use lately::key::{Hashed, Structural};
/// use lately::Lately;
///
/// #[derive(Hash)]
/// struct Click { user: u64, advertisement: String }
///
/// let mut seen = Lately::last(1000).build()?;
/// seen.insert("text");
/// seen.insert(b"bytes");
/// seen.insert(42);
/// seen.insert((42, "click"));
/// seen.insert(Structural(&Click { user: 42, advertisement: "shoes".into() }));
/// seen.insert(Hashed(0x9e37_79b9_7f4a_7c15));
/// assert!(seen.contains((42_u8, "click")));
/// # Ok::<(), lately::Error>(())
/// ```
pub trait Key {
    /// The key's hash.
    fn hash_with(&self, hashing: &Hashing) -> u64;
}

/// A key that stands for bytes.
pub trait Bytes {
    /// Shows the bytes to `then`.
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R;
}

impl<B: Bytes + ?Sized> Key for B {
    #[inline]
    fn hash_with(&self, hashing: &Hashing) -> u64 {
        self.with_bytes(|bytes| hashing.hash(bytes))
    }
}

impl<B: Bytes + ?Sized> Bytes for &B {
    #[inline]
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        (**self).with_bytes(then)
    }
}

macro_rules! as_they_are {
    ($($type:ty),+) => {$(
        impl Bytes for $type {
            #[inline]
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                then(self.as_ref())
            }
        }
    )+};
}

as_they_are!([u8], Vec<u8>, Box<[u8]>);

macro_rules! text {
    ($($type:ty),+) => {$(
        impl Bytes for $type {
            #[inline]
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                then(self.as_bytes())
            }
        }
    )+};
}

text!(str, String, Box<str>, Cow<'_, str>);

impl<const N: usize> Bytes for [u8; N] {
    #[inline]
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        then(self)
    }
}

macro_rules! integers {
    ($($type:ty as $wide:ty),+) => {$(
        impl Bytes for $type {
            #[inline]
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                then(&(*self as $wide).to_le_bytes())
            }
        }
    )+};
}

integers!(u8 as u64, u16 as u64, u32 as u64, u64 as u64, usize as u64);
integers!(i8 as i64, i16 as i64, i32 as i64, i64 as i64, isize as i64);

macro_rules! wide_integers {
    ($($type:ty, $short:ty);+) => {$(
        impl Bytes for $type {
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                match <$short>::try_from(*self) {
                    Ok(short) => short.with_bytes(then),
                    Err(_) => then(&self.to_le_bytes()),
                }
            }
        }
    )+};
}

wide_integers!(u128, u64; i128, i64);

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: Bytes),+> Bytes for ($($name,)+) {
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                #[allow(non_snake_case, reason = "names of types serve as names of parts")]
                let ($($name,)+) = self;
                let mut joined = Vec::new();
                $($name.with_bytes(|part| join(&mut joined, part));)+
                then(&joined)
            }
        }
    };
}

tuples!(A B);
tuples!(A B C);
tuples!(A B C D);

/// Adds one part of a key of several, with its length before it, so that `ab, c` and `a, bc` differ.
pub fn join(joined: &mut Vec<u8>, part: &[u8]) {
    joined.extend_from_slice(&(part.len() as u64).to_le_bytes());
    joined.extend_from_slice(part);
}

/// A hash that the caller made: 64 bits that look random. Only filters whose callers hash alike can
/// be exchanged or merged, and the seed of the filter is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hashed(pub u64);

impl Key for Hashed {
    #[inline]
    fn hash_with(&self, _hashing: &Hashing) -> u64 {
        self.0
    }
}

/// Any value with [`Hash`], by what its implementation feeds to a hasher.
///
/// Numbers are fed least byte first and sizes as 64 bits, so that integers, text, tuples, arrays,
/// slices, options and whatever derives `Hash` from them hash alike on all platforms. A type whose own
/// implementation depends on the platform does not.
#[derive(Debug, Clone, Copy)]
pub struct Structural<T>(pub T);

impl<T: Hash> Key for Structural<T> {
    fn hash_with(&self, hashing: &Hashing) -> u64 {
        match hashing {
            Hashing::Fast(seed) => Stable::feed(Xxh3::with_seed(seed.0), &self.0),
            Hashing::Keyed(secret) => Stable::feed(SipHasher24::new_with_key(secret), &self.0),
        }
    }
}

/// A hasher that is fed the same bytes on every platform.
struct Stable<H>(H);

impl<H: Hasher> Stable<H> {
    fn feed(hasher: H, value: &impl Hash) -> u64 {
        let mut stable = Stable(hasher);
        value.hash(&mut stable);
        stable.finish()
    }
}

macro_rules! least_byte_first {
    ($($method:ident($type:ty as $wide:ty)),+ $(,)?) => {$(
        fn $method(&mut self, number: $type) {
            self.0.write(&(number as $wide).to_le_bytes());
        }
    )+};
}

impl<H: Hasher> Hasher for Stable<H> {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    least_byte_first! {
        write_u8(u8 as u8), write_u16(u16 as u16), write_u32(u32 as u32), write_u64(u64 as u64),
        write_u128(u128 as u128), write_usize(usize as u64), write_i8(i8 as i8),
        write_i16(i16 as i16), write_i32(i32 as i32), write_i64(i64 as i64),
        write_i128(i128 as i128), write_isize(isize as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Seed;

    const FAST: Hashing = Hashing::Fast(Seed(42));

    fn of(key: impl Key) -> u64 {
        key.hash_with(&FAST)
    }

    fn bytes(key: impl Bytes) -> Vec<u8> {
        key.with_bytes(<[u8]>::to_vec)
    }

    #[test]
    fn text_and_bytes_are_what_they_are() {
        let expected = FAST.hash(b"lately");
        assert_eq!(of("lately"), expected);
        assert_eq!(of(String::from("lately")), expected);
        assert_eq!(of(Cow::Borrowed("lately")), expected);
        assert_eq!(of(b"lately"), expected);
        assert_eq!(of(&b"lately"[..]), expected);
        assert_eq!(of(b"lately".to_vec()), expected);
        let (once, twice) = (&"lately", &&"lately");
        assert_eq!((of(once), of(twice)), (expected, expected));
    }

    #[test]
    fn an_integer_is_its_value_whatever_its_type() {
        let expected = FAST.hash(&42_u64.to_le_bytes());
        for hash in [of(42_u8), of(42_u16), of(42_u32), of(42_u64), of(42_usize), of(42_u128)] {
            assert_eq!(hash, expected);
        }
        for hash in [of(42_i8), of(42_i16), of(42_i32), of(42_i64), of(42_isize), of(42_i128)] {
            assert_eq!(hash, expected);
        }
        assert_eq!(of(-1_i8), of(-1_i128));
        assert_eq!(bytes(-1_i32), [0xff; 8]);
        assert_eq!(bytes(1_u128 << 64).len(), 16);
        assert_ne!(of(42), of("42"));
    }

    #[test]
    fn parts_keep_their_limits() {
        assert_ne!(of(("ab", "c")), of(("a", "bc")));
        assert_ne!(of(("a", "b")), of(("a", "b", "")));
        assert_eq!(
            bytes(("a", 1)),
            [&[1, 0, 0, 0, 0, 0, 0, 0, b'a', 8, 0, 0, 0, 0, 0, 0, 0, 1][..], &[0; 7]].concat()
        );
    }

    /// Frozen with format version 1: fix the code, not the vector.
    #[test]
    fn structural_hashes_are_pinned() {
        #[derive(Hash)]
        enum Shape {
            Round { radius: u32 },
            Named(&'static str, Option<i16>),
        }
        let keyed = Hashing::Keyed([7; 16]);
        let values = [Shape::Round { radius: 7 }, Shape::Named("square", Some(-3))];
        let found: Vec<_> = values
            .iter()
            .flat_map(|value| [FAST, keyed].map(|hashing| Structural(value).hash_with(&hashing)))
            .collect();
        assert_eq!(found, STRUCTURAL);
        assert_eq!(of(Hashed(17)), 17);
    }

    const STRUCTURAL: [u64; 4] = [
        0x9439_446b_474e_f31c,
        0x2c2d_7b4b_5491_086b,
        0xe1d3_ca5e_bd78_f962,
        0x9c11_4cb3_f03c_89fd,
    ];

    #[test]
    fn sizes_are_64_bits_wide() {
        /// Feeds what a machine of 64 bits would.
        struct Sized64;
        impl Hash for Sized64 {
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_u64(2);
                state.write_u16(1);
                state.write_u16(2);
            }
        }
        assert_eq!(of(Structural(Sized64)), of(Structural(vec![1_u16, 2])));
    }
}
