//! The last t in bounded memory, or less than that when more comes than fits.
//!
//! Whoever chooses the rate must not choose our memory. The [window by time](super) with a bound errs more often when more
//! comes than fits into it ([`bounded`](super::bounded)), and forgets nothing. This one does the opposite: the error stays what was
//! asked for, and the window becomes shorter, by as little as possible; how short it is, it
//! [says](crate::raw::Filter::reach). When less comes, the window grows back by itself: by a second in every second,
//! since what is forgotten does not come back.
//!
//! The segments have a [clock of their own](super::pace), which leaps ahead when memory is short. So a
//! window that shortens is one by time at a higher rate: its law of the error, its sweeps and its snapshots are those, and there are as
//! many generations in a short window as in a long one. A leap ends as many generations as a 64th of all entries
//! are in. The hand is put where they are, and what it finds there makes room for what has come meanwhile.
//!
//! Worked example: an hour, in a memory that holds 3 million keys. With ten million in an hour the window is about
//! 20 minutes long; in a flood of a million a second it is 3 seconds, and an hour after the flood it is an hour.
//!
//! The bound is kept but for a segment. Only segments that grow take memory: then the hand goes four segments further, each
//! of which loses a seventh of its entries if a leap was just made. If that is not enough, every growth beyond the
//! bound makes another leap, until all that is left fits.
//!
//! What is not guaranteed: how long the window is, and the error if hashes are not random, as in [`TimedWindow`].

use super::bounded::Bound;
use super::clock::{REGION_BITS, REGIONS, region_of};
use super::deal::bins_after_sweep;
use super::filter::TimedWindow;
use super::pace::Pace;
use super::segment::Segment;
use super::shortening_parameters::ShorteningWindowParameters;
use super::slots::Repeat;
use super::state;
use crate::bits::{Isa, vectorized};
use crate::blueprint::Blueprint;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Age, Aging, Filter, Membership, Removing};
use crate::window::{Reach, Span, Time};

/// Segments that are looked after for one that grows.
const STEPS: u32 = 4;

/// One in so many entries goes when memory is short, ...
const LITTLE: u128 = 64;
/// ... and when there is more than there should be.
const MUCH: u128 = 16;

/// Remembers every key for a span of time, or for less while more come than fit.
#[derive(Debug, Clone)]
pub struct ShorteningWindow {
    parameters: ShorteningWindowParameters,
    bound: Bound,
    inner: TimedWindow,
    pace: Pace,
    /// The shortest that the window ever was, in milliseconds.
    shortest: u64,
    /// A bit for each region: whether a generation has begun since the hand was there.
    late: u8,
    /// Whether much of that is because there was more than there should be.
    hurried: bool,
}

impl ShorteningWindow {
    /// An empty filter.
    pub fn new(parameters: ShorteningWindowParameters) -> Self {
        let bound = parameters.bound();
        let inner = TimedWindow::new(parameters.unbounded());
        let shortest = parameters.segments.span.millis();
        Self {
            parameters,
            bound,
            inner,
            pace: parameters.pace(),
            shortest,
            late: 0,
            hurried: false,
        }
    }

    /// Reads what [`write_payload`](Filter::write_payload) wrote.
    pub(super) fn read(
        parameters: ShorteningWindowParameters,
        payload: &mut Reader<'_>,
    ) -> Result<Self, Error> {
        let inner = state::read(parameters.unbounded(), payload)?;
        let pace = parameters.pace().read(inner.clock, payload)?;
        let span = parameters.segments.span.millis();
        let shortest = payload.u64_at_most("shortest window", span, "at most the span")?;
        let late = payload.u8("late regions")?;
        let hurried = payload.u8("hurried")?;
        if hurried > 1 {
            let (field, expected) = ("hurried", "0 or 1");
            return Err(Error::Field { field, found: hurried.into(), expected });
        }
        let hurried = hurried == 1;
        let empty = Self::new(parameters);
        Ok(Self { inner, pace, shortest, late, hurried, ..empty })
    }

    /// Checks every invariant, and says which one is broken.
    pub fn validate(&self) -> Result<(), alloc::string::String> {
        if self.inner.clock != self.pace.clock().map(|clock| self.pace.inner(clock)) {
            return Err("it does not hold that both clocks are known".into());
        }
        self.inner.validate()
    }

    /// Entries stored at this moment.
    pub fn items(&self) -> u64 {
        self.inner.items()
    }

