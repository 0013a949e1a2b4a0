//! The documents as a book: one page for each, with a list of all, in a folder that works from a disk.
//!
//! The documents stay what they are, Markdown that a repository shows. Here their links become links
//! between pages; one that leads nowhere is a failure. Only a Markdown parser is used for it: a whole program for
//! books would be built for minutes, and has a server, templates and a search of its own.

mod chapters;
mod links;
mod markdown;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use chapters::{Chapter, PARTS, all};
use links::Place;
use markdown::{Rendered, render};

/// The folder of the book inside of the site.
pub const FOLDER: &str = "book";

/// What the planner's page links to.
pub const LINKS: &str =
    "<a href=\"book/report.html\">The report</a><a href=\"book/readme.html\">The book</a>";

/// Writes the book into a folder, and fails with every link that leads nowhere.
pub fn write(site: &Path) -> Result<()> {
    let folder = site.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let style =
        fs::read_to_string("site/palette.css")? + &fs::read_to_string("site/book/style.css")?;
    fs::write(folder.join("style.css"), style)?;
    fs::copy("site/book/book.js", folder.join("book.js"))?;
    let template = fs::read_to_string("site/book/chapter.html")?;

    let mut rendered = Vec::new();
    for chapter in all() {
        let text = fs::read_to_string(chapter.source).context(chapter.source)?;
        rendered.push((chapter, render(chapter.source, &text)));
    }
    let mut faults = Vec::new();
    for (at, (chapter, page)) in rendered.iter().enumerate() {
        faults.extend(broken(&rendered, chapter, page));
        for file in page.places.iter().filter_map(Place::copied) {
            let to = folder.join(links::inside_book(file));
            fs::create_dir_all(to.parent().context("a folder")?)?;
            fs::copy(file, to).with_context(|| file.to_owned())?;
        }
        let before = at.checked_sub(1).map(|at| rendered[at].0);
        let after = rendered.get(at + 1).map(|(chapter, _)| *chapter);
        let text = template
            .replace("<!--TITLE-->", chapter.title)
            .replace("<!--CHAPTERS-->", &list(chapter))
            .replace("<!--ENDS-->", &ends(before, after))
            .replace("<!--TEXT-->", &page.html);
        fs::write(folder.join(chapter.page()), text)?;
    }
    if !faults.is_empty() {
        bail!("the book has links that lead nowhere:\n{}", faults.join("\n"));
    }
    let links: usize = rendered.iter().map(|(_, page)| page.places.len()).sum();
    println!("the book: {} chapters, {links} links", rendered.len());
    Ok(())
}

/// What a chapter links to and is not there.
fn broken(rendered: &[(&Chapter, Rendered)], chapter: &Chapter, page: &Rendered) -> Vec<String> {
    let has_heading = |source: &str, heading: &str| {
        let page = rendered.iter().find(|(chapter, _)| chapter.source == source);
        page.is_some_and(|(_, page)| page.headings.iter().any(|known| known == heading))
    };
    let leads_nowhere = |place: &&Place| match place {
        Place::Chapter { source, heading } => {
            heading.as_ref().is_some_and(|heading| !has_heading(source, heading))
        }
        Place::File(path) | Place::Repository(path) => !Path::new(path).exists(),
        Place::Elsewhere(_) => false,
    };
    let nowhere = page.places.iter().filter(leads_nowhere);
    nowhere.map(|place| format!("{}: {place}", chapter.source)).collect()
}

/// The list of chapters, with the one that is open.
fn list(open: &Chapter) -> String {
    let mut html = String::new();
    for (title, chapters) in PARTS {
        html += &format!("<h2>{title}</h2>\n<ul>\n");
        for chapter in *chapters {
            let current = if chapter.source == open.source { " aria-current=\"page\"" } else { "" };
            html += &format!(
                "<li><a href=\"{}\"{current}>{}</a></li>\n",
                chapter.page(),
                chapter.title
            );
        }
        html += "</ul>\n";
    }
    html
}

fn ends(before: Option<&Chapter>, after: Option<&Chapter>) -> String {
    let link = |chapter: Option<&Chapter>, before: &str, after: &str| {
        let link = |chapter: &Chapter| {
            format!("<a href=\"{}\">{before}{}{after}</a>", chapter.page(), chapter.title)
        };
        chapter.map_or_else(|| "<span></span>".to_owned(), link)
    };
    link(before, "← ", "") + &link(after, "", " →")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_named() {
        let chapters: Vec<&Chapter> = all().collect();
        let page = |at: usize, text: &str| (chapters[at], render(chapters[at].source, text));
        let others = [page(0, "# A\n\n## Some words\n"), page(1, "# B\n")];
        let faults = |text: &str| broken(&others, chapters[0], &render("README.md", text));
        assert_eq!(faults("[here](#some-words) and [there](https://example.org/nowhere)"), [""; 0]);
        let missing = [
            "[a](#other-words)",
            "[b](docs/nothing.md)",
            "![c](docs/nothing.svg)",
            "[d](core/src/nothing.rs)",
        ];
        for text in missing {
            assert_eq!(faults(text).len(), 1, "{text}");
        }
    }
}
