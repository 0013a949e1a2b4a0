//! Colours of pictures, by light and by dark.
//!
//! A picture is drawn in the colours of daylight, which every program shows. A rule for each colour, inside
//! the picture, names the one that takes its place where the reader's screen is dark, and says which lines
//! are dashed: a claim has almost the colour of what it is about.

use std::fmt::Write;

use plotters::style::RGBColor;

use super::picture::Role;

/// Hues of series, by day and by night: told apart by those who see few colours, and readable on either
/// paper.
const HUES: [(u32, u32); 8] = [
    (0x0b6e6e, 0x5fc2bd),
    (0xb45309, 0xf2a65a),
    (0x3b5bb5, 0x8fa8f5),
    (0x9c2f7f, 0xe38ac9),
    (0x4f7a1e, 0xa3cf62),
    (0x6b4e9b, 0xbda1ec),
    (0x7a5c2e, 0xcdb07a),
    (0x56606e, 0xaab4c2),
];

const PAPER: (u32, u32) = (0xffffff, 0x1b2027);
const INK: (u32, u32) = (0x1d2430, 0xe6e9ee);
const SOFT: (u32, u32) = (0x566070, 0xa3adba);
const GRID: (u32, u32) = (0xe6e8ec, 0x2e3540);
const BOUND: (u32, u32) = (0xb3402a, 0xf08a72);

/// What a colour is for.
#[derive(Debug, Clone, Copy)]
pub enum Paint {
    /// The ground.
    Paper,
    /// Titles.
    Ink,
    /// Numbers and labels of axes.
    Soft,
    /// Lines behind everything.
    Grid,
    /// A series of this hue and role.
    Series(usize, Role),
}

impl Paint {
    /// Its colour by day.
    pub fn colour(self) -> RGBColor {
        let [_, red, green, blue] = self.day().to_be_parts();
        RGBColor(red, green, blue)
    }

    fn day(self) -> u32 {
        match self {
            Paint::Paper => PAPER.0,
            Paint::Ink => INK.0,
            Paint::Soft => SOFT.0,
            Paint::Grid => GRID.0,
            Paint::Series(_, Role::Bound) => BOUND.0,
            Paint::Series(hue, Role::Claim) => dashed(HUES[hue % HUES.len()].0),
            Paint::Series(hue, _) => HUES[hue % HUES.len()].0,
        }
    }
}

/// A colour that nobody tells from the other one but the rules.
fn dashed(colour: u32) -> u32 {
    colour ^ 1
}

/// Bytes of a colour, the highest first.
trait Parts {
    fn to_be_parts(self) -> [u8; 4];
}

impl Parts for u32 {
    fn to_be_parts(self) -> [u8; 4] {
        [24, 16, 8, 0].map(|shift| (self >> shift) as u8)
    }
}

/// The rules, as the content of a `style` element.
pub fn rules() -> String {
    let mut rules = String::new();
    let mut dark = String::new();
    let dashes = [BOUND.0].into_iter().chain(HUES.map(|(day, _)| dashed(day)));
    for colour in dashes {
        writeln!(rules, "polyline[stroke=\"#{colour:06X}\"] {{ stroke-dasharray: 14 9; }}")
            .expect("strings do not fail");
    }
    let pairs = [PAPER, INK, SOFT, GRID, BOUND].into_iter().chain(HUES);
    let pairs = pairs.chain(HUES.map(|(day, night)| (dashed(day), night)));
    for (day, night) in pairs {
        for paint in ["fill", "stroke"] {
            writeln!(dark, "  [{paint}=\"#{day:06X}\"] {{ {paint}: #{night:06x}; }}")
                .expect("strings do not fail");
        }
    }
    format!("{rules}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_the_day_has_one_rule_for_the_night() {
        let rules = rules();
        for hue in 0..HUES.len() {
            for role in [Role::Measured, Role::Formula, Role::Claim, Role::Bound] {
                let RGBColor(red, green, blue) = Paint::Series(hue, role).colour();
                let rule = format!("[fill=\"#{red:02X}{green:02X}{blue:02X}\"]");
                assert_eq!(rules.matches(&rule).count(), 1, "{rule}");
            }
        }
    }
}
