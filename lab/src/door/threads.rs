//! Threads at one door, beside one thread, and beside the type for one thread.

use std::hint::black_box;
use std::sync::Barrier;

use lately::{Lately, Shared};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::{Doorkeeper, Part, Texts};
use crate::clock::Clock;

/// What was measured, round by round: nanoseconds from the first to the last insertion, per key of a
/// thread.
#[derive(Debug, Default)]
pub struct Crowd {
    /// The type for one thread, one key at a time and in batches.
    pub plain: [Vec<f64>; 2],
    /// One thread with a handle.
    pub one: [Vec<f64>; 2],
    /// Two threads with handles, each with as many keys.
    pub two: [Vec<f64>; 2],
}

/// Threads that meet.
const THREADS: usize = 2;

/// Keys of a batch.
const BATCH: usize = 1024;

/// Times insertions of different texts into windows that are full.
pub fn crowd(
    mut plain: Lately,
    shared: &Shared,
    items: u64,
    rounds: u64,
    clock: &(impl Clock + Sync),
) -> Crowd {
    let piece = (items / 5).max(1);
    let mut number = 0;
    let mut next = |count: u64| {
        number += count;
        Texts::of(Part::Stream, number - count..number)
    };
    let filling = next(items * 5 / 2);
    plain.insert_each(&filling.all());
    (&mut &*shared).insert_each(&filling.all());
    let mut crowd = Crowd::default();
    for round in 0..2 * rounds {
        let batches = round % 2 == 1;
        let way = usize::from(batches);
        let texts: [Texts; 1 + THREADS] = std::array::from_fn(|_| next(piece));
        let [alone, together @ ..] = texts.each_ref().map(Texts::all);
        let timed = |work: &mut dyn FnMut()| {
            let start = clock.nanos();
            work();
            (clock.nanos() - start) as f64 / piece as f64
        };
        crowd.plain[way].push(timed(&mut || match batches {
            true => in_batches(&alone, |keys, new| plain.insert_all(keys, new)),
            false => _ = black_box(plain.insert_each(&alone)),
        }));
        let work = |keys: &[&str]| match batches {
            true => in_batches(keys, |keys, new| shared.insert_all(keys, new)),
            false => _ = black_box((&mut &*shared).insert_each(keys)),
        };
        crowd.one[way].push(timed(&mut || work(&alone)));
        let barrier = Barrier::new(THREADS);
        let run = |processor: usize, keys: &[&str]| {
            stay_on(processor);
            barrier.wait();
            timed(&mut || work(keys))
        };
        let slowest = std::thread::scope(|scope| {
            let mut processor = 0;
            let threads = together.each_ref().map(|keys| {
                let here = processor;
                processor += 1;
                let run = &run;
                scope.spawn(move || run(here, keys))
            });
            let times = threads.into_iter().map(|thread| thread.join().expect("nobody panics"));
            times.fold(0.0, f64::max)
        });
        crowd.two[way].push(slowest);
        for keys in &together {
            plain.insert_each(keys);
        }
    }
    crowd
}

/// Keeps the calling thread on one of the processors that it may use. Two threads that begin on one, until
/// somebody moves them apart, would be timed one after the other. Where it may not say, it is left alone.
fn stay_on(number: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let mut processors = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor));
    if let Some(processor) = processors.nth(number) {
        let mut only = CpuSet::new();
        only.set(processor);
        let _ = sched_setaffinity(None, &only);
    }
}

fn in_batches(keys: &[&str], mut insert: impl FnMut(&[&str], &mut [bool])) {
    let mut new = [false; BATCH];
    for keys in keys.chunks(BATCH) {
        insert(keys, &mut new[..keys.len()]);
    }
    black_box(new);
}
