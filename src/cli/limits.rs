//! Option `--limits`: limits of a run, including the timeout, which the engine does not enforce itself.

use std::str::FromStr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::Args;
use pidq::{Cancel, Limits};

use super::{interrupt, process_memory};

/// Part of the memory of the process that a run may use. The rest is for the document, the program, and lists that are
/// copied while they grow.
const GRANTED_PART: u64 = 4;

/// The option `--limits`.
#[derive(Args)]
pub struct LimitOptions {
    /// Limits of a run, such as `fuel=5M,memory=1G,output=10M,time=2s`; also `string`, `backtracks`, `rows`, `paths`
    /// and `depth` [default: 2 billion steps, 2 GiB of memory or a quarter of what the process may use, unlimited output
    /// and time]
    #[arg(long, value_name = "NAME=AMOUNT,...", default_value = "", hide_default_value = true)]
    limits: RunLimits,
}

impl LimitOptions {
    /// Runs `work` within the limits; it is cancelled on timeout.
    pub fn run<T>(&self, work: impl FnOnce(Limits<'_>) -> T) -> T {
        self.limits.run(work)
    }
}

/// Limits of a run. The defaults are generous, because the user owns the machine.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    fuel: u64,
    memory: usize,
    output: usize,
    string: usize,
    backtracks: usize,
    rows: usize,
    paths: usize,
    depth: usize,
    timeout: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        let defaults = Limits::default();
        RunLimits {
            fuel: defaults.fuel * 100,
            memory: default_memory(process_memory::granted()),
            output: usize::MAX,
            string: defaults.string,
            backtracks: defaults.backtracks,
            rows: defaults.rows,
            paths: defaults.paths,
            depth: defaults.depth,
            timeout: None,
        }
    }
}

impl RunLimits {
    /// Runs `work` within the limits; a timer cancels it on timeout.
    pub fn run<T>(&self, work: impl FnOnce(Limits<'_>) -> T) -> T {
        match self.timeout {
            None => work(self.limits(None)),
            Some(_) => self.run_with_cancel(&Cancel::default(), work),
        }
    }

    /// As [`RunLimits::run`]; Ctrl-C cancels the work instead of ending the process.
    pub fn run_interruptibly<T>(&self, work: impl FnOnce(Limits<'_>) -> T) -> T {
        let cancel = Cancel::default();
        interrupt::with_query(&cancel, || self.run_with_cancel(&cancel, work))
    }

    fn run_with_cancel<T>(&self, cancel: &Cancel, work: impl FnOnce(Limits<'_>) -> T) -> T {
        let Some(timeout) = self.timeout else { return work(self.limits(Some(cancel))) };
        thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            scope.spawn(|| {
                // Moved in: dropping `done` ends the timer.
                let is_done = is_done;
                if is_done.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
                    cancel.time_out();
                }
            });
            let result = work(self.limits(Some(cancel)));
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

/// Returns the default limit of the working memory: 2 GiB, and at most a part of what the process may use, since an
/// allocation that fails would end the process without a message about the query.
fn default_memory(granted: Option<u64>) -> usize {
    let own = Limits::default().memory.saturating_mul(8);
    granted.map_or(own, |granted| own.min(size(granted / GRANTED_PART)))
}

impl FromStr for RunLimits {
    type Err = String;

    fn from_str(text: &str) -> Result<RunLimits, String> {
        let mut run_limits = RunLimits::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, amount) = part.split_once('=').ok_or_else(|| format!("expected NAME=AMOUNT, found `{part}`"))?;
            match name.trim() {
                "fuel" => run_limits.fuel = count(amount, 1000)?,
                "memory" => run_limits.memory = bytes(amount)?,
                "output" => run_limits.output = bytes(amount)?,
                "string" => run_limits.string = bytes(amount)?,
                "backtracks" => run_limits.backtracks = size(count(amount, 1000)?),
                "rows" => run_limits.rows = size(count(amount, 1000)?),
                "paths" => run_limits.paths = size(count(amount, 1000)?),
                // The engine counts steps in 32 bits.
                "depth" => run_limits.depth = size(count(amount, 1000)?.min(u32::MAX.into())),
                "time" => run_limits.timeout = Some(duration(amount)?),
                other => {
                    let names = "fuel, memory, output, string, backtracks, rows, paths, depth or time";
                    return Err(format!("unknown limit `{other}`; expected {names}"));
                }
            }
        }
        Ok(run_limits)
    }
}

fn bytes(amount: &str) -> Result<usize, String> {
    count(amount, 1024).map(size)
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Parses a whole number with `K`, `M` or `G` for powers of `step`.
fn count(amount: &str, step: u64) -> Result<u64, String> {
    let amount = amount.trim();
    let power = amount.chars().last().and_then(|last| " kmg".find(last.to_ascii_lowercase())).unwrap_or(0) as u32;
    let digits = if power > 0 { &amount[..amount.len() - 1] } else { amount };
    let number: u64 =
        digits.parse().map_err(|_| format!("expected an amount such as `500` or `20M`, found `{amount}`"))?;
    Ok(number.saturating_mul(step.saturating_pow(power)))
}

/// Parses a duration in seconds or with a unit: `500ms`, `2.5s`, `1m`.
fn duration(amount: &str) -> Result<Duration, String> {
    let amount = amount.trim();
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("", 1.0)];
    let (digits, unit) =
        units.iter().find_map(|(unit, seconds)| Some((amount.strip_suffix(unit)?, *seconds))).unwrap_or((amount, 1.0));
    let seconds = digits.parse::<f64>().ok().map(|number| number * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("expected a duration such as `500ms`, `2s` or `1m`, found `{amount}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        let run_limits: RunLimits = "fuel=5M,memory=2k,output=7,time=500ms".parse().expect("four good limits");
        assert_eq!((run_limits.fuel, run_limits.memory, run_limits.output), (5_000_000, 2048, 7));
        assert_eq!(run_limits.timeout, Some(Duration::from_millis(500)));
    }

    #[test]
    fn lists_and_walks_may_be_longer() {
        let run_limits: RunLimits = "rows=1M,paths=2k,depth=9G".parse().expect("three good limits");
        assert_eq!((run_limits.rows, run_limits.paths, run_limits.depth), (1_000_000, 2000, u32::MAX as usize));
    }

    #[test]
    fn a_time_may_be_whole_minutes_or_bare_seconds() {
        assert_eq!(duration("1m"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("2.5"), Ok(Duration::from_millis(2500)));
    }

    #[test]
    fn the_default_memory_is_a_part_of_a_small_machine() {
        assert_eq!(default_memory(None), 2 << 30);
        assert_eq!(default_memory(Some(64 << 30)), 2 << 30);
        assert_eq!(default_memory(Some(1 << 30)), 256 << 20);
    }

    #[test]
    fn invalid_limits_are_rejected() {
        for text in ["fuel", "fuel=", "fuel=-1", "fuel=1T", "fuel=1é", "speed=3", "time=-1s", "time=NaN"] {
            assert!(text.parse::<RunLimits>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_timer_stops_the_work() {
        let run_limits: RunLimits = "time=1ms".parse().expect("a good limit");
        let is_timed_out = run_limits.run(|limits| {
            let cancel = limits.cancel.expect("there is a timer");
            while !cancel.is_cancelled() {
                thread::yield_now();
            }
            cancel.is_timed_out()
        });
        assert!(is_timed_out);
    }
}
