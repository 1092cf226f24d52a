//! `--limits`: what a run may cost, and the clock that the engine does not have.

use std::str::FromStr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::Args;
use pidq::{Cancel, Limits};

/// The option `--limits`.
#[derive(Args)]
pub struct LimitOptions {
    /// What a run may cost, such as `fuel=5M,memory=1G,output=10M,time=2s`, also `string`, `backtracks`, `rows`, `paths` and `depth`; else 2 billion steps, 2 GiB, any output, any time
    #[arg(long, value_name = "NAME=AMOUNT,...", default_value = "", hide_default_value = true)]
    limits: Budget,
}

impl LimitOptions {
    /// Does `work` within the limits; it is told to stop when the time is over.
    pub fn within<T>(&self, work: impl FnOnce(Limits<'_>) -> T) -> T {
        self.limits.within(work)
    }
}

/// What a run may cost. Generous: the person who asks also owns the machine.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    fuel: u64,
    memory: usize,
    output: usize,
    string: usize,
    backtracks: usize,
    rows: usize,
    paths: usize,
    depth: usize,
    time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        let library = Limits::default();
        Budget {
            fuel: library.fuel * 100,
            memory: library.memory.saturating_mul(8),
            output: usize::MAX,
            string: library.string,
            backtracks: library.backtracks,
            rows: library.rows,
            paths: library.paths,
            depth: library.depth,
            time: None,
        }
    }
}

impl Budget {
    /// Does `work` within the budget; a timer stops it when the time is over.
    pub fn within<T>(&self, work: impl FnOnce(Limits<'_>) -> T) -> T {
        let Some(time) = self.time else { return work(self.limits(None)) };
        let cancel = Cancel::default();
        thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            scope.spawn(|| {
                // Moved in: the timer ends when `done` is dropped.
                let is_done = is_done;
                if is_done.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                    cancel.time_out();
                }
            });
            let result = work(self.limits(Some(&cancel)));
            drop(done);
            result
        })
    }

    fn limits<'c>(&self, cancel: Option<&'c Cancel>) -> Limits<'c> {
        Limits {
            fuel: self.fuel,
            memory: self.memory,
            output: self.output,
            string: self.string,
            backtracks: self.backtracks,
            rows: self.rows,
            paths: self.paths,
            depth: self.depth,
            cancel,
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Budget, String> {
        let mut budget = Budget::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, amount) = part.split_once('=').ok_or_else(|| format!("expected NAME=AMOUNT, found `{part}`"))?;
            match name.trim() {
                "fuel" => budget.fuel = count(amount, 1000)?,
                "memory" => budget.memory = bytes(amount)?,
                "output" => budget.output = bytes(amount)?,
                "string" => budget.string = bytes(amount)?,
                "backtracks" => budget.backtracks = size(count(amount, 1000)?),
                "rows" => budget.rows = size(count(amount, 1000)?),
                "paths" => budget.paths = size(count(amount, 1000)?),
                // Steps are counted in 32 bits.
                "depth" => budget.depth = size(count(amount, 1000)?.min(u32::MAX.into())),
                "time" => budget.time = Some(duration(amount)?),
                other => {
                    let names = "fuel, memory, output, string, backtracks, rows, paths, depth and time";
                    return Err(format!("no limit `{other}`: {names} are"));
                }
            }
        }
        Ok(budget)
    }
}

fn bytes(amount: &str) -> Result<usize, String> {
    count(amount, 1024).map(size)
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// A whole number, with `K`, `M` or `G` for powers of `step`.
fn count(amount: &str, step: u64) -> Result<u64, String> {
    let amount = amount.trim();
    let power = amount.chars().last().and_then(|last| " kmg".find(last.to_ascii_lowercase())).unwrap_or(0) as u32;
    let digits = if power > 0 { &amount[..amount.len() - 1] } else { amount };
    let number: u64 = digits.parse().map_err(|_| format!("`{amount}` is not an amount such as `500` or `20M`"))?;
    Ok(number.saturating_mul(step.saturating_pow(power)))
}

/// Seconds, or with a unit: `500ms`, `2.5s`, `1m`.
fn duration(amount: &str) -> Result<Duration, String> {
    let amount = amount.trim();
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("", 1.0)];
    let (digits, unit) =
        units.iter().find_map(|(unit, seconds)| Some((amount.strip_suffix(unit)?, *seconds))).unwrap_or((amount, 1.0));
    let seconds = digits.parse::<f64>().ok().map(|number| number * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("`{amount}` is not a time such as `500ms`, `2s` or `1m`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        let budget: Budget = "fuel=5M,memory=2k,output=7,time=500ms".parse().expect("four good limits");
        assert_eq!((budget.fuel, budget.memory, budget.output), (5_000_000, 2048, 7));
        assert_eq!(budget.time, Some(Duration::from_millis(500)));
    }

    #[test]
    fn lists_and_walks_may_be_longer() {
        let budget: Budget = "rows=1M,paths=2k,depth=9G".parse().expect("three good limits");
        assert_eq!((budget.rows, budget.paths, budget.depth), (1_000_000, 2000, u32::MAX as usize));
    }

    #[test]
    fn a_time_may_be_whole_minutes_or_bare_seconds() {
        assert_eq!(duration("1m"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("2.5"), Ok(Duration::from_millis(2500)));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["fuel", "fuel=", "fuel=-1", "fuel=1T", "fuel=1é", "speed=3", "time=-1s", "time=NaN"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_timer_stops_the_work() {
        let budget: Budget = "time=1ms".parse().expect("a good limit");
        let was_late = budget.within(|limits| {
            let cancel = limits.cancel.expect("there is a timer");
            while !cancel.is_cancelled() {
                thread::yield_now();
            }
            cancel.is_late()
        });
        assert!(was_late);
    }
}
