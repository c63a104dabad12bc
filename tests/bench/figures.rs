//! The table every benchmark prints: what was measured, the figure, the target and how far the
//! figure is from it.
#![allow(dead_code, reason = "each benchmark compiles this anew and uses a part of it")]

use std::time::Duration;

/// What a figure counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Figure {
    /// Time.
    Time(Duration),
    /// Bytes.
    Size(u64),
    /// A plain number.
    Number(f64),
}

impl Figure {
    fn value(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Size(bytes) => bytes as f64,
            Self::Number(number) => number,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Time(time) if time < Duration::from_millis(1) => {
                format!("{:.1} µs", time.as_secs_f64() * 1e6)
            }
            Self::Time(time) => format!("{:.2} ms", time.as_secs_f64() * 1e3),
            Self::Size(bytes) => format!("{:.1} MB", bytes as f64 / 1e6),
            Self::Number(number) => format!("{number:.2}"),
        }
    }
}

/// Returns true when the program was started by `cargo bench` and this part of it was asked for, by
/// name or because none was (`cargo bench --bench floors -- search`). A test runner that comes
/// across the program is told nothing.
pub(crate) fn wanted(part: &str) -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut named = arguments.iter().filter(|argument| !argument.starts_with("--")).peekable();
    arguments.iter().any(|argument| argument == "--bench")
        && (named.peek().is_none() || named.any(|name| name == part))
}

/// Prints a heading and the names of the columns.
pub(crate) fn heading(title: &str) {
    println!("\n{title:<64} {:>11} {:>11} {:>7}", "figure", "target", "ratio");
}

/// Prints a figure that has a target.
pub(crate) fn against(what: &str, figure: Figure, target: Figure) {
    println!(
        "{what:<64} {:>11} {:>11} {:>7.2}",
        figure.shown(),
        target.shown(),
        figure.value() / target.value()
    );
}

/// Prints two figures side by side.
pub(crate) fn pair(what: &str, this: Figure, other: Figure) {
    let ratio = this.value() / other.value();
    println!("{what:<64} {:>11} {:>11} {ratio:>7.2}", this.shown(), other.shown());
}

/// Returns the middle one of some figures of one kind; there is at least one.
pub(crate) fn middle(mut figures: Vec<Figure>) -> Figure {
    figures.sort_by(|one, other| one.value().total_cmp(&other.value()));
    figures.swap_remove(figures.len() / 2)
}

/// Prints a figure.
pub(crate) fn plain(what: &str, figure: Figure) {
    println!("{what:<64} {:>11}", figure.shown());
}

/// Returns the value below which `share` of the values lie.
pub(crate) fn quantile(values: &[Duration], share: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let place = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}

/// Returns the middle value.
pub(crate) fn median(values: &[Duration]) -> Duration {
    quantile(values, 0.5)
}
