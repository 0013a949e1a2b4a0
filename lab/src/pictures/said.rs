//! Every number in the sentences under the pictures, beside the record that it is read from: a sentence must not
//! outlive its figure.
//!
//! Sentences that a figure finds itself ([`Drawn::found`]) stand in its record and need no such check.

use super::figure::Drawn;
use super::figures;
use super::keep::Kept;
use super::picture::{Panel, Point, Role, Series};
use crate::records::Places;

/// Some words of a figure's sentences, with a number in them.
struct Said {
    figure: &'static str,
    words: &'static str,
    from: From,
}

/// Where the number comes from.
enum From {
    /// It was set, or stands in the paper: no record could say otherwise.
    Set,
    /// The record, which must say so.
    Record(fn(&Drawn) -> bool),
}

use From::{Record, Set};

const fn said(figure: &'static str, words: &'static str, from: From) -> Said {
    Said { figure, words, from }
}

static SAID: &[Said] = &[
    said("window-kept", "Nobody's are above one (dashed)", Record(|drawn| never_above(drawn, 1.0))),
    said(
        "window-slack",
        "A slack of a tenth of the window costs nothing by Theorem 1.2",
        Record(|drawn| {
            let bound = &of(drawn, 0, Role::Bound, "Theorem 1.2").points;
            bound.iter().filter(|point| point.x <= 10.0).all(|point| point.y == bound[0].y)
        }),
    ),
    said(
        "window-slack",
        "below n / log2(1/ε) every halving costs a bit",
        Record(|drawn| {
            let bound = &of(drawn, 0, Role::Bound, "Theorem 1.2").points;
            let costs = |pair: &[Point]| (pair[1].y - pair[0].y - 1.0).abs() < 0.01;
            bound.windows(2).filter(|pair| pair[0].x >= 16.0).all(costs)
        }),
    ),
    said("slices-1", "An error of 10%", Set),
    said(
        "slices-3",
        "settle at the upper of the paper's 10 and 13 bits (dashed), which are rounded down",
        Record(|drawn| {
            let mut ends = measured(drawn).map(|series| series.points[series.points.len() - 1].y);
            ends.all(|bits| (12.0..14.0).contains(&bits)) && claims(drawn) == [10.0, 13.0]
        }),
    ),
    said("slices-table-2", "in the last tenth of the stream", Set),
    said(
        "slices-table-2",
        "No pair of the authors takes more than the most that the paper says (dashed), whose numbers are rounded down",
        Record(|drawn| {
            let paper = of(drawn, 0, Role::Claim, "paper, most");
            let pairs = &of(drawn, 0, Role::Measured, "largest pair").points;
            pairs.iter().all(|point| point.y.floor() <= at(paper, point.x))
        }),
    ),
    said("slices-moment", "from nothing to one half says", Set),
    said("slices-moment", "filled to 1 - 2^(-i/k)", Set),
    said("detection-1", "its Theorem 3 (dashed) says that half of all new keys are reported", Set),
    said(
        "detection-2",
        "the hatched area below the bound of Theorem 4 stays empty",
        Record(|drawn| {
            let bound = of(drawn, 0, Role::Bound, "Theorem 4");
            measured(drawn).flat_map(|series| &series.points).all(|point| {
                let before = bound.points.iter().rfind(|bound| bound.x <= point.x);
                before.is_some_and(|before| point.y >= before.y)
            })
        }),
    ),
    said("detection-3", "ends at 6000 (mark)", Set),
    said(
        "detection-3",
        "A2 that turns every half window forgets a quarter of the window",
        Record(|drawn| {
            let points = &of(drawn, 0, Role::Measured, "A2 by half windows").points;
            let small = points.iter().filter(|point| point.x <= 10_000.0);
            small.map(|point| point.y).all(|forgets| (0.23..0.27).contains(&forgets))
        }),
    ),
    said(
        "detection-5",
        "a twentieth with ten filters",
        Record(|drawn| {
            ["QHT", "SQF", "Cuckoo", "SBF"].iter().all(|name| {
                let [published, covering] =
                    [0, 1].map(|panel| at(of(drawn, panel, Role::Measured, name), 100.0));
                (0.04..0.06).contains(&(published - covering))
            })
        }),
    ),
    said("detection-5", "Turned every w/(L-1)", Set),
    said("detection-5", "Theorems 7 and 8 (dashed", Set),
    said(
        "detection-5",
        "predict a third forgotten even by perfect filters",
        Record(|drawn| {
            let claim = at(of(drawn, 0, Role::Claim, "Theorems 7, 8"), 100.0);
            (0.33..0.4).contains(&claim)
        }),
    ),
    said("detection-5", "Theorem 8 lets", Set),
    said("detection-6", "forget 1/(2L)", Set),
    said(
        "detection-7",
        "In a queue a small window errs about a thousandth as often, or less",
        Record(|drawn| {
            let pairs = [
                (0, "QHT", "in a queue: quotient"),
                (0, "SQF", "in a queue: streaming"),
                (1, "Cuckoo", "in a queue: cuckoo"),
                (1, "SBF", "in a queue: stable"),
            ];
            pairs.iter().all(|(panel, alone, queued)| {
                let [alone, queued] =
                    [alone, queued].map(|name| at(of(drawn, *panel, Role::Measured, name), 100.0));
                queued <= alone / 800.0
            })
        }),
    ),
    said("detection-7", "Figure 9 (right)", Set),
    said("detection-7", "the cuckoo filter had a quarter of its memory", Set),
    said("detection-8", "the alphabet of 65,536 keys", Set),
    said(
        "detection-8",
        "Judged over its second half alone, the stream of a million keeps the law of the long run",
        Record(|drawn| {
            let second = of(drawn, 0, Role::Measured, "1M, second half");
            let law = &of(drawn, 0, Role::Formula, "the law").points;
            law.iter().all(|law| (at(second, law.x) / law.y - 1.0).abs() < 0.01)
        }),
    ),
    said("growing-bits", "The bound is log2(1/ε) + log2 log2 n", Set),
    said("growing-bits", "The third construction of the paper", Set),
    said("growing-bits", "a dictionary that doubles, and pays for it half of the time", Set),
    said(
        "growing-error",
        "What is promised is kept at every size (dashed: 1%)",
        Record(|drawn| never_above(drawn, 0.01) && claims(drawn) == [0.01]),
    ),
    said(
        "counting-hashes",
        "With one counter selection and increase are the same",
        Record(|drawn| {
            let [selection, increase] = ["minimum selection", "minimal increase"]
                .map(|name| at(of(drawn, 0, Role::Measured, name), 1.0));
            selection == increase
        }),
    ),
    said(
        "counting-taken-back",
        "for about one key in ten",
        Record(|drawn| {
            let points = &of(drawn, 1, Role::Measured, "recurring").points;
            let even = points.iter().filter(|point| point.x <= 1.0);
            even.map(|point| point.y).all(|low| (0.08..0.13).contains(&low))
        }),
    ),
    said(
        "counting-storage",
        "within 1.3 times the lengths of all counters and 3.5 bits (dashed)",
        Record(|drawn| {
            (0..drawn.panels.len()).all(|panel| {
                let lengths = of(drawn, panel, Role::Bound, "sum of lengths");
                let claim = of(drawn, panel, Role::Claim, "");
                let points = &of(drawn, panel, Role::Measured, "string array").points;
                points.iter().all(|point| {
                    let most = 1.3 * at(lengths, point.x) + 3.5;
                    point.y <= most && (at(claim, point.x) / most - 1.0).abs() < 1e-4
                })
            })
        }),
    ),
    said("ours-day", "A window of an hour at 0.1%", Set),
    said(
        "ours-day",
        "a rise a hundredfold at eight, half a million keys in one second at noon",
        Set,
    ),
    said("ours-day", "batches every ten minutes", Set),
    said("ours-life", "after every quarter of a window", Set),
    said("ours-life", "1% promised", Record(|drawn| never_above(drawn, 0.01))),
    said("ours-speed", "At 1%", Set),
    said(
        "ours-speed",
        "doubles at a hundredth of the size",
        Record(|drawn| {
            let [ours, exact] = ["sliding", "HashMap and queue"].map(|name| {
                let points = &of(drawn, 0, Role::Measured, name).points;
                let slow = points.iter().find(|point| point.y > 2.0 * points[0].y);
                slow.map_or(f64::INFINITY, |point| point.x)
            });
            (30.0..=300.0).contains(&(ours / exact))
        }),
    ),
    said("ours-front", "at 1%", Set),
    said("ours-counts", "Ten sightings of each key", Set),
    said("ours-counts", "at 1%", Set),
    said("ours-command", "Lines of 20 bytes, half of them repeats", Set),
    said("ours-command", "one line in a thousand", Set),
];

