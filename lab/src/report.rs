//! Rows of a record as tables for people.

use std::fmt::Write;

use testkit::stats::{lower_confidence, upper_confidence};

use crate::expectation::{ratio, reference};
use crate::race::Operation;
use crate::record::{Row, Tally};
use crate::summary::Summary;
use crate::table::Table;

/// Chance that the true rate lies beyond either end of a printed interval.
const DOUBT: f64 = 0.005;

/// What a race measured in one cell: a table of times, and one of worst insertions and memory.
pub fn race(cell: &[Row]) -> String {
    let rival = reference(cell);
    let against = match rival {
        Some(rival) => format!("× {}", rival.contender),
        None => "×".to_owned(),
    };
    let mut times = Table::new(&["", "operation", "ns/key", "least", "most", &against, "spread"]);
    for operation in Operation::ALL {
        for row in cell {
            let own = row.timing.as_ref().and_then(|timing| timing.operation(operation.name()));
            let Some(time) = own.and_then(|own| Summary::of(&own.nanos_per_key)) else { continue };
            let (ratio, spread) = match rival.and_then(|rival| ratio(row, rival, operation)) {
                Some(Summary { median, least, most }) => {
                    (format!("{median:.2}"), format!("{least:.2}-{most:.2}"))
                }
                None => (none(), none()),
            };
            let [median, least, most] =
                [time.median, time.least, time.most].map(|nanos| format!("{nanos:.1}"));
            times.row([
                row.contender.clone(),
                operation.name().into(),
                median,
                least,
                most,
                ratio,
                spread,
            ]);
        }
    }
    let mut rest = Table::new(&["", "worst insert", "bits/item", "lines/insert"]);
    for row in cell.iter().filter(|row| row.skipped.is_none()) {
        let worst = row.timing.as_ref().map_or_else(none, |timing| nanos(timing.worst_insert_ns));
        rest.row([
            row.contender.clone(),
            worst,
            decimals(row.bits_per_item()),
            decimals(row.lines_touched),
        ]);
    }
    format!("{times}\n{rest}{}", skipped(cell))
}

/// What an accuracy experiment measured in one cell.
pub fn accuracy(cell: &[Row]) -> String {
    let mut table = Table::new(&[
        "",
        "promised",
        "steady",
        "worst moment",
        "99% sure",
        "forgotten",
        "bits/item",
        "bound",
        "× bound",
        "lines/insert",
    ]);
    for row in cell {
        let Some((errors, promise)) = row.errors.as_ref().zip(row.promise.as_ref()) else {
            continue;
        };
        let worst = errors.worst();
        let bits = row.bits_per_item();
        let bound = row.lower_bound_bits_per_item;
        let times = bits.zip(bound).map(|(bits, bound)| bits / bound);
        table.row([
            row.contender.clone(),
            percent(promise.false_positives),
            percent(errors.steady().rate()),
            percent(worst.rate()),
            interval(worst),
            format!("{} of {}", count(errors.inside.hits), count(errors.inside.trials)),
            decimals(bits),
            decimals(bound),
            times.map_or_else(none, |times| format!("{times:.2}")),
            decimals(row.lines_touched),
        ]);
    }
    format!("{table}{}", skipped(cell))
}

/// A share as a percentage with three significant digits.
pub fn percent(rate: f64) -> String {
    if rate == 0.0 {
        return "0%".to_owned();
    }
    let percent = rate * 100.0;
    let decimals = (2 - percent.log10().floor() as i32).max(0) as usize;
    let digits = format!("{percent:.decimals$}");
    match digits.contains('.') {
        true => format!("{}%", digits.trim_end_matches('0').trim_end_matches('.')),
        false => format!("{digits}%"),
    }
}

/// A count with its thousands apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

fn interval(tally: Tally) -> String {
    let low = lower_confidence(tally.hits, tally.trials, DOUBT);
    let high = upper_confidence(tally.hits, tally.trials, DOUBT);
    format!("{}-{}", percent(low), percent(high))
}

fn nanos(nanos: u64) -> String {
    match nanos {
        0..10_000 => format!("{nanos} ns"),
        10_000..10_000_000 => format!("{:.1} µs", nanos as f64 / 1e3),
        _ => format!("{:.1} ms", nanos as f64 / 1e6),
    }
}

fn decimals(number: Option<f64>) -> String {
    number.map_or_else(none, |number| format!("{number:.1}"))
}

fn none() -> String {
    "-".to_owned()
}

fn skipped(cell: &[Row]) -> String {
    let mut text = String::new();
    for row in cell {
        if let Some(why) = &row.skipped {
            writeln!(text, "{}: not measured, {why}", row.contender).expect("strings do not fail");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::row;

    #[test]
    fn numbers_as_people_read_them() {
        let shares = [0.0, 1.0, 0.01, 0.000_123_45, 0.5, 0.012_345].map(percent);
        assert_eq!(shares, ["0%", "100%", "1%", "0.0123%", "50%", "1.23%"]);
        let counts = [7, 1234, 1_000_000].map(count);
        assert_eq!(counts, ["7", "1\u{2009}234", "1\u{2009}000\u{2009}000"]);
        assert_eq!([999, 12_340, 12_340_000].map(nanos), ["999 ns", "12.3 µs", "12.3 ms"]);
    }

    #[test]
    fn skipped_contenders_are_named_with_the_reason() {
        let mut slow = row();
        (slow.timing, slow.errors) = (None, None);
        (slow.contender, slow.skipped) = ("snail".into(), Some("too slow".into()));
        for text in [race(&[row(), slow.clone()]), accuracy(&[row(), slow])] {
            assert!(text.contains("double-buffer"), "{text}");
            assert!(text.ends_with("snail: not measured, too slow\n"), "{text}");
        }
    }
}
