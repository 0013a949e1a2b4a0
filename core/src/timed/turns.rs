//! Turns of the clock in which some segments have yet to take part.
//!
//! When the clock is set back, what was seen later counts as seen then, so that the tag of every entry may change. That
//! would take as long as there are entries. So a turn is only noted, and a segment takes part in it when it is swept
//! next, which the hand sees to. Until then whoever looks into the segment does in his mind what the sweep will do:
//! [`Sight`].
//!
//! Generations never go back. After a turn they go on where they were, with a gap that is longer than an entry lives;
//! what they are ahead of the ticks of the clock is a multiple of what tags can tell apart, so that tags are
//! always those of ticks. So a segment that has missed a turn is of a generation before it, is late for all who
//! only ask for that, and costs those nothing who find it in time.
//!
//! Worked example: 7 ages, tags of 3 bits. In tick 20 the clock is set back to tick 17, and generation 20 is
//! followed by 33 = 17 + 16. A segment that was swept in generation 18 has an entry of age 6: it was 8 old at the turn,
//! had left, and does not come back. One of age 4 was 6 old, and is 3 old afterwards. One of age 0 was 2 old, and
//! counts as seen in tick 17.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::clock::REGIONS;
use super::segment::{Segment, Shape};
use crate::codec::{Reader, Writer};
use crate::error::Error;

/// Turns that are noted at most.
const MOST: usize = 16;

/// Generations that may pass while turns are noted, so that 64 bits tell them apart. Nobody's clock goes so far:
/// with ticks of a few milliseconds it is a hundred million years.
pub(super) const FAR: u64 = 1 << 62;

/// A turn as the segments of a region see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TurnBack {
    /// The generation in which it happened.
    before: u64,
    /// The next one.
    pub(super) after: u64,
    /// Generations that the clock was set back, or as many as an entry lives if those are fewer.
    pub(super) back: u32,
}

/// The turns that some segments have missed.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    /// For every region, the oldest first; none if no segment is behind.
    noted: Box<[[TurnBack; REGIONS]]>,
    /// Segments that have missed the last one.
    behind: usize,
    /// What generations are ahead of ticks.
    ahead: u64,
    /// The last tick whose generation is told apart from those before the turns: [`FAR`] from the last one.
    last_tick: u64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { noted: Box::default(), behind: 0, ahead: 0, last_tick: u64::MAX }
    }
}

impl Turns {
    pub(super) fn heap_bytes(&self) -> u64 {
        size_of_val(&*self.noted) as u64
    }

    /// Segments that have missed the last turn.
    pub(super) fn behind(&self) -> usize {
        self.behind
    }

    /// The tick of a generation that is not before the last turn.
    #[inline(always)]
    pub(super) fn tick(&self, generation: u64) -> u64 {
        generation.wrapping_sub(self.ahead)
    }

    /// The generation of a tick from now on.
    #[inline(always)]
    pub(super) fn generation(&self, tick: u64) -> u64 {
        tick.wrapping_add(self.ahead)
    }

    /// The generation of a tick to which the clock has not come. So far ahead that it would be taken for another, everything
    /// has left long before.
    #[inline(always)]
    pub(super) fn later_generation(&self, tick: u64) -> u64 {
        self.generation(tick.min(self.last_tick))
    }

    /// Whether all segments have to take part before the clock goes to this generation of a region.
    pub(super) fn end_before(&self, region: usize, generation: u64) -> bool {
        self.noted.first().is_some_and(|turn| generation.wrapping_sub(turn[region].after) >= FAR)
    }

    /// The same before another turn from these generations, which all of so many segments will miss.
    pub(super) fn end_before_turn(&self, before: [u64; REGIONS], all: usize) -> bool {
        match self.noted.is_empty() {
            true => before.into_iter().any(|generation| self.tick(generation) >= FAR),
            false => self.noted.len() == MOST && !self.goes_on(before, all),
        }
    }

    /// Forgets turns after which everything has left by now that was there before; but for the first, from which
    /// [`FAR`] is measured. Whoever has missed them is late by their gaps, which is enough.
    pub(super) fn forget(&mut self, shape: &Shape, now: [u64; REGIONS]) {
        let has_left =
            |(turn, now): (&TurnBack, u64)| now.wrapping_sub(turn.after) > shape.ages.into();
        if self.noted.last().is_some_and(|last| last.iter().zip(now).all(has_left)) {
            self.noted = self.noted[..1].into();
        }
    }

