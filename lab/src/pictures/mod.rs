//! The report: figures and tables of the papers on our structures, and ours, as pictures.
//!
//! A figure is a value ([`figure::Figure`]) that measures itself into panels of points. Everything else
//! reads those: the picture, the record, the page, and the check that what is kept can be had again.

mod command;
pub mod compare;
mod counting;
mod detection;
pub mod draw;
pub mod figure;
mod front;
mod growing;
pub mod keep;
mod ours;
mod page;
pub mod picture;
#[cfg(test)]
mod said;
mod scale;
mod slices;
mod speed;
mod theme;
mod window;

pub use page::page;

use figure::{Chapter, Figure};

/// The report, in its order.
pub static CHAPTERS: &[Chapter] = &[
    window::CHAPTER,
    slices::CHAPTER,
    detection::CHAPTER,
    growing::CHAPTER,
    counting::CHAPTER,
    ours::CHAPTER,
];

/// All figures.
pub fn figures() -> impl Iterator<Item = &'static Figure> {
    CHAPTERS.iter().flat_map(|chapter| chapter.figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn definitions_are_sound() {
        let mut names = HashSet::new();
        for figure in figures() {
            assert!(names.insert(figure.name), "{} is defined twice", figure.name);
            assert!(figure.says.ends_with('.'), "{} says nothing", figure.name);
            assert!(figure.seconds > 0, "{}", figure.name);
        }
        assert!(figures().map(|figure| figure.seconds).sum::<u64>() < 600);
    }
}
