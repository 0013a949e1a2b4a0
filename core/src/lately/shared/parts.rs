//! The parts of a filter that threads share, each with a lock of its own.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::AtomicBool;

use crate::bits::{Flag, Footprint, Turn};
use crate::error::Error;
use crate::hash::Hashing;
use crate::key::{Hashed, Key};
use crate::lately::Lately;
use crate::shards::Shards;
use crate::untyped::Untyped;

/// A door that parts are made of.
pub(in crate::lately) trait Shareable {
    /// What is behind it.
    fn untyped(&self) -> &Untyped;
}

impl<T> Shareable for Lately<T> {
    fn untyped(&self) -> &Untyped {
        &self.inner
    }
}

/// Filters or counters built alike. A key belongs to one of them.
pub(in crate::lately) struct Parts<D, F = AtomicBool> {
    hashing: Hashing,
    parts: Box<[Part<D, F>]>,
}

/// A part, away from the cache lines of its neighbours' locks.
#[repr(C, align(128))]
struct Part<D, F> {
    turn: Turn<D, F>,
    here: Here,
}

/// Where a part writes, if its structure knows. Read before the lock is taken, so that it has a cache line of
/// its own, which no thread takes away from another.
#[repr(align(64))]
struct Here(Option<Footprint>);

impl<D: Shareable, F: Flag> Parts<D, F> {
    /// At least one.
    pub(in crate::lately) fn new(hashing: Hashing, parts: Vec<D>) -> Self {
        let part = |part: D| {
            let here = Here(part.untyped().filter.footprint());
            Part { turn: Turn::new(part), here }
        };
        Self { hashing, parts: parts.into_iter().map(part).collect() }
    }

    pub(in crate::lately) fn hashing(&self) -> Hashing {
        self.hashing
    }

    pub(in crate::lately) fn shards(&self) -> Shards {
        Shards(self.parts.len() as u32)
    }

    /// Bytes of the locks, and of what is known of where parts write.
    pub(in crate::lately) fn own_bytes(&self) -> u64 {
        size_of_val(&*self.parts) as u64
    }

    /// Changes the part of a key.
    #[inline(always)]
    pub(in crate::lately) fn change<R>(
        &self,
        key: impl Key,
        work: impl FnOnce(&mut D, Hashed) -> R,
    ) -> R {
        let (number, key) = self.number(key);
        let Part { turn, here } = &self.parts[number];
        if let Here(Some(footprint)) = here {
            footprint.fetch(turn);
            footprint.fetch_record(key.0);
        }
        work(&mut turn.take(), key)
    }

    /// Looks at the part of a key.
    #[inline(always)]
    pub(in crate::lately) fn look<R>(
        &self,
        key: impl Key,
        work: impl FnOnce(&D, Hashed) -> R,
    ) -> R {
        let (number, key) = self.number(key);
        work(&self.parts[number].turn.take(), key)
    }

    /// Looks at any part, where all are alike.
    pub(in crate::lately) fn of_one<R>(&self, work: impl FnOnce(&D) -> R) -> R {
        work(&self.parts[0].turn.take())
    }

    /// Looks at one part after the other.
    pub(in crate::lately) fn each<'a, R>(
        &'a self,
        mut work: impl FnMut(&D) -> R + 'a,
    ) -> impl Iterator<Item = R> + 'a {
        self.parts.iter().map(move |part| work(&part.turn.take()))
    }

    /// Changes one part after the other.
    pub(in crate::lately) fn change_each<'a, R>(
        &'a self,
        mut work: impl FnMut(&mut D) -> R + 'a,
    ) -> impl Iterator<Item = R> + 'a {
        self.parts.iter().map(move |part| work(&mut part.turn.take()))
    }

    /// A part by its number.
    #[inline(always)]
    pub(in crate::lately) fn part(&self, number: usize) -> &Turn<D, F> {
        &self.parts[number].turn
    }

    /// Which part a key belongs to.
    #[inline(always)]
    pub(in crate::lately) fn number(&self, key: impl Key) -> (usize, Hashed) {
        let hash = key.hash_with(&self.hashing);
        (self.shards().of(hash), Hashed(hash))
    }

    /// Starts loading all that insertions of some keys of a part will write, its lock included.
    #[inline(always)]
    pub(in crate::lately) fn fetch(&self, number: usize, keys: &[Hashed]) {
        let Part { turn, here } = &self.parts[number];
        if let Here(Some(footprint)) = here {
            footprint.fetch(turn);
            keys.iter().for_each(|key| footprint.fetch_record(key.0));
        }
    }
}

impl<T, F: Flag> Parts<Lately<T>, F> {
    /// Forgets everything, part by part.
    pub(in crate::lately) fn clear(&self) -> Result<(), Error> {
        for Part { turn, here: Here(known) } in &self.parts {
            let mut part = turn.take();
            part.clear()?;
            if let Some((known, here)) = known.as_ref().zip(part.inner.filter.footprint()) {
                known.move_to(&here);
            }
        }
        Ok(())
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use crate::bits::flags::{Everybodys, Watched};
    use crate::codec::Bundle;
    use crate::lately::Untimed;
    use alloc::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering};

