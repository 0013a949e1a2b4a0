//! What the page calls: plans, the picture of memory over error, a day, and a filter at work.
//!
//! The page speaks in the words of its own address: `last 1M`, `error 0.1%`, one pair a line. Here they
//! become a goal, by the same parsers that the command has, and answers go back as JSON.

mod answer;
mod asked;
mod curve;
mod day;
mod fleet;
mod paste;
mod work;

use wasm_bindgen::prelude::wasm_bindgen;

use asked::Asked;

pub use work::Work;

/// The best plan for what is asked, with its servers and the lines to paste: what a slider waits for.
#[wasm_bindgen]
pub fn best(asked: &str) -> String {
    answer::text(Asked::read(asked).and_then(|asked| answer::best(&asked)))
}

/// All plans that reach what is asked, best first: the table.
#[wasm_bindgen]
pub fn plans(asked: &str) -> String {
    answer::text(Asked::read(asked).and_then(|asked| answer::all(&asked)))
}

/// One line of the picture: what a row of the catalog takes over the error, `null` where it cannot.
#[wasm_bindgen]
pub fn curve(asked: &str, structure: &str) -> String {
    answer::text(Asked::read(asked).and_then(|asked| curve::of(&asked, structure)))
}

/// The least that any structure could take, over the same errors.
#[wasm_bindgen]
pub fn least(asked: &str) -> String {
    answer::text(Asked::read(asked).map(|asked| curve::least(&asked)))
}

/// Memory through a day whose rate is drawn: `rates` are keys a second for stretches of equal length.
#[wasm_bindgen]
pub fn day(asked: &str, rates: &[f64]) -> String {
    answer::text(Asked::read(asked).and_then(|asked| day::through(&asked, rates)))
}

/// Names and strengths of all structures.
#[wasm_bindgen]
pub fn structures() -> String {
    answer::text(Ok(answer::structures()))
}
