//! CPU clocks, and contests in which contestants take turns.

use std::hint::black_box;
use std::mem::MaybeUninit;

use crate::Result;
use crate::digest::Digest;

/// Returns the CPU seconds of this thread so far.
pub fn cpu() -> f64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call fills `time`; it cannot fail for a clock that all Linux systems have.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Returns the result of some work and the CPU seconds it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu();
    let result = work();
    (result, cpu() - start)
}

/// Contestant: one implementation of a task.
pub trait Contestant {
    fn name(&self) -> &str;

    /// Performs the task and returns the digest of its result.
    fn digest(&mut self) -> Result<Digest>;

    /// Performs the task `times` times and returns the CPU seconds.
    fn run(&mut self, times: u32) -> Result<f64>;
}

/// Outcome of a contestant: CPU seconds in each round, or the reason for having none.
pub enum Outcome {
    Seconds(Vec<f64>),
    Differs,
    Failed(String),
}

pub struct Score {
    pub name: String,
    pub outcome: Outcome,
}

impl Score {
    pub fn median(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Seconds(rounds) => Some(quantile(rounds.clone(), 0.5)),
            _ => None,
        }
    }

    pub fn rounds(&self) -> &[f64] {
        match &self.outcome {
            Outcome::Seconds(rounds) => rounds,
            _ => &[],
        }
    }
}

/// Runs the contestants in turns. The first successful one defines the expected result.
pub fn contest(mut contestants: Vec<Box<dyn Contestant + '_>>, rounds: usize, sample: f64) -> Vec<Score> {
    let mut expected = None;
    let mut entries: Vec<Entry> =
        contestants.iter_mut().map(|contestant| Entry::new(contestant.as_mut(), &mut expected, sample)).collect();
    for _ in 0..rounds {
        for (entry, contestant) in entries.iter_mut().zip(&mut contestants) {
            entry.run_round(contestant.as_mut());
        }
    }
    entries.into_iter().map(|entry| entry.score).collect()
}

struct Entry {
    score: Score,
    /// Number of runs per sample.
    times: u32,
}

impl Entry {
    /// Compares the result with the expected one and determines the number of runs per sample.
    fn new(contestant: &mut dyn Contestant, expected: &mut Option<Digest>, sample: f64) -> Self {
        let (outcome, times) = match contestant.digest() {
            Err(error) => (Outcome::Failed(error.to_string()), 0),
            Ok(digest) if digest != *expected.get_or_insert(digest) => (Outcome::Differs, 0),
            Ok(_) => repetitions(contestant, sample).map_or_else(
                |error| (Outcome::Failed(error.to_string()), 0),
                |times| (Outcome::Seconds(vec![]), times),
            ),
        };
        Self { score: Score { name: contestant.name().to_string(), outcome }, times }
    }

    fn run_round(&mut self, contestant: &mut dyn Contestant) {
        if let Outcome::Seconds(rounds) = &mut self.score.outcome {
            match contestant.run(self.times) {
                Ok(seconds) => rounds.push(seconds / f64::from(self.times)),
                Err(error) => self.score.outcome = Outcome::Failed(error.to_string()),
            }
        }
    }
}

/// Returns the number of runs for a long enough sample; also warms up.
fn repetitions(contestant: &mut dyn Contestant, sample: f64) -> Result<u32> {
    let mut times = 1;
    while contestant.run(times)? < sample && times < 1 << 20 {
        times *= 2;
    }
    Ok(times)
}

/// Returns a quantile of the values.
pub fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let position = share * (values.len() - 1) as f64;
    let (low, high) = (values[position.floor() as usize], values[position.ceil() as usize]);
    low + (high - low) * position.fract()
}

/// Work inside this process that writes JSON, or counts rows and writes nothing.
pub struct InProcess<F> {
    name: &'static str,
    work: F,
    buffer: Vec<u8>,
}

/// Returns a boxed contestant.
pub fn in_process<'a, F>(name: &'static str, work: F) -> Box<dyn Contestant + 'a>
where
    F: FnMut(&mut Vec<u8>) -> Result<usize> + 'a,
{
    Box::new(InProcess { name, work, buffer: Vec::new() })
}

impl<F: FnMut(&mut Vec<u8>) -> Result<usize>> InProcess<F> {
    fn run_once(&mut self) -> Result<usize> {
        self.buffer.clear();
        (self.work)(&mut self.buffer)
    }
}

impl<F: FnMut(&mut Vec<u8>) -> Result<usize>> Contestant for InProcess<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn digest(&mut self) -> Result<Digest> {
        let count = self.run_once()?;
        if self.buffer.is_empty() { Digest::of(count.to_string().as_bytes()) } else { Digest::of(&self.buffer) }
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        let (result, seconds) =
            timed(|| (0..times).try_for_each(|_| self.run_once().map(|count| _ = black_box(count))));
        result.map(|()| seconds)
    }
}