    type Few<F> = Parts<Lately<Untimed>, F>;

    fn parts<F: Flag>() -> Few<F> {
        let one = Lately::last(64).structure("short-hash").error(1e-9).build().unwrap();
        Parts::new(one.hashing(), vec![one.clone(), one])
    }

    /// Two threads that do something with one filter, in many orders; says in how many.
    fn both<F: Flag + Send + Sync + 'static, R: Send + 'static>(
        one: impl Fn(&Few<F>) -> R + Copy + Send + Sync + 'static,
        other: impl Fn(&Few<F>) -> R + Copy + Send + Sync + 'static,
        check: impl Fn(&Few<F>, R, R) + Send + Sync + 'static,
    ) -> usize {
        let orders = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = Arc::clone(&orders);
        // Of all orders those in which a thread is interrupted at most twice.
        let mut checker = loom::model::Builder::new();
        checker.preemption_bound = Some(2);
        checker.check(move || {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let parts = Arc::new(parts::<F>());
            let there = Arc::clone(&parts);
            let thread = loom::thread::spawn(move || other(&there));
            let here = one(&parts);
            check(&parts, here, thread.join().unwrap());
        });
        orders.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn insert<F: Flag>(parts: &Few<F>, key: u64) -> bool {
        parts.change(key, |part, key| part.insert(key))
    }

    fn contains<F: Flag>(parts: &Few<F>, key: u64) -> bool {
        parts.look(key, |part, key| part.contains(key))
    }

    #[test]
    fn a_key_is_new_to_exactly_one() {
        let orders = both::<Watched, _>(
            |parts| insert(parts, 7),
            |parts| insert(parts, 7),
            |parts, here, there| assert!(here != there && contains(parts, 7)),
        );
        assert!(orders > 1, "{orders}");
    }

    #[test]
    fn a_key_of_a_batch_is_new_to_exactly_one() {
        let all = |parts: &Few<Watched>| {
            let mut new = [false; 2];
            parts.by_parts(&[7, 7], &mut new, |part, keys, new| part.insert_all(keys, new));
            new
        };
        both::<Watched, _>(all, all, |_, here, there| {
            assert!(here[0] != there[0] && !here[1] && !there[1]);
        });
    }

    /// A key that was inserted later than another of its part is never saved without it.
    #[test]
    fn a_snapshot_meanwhile_is_whole() {
        let (first, second) = same_part();
        let orders = both::<Watched, _>(
            move |parts| {
                insert(parts, first);
                insert(parts, second);
                Vec::new()
            },
            |parts| Bundle { items: 0, parts: parts.each(Lately::save).collect() }.write(),
            move |_, _, snapshot| {
                let (_, parts) = Bundle::read(&snapshot).unwrap();
                let saved: Vec<_> =
                    parts.into_iter().map(|part| Lately::open(part).unwrap()).collect();
                let has = |key: u64| saved.iter().any(|part| part.contains(key));
                assert!(has(first) || !has(second));
            },
        );
        assert!(orders > 1, "{orders}");
    }

    /// Either the key came before all was forgotten, and is gone, or after, and is there and was new.
    #[test]
    fn clearing_meanwhile_forgets_what_came_before() {
        both::<Watched, _>(
            |parts| [insert(parts, 7), insert(parts, 7)],
            |parts| [parts.clear().is_ok(); 2],
            |parts, news, cleared| {
                assert!(news[0] && cleared[0]);
                assert!(!news[1] || contains(parts, 7), "new a second time, and yet not there");
            },
        );
    }

    /// The checks above would notice a lock that does not lock: with it, two have their turn at once.
    #[test]
    #[should_panic(expected = "two at once")]
    fn a_lock_that_everybody_gets_is_caught() {
        loom::model(|| {
            let parts = Arc::new((parts::<Everybodys>(), AtomicU32::new(0)));
            let insert = |(parts, inside): &(Few<Everybodys>, AtomicU32)| {
                parts.change(7_u64, |part, key| {
                    assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two at once");
                    let new = part.insert(key);
                    inside.fetch_sub(1, Ordering::Relaxed);
                    new
                })
            };
            let there = Arc::clone(&parts);
            let thread = loom::thread::spawn(move || insert(&there));
            insert(&parts);
            thread.join().unwrap();
        });
    }

    /// Two keys of the same part.
    fn same_part() -> (u64, u64) {
        let (shards, hashing) = (Shards(2), Hashing::default());
        let part = |key: &u64| shards.of(key.hash_with(&hashing));
        (7, (8..).find(|key| part(key) == part(&7)).unwrap())
    }
}
