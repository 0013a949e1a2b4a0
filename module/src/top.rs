//! Filters that tell which items came most often: they hold the items that lead, or will when others have
//! left the window, and these leave the server and come back with them.

use lately::Time;
use lately::queries::TopKeys;

use crate::engine::{Answers, Heap, Refusal};
use crate::object::{Repeat, Stored};

/// The items of a new filter that tells so many, if it is to tell any.
pub fn wished(stored: &Stored, top: Option<usize>) -> Result<Option<Box<TopKeys>>, Refusal> {
    let Some(most) = top else { return Ok(None) };
    let counting = stored.filter().counting().ok_or(Refusal::FAULT)?;
    let window = stored.filter().blueprint().promise().window;
    Ok(Some(Box::new(TopKeys::new(window, counting, most)?)))
}

impl Stored {
    /// How many of the items that came most often it tells, if any.
    pub fn most_told(&self) -> Option<usize> {
        self.top.as_ref().map(|top| top.most())
    }

    /// The items that came most often in the window at a moment, with their counts, at most so many.
    pub fn list_top(&self, most: Option<usize>, now: Time) -> Result<Vec<(&[u8], u64)>, Refusal> {
        let top = self.top.as_ref().ok_or(KEEPS_NO_TOP)?;
        let counting = self.filter().counting().ok_or(Refusal::FAULT)?;
        Ok(top.list(most.unwrap_or(top.most()), counting, now))
    }

    /// Bytes that they take.
    pub fn top_bytes(&self) -> usize {
        self.top.as_ref().map_or(0, |top| size_of_val(&**top) + top.heap_bytes() as usize)
    }

    /// As they leave the server; nothing if there are none.
    pub fn save_top(&self) -> Vec<u8> {
        self.top.as_ref().map_or(Vec::new(), |top| top.save())
    }

    /// Takes them as they come back.
    pub fn open_top(&mut self, bytes: &[u8]) -> Result<(), lately::Error> {
        if !bytes.is_empty() {
            let before = Heap::now();
            let window = self.filter().blueprint().promise().window;
            self.top = Some(Box::new(TopKeys::open(bytes, window, &self.hashing)?));
            self.settle(before);
        }
        Ok(())
    }

    /// Inserts items and notes each that was counted; `true` for each that was new.
    #[cold]
    #[inline(never)]
    pub fn insert_and_note<'i>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'i [u8]>,
        now: Time,
        repeat: Repeat,
    ) -> Answers {
        let (mut inserted, mut new_ones) = (0, 0);
        let mut answers = Answers::default();
        for item in items {
            let hash = self.hashing.hash(item);
            let before = Heap::now();
            let new = match repeat {
                Repeat::Refreshes => self.filter.insert_hash(hash, now),
                Repeat::KeepsItsAge => self.filter.insert_new_hash(hash, now),
            };
            if new || repeat == Repeat::Refreshes {
                self.note(hash, item, None, now);
            }
            // To add up what all items take is more work than to insert one.
            if before.has_changed() {
                self.settle(before);
            }
            inserted += 1;
            new_ones += u64::from(new);
            answers.extend(&[new]);
        }
        self.count(inserted, new_ones);
        answers
    }

    /// Notes that an item was counted; its count is asked for if nobody tells.
    #[inline]
    pub fn note(&mut self, hash: u64, item: &[u8], count: Option<u64>, now: Time) {
        if let (Some(top), Some(counting)) = (&mut self.top, self.filter.counting()) {
            let count = count.unwrap_or_else(|| counting.count_hash(hash, now));
            top.note((hash, item), count, counting, now);
        }
    }

    /// Lets go items that have left the window.
    pub fn expire_top(&mut self, now: Time) {
        if let (Some(top), Some(counting)) = (&mut self.top, self.filter.counting()) {
            let before = Heap::now();
            top.expire(counting, now);
            self.settle(before);
        }
    }

    /// Looks at all items again, after the clock was set back.
    pub fn look_at_top_again(&mut self, now: Time) {
        if let (Some(top), Some(counting)) = (&mut self.top, self.filter.counting()) {
            let before = Heap::now();
            top.look_again(counting, now);
            self.settle(before);
        }
    }

    /// Refuses what would make a list of the first items wrong: sightings that go, or come without their
    /// items.
    pub fn refuse_if_top(&self, refusal: Refusal) -> Result<(), Refusal> {
        if self.top.is_some() { Err(refusal) } else { Ok(()) }
    }
}

const KEEPS_NO_TOP: Refusal = Refusal::coded(
    "ERR this filter does not keep the items that came most often; reserve one with COUNTING TOP k",
);

/// The refusal of hashes.
pub const TOP_WANTS_ITEMS: Refusal = Refusal::coded(
    "ERR this filter tells which items came most often, so send the items themselves, not their hashes",
);

/// The refusal of taking back.
pub const TOP_FORGETS_NOTHING: Refusal = Refusal::coded(
    "ERR this filter tells which items came most often, and nobody knows which come up when sightings are \
     taken back; reserve one without TOP",
);

/// The refusal of merging.
pub const TOP_MERGES_NOTHING: Refusal = Refusal::coded(
    "ERR this filter tells which items came most often, and nobody knows which come up when counts are \
     added; merge into one that was reserved without TOP",
);
