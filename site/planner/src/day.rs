//! Memory through a day whose rate changes: a real filter is fed, a small part of the stream for a large one.

use std::collections::VecDeque;

use lately::plan::{Goal, bound};
use lately::raw::remix;
use lately::{Error, Seed, Span, Time, Window};
use lately::{ErrorRate, plan::Limit};
use serde_json::{Value, json};

use crate::asked::Asked;

const DAY: f64 = 86_400_000.0;

/// Keys that are really inserted in a day at most: about a quarter of a second.
const KEYS: f64 = 200_000.0;

/// The number of keys in the window and the bytes of the filter after every stretch, beside the least
/// possible and a filter of fixed size that was planned for the busiest moment.
pub fn through(asked: &Asked, rates: &[f64]) -> Result<Value, Error> {
    let Window::Within(span) = asked.goal.window else {
        return Err(Error::Parameter {
            name: "day",
            found: asked.goal.window.to_string(),
            expected: "a window by time, such as within 1h",
        });
    };
    // Nobody tells it what to expect.
    let plan = Goal { expected_items: None, ..asked.goal }.best_plan()?;
    let mut filter = plan.blueprint.build(Seed(0))?;
    let stretch = DAY / rates.len().max(1) as f64;
    let all: f64 = rates.iter().map(|rate| rate * stretch / 1e3).sum();
    let scale = (KEYS / all.max(1.0)).min(1.0);

    let mut live = VecDeque::new();
    let (mut key, mut owed) = (0_u64, 0.0);
    let mut points = Vec::new();
    // The day before ended as this one does, so that the window is full at midnight.
    let before = (span.millis() as f64 / stretch).ceil().min(rates.len() as f64) as usize;
    let evening = rates[rates.len() - before..].iter().copied();
    for (at, rate) in evening.chain(rates.iter().copied()).enumerate() {
        let begin = at as f64 * stretch;
        owed += rate * stretch / 1e3 * scale;
        let keys = owed as u64;
        owed -= keys as f64;
        for i in 0..keys {
            let now = (begin + stretch * i as f64 / keys as f64) as u64;
            key += 1;
            filter.insert_hash(remix(key, 1), Time::from_millis(now));
            live.push_back(now);
        }
        let now = (begin + stretch) as u64;
        filter.expire(Time::from_millis(now), 1 << 16);
        live.retain(|&then| then + span.millis() > now);
        if at >= before {
            points.push((live.len() as f64 / scale, filter.heap_bytes() as f64 / scale));
        }
    }
    let busiest = points.iter().map(|&(keys, _)| keys as u64).max().unwrap_or(0).max(1);
    Ok(json!({
        "structure": plan.row.name,
        "scale": scale,
        "span": Span::from_millis(span.millis()).to_string(),
        "points": points,
        "leastBits": least(&asked.goal, &plan.promise.false_positives, busiest),
        "busiest": busiest,
        "fixed": Goal { window: Window::Last(busiest), slack: lately::Slack::Unlimited, expected_items: None, ..asked.goal }
            .best_plan().map(|plan| plan.bytes).ok(),
    }))
}

fn least(goal: &Goal, promised: &f64, items: u64) -> Option<f64> {
    let rate = match goal.limit {
        Limit::Error(rate) => rate,
        Limit::Memory(_) => ErrorRate::new(*promised).ok()?,
    };
    Some(bound::sliding_window(rate, items, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_follows_the_rate_and_stays_above_the_least() {
        let asked = Asked::read("within 1h\nerror 0.1%").unwrap();
        let rates: Vec<f64> = (0..96).map(|at| if at < 48 { 1.0 } else { 10.0 }).collect();
        let day = through(&asked, &rates).unwrap();
        let point = |at: usize, of: usize| day["points"][at][of].as_f64().unwrap();
        let least = day["leastBits"].as_f64().unwrap();
        assert_eq!(day["points"].as_array().unwrap().len(), 96);
        // The evening of the day before has left after an hour.
        assert!((point(40, 0) / 3_600.0 - 1.0).abs() < 0.05, "{}", point(40, 0));
        assert!((point(95, 0) / 36_000.0 - 1.0).abs() < 0.05, "{}", point(95, 0));
        for at in [40, 95] {
            assert!(point(at, 1) > point(at, 0) * least / 8.0);
        }
        assert!(point(95, 1) < point(95, 0) * 4.0 * least / 8.0);
        assert!(point(40, 1) < point(95, 1) / 4.0, "{day}");
    }
}
