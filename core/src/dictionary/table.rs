//! What the dictionary has in common with other tables that are swept home by home: how hashes become
//! places, what is counted, and which parts are blind.

use core::fmt::Debug;
use core::mem::offset_of;

use super::tools::Tools;
use super::{Cut, Fault, Place, Repeat, Seen};
use crate::bits::{Level, Scalar};
use crate::codec::{Reader, Writer};
use crate::error::Error;

/// Parts of a table that can lose entries independently.
const REGIONS: usize = 64;

/// For each region, the sweeps until all that it lost would have expired.
pub(crate) type Blind = [u16; REGIONS];

/// What every table knows of itself.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Frame {
    /// Entries stored.
    pub len: u64,
    cut: Cut,
    level: Level,
    /// Entries that the next sweep of their home removes.
    pub due: u64,
    /// Entries that found no room, since construction. Each makes a part of the answers
    /// [`Seen::Perhaps`] for a while.
    pub lost: u64,
    pub(crate) blind: Blind,
    /// Sweeps of a region that whatever it lost lives to see at most.
    lifetime: u16,
}

impl Frame {
    /// Its first bytes, which every insertion needs.
    pub(crate) const NEEDED: usize = offset_of!(Self, level) + size_of::<Level>();

    /// That of an empty table.
    pub(crate) fn new(cut: Cut, lifetime: u16) -> Self {
        let level = Level::detect();
        Self { cut, level, len: 0, due: 0, lost: 0, blind: [0; REGIONS], lifetime }
    }

    /// Counts the departure of expired entries.
    #[inline(always)]
    pub(crate) fn forget(&mut self, entries: u32) {
        self.len -= u64::from(entries);
        self.due -= u64::from(entries);
    }

    /// An entry of a home found no room.
    #[cold]
    pub(crate) fn lose(&mut self, home: usize) {
        self.lost = self.lost.saturating_add(1);
        self.blind[self.region(home)] = self.lifetime;
    }

    /// Whether what a home lost may be alive.
    #[inline(always)]
    pub(crate) fn is_blind(&self, home: usize) -> bool {
        self.lost != 0 && self.has_blind_spots(home)
    }

    #[cold]
    #[inline(never)]
    fn has_blind_spots(&self, home: usize) -> bool {
        self.blind[self.region(home)] != 0
    }

    /// The region of a home.
    pub(crate) fn region(&self, home: usize) -> usize {
        (home as u64 * REGIONS as u64 / self.cut.bins) as usize
    }

    pub(crate) fn write_blind(&self, out: &mut Writer) {
        for &sweeps in &self.blind {
            out.u16(sweeps);
        }
    }

    /// Reads what [`Frame::write_blind`] wrote beside so many lost entries.
    pub(crate) fn read_blind(&mut self, lost: u64, payload: &mut Reader<'_>) -> Result<(), Error> {
        self.lost = lost;
        for sweeps in &mut self.blind {
            *sweeps = payload.u16("blind regions")?;
        }
        let too_blind = |&sweeps: &u16| sweeps > self.lifetime || (sweeps > 0 && lost == 0);
        match self.blind.iter().find(|sweeps| too_blind(sweeps)) {
            None => Ok(()),
            Some(&sweeps) => {
                let expected = "no more sweeps than an entry lives";
                Err(Error::Field { field: "blind regions", found: sweeps.into(), expected })
            }
        }
    }
}

/// A home to be swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Which one.
    pub home: usize,
    /// Entries of this generation leave.
    pub expired: u64,
    /// Those of this one leave the next time.
    pub due: u64,
    /// Whether it is the last one of a pass.
    pub ends: bool,
}