    /// Entries that found no room, ever: zero unless hashes are not random.
    pub fn lost(&self) -> u64 {
        self.inner.lost()
    }

    /// Segments that were swept or made since the beginning.
    #[doc(hidden)]
    pub fn work(&self) -> u64 {
        self.inner.work()
    }

    #[inline(always)]
    fn insert<I: Isa>(&mut self, isa: I, hash: u64, now: Time, repeat: Repeat) -> bool {
        let now = self.advance(now);
        let (reckoned, hand) = (self.inner.reckoned, self.inner.hand);
        let new = self.inner.insert(isa, hash, Time::from_millis(now), repeat);
        self.follow(hand);
        if self.inner.reckoned > reckoned {
            self.relieve(isa);
        }
        new
    }

    /// Takes notice of the time, and says what the inner clock says.
    #[inline(always)]
    fn advance(&mut self, now: Time) -> u64 {
        let now = self.pace.advance(now.millis());
        if now >= self.inner.next_change {
            self.begin(now);
        } else {
            self.inner.clock = Some(now);
        }
        now
    }

    /// Generations begin.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, inner: u64) {
        let before = self.inner.current();
        self.inner.set_clock(inner);
        let now = self.inner.current();
        self.late |= regions(|region| now[region] != before[region]);
        self.lead_hand(0);
        self.notice_reach();
    }

    fn notice_reach(&mut self) {
        self.shortest = self.shortest.min(self.remembered(self.pace.clock().unwrap_or(0)));
    }

    /// The hand was here; having left a region, it goes where something may go.
    #[inline(always)]
    fn follow(&mut self, hand: u64) {
        if region_of(self.inner.hand) != region_of(hand) {
            self.late &= !(1 << region_of(hand));
            self.lead_hand(0);
        }
    }

    /// Puts the hand where something may go: to the next region that is late, if it is not in one, or in one of these,
    /// which it has to go through once more.
    #[cold]
    fn lead_hand(&mut self, again: u8) {
        let here = region_of(self.inner.hand);
        let ahead = self.late.rotate_right(here as u32).trailing_zeros() as usize;
        if self.late != 0 && (ahead > 0 || again >> here & 1 == 1) {
            self.inner.hand = (((here + ahead) % REGIONS) as u64) << (u64::BITS - REGION_BITS);
            // So that it goes round once before it rests.
            self.inner.quiet = 0;
        }
    }

    /// Makes room if there is little; a segment has grown.
    #[cold]
    #[inline(never)]
    fn relieve<I: Isa>(&mut self, isa: I) {
        let bytes = self.inner.reckoned_bytes();
        if bytes <= self.bound.begin {
            return;
        }
        // What may go already, goes first.
        self.hurried &= self.late != 0;
        if bytes > self.bound.most && !self.hurried {
            self.leap(MUCH);
            self.hurried = true;
        } else if self.late == 0 {
            self.leap(LITTLE);
        }
        for _ in 0..STEPS {
            let hand = self.inner.hand;
            self.inner.tend_next(isa);
            self.compact(isa, hand);
            self.follow(hand);
        }
    }

    /// Lets generations end until one in so many entries may go, or time itself ends.
    fn leap(&mut self, one_in: u128) {
        let (to, dying) = self.inner.end_of_some(one_in);
        if self.inner.clock.is_some_and(|clock| clock < to) {
            self.pace.leap(to);
            self.inner.set_clock(to);
            self.late |= dying;
            self.lead_hand(dying);
            self.notice_reach();
        }
    }

    /// Takes bins from the segment of a hash that it will not need before its next sweep.
    fn compact<I: Isa>(&mut self, isa: I, hash: u64) {
        let (inner, words) = (&self.inner, self.inner.segments.get(hash).1);
        let info = Segment { words }.info();
        let bins = bins_after_sweep(&inner.shape, info.count);
        if info.bins > bins {
            self.inner.work += 1;
            self.inner.deal(isa, hash, bins);
        }
    }

    /// What was seen less than so many milliseconds before a moment is remembered.
    fn remembered(&self, now: u64) -> u64 {
        let (span, now) = (self.parameters.segments.span.millis(), self.pace.latest(now));
        match self.pace.inner(now).checked_sub(span) {
            Some(first) => {
                span.min(now.saturating_add(1).saturating_sub(self.pace.first_since(first)))
            }
            None => span,
        }
    }
}

