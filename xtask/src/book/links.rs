//! Where links of documents lead: to a chapter, to a file that comes along, to the repository, elsewhere.

use std::fmt;

use super::chapters::all;

/// Where the code of the repository can be read.
const REPOSITORY: &str = "https://github.com/lately-rs/lately/blob/main";

/// What a link leads to. Paths are those of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A document of the book, and a heading in it.
    Chapter { source: String, heading: Option<String> },
    /// A picture or a record, which is copied into the book.
    File(String),
    /// A file or folder that is read in the repository.
    Repository(String),
    /// An address of the web.
    Elsewhere(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Chapter { source, heading: Some(heading) } => write!(f, "{source}#{heading}"),
            Place::Chapter { source, heading: None } => write!(f, "{source}"),
            Place::File(path) | Place::Repository(path) | Place::Elsewhere(path) => {
                write!(f, "{path}")
            }
        }
    }
}

impl Place {
    /// What a link in a document means.
    pub fn of(link: &str, document: &str) -> Self {
        if link.contains("://") || link.starts_with("mailto:") {
            return Place::Elsewhere(link.to_owned());
        }
        let (path, heading) = match link.split_once('#') {
            Some((path, heading)) => (path, Some(heading.to_owned())),
            None => (link, None),
        };
        let source = if path.is_empty() { document.to_owned() } else { resolved(path, document) };
        if all().any(|chapter| chapter.source == source) {
            Place::Chapter { source, heading }
        } else if source.ends_with(".svg") || source.ends_with(".json") {
            Place::File(source)
        } else {
            Place::Repository(source)
        }
    }

    /// The same as a link of a page.
    pub fn link(&self) -> String {
        match self {
            Place::Chapter { source, heading } => {
                let chapter = all().find(|chapter| chapter.source == source);
                let page = chapter.map(|chapter| chapter.page()).unwrap_or_default();
                let heading = heading.as_ref().map(|heading| format!("#{heading}"));
                page + &heading.unwrap_or_default()
            }
            Place::File(path) => inside_book(path),
            Place::Repository(path) => format!("{REPOSITORY}/{path}"),
            Place::Elsewhere(address) => address.clone(),
        }
    }

    /// The file that must come along.
    pub fn copied(&self) -> Option<&str> {
        match self {
            Place::File(path) => Some(path),
            _ => None,
        }
    }
}

/// Where a file of the repository lies in the book.
pub fn inside_book(path: &str) -> String {
    let path = path.strip_prefix("docs/").unwrap_or(path);
    path.replace("lab/records/", "records/")
}

/// A path that a document has, from the root of the repository.
fn resolved(path: &str, document: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_the_repository_would_lead() {
        let link = |link: &str| Place::of(link, "docs/growing.md").link();
        assert_eq!(link("../FORMAT.md#the-growing-filter"), "format.html#the-growing-filter");
        assert_eq!(link("counting.md"), "counting.html");
        assert_eq!(link("#here"), "growing.html#here");
        assert_eq!(link("report/ours-day.svg"), "report/ours-day.svg");
        assert_eq!(link("../lab/records/report/ours-day.json"), "records/report/ours-day.json");
        assert_eq!(link("../core/src/lib.rs"), format!("{REPOSITORY}/core/src/lib.rs"));
        assert_eq!(link("https://example.org"), "https://example.org");
    }
}
