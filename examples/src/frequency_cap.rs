//! Shows an advertisement to the same person at most three times among the last million views.
//! `cargo run -p lately-examples --example frequency_cap`

use lately::{Counter, Error, Lately};

struct Cap {
    views: Counter,
    most: u64,
}

impl Cap {
    fn new(most: u64) -> Result<Self, Error> {
        Ok(Self { views: Lately::last(1_000_000).counting().error(0.001).build()?, most })
    }

    /// Whether to show it; counts only what is shown. No count is too low, so nobody sees it more
    /// often; one in a thousand may see it less often.
    fn shows(&mut self, advertisement: u32, person: u64) -> bool {
        let key = (advertisement, person);
        let shown = !self.views.reaches(key, self.most);
        if shown {
            self.views.add(key);
        }
        shown
    }
}

fn main() -> Result<(), Error> {
    let mut cap = Cap::new(3)?;
    for view in 1..=5 {
        println!("view {view}: {}", if cap.shows(17, 42) { "shown" } else { "another one" });
    }
    println!("{} bytes for a million views", cap.views.heap_bytes());
    Ok(())
}

#[test]
fn nobody_sees_it_more_than_three_times() {
    let mut cap = Cap::new(3).unwrap();
    let mut shown = std::collections::HashMap::<u64, u64>::new();
    for view in 0..50_000_u64 {
        let person = view * view % 9_973;
        *shown.entry(person).or_default() += u64::from(cap.shows(17, person));
    }
    assert!(shown.values().all(|&times| times <= 3));
    let seldom = shown.values().filter(|&&times| times == 0).count();
    assert!(seldom * 100 < shown.len(), "{seldom} of {}", shown.len());
}