/// Hashes with tags, which sweeps remove home by home. Memory is fixed at construction.
pub trait Table: Clone + Debug + Send + Sync + 'static {
    /// What tags mean to a home at some moment.
    type Moment: Copy;

    /// What it knows of itself.
    fn frame(&self) -> &Frame;

    /// The same, to change.
    fn frame_mut(&mut self) -> &mut Frame;

    /// Whether a place is stored, if the few bytes of its bucket tell; they mostly do.
    ///
    /// Otherwise the slot that probably holds it, if any: [`Table::held`] says whether it does,
    /// and if it does not, [`Table::find`] whether another does. Both should be kept out of the
    /// way.
    fn glance<T: Tools>(&self, tools: T, place: Place) -> Result<bool, u64>;

    /// The tag in the slot of its home that a [glance](Table::glance) found, if it holds the place; some
    /// tag that is alive, if all are that are stored.
    fn held<T: Tools>(&self, tools: T, place: Place, slot: u64) -> Option<u64>;

    /// What is known of a place.
    fn find<T: Tools>(&self, tools: T, place: Place) -> Seen;

    /// Stores a place that is certainly new, with room for it: the common case. In any other case, does
    /// nothing, and tells the slot that probably holds it, or zero: [`Table::try_repeat`] is next, and if
    /// that does nothing either, [`Table::find_or_insert`].
    fn try_insert_fresh<T: Tools>(&mut self, tools: T, place: Place, tag: u64) -> Result<(), u64>;

    /// Does what a repeat does to such a slot, and tells its tag before; nothing if that does not hold the
    /// place, or if the table tells no slots.
    #[inline(always)]
    fn try_repeat<T: Tools>(
        &mut self,
        tools: T,
        place: Place,
        slot: u64,
        moment: Self::Moment,
        repeat: Repeat,
    ) -> Option<u64> {
        let _ = (tools, place, slot, moment, repeat);
        None
    }

    /// Looks a place up and makes sure that it is stored. The answer is what was known before; an entry
    /// that is not alive counts as not known. With [`Repeat::Keep`], anything known changes nothing.
    fn find_or_insert<T: Tools>(
        &mut self,
        tools: T,
        place: Place,
        moment: Self::Moment,
        repeat: Repeat,
    ) -> Seen;

    /// Removes what has expired of a home.
    fn sweep<T: Tools>(&mut self, tools: T, sweep: Sweep);

    /// Asks for the memory of a place ahead of its use.
    fn prefetch(&self, place: Place);

    /// The same for the homes that are swept next, this one and some after it.
    fn prefetch_sweeps(&self, next: usize);

    /// The same for a lookup, which mostly needs less.
    fn prefetch_front(&self, place: Place);

    /// Writes the complete state; equal on every machine. The shape is not part of it.
    fn write(&self, out: &mut Writer);

    /// Counts all entries and the due ones, and checks everything on the way. What passes can not panic
    /// later.
    ///
    /// `tag_limit` is above all tags; `due` tells the generation that the next sweep of a home removes.
    fn count(&self, tag_limit: u64, due: impl Fn(usize) -> u64) -> Result<(u64, u64), Fault>;

    /// A table that was read with what it counts of itself, if everything in it is as it should be.
    fn counted(mut self, tag_limit: u64, due: impl Fn(usize) -> u64) -> Result<Self, Fault> {
        let (len, due) = self.count(tag_limit, due)?;
        let frame = self.frame_mut();
        (frame.len, frame.due) = (len, due);
        Ok(self)
    }

    /// Checks every invariant.
    fn validate(&self, tag_limit: u64, due: impl Fn(usize) -> u64) -> Result<(), Fault> {
        let counted = self.count(tag_limit, due)?;
        let Frame { len, due, .. } = *self.frame();
        if counted == (len, due) { Ok(()) } else { Err(Fault::Count) }
    }

    /// Where a hash lives.
    #[inline(always)]
    fn place(&self, hash: u64) -> Place {
        self.frame().cut.place(hash)
    }

    /// The instruction set in use.
    #[inline(always)]
    fn level(&self) -> Level {
        self.frame().level
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    fn without_vectors(mut self) -> Self {
        self.frame_mut().level = Level::Scalar(Scalar);
        self
    }
}