impl TimedWindow {
    /// The moment from which on one in so many entries may go, by their chances, if nothing else comes; and in which
    /// regions.
    fn end_of_some(&self, one_in: u128) -> (u64, u8) {
        let (now, ages) = (self.current(), self.shape.ages);
        let enough = self.weights.sum(&self.shape, now) / one_in;
        let ends = |region: usize, age: u32| {
            self.ticks
                .begin(region, self.turns.tick(now[region]).saturating_add((ages - age + 1).into()))
        };
        // Generations end in the order of the regions.
        let first = (0..REGIONS).min_by_key(|&region| ends(region, ages)).unwrap_or(0);
        let (mut moment, mut dying, mut sum) = (0, 0, 0);
        for (age, nth) in (0..=ages).rev().flat_map(|age| (0..REGIONS).map(move |nth| (age, nth))) {
            let region = (first + nth) % REGIONS;
            let of_age = self.weights.of(&self.shape, region, now[region].wrapping_sub(age.into()));
            if of_age > 0 {
                (moment, dying, sum) = (ends(region, age), dying | 1 << region, sum + of_age);
            }
            if sum > enough {
                break;
            }
        }
        (moment, dying)
    }
}

/// A bit for every region of which this holds.
fn regions(holds: impl Fn(usize) -> bool) -> u8 {
    (0..REGIONS).fold(0, |all, region| all | u8::from(holds(region)) << region)
}

impl Membership for ShorteningWindow {
    #[inline]
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        vectorized!(self.inner.level, |isa| self.insert(isa, hash, now, Repeat::Refresh))
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        vectorized!(self.inner.level, |isa| self.insert(isa, hash, now, Repeat::Keep))
    }

    #[inline]
    fn contains_hash(&self, hash: u64, now: Time) -> bool {
        let now = self.pace.inner(now.millis());
        vectorized!(self.inner.level, |isa| self.inner.contains(isa, hash, now))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.inner.prefetch_head(hash);
    }
}

impl Aging for ShorteningWindow {
    fn age_hash(&self, hash: u64, now: Time) -> Option<Age> {
        let now = self.pace.latest(now.millis());
        let inner = self.pace.inner(now);
        match self.inner.age_hash(hash, Time::from_millis(inner))? {
            Age::Time(since) => {
                let seen = |span: &Span| inner.saturating_sub(span.millis());
                let [least, most] =
                    [self.pace.last_at(seen(since.start())), self.pace.first_at(seen(since.end()))]
                        .map(|seen| Span::from_millis(now.saturating_sub(seen)));
                Some(Age::Time(least..=most))
            }
            items => Some(items),
        }
    }
}

impl Removing for ShorteningWindow {
    /// As [`TimedWindow`]: everything that matches the key goes.
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.inner.remove_hash(hash)
    }
}

impl Filter for ShorteningWindow {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.inner.heap_bytes() + self.pace.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.inner.false_positive_rate()
    }

    fn clock(&self) -> Option<Time> {
        self.pace.clock().map(Time::from_millis)
    }

    fn turn_back(&mut self, now: Time) {
        if self.pace.clock().is_some_and(|clock| clock > now.millis()) {
            let inner = self.pace.set_back(now.millis());
            self.inner.turn_back(Time::from_millis(inner));
            // All segments have to take part.
            self.late = u8::MAX;
        }
    }

    fn write_payload(&self, out: &mut Writer) {
        state::write(&self.inner, out);
        self.pace.write(out);
        out.u64(self.shortest);
        out.u8(self.late);
        out.u8(self.hurried.into());
    }

    fn expire(&mut self, now: Time, steps: usize) -> bool {
        if self.pace.clock().is_some() {
            self.advance(now);
        }
        vectorized!(self.inner.level, |isa| {
            (0..steps).all(|_| {
                let hand = self.inner.hand;
                let worked = self.inner.tend(isa);
                self.follow(hand);
                worked
            });
            self.inner.is_tidy()
        })
    }

    fn distinct(&self, now: Time) -> Option<f64> {
        self.inner.distinct(Time::from_millis(self.pace.inner(now.millis())))
    }

    fn reach(&self, now: Time) -> Option<Reach> {
        let [now, least] = [self.remembered(now.millis()), self.shortest].map(Span::from_millis);
        Some(Reach { now, least: least.min(now) })
    }

    fn aging(&self) -> Option<&dyn Aging> {
        Some(self)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        Some(self)
    }
}
