//! Windows: finding a key in `k` neighbouring slices, and the chance of finding it there by luck.

use core::ops::Range;

/// Whether all slices of some of these windows hold a key. Slices are numbered by age, the newest is
/// 0; the window at age `a` is the slices `a .. a + k`, and only those `asked` for count.
///
/// The walk of section 5.3, from the newest window on: a window is checked from its oldest slice
/// back, because a miss there rules out all windows up to that slice, so a key that is nowhere
/// costs about one look per `k` slices. What was found after the miss is not looked up again.
/// Whether a window is asked for is found out last: mostly its slices do not hold the key anyway.
#[inline]
pub fn find_window(
    k: usize,
    windows: Range<usize>,
    asked: impl Fn(usize) -> bool,
    mut holds: impl FnMut(usize) -> bool,
) -> bool {
    let mut window = windows.start;
    // So many of the newest slices of the window are known to hold the key.
    let mut known = 0;
    while window < windows.end {
        match (window + known..window + k).rev().find(|&slice| !holds(slice)) {
            Some(miss) => {
                known = window + k - 1 - miss;
                window = miss + 1;
            }
            None if asked(window) => return true,
            None => {
                known = k - 1;
                window += 1;
            }
        }
    }
    false
}

/// Chance that all slices of some window hold a key that is in none, where `chances` are those of
/// the single slices, newest first, and only windows `asked` for count.
///
/// One pass over the slices; the state is how many of the latest in a row hold the key. With
/// `F(a, i)` the chance of success at slice `i` after `a` hits in a row, it is the recurrence
/// `F(a, i) = r_i F(a+1, i+1) + (1 - r_i) F(0, i+1)`, `F(k, i) = 1`.
pub fn window_chance(k: usize, chances: &[f64], asked: impl Fn(usize) -> bool) -> f64 {
    // in_a_row[a]: nothing found yet and the latest `a` slices hit; `k` stands for k or more.
    let mut in_a_row = vec![0.0; k + 1];
    in_a_row[0] = 1.0;
    let mut found = 0.0;
    for (slice, &chance) in chances.iter().enumerate() {
        let missed = in_a_row.iter().sum::<f64>() * (1.0 - chance);
        let mut whole = (in_a_row[k] + in_a_row[k - 1]) * chance;
        for a in (1..k).rev() {
            in_a_row[a] = in_a_row[a - 1] * chance;
        }
        if slice + 1 >= k && asked(slice + 1 - k) {
            found += whole;
            whole = 0.0;
        }
        in_a_row[0] = missed;
        in_a_row[k] = whole;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    /// Every pattern of up to 14 slices, some windows not asked: the walk agrees with looking at
    /// all, and the recurrence with adding up the patterns.
    #[test]
    fn the_walk_and_the_recurrence_agree_with_enumeration() {
        for k in 1..=5 {
            for slices in k..=12 {
                let windows = slices + 1 - k;
                for round in 0..4 {
                    let skipped = if round == 0 { 0 } else { remix(round, 5) };
                    let asked = |window: usize| skipped >> window & 1 == 0;
                    let chances: Vec<f64> =
                        (0..slices).map(|i| (remix(round, i as u64) % 1000) as f64 / 1e3).collect();
                    let mut total = 0.0;
                    for pattern in 0_u32..1 << slices {
                        let holds = |slice: usize| pattern >> slice & 1 == 1;
                        let found = (0..windows).any(|w| asked(w) && (w..w + k).all(holds));
                        assert_eq!(find_window(k, 0..windows, asked, holds), found);
                        let weigh = |i: usize| if holds(i) { chances[i] } else { 1.0 - chances[i] };
                        if found {
                            total += (0..slices).map(weigh).product::<f64>();
                        }
                    }
                    let computed = window_chance(k, &chances, asked);
                    assert!((computed - total).abs() < 1e-12, "{k} {slices}: {computed} {total}");
                }
            }
        }
    }

    /// Values of the recurrence at fills of one half, computed independently: the authors' pairs
    /// err more often than they are listed for.
    #[test]
    fn figures_for_pairs_of_the_paper() {
        for (k, l, rate) in [(4, 3, 0.1074), (10, 7, 1.474e-3), (14, 11, 1.196e-4)] {
            let fill = |i: usize| 1.0 - 0.5_f64.powf(((i + 1) as f64 / k as f64).min(1.0));
            let fills: Vec<f64> = (0..k + l).map(fill).collect();
            let computed = window_chance(k, &fills, |_| true);
            assert!((computed / rate - 1.0).abs() < 5e-4, "({k}, {l}): {computed}");
        }
    }

    #[test]
    fn an_absent_key_costs_one_look_per_k_slices() {
        let mut looks = 0;
        find_window(
            4,
            0..17,
            |_| true,
            |_| {
                looks += 1;
                false
            },
        );
        assert_eq!(looks, 5);
    }
}
