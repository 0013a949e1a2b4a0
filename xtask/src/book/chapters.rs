//! Which documents the book has, in which order.

/// One document.
#[derive(Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Where it is in the repository.
    pub source: &'static str,
    /// What the list calls it.
    pub title: &'static str,
}

impl Chapter {
    const fn new(source: &'static str, title: &'static str) -> Self {
        Self { source, title }
    }

    /// The file of its page.
    pub fn page(&self) -> String {
        let name = self.source.trim_end_matches(".md").trim_start_matches("docs/");
        let name = name.trim_start_matches("lab/").replace('/', "-").to_lowercase();
        format!("{name}.html")
    }
}

/// All chapters, by part.
pub const PARTS: &[(&str, &[Chapter])] = &[
    (
        "Begin",
        &[
            Chapter::new("README.md", "What it is"),
            Chapter::new("docs/words.md", "Words"),
            Chapter::new("CHANGELOG.md", "What changed"),
        ],
    ),
    (
        "Manuals",
        &[
            Chapter::new("docs/command.md", "The command"),
            Chapter::new("module/README.md", "Redis and Valkey"),
            Chapter::new("docs/python.md", "Python"),
            Chapter::new("docs/python-spark.md", "Spark"),
        ],
    ),
    (
        "Bit by bit",
        &[
            Chapter::new("docs/sliding.md", "The last n"),
            Chapter::new("docs/time.md", "The last t"),
            Chapter::new("docs/growing.md", "Ever"),
            Chapter::new("docs/counting.md", "How often"),
            Chapter::new("docs/duplicates.md", "Fixed memory"),
            Chapter::new("FORMAT.md", "Snapshots"),
        ],
    ),
    (
        "Measured",
        &[
            Chapter::new("docs/report.md", "The report"),
            Chapter::new("lab/METHODOLOGY.md", "How we measure"),
            Chapter::new("lab/BIAS.md", "What favours us"),
            Chapter::new("papers/README.md", "Structures of papers"),
        ],
    ),
    (
        "The code",
        &[
            Chapter::new("ARCHITECTURE.md", "Architecture"),
            Chapter::new("CONTRIBUTING.md", "Contributing"),
        ],
    ),
];

/// All chapters in order.
pub fn all() -> impl Iterator<Item = &'static Chapter> {
    PARTS.iter().flat_map(|(_, chapters)| *chapters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_document_is_a_chapter_with_a_page_of_its_own() {
        let pages: HashSet<String> = all().map(Chapter::page).collect();
        assert_eq!(pages.len(), all().count());
        for document in std::fs::read_dir("../docs").unwrap() {
            let path = document.unwrap().path();
            if path.extension().is_some_and(|end| end == "md") {
                let source = format!("docs/{}", path.file_name().unwrap().to_string_lossy());
                assert!(all().any(|chapter| chapter.source == source), "{source} is in no part");
            }
        }
    }
}