    /// Notes that the clock was set back from these generations to these ticks, which all of so many segments miss.
    pub(super) fn note(
        &mut self,
        shape: &Shape,
        before: [u64; REGIONS],
        ticks: [u64; REGIONS],
        all: usize,
    ) {
        let goes_on = self.goes_on(before, all);
        let mut turn: [TurnBack; REGIONS] = core::array::from_fn(|region| {
            let back = self.back(shape, before[region], ticks[region]);
            TurnBack { before: before[region], after: 0, back }
        });
        let mut noted = core::mem::take(&mut self.noted).into_vec();
        if goes_on {
            for (turn, last) in turn.iter_mut().zip(noted.pop().into_iter().flatten()) {
                (turn.before, turn.back) = (last.before, (turn.back + last.back).min(shape.ages));
            }
        }
        self.ahead = ahead(shape, &turn, ticks);
        for (turn, tick) in turn.iter_mut().zip(ticks) {
            turn.after = self.generation(tick);
        }
        noted.push(turn);
        self.noted = noted.into();
        self.behind = all;
        self.last_tick = ticks[0].saturating_add(FAR);
    }

    /// Generations from this one back to a tick, or as many as an entry lives if those are fewer: more make no
    /// difference.
    pub(super) fn back(&self, shape: &Shape, before: u64, tick: u64) -> u32 {
        (self.tick(before) - tick).min(shape.ages.into()) as u32
    }

    /// Whether a turn would only prolong the last one: nobody took part in that, and no generation has begun since.
    fn goes_on(&self, before: [u64; REGIONS], all: usize) -> bool {
        let last = self.noted.last().filter(|_| self.behind == all);
        last.is_some_and(|last| last.map(|turn| turn.after) == before)
    }

    /// A segment that was behind took part.
    pub(super) fn take_part(&mut self) {
        self.behind -= 1;
        if self.behind == 0 {
            self.noted = Box::default();
            self.last_tick = u64::MAX;
        }
    }

    /// What is to be seen in a segment of a region at a generation.
    pub(super) fn sight(
        &self,
        shape: &Shape,
        region: usize,
        segment: &Segment<&[u64]>,
        now: u64,
    ) -> Sight {
        let (from, blind) = (segment.generation(), segment.info().blind);
        let mut sight = Sight {
            from,
            now: from,
            oldest: Some(shape.ages),
            more: 0,
            youngest: 0,
            blind,
            behind: false,
        };
        for turn in self.noted.iter().map(|turn| turn[region]) {
            if now.wrapping_sub(turn.after) < now.wrapping_sub(from) {
                sight.wait(shape, turn.before);
                sight.set_back(shape, turn);
            }
        }
        sight.wait(shape, now);
        sight
    }

    /// Writes what is noted, counted from the generations that the regions are in.
    pub(super) fn write(&self, now: [u64; REGIONS], out: &mut Writer) {
        out.u8(self.noted.len() as u8);
        for (turn, now) in self.noted.iter().flat_map(|turn| turn.iter().zip(now)) {
            out.u64(now.wrapping_sub(turn.after));
            out.u16(turn.after.wrapping_sub(turn.before) as u16);
            out.u16(turn.back as u16);
        }
    }

    /// Reads what [`write`](Self::write) wrote, with no segment behind yet.
    pub(super) fn read(
        shape: &Shape,
        now: [u64; REGIONS],
        payload: &mut Reader<'_>,
    ) -> Result<Self, Error> {
        let count = payload.u8("turns of the clock")?;
        if !(1..=MOST).contains(&count.into()) {
            let expected = "from 1 to 16";
            return Err(Error::Field {
                field: "turns of the clock",
                found: count.into(),
                expected,
            });
        }
        let mut noted = Vec::with_capacity(count.into());
        // Generations since the one before it.
        let mut most = [u64::MAX; REGIONS];
        for _ in 0..count {
            let mut turn = [TurnBack { before: 0, after: 0, back: 0 }; REGIONS];
            for ((turn, now), most) in turn.iter_mut().zip(now).zip(&mut most) {
                let since = payload.u64("generations since a turn")?;
                let gap = u64::from(payload.u16("generations that a turn leaves out")?);
                let back = u32::from(payload.u16("generations that a turn goes back")?);
                let long = gap > shape.ages.into() && back <= shape.ages;
                if !long || since >= FAR || since + gap > *most {
                    let expected = "fewer than since the turn before, by more than an entry lives";
                    let field = "generations since a turn";
                    return Err(Error::Field { field, found: since, expected });
                }
                *most = since;
                let after = now.wrapping_sub(since);
                *turn = TurnBack { before: after.wrapping_sub(gap), after, back };
            }
            noted.push(turn);
        }
        let last_tick = now[0].saturating_add(FAR);
        Ok(Self { noted: noted.into(), last_tick, ..Self::default() })
    }

