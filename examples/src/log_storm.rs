//! Lets each message through once a minute, however often it is logged: a layer for `tracing`.
//! `cargo run -p lately-examples --example log_storm`

use std::{fmt, time::Duration};

use lately::{Clocked, Error, Lately, Shared, SystemClock};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

struct OncePerMinute {
    seen: Shared<Clocked>,
    print: fn(&Metadata<'_>, &str),
}

impl OncePerMinute {
    fn new(print: fn(&Metadata<'_>, &str)) -> Result<Self, Error> {
        let minute = Lately::within(Duration::from_secs(60)).error(1e-6).clock(SystemClock);
        Ok(Self { seen: minute.build_shared()?, print })
    }
}

impl<S: Subscriber> Layer<S> for OncePerMinute {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        // Not refreshed by repeats: in a storm that does not end, a line a minute still tells of it.
        if self.seen.insert_new((event.metadata().target(), &text.0)) {
            (self.print)(event.metadata(), &text.0);
        }
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &format!("{}={value:?} ", field.name());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layer = OncePerMinute::new(|about, text| println!("{} {text}", about.level()))?;
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))?;
    (0..1000).for_each(|attempt| tracing::warn!(hundreds = attempt / 100, "connection refused"));
    Ok(())
}

#[test]
fn a_storm_is_a_line() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static PRINTED: AtomicU64 = AtomicU64::new(0);
    let layer = OncePerMinute::new(|_, _| _ = PRINTED.fetch_add(1, Ordering::Relaxed)).unwrap();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        (0..1000).for_each(|_| tracing::warn!("connection refused"));
        tracing::warn!("disk full");
    });
    assert_eq!(PRINTED.load(Ordering::Relaxed), 2);
}
