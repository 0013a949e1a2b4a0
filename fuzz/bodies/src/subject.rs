//! Any structure, with any parameters, from a few bytes.

use arbitrary::{Result, Unstructured};
use lately::catalog::Row;
use lately::growing::GrowingParameters;
use lately::plan::Goal;
use lately::raw::{Blueprint, Filter};
use lately::timed::{ShorteningWindowParameters, TimedWindowParameters};
use lately::{ErrorRate, Memory, Seed, Slack, Span, Window};
use lately_papers::CATALOG;

/// A structure chosen by the input, with parameters for a goal chosen by the input.
pub fn arbitrary_blueprint(u: &mut Unstructured<'_>) -> Result<Box<dyn Blueprint>> {
    if u.ratio(1, 16)? {
        return tiny_growing(u);
    }
    if u.ratio(1, 16)? {
        return tiny_shortening(u);
    }
    let row = arbitrary_row(u)?;
    let goal = arbitrary_goal(u)?;
    (row.propose)(&goal).map_err(|_| arbitrary::Error::IncorrectFormat)
}

/// A row chosen by the input.
pub fn arbitrary_row(u: &mut Unstructured<'_>) -> Result<&'static Row> {
    let rows: Vec<_> = CATALOG.iter().collect();
    u.choose(&rows).copied()
}

/// A growing filter of tiny segments: a few hundred keys split them often and use remainders up,
/// where a planned one would still be a single segment.
fn tiny_growing(u: &mut Unstructured<'_>) -> Result<Box<dyn Blueprint>> {
    let planned = GrowingParameters::with_error(0.3, 1_000, u.ratio(3, 4)?)
        .map_err(|_| arbitrary::Error::IncorrectFormat)?;
    let most = u.int_in_range(1..=4)?;
    let remainder_bits = planned.remainder_bits.map(|bits| bits.min(most));
    Ok(Box::new(GrowingParameters { bins: 1, remainder_bits, ..planned }))
}

/// A window that shortens, of tiny segments in so little memory that a few hundred keys are too many.
fn tiny_shortening(u: &mut Unstructured<'_>) -> Result<Box<dyn Blueprint>> {
    let segments = TimedWindowParameters {
        span: Span::from_millis(u.int_in_range(1..=300)?),
        generations: u.int_in_range(1..=7)?,
        groups: 8,
        remainder_bits: u.int_in_range(1..=31)?,
        entries: 16,
        expected: 0,
        most_bytes: 8_192,
        payload_bits: 0,
    };
    Ok(Box::new(ShorteningWindowParameters { segments, keys: 0 }))
}

/// An empty filter of that structure.
pub fn build(blueprint: &dyn Blueprint, u: &mut Unstructured<'_>) -> Result<Box<dyn Filter>> {
    Ok(blueprint.build(Seed(u.arbitrary()?)).expect("goals of the fuzzer are small"))
}

fn arbitrary_goal(u: &mut Unstructured<'_>) -> Result<Goal> {
    let small = u.int_in_range(1..=300)?;
    let window = match u.int_in_range(0..=2)? {
        0 => Window::Last(small),
        1 => Window::Within(Span::from_millis(small)),
        _ => Window::Ever,
    };
    let rate = *u.choose(&[0.3, 0.1, 0.01, 0.001, 1e-6])?;
    let mut goal = Goal::new(window, ErrorRate::new(rate).expect("all of these are rates"));
    if u.ratio(1, 4)? {
        goal.limit = Memory::from_bytes(u.int_in_range(1..=4_000)?).into();
    }
    if let Window::Within(_) = window
        && u.ratio(1, 4)?
    {
        goal.shortening = Some(Memory::from_bytes(1 << 16));
    }
    if let Window::Last(_) = window
        && u.ratio(1, 4)?
    {
        goal.slack = Slack::Items(u.int_in_range(0..=300)?);
    }
    goal.expected_items = Some(u.int_in_range(1..=500)?);
    goal.counting = u.ratio(1, 4)?;
    goal.removing = u.ratio(1, 4)?;
    Ok(goal)
}
