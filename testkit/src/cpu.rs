//! Work, as time that this thread alone was at work: what others do meanwhile does not count.
//!
//! For assertions that one thing takes in proportion to another, with a wide margin; never for how long
//! anything takes.

use std::iter;
use std::time::Duration;

/// How long this thread has been at work; `None` where the system does not tell.
#[cfg(unix)]
pub fn spent() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ThreadCPUTime).try_into().ok()
}

/// How long this thread has been at work; `None` where the system does not tell.
#[cfg(not(unix))]
pub fn spent() -> Option<Duration> {
    None
}

/// How long `work` was at work, the shortest of a few times; `None` where the system does not tell.
pub fn of(mut work: impl FnMut()) -> Option<Duration> {
    let once = || {
        let before = spent()?;
        work();
        Some(spent()? - before)
    };
    iter::repeat_with(once).take(3).min().flatten()
}

/// How often what takes too long is tried again: a machine may be slow for a while.
const TURNS: usize = 5;

/// Fails if work on `more` bytes takes much longer than `more / some` times the work on `some`. Three
/// times as long as that passes, so that there have to be eight times as many for a square to fail.
///
/// # Panics
///
/// If so every time, with `label`.
pub fn assert_proportional(label: &str, some: &[u8], more: &[u8], work: impl Fn(&[u8])) {
    let times = more.len() as f64 / some.len() as f64;
    let too_long = || {
        let (short, long) = (of(|| work(some))?, of(|| work(more))?);
        let most = short.mul_f64(3.0 * times) + Duration::from_millis(5);
        (long > most).then_some((short, long))
    };
    for turn in 1..=TURNS {
        match too_long() {
            None => return,
            Some((short, long)) if turn == TURNS => {
                panic!("{label}: {short:?}, and {long:?} for {times:.1} times as much")
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(steps: usize) {
        (0..steps).fold(1, |x: usize, step| std::hint::black_box(x.wrapping_mul(3) ^ step));
    }

    #[test]
    fn what_is_proportional_passes() {
        let work = |bytes: &[u8]| spin(1_000 * bytes.len());
        assert_proportional("linear", &[0; 1_000], &[0; 8_000], work);
    }

    #[test]
    #[cfg_attr(target_os = "linux", should_panic(expected = "8.0 times as much"))]
    fn a_square_does_not() {
        let work = |bytes: &[u8]| spin(bytes.len() * bytes.len());
        assert_proportional("square", &[0; 1_000], &[0; 8_000], work);
    }
}