fn of<'a>(drawn: &'a Drawn, panel: usize, role: Role, name: &str) -> &'a Series {
    let Panel { series, title, .. } = &drawn.panels[panel];
    let found = series.iter().find(|series| series.role == role && series.name == name);
    found.unwrap_or_else(|| panic!("{title} has no {role:?} {name:?}"))
}

fn at(series: &Series, x: f64) -> f64 {
    let point = series.points.iter().find(|point| (point.x / x - 1.0).abs() < 1e-3);
    point.unwrap_or_else(|| panic!("{} has nothing at {x}", series.name)).y
}

fn measured(drawn: &Drawn) -> impl Iterator<Item = &Series> {
    let all = drawn.panels.iter().flat_map(|panel| &panel.series);
    all.filter(|series| series.role == Role::Measured)
}

/// Values of what others say, each once.
fn claims(drawn: &Drawn) -> Vec<f64> {
    let all = drawn.panels.iter().flat_map(|panel| &panel.series);
    let claims = all.filter(|series| series.role == Role::Claim);
    let mut values: Vec<f64> = claims.flat_map(|series| &series.points).map(|p| p.y).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// But for the luck of counting.
fn never_above(drawn: &Drawn, most: f64) -> bool {
    measured(drawn).flat_map(|series| &series.points).all(|point| point.low <= most)
}

/// Whether a word has a number in it.
fn is_number(word: &str) -> bool {
    const WORDS: [&str; 21] = [
        "half",
        "third",
        "quarter",
        "fifth",
        "tenth",
        "twentieth",
        "hundredth",
        "thousandth",
        "twice",
        "fold",
        "ten",
        "twenty",
        "hundred",
        "thousand",
        "million",
        "billion",
        "hundredfold",
        "tenfold",
        "thousandfold",
        "double",
        "dozen",
    ];
    let letters = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    letters.chars().any(|letter| letter.is_ascii_digit()) || WORDS.contains(&&*letters)
}

/// Numbers in a text that nobody accounts for.
fn left(says: &str, accounted: &[&str]) -> Vec<String> {
    // What is between backticks is a name.
    let plain: String = says.split('`').step_by(2).collect::<Vec<_>>().join("name");
    let rest = accounted.iter().fold(plain, |rest, words| rest.replace(words, " "));
    rest.split_whitespace().filter(|word| is_number(word)).map(str::to_owned).collect()
}

/// Whoever writes a number under a picture says where it comes from.
#[test]
fn every_number_is_accounted_for() {
    for figure in figures() {
        let of_figure = || SAID.iter().filter(|said| said.figure == figure.name);
        for said in of_figure() {
            let Said { words, .. } = said;
            assert!(figure.says.contains(words), "{} does not say {words:?}", figure.name);
        }
        let words: Vec<&str> = of_figure().map(|said| said.words).collect();
        assert_eq!(left(figure.says, &words), [""; 0], "{} says so", figure.name);
    }
    let names: Vec<&str> = figures().map(|figure| figure.name).collect();
    assert!(SAID.iter().all(|said| names.contains(&said.figure)));
}

/// What is said is what the records have.
#[test]
fn sentences_are_those_of_their_records() {
    let places = Places::kept();
    let mut read = 0;
    for Said { figure, words, from } in SAID {
        if let Record(holds) = from {
            let kept = Kept::read(&places.report, figure).unwrap();
            assert!(holds(&kept.drawn), "{figure}: its record does not say {words:?}");
            read += 1;
        }
    }
    assert!(read >= 15, "{read}");
}

/// A number that nobody accounts for is found, and so is a record that says something else.
#[test]
fn what_is_made_up_is_found() {
    assert_eq!(left("It takes 5% and `a 7` less, a third of it.", &["takes 5%"]), ["third"]);
    assert_eq!(left("It takes 5% less.", &[]), ["5%"]);
    let mut changed = 0;
    for Said { figure, words, from } in SAID {
        let Record(holds) = from else { continue };
        let mut drawn = Kept::read(&Places::kept().report, figure).unwrap().drawn;
        let series = drawn.panels.iter_mut().flat_map(|panel| &mut panel.series);
        let points =
            series.flat_map(|Series { role, points, .. }| points.iter_mut().map(|p| (*role, p)));
        // What others say is half as much again, and all else ever more.
        for (at, (role, point)) in points.enumerate() {
            let factor = if role == Role::Claim { 1.5 } else { 2.0 + at as f64 };
            *point = Point { y: point.y * factor, low: point.low * factor, ..*point };
        }
        assert!(!holds(&drawn), "{figure}: any record would say {words:?}");
        changed += 1;
    }
    assert!(changed > 0);
}
