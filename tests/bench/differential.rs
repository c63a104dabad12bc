//! The comparison of `tests/it/commands/differential.rs` with many strings: 100,000 unless `--` is
//! followed by another number.
//!
//! What is found is printed; anything wrong ends it with a failure.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong ends the benchmark"
)]
#![expect(clippy::print_stdout, reason = "the count is the result")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "benchmarks make folders, start shells and look at the clock"
)]

#[path = "../it/commands/differential.rs"]
mod differential;
#[path = "../it/commands/generate.rs"]
mod generate;
#[path = "../it/commands/shells.rs"]
mod shells;

use std::process::ExitCode;
use std::time::Instant;

/// Strings that are made at once.
const ROUND: usize = 10_000;

fn main() -> ExitCode {
    let count = std::env::args().find_map(|word| word.parse::<usize>().ok()).unwrap_or(100_000);
    let mut wrong = 0;
    for (name, compare) in [
        ("plain words", differential::strict as fn(u64, usize) -> differential::Found),
        ("expansions", differential::loose),
    ] {
        let begin = Instant::now();
        let mut allowed = 0;
        for round in 0..count.div_ceil(ROUND) {
            let found = compare(1000 + round as u64, ROUND.min(count - round * ROUND));
            allowed += found.allowed;
            wrong += found.wrong.len();
            found.wrong.iter().for_each(|why| println!("{why}"));
        }
        println!(
            "{name}: {count} strings, {allowed} allowed and run in two shells, {:.0} s",
            begin.elapsed().as_secs_f64()
        );
    }
    println!("{wrong} different");
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
