//! Counters of one size, that stop at a bound: the plainest storage, and the fastest.

use alloc::vec::Vec;
use core::fmt::Debug;

use super::Counters;
use crate::bits::prefetch;

/// Counters of the size of `T`: `u8`, `u16` or `u32`. They saturate at `T::MAX`.
#[derive(Debug, Clone)]
pub struct Fixed<T> {
    values: Vec<T>,
}

/// The integers that a [`Fixed`] counter may be.
pub trait Cell: Copy + Debug + Default + Into<u64> + Send + Sync + 'static {
    /// Its largest value.
    const MOST: u64;

    /// The value, which is at most [`MOST`](Self::MOST).
    fn from_u64(value: u64) -> Self;

    /// The sum, or the largest value if that is more.
    fn plus(self, more: Self) -> Self;
}

macro_rules! cells {
    ($($cell:ty)+) => {$(
        impl Cell for $cell {
            const MOST: u64 = Self::MAX as u64;

            fn from_u64(value: u64) -> Self {
                value as Self
            }

            fn plus(self, more: Self) -> Self {
                self.saturating_add(more)
            }
        }
    )+};
}

cells!(u8 u16 u32);

impl<T: Cell> Counters for Fixed<T> {
    const ADAPTS: bool = false;
    const LINES: f64 = 1.0;
    const LARGEST: u64 = T::MOST;

    fn new(len: usize) -> Self {
        Self { values: vec![T::default(); len] }
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn get(&self, index: usize) -> u64 {
        self.values[index].into()
    }

    #[inline]
    fn set(&mut self, index: usize, value: u64) {
        self.values[index] = T::from_u64(value.min(T::MOST));
    }

    fn combine(&mut self, other: &Self, by: impl Fn(u64, u64) -> u64) {
        for (ours, &theirs) in self.values.iter_mut().zip(&other.values) {
            *ours = T::from_u64(by((*ours).into(), theirs.into()).min(T::MOST));
        }
    }

    fn add_all(&mut self, other: &Self) {
        for (ours, &theirs) in self.values.iter_mut().zip(&other.values) {
            *ours = ours.plus(theirs);
        }
    }

    #[inline]
    fn prefetch(&self, index: usize) {
        prefetch(&self.values, index);
    }

    fn heap_bytes(&self) -> u64 {
        Self::heap_bytes_for(self.values.len())
    }

    fn heap_bytes_for(len: usize) -> u64 {
        (len * size_of::<T>()) as u64
    }
}
