//! A repeat whose slot is known already.
//!
//! Who tries to store a place at once, and finds that it may be there, has read the few bytes of its bucket and knows
//! the slot. To begin anew from there would cost as much again: the words taken apart, all 64 slots compared.

use super::Place;
use super::store::{Dictionary, Repeat, Tags};
use crate::bits::Isa;

impl Dictionary {
    /// Does what a repeat does to the slot that [`Dictionary::insert_at_once`] told, and tells its tag before; nothing
    /// if that does not hold the place.
    #[inline(always)]
    pub fn repeat_at_once<I: Isa>(
        &mut self,
        isa: I,
        place: Place,
        slot: u64,
        tags: Tags,
        repeat: Repeat,
    ) -> Option<u64> {
        if slot == 0 {
            return None;
        }
        let mut bin = self.bins.get_mut(place.bin);
        let (remainder, before) = bin.exchange_tag(isa, slot, place.remainder, tags.now, repeat);
        if remainder != place.remainder {
            return None;
        }
        self.due -= u64::from(repeat == Repeat::Refresh && before == tags.due);
        Some(before)
    }
}
