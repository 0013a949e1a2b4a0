//! The line to paste: the same goal in Rust, for the command, for a server, in Python.

use lately::plan::{Goal, Limit};
use lately::{Slack, Window};
use serde_json::{Value, json};

/// The goal in all four, split over so many servers.
pub fn lines(goal: &Goal, shards: u32) -> Value {
    json!({
        "rust": rust(goal),
        "command": command(goal, shards),
        "server": server(goal),
        "python": python(goal),
    })
}

fn rust(goal: &Goal) -> String {
    let mut line = match goal.window {
        Window::Last(items) => format!("Lately::last({})", grouped(items)),
        Window::Within(span) => {
            format!("Lately::within(Duration::from_millis({}))", grouped(span.millis()))
        }
        Window::Ever => "Lately::ever()".to_owned(),
    };
    line += &match goal.limit {
        Limit::Error(rate) => format!(".error({})", rate.get()),
        Limit::Memory(memory) => format!(".memory({})", grouped(memory.bytes())),
    };
    match goal.slack {
        Slack::Items(items) => line += &format!(".slack({})", grouped(items)),
        Slack::Time(span) => {
            line += &format!(".slack(Duration::from_millis({}))", grouped(span.millis()));
        }
        Slack::Unlimited => {}
    }
    if let Some(items) = hint(goal) {
        line += &format!(".expected_items({})", grouped(items));
    }
    if goal.removing {
        line += ".removing()";
    }
    if goal.counting {
        line += ".counting()";
    }
    if matches!(goal.window, Window::Within(_)) {
        line += ".clock(SystemClock)";
    }
    line + ".build()?"
}

fn command(goal: &Goal, shards: u32) -> String {
    let deed = if goal.counting { "count" } else { "dedup" };
    let mut line = format!("lately {deed} {}", words(goal, ["--last", "--within", "--ever"]));
    line += &match goal.limit {
        Limit::Error(rate) => format!(" --error {rate}"),
        Limit::Memory(memory) => format!(" --memory {}B", memory.bytes()),
    };
    // Counts have no slack of their own to state, and are kept by no server.
    if !goal.counting {
        match goal.slack {
            Slack::Items(items) => line += &format!(" --slack {items}"),
            Slack::Time(span) => line += &format!(" --slack {span}"),
            Slack::Unlimited => {}
        }
        if shards > 1 {
            line += &format!(" --redis redis://HOST:7000/seen --shards {shards}");
        }
    }
    if let Some(items) = hint(goal) {
        line += &format!(" --expected {items}");
    }
    line + " FILE"
}

fn server(goal: &Goal) -> String {
    let mut line = match goal.window {
        Window::Within(span) => format!("LATELY.RESERVE seen WITHIN {}", span.millis()),
        _ => format!("LATELY.RESERVE seen {}", words(goal, ["LAST", "WITHIN", "EVER"])),
    };
    line += &match goal.limit {
        Limit::Error(rate) => format!(" ERROR {rate}"),
        Limit::Memory(memory) => format!(" MEMORY {}", memory.bytes()),
    };
    match goal.slack {
        Slack::Items(items) => line += &format!(" SLACK {items}"),
        Slack::Time(span) => line += &format!(" SLACK {}", span.millis()),
        Slack::Unlimited => {}
    }
    if goal.counting {
        line += " COUNTING";
    }
    if goal.removing {
        line += " REMOVING";
    }
    if let Some(items) = hint(goal) {
        line += &format!(" CAPACITY {items}");
    }
    line
}

fn python(goal: &Goal) -> String {
    let mut named = Vec::new();
    match goal.window {
        Window::Last(items) => named.push(format!("last={}", grouped(items))),
        Window::Within(span) => named.push(format!("within=\"{span}\"")),
        Window::Ever => {}
    }
    named.push(match goal.limit {
        Limit::Error(rate) => format!("error={}", rate.get()),
        Limit::Memory(memory) => format!("memory={}", grouped(memory.bytes())),
    });
    match goal.slack {
        Slack::Items(items) => named.push(format!("slack={}", grouped(items))),
        Slack::Time(span) => named.push(format!("slack=\"{span}\"")),
        Slack::Unlimited => {}
    }
    if let Some(items) = hint(goal) {
        named.push(format!("expected={}", grouped(items)));
    }
    if goal.removing {
        named.push("removing=True".to_owned());
    }
    let class = match goal.window {
        _ if goal.counting => "Counter",
        Window::Ever => "Ever",
        _ => "Window",
    };
    format!("lately.{class}({})", named.join(", "))
}

/// The window in the words of one of them.
fn words(goal: &Goal, [last, within, ever]: [&str; 3]) -> String {
    match goal.window {
        Window::Last(items) => format!("{last} {items}"),
        Window::Within(span) => format!("{within} {span}"),
        Window::Ever => ever.to_owned(),
    }
}

/// How many keys are expected, where the window does not say it.
fn hint(goal: &Goal) -> Option<u64> {
    goal.expected_items.filter(|_| !matches!(goal.window, Window::Last(_)))
}

/// A number with its thousands apart, as Rust and Python read it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Asked;

    fn pasted(text: &str) -> [String; 4] {
        let lines = lines(&Asked::read(text).unwrap().goal, 1);
        ["rust", "command", "server", "python"].map(|to| lines[to].as_str().unwrap().to_owned())
    }

    #[test]
    fn lines_say_the_goal() {
        assert_eq!(
            pasted("last 1M\nerror 0.1%"),
            [
                "Lately::last(1_000_000).error(0.001).build()?",
                "lately dedup --last 1000000 --error 0.1% FILE",
                "LATELY.RESERVE seen LAST 1000000 ERROR 0.1%",
                "lately.Window(last=1_000_000, error=0.001)",
            ]
        );
        assert_eq!(
            pasted("within 1h\nrate 100\nmemory 8MiB\ncounting"),
            [
                "Lately::within(Duration::from_millis(3_600_000)).memory(8_388_608)\
                 .expected_items(360_000).counting().clock(SystemClock).build()?",
                "lately count --within 60m --memory 8388608B --expected 360000 FILE",
                "LATELY.RESERVE seen WITHIN 3600000 MEMORY 8388608 COUNTING CAPACITY 360000",
                "lately.Counter(within=\"60m\", memory=8_388_608, expected=360_000)",
            ]
        );
        let [rust, .., python] = pasted("ever\nerror 1e-6\nremoving");
        assert_eq!(rust, "Lately::ever().error(0.000001).removing().build()?");
        assert_eq!(python, "lately.Ever(error=0.000001, removing=True)");
    }

    /// The line for Rust as it is pasted.
    #[test]
    fn the_line_for_rust_compiles() -> Result<(), lately::Error> {
        use lately::{Lately, SystemClock};
        use std::time::Duration;
        Lately::last(1_000_000).error(0.001).build()?;
        Lately::within(Duration::from_millis(3_600_000))
            .error(0.01)
            .expected_items(360_000)
            .counting()
            .clock(SystemClock)
            .build()?;
        Lately::ever().error(0.000001).removing().build()?;
        Ok(())
    }
}