    /// Takes notice of a segment of a region that is so many generations late; `false` if none can be.
    pub(super) fn meet(&mut self, region: usize, now: u64, late: u64) -> bool {
        self.behind += usize::from(self.are_missed(region, now, late));
        self.allow(region, now, late)
    }

    /// Whether a segment of a region can be so late.
    pub(super) fn allow(&self, region: usize, now: u64, late: u64) -> bool {
        let outside = |turn: &[TurnBack; REGIONS]| {
            let TurnBack { before, after, .. } = turn[region];
            late <= now.wrapping_sub(after) || late >= now.wrapping_sub(before)
        };
        match self.are_missed(region, now, late) {
            true => late <= 2 * FAR && self.noted.iter().all(outside),
            false => late <= self.tick(now),
        }
    }

    /// Whether a segment that is so late has missed a turn.
    fn are_missed(&self, region: usize, now: u64, late: u64) -> bool {
        self.noted.last().is_some_and(|last| late > now.wrapping_sub(last[region].after))
    }
}

/// How far generations are ahead of ticks after a turn: a multiple of what tags tell, and so far that no entry lives
/// from before the turn until then.
fn ahead(shape: &Shape, turn: &[TurnBack; REGIONS], ticks: [u64; REGIONS]) -> u64 {
    let so_far = |region: usize| turn[region].before.wrapping_sub(ticks[region]);
    // Regions differ by one generation, however far these have gone round.
    let first = so_far(0);
    let most = (0..REGIONS).map(|region| so_far(region).wrapping_sub(first) as i64).max();
    let least = first.wrapping_add_signed(most.unwrap_or(0)).wrapping_add(shape.ages.into());
    (least >> shape.tag_bits).wrapping_add(1) << shape.tag_bits
}

/// What a segment will be when it is swept, with the turns that it has missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sight {
    /// The generation of the segment, from which its ages count.
    from: u64,
    /// The one in which it is looked at.
    now: u64,
    /// The age in the segment beyond which all have left; none if all have.
    pub(super) oldest: Option<u32>,
    /// What to add to other ages, ...
    more: i32,
    /// ... and what they are at least then.
    youngest: i32,
    /// Generations from now on in which everything is reported.
    pub(super) blind: u32,
    /// Whether turns were missed.
    pub(super) behind: bool,
}

impl Sight {
    /// The age now of an age in the segment, if it has not left.
    #[inline(always)]
    pub(super) fn age(&self, age: u32) -> Option<u32> {
        (age <= self.oldest?).then(|| (age as i32 + self.more).max(self.youngest) as u32)
    }

    /// The same of a tag.
    #[inline(always)]
    pub(super) fn age_of_tag(&self, shape: &Shape, tag: u32) -> Option<u32> {
        self.age(shape.age(self.from, tag))
    }

    /// The tag that an entry with this tag is to have, if it has not left.
    pub(super) fn tag(&self, shape: &Shape, tag: u32) -> Option<u32> {
        Some(shape.tag(self.now.wrapping_sub(self.age_of_tag(shape, tag)?.into())))
    }

    /// Time goes on to a generation.
    fn wait(&mut self, shape: &Shape, until: u64) {
        let passed = until.wrapping_sub(self.now);
        self.now = until;
        let lives = passed <= shape.ages.into();
        self.blind = if lives { self.blind.saturating_sub(passed as u32) } else { 0 };
        if lives {
            self.more += passed as i32;
            self.youngest += passed as i32;
        }
        let ages = shape.ages as i32;
        let last =
            if lives && self.youngest <= ages { Some((ages - self.more) as u32) } else { None };
        self.oldest = self.oldest.zip(last).map(|(oldest, last)| oldest.min(last));
    }

    /// The clock is set back.
    fn set_back(&mut self, shape: &Shape, turn: TurnBack) {
        (self.now, self.behind) = (turn.after, true);
        self.more -= turn.back as i32;
        self.youngest = (self.youngest - turn.back as i32).max(0);
        if self.blind > 0 {
            self.blind = (self.blind + turn.back).min(shape.ages + 1);
        }
    }
}
