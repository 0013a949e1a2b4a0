//! The frontier of a crawler: each address is visited once, how many there are nobody knows, and a
//! restart goes on where it was. `cargo run -p lately-examples --example frontier`

use std::collections::VecDeque;

use lately::{Error, Lately};

struct Frontier {
    met: Lately,
    waiting: VecDeque<String>,
}

impl Frontier {
    /// Takes 3 bytes for each address, also after the hundred millionth.
    fn new() -> Result<Self, Error> {
        Ok(Self { met: Lately::ever().error(1e-4).build()?, waiting: VecDeque::new() })
    }

    fn found(&mut self, links: impl IntoIterator<Item = String>) {
        for link in links {
            if self.met.insert(&link) {
                self.waiting.push_back(link);
            }
        }
    }
}

/// A web of a thousand pages, each linking to three others.
fn links(page: &str) -> Vec<String> {
    let number: u64 = page.rsplit('/').next().and_then(|last| last.parse().ok()).unwrap_or(0);
    [2, 3, 7].map(|factor| format!("https://example.org/{}", (number * factor + 1) % 1000)).into()
}

fn main() -> Result<(), Error> {
    let mut frontier = Frontier::new()?;
    frontier.found(["https://example.org/0".to_owned()]);
    let mut visited = 0;
    while let Some(page) = frontier.waiting.pop_front() {
        visited += 1;
        frontier.found(links(&page));
    }
    // A restart forgets nothing.
    frontier.met = Lately::open(&frontier.met.save())?;
    assert!(frontier.met.contains("https://example.org/0"));
    println!("{visited} pages, {} bytes to remember them", frontier.met.heap_bytes());
    Ok(())
}

#[test]
fn no_page_is_visited_twice() {
    let mut frontier = Frontier::new().unwrap();
    frontier.found(["https://example.org/0".to_owned()]);
    let mut visited = std::collections::HashSet::new();
    while let Some(page) = frontier.waiting.pop_front() {
        frontier.found(links(&page));
        assert!(visited.insert(page));
    }
    assert!(visited.len() > 500);
}
