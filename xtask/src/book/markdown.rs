//! One document as HTML: its links where they lead in the book, its headings with names, its tables and
//! pictures in frames that scroll by themselves.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::links::Place;

/// A document as HTML, and what others may link to or must check.
pub struct Rendered {
    /// Its text.
    pub html: String,
    /// Names of its headings.
    pub headings: Vec<String>,
    /// Where its links lead.
    pub places: Vec<Place>,
}

/// Renders a document of the repository.
pub fn render(source: &str, text: &str) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    let mut headings: Vec<String> = Vec::new();
    let mut places = Vec::new();
    let mut out: Vec<Event<'_>> = Vec::new();
    let mut tables = 0;
    let mut place = |link: &str| {
        let place = Place::of(link, source);
        let link = place.link();
        places.push(place);
        CowStr::from(link)
    };
    let mut at = 0;
    while at < events.len() {
        match events[at].clone() {
            Event::Start(Tag::Heading { level, .. }) => {
                let end = events[at..]
                    .iter()
                    .position(|event| matches!(event, Event::End(TagEnd::Heading(_))));
                let words = words(&events[at..at + end.unwrap_or(0)]);
                let name = unique(&slug(&words), &headings);
                let open = if level == HeadingLevel::H1 {
                    String::new()
                } else {
                    format!("<a class=\"here\" href=\"#{name}\">")
                };
                out.push(Event::Html(format!("<{level} id=\"{name}\">{open}").into()));
                headings.push(name);
            }
            Event::End(TagEnd::Heading(level)) => {
                let close = if level == HeadingLevel::H1 { "" } else { "</a>" };
                out.push(Event::Html(format!("{close}</{level}>\n").into()));
            }
            Event::Start(Tag::Table(alignment)) => {
                tables += 1;
                let open = format!(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table {tables}\">"
                );
                out.push(Event::Html(open.into()));
                out.push(Event::Start(Tag::Table(alignment)));
            }
            Event::End(TagEnd::Table) => {
                out.extend([Event::End(TagEnd::Table), Event::Html("</div>\n".into())])
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = place(&dest_url);
                out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            // A paragraph that is a picture is a figure.
            Event::Start(Tag::Paragraph)
                if matches!(events.get(at + 1), Some(Event::Start(Tag::Image { .. }))) =>
            {
                let Some(Event::Start(Tag::Image { dest_url, .. })) = events.get(at + 1) else {
                    unreachable!()
                };
                let end = events[at..]
                    .iter()
                    .position(|event| matches!(event, Event::End(TagEnd::Image)));
                let alt = words(&events[at..at + end.unwrap_or(0)]).replace('"', "&quot;");
                let link = place(dest_url);
                let figure = format!(
                    "<figure tabindex=\"0\"><a href=\"{link}\"><img src=\"{link}\" alt=\"{alt}\"></a></figure>\n"
                );
                out.push(Event::Html(figure.into()));
                at += end.unwrap_or(0) + 1;
                // The end of the paragraph, or what else it says.
                if matches!(events.get(at), Some(Event::End(TagEnd::Paragraph))) {
                    at += 1;
                }
                continue;
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                out.push(Event::Start(Tag::CodeBlock(kind)));
            }
            event => out.push(event),
        }
        at += 1;
    }
    let mut text = String::new();
    html::push_html(&mut text, out.into_iter());
    // Long lines of code scroll, also for those who have only keys.
    let text = text.replace("<pre>", "<pre tabindex=\"0\">");
    Rendered { html: text, headings, places }
}

/// The words of some events, without their form.
fn words(events: &[Event<'_>]) -> String {
    let word = |event: &Event<'_>| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        Event::SoftBreak => " ".to_owned(),
        _ => String::new(),
    };
    events.iter().map(word).collect()
}

/// The name that a repository gives to a heading.
fn slug(words: &str) -> String {
    let letter = |letter: char| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
        _ => None,
    };
    words.to_lowercase().chars().filter_map(letter).collect()
}

fn unique(name: &str, taken: &[String]) -> String {
    let is_free = |name: &String| !taken.contains(name);
    let names =
        std::iter::once(name.to_owned()).chain((1..).map(|number| format!("{name}-{number}")));
    names.into_iter().find(is_free).expect("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_links_tables_and_pictures() {
        let text = "# A `b`, c\n\n## Twice\n\n## Twice\n\n[to](counting.md)\n\n![a picture](report/x.svg)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
        let page = render("docs/growing.md", text);
        assert_eq!(page.headings, ["a-b-c", "twice", "twice-1"]);
        assert_eq!(page.places.len(), 2);
        for part in [
            "<h1 id=\"a-b-c\">A <code>b</code>, c</h1>",
            "<a class=\"here\" href=\"#twice-1\">Twice</a></h2>",
            "<a href=\"counting.html\">to</a>",
            "<img src=\"report/x.svg\" alt=\"a picture\">",
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table 1\"><table>",
        ] {
            assert!(page.html.contains(part), "{part}\n{}", page.html);
        }
    }
}
