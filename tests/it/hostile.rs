//! Attacks generated from a seed: hostile queries and documents end with a result within the limits or a coded error,
//! never with a panic, and never with more memory than allowed.
//!
//! `PIDQ_HOSTILE` is the number of attacks (`make test-long` runs two hundred times as many), `PIDQ_SEED` the seed.

mod drawings;
mod families;
mod jq_vulnerabilities;

use std::any::Any;
use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use pidq::limits::MAX_REGEX_TOTAL_SIZE;
use pidq::{Dialect, Graph, Limits, Operator, Query, Result, Scratch};

use crate::allocator;
use families::FAMILIES;

/// Default number of attacks.
const ATTACKS: u64 = 5_000;
/// Memory of a run's small tables, independent of its limit.
const RUN_OVERHEAD: usize = 96 << 10;
/// Memory of compiling a query: its patterns, and a tree of ten thousand nodes.
const COMPILED_SIZE: usize = MAX_REGEX_TOTAL_SIZE + (24 << 20);
/// Additional memory per byte of a query: variables, costs, caches, the stack of nested nodes.
const BYTES_PER_QUERY_BYTE: usize = 40;
/// Memory of the automata of a pattern at run time. The query owns them.
const AUTOMATA_SIZE: usize = 3 << 20;
/// Memory per byte of a document, including the byte itself: `[[],[]]` is the worst case.
const BYTES_PER_DOCUMENT_BYTE: usize = 64;
/// CPU seconds per attack in a debug build.
const MAX_CPU_SECONDS: f64 = 5.0;

/// A hostile query and document.
#[derive(Debug)]
pub struct Attack {
    pub document: Vec<u8>,
    pub query: AttackQuery,
    pub limits: Limits<'static>,
}

/// The query of an attack, in one of the accepted formats.
#[derive(Debug)]
pub enum AttackQuery {
    Text(String),
    Json(String),
    /// A query in text format with parameters.
    Params(String, String),
    /// A query in a dialect with custom operators.
    Operators(Vec<Operator>, String),
}

impl AttackQuery {
    fn compile(&self) -> Result<Query> {
        match self {
            AttackQuery::Text(text) => Query::parse(text),
            AttackQuery::Json(json) => Query::from_json(json),
            AttackQuery::Params(text, params) => Query::with_params(text, params),
            AttackQuery::Operators(operators, text) => Dialect::standard().with_operators(operators)?.parse(text),
        }
    }
}

/// Result of an attack: the size of the output, or the code of the error.
pub type AttackResult = std::result::Result<usize, &'static str>;

/// Runs an attack and asserts its guarantees.
pub fn run_attack(attack: &Attack) -> AttackResult {
    let Attack { document, query, limits } = attack;
    let bytes = document.len();
    let document = document.clone();
    let (graph, used) = allocator::measure(|| Graph::from_json(document));
    assert!(used.peak <= BYTES_PER_DOCUMENT_BYTE * bytes + RUN_OVERHEAD, "loading {bytes} bytes took {}", used.peak);
    let (query, used) = allocator::measure(|| query.compile());
    assert!(used.peak <= COMPILED_SIZE, "compiling took {}", used.peak);
    let (graph, query) = (graph.map_err(|error| checked_code(&error))?, query.map_err(|error| checked_code(&error))?);
    run(&query, &graph, *limits)
}

/// Runs the query and writes its result.
pub fn run(query: &Query, graph: &Graph, limits: Limits<'_>) -> AttackResult {
    let scratch = Scratch::new();
    let (outcome, used) = allocator::measure(|| query.run(graph, &scratch, limits));
    let patterns = query.source().matches("regex").count() + query.source().matches("match").count();
    let own = RUN_OVERHEAD + BYTES_PER_QUERY_BYTE * query.source().len() + AUTOMATA_SIZE * patterns;
    let allowed = limits.memory + limits.memory / 10 + own;
    assert!(used.peak <= allowed, "the run took {} bytes of {}: {:?}", used.peak, limits.memory, outcome.is_ok());
    let outcome = outcome.map_err(|error| checked_code(&error))?;
    let mut written = 0;
    let result = outcome.value.write_json(limits.output, &mut |chunk| {
        written += chunk.len();
        Ok(())
    });
    assert!(written <= limits.output, "the result has {written} bytes of {}", limits.output);
    result.map(|()| written).map_err(|error| checked_code(&error))
}

/// Asserts that an error has a code and a message that can be displayed, and returns the code.
fn checked_code(error: &pidq::Error) -> &'static str {
    assert!(!error.message().is_empty());
    assert_ne!(error.code().as_str(), "PQ9001", "{error}");
    error.code().as_str()
}

/// Describes an attack, shortened.
fn description(attack: &Attack) -> String {
    let text: String = format!("{:?}", attack.query).chars().take(600).collect();
    let document = String::from_utf8_lossy(&attack.document[..attack.document.len().min(300)]).into_owned();
    format!("{text}\n  on {} bytes {document:?}\n  within {:?}", attack.document.len(), attack.limits)
}

/// Deterministic pseudo-random numbers (splitmix64).
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns a number up to 2^`bits`; small ones are as likely as large ones.
    pub fn size(&mut self, bits: usize) -> usize {
        let power = self.below(bits + 1);
        (1 << power) + self.below(1 << power)
    }

    pub fn one_of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    /// Returns true once in `times` on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Returns an attack by number; the families alternate.
fn attack(seed: u64, number: u64) -> (&'static str, Attack) {
    let family = &FAMILIES[(number % FAMILIES.len() as u64) as usize];
    let mut random = Random(seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
    (family.name, (family.make)(&mut random))
}

/// Returns the CPU seconds of this thread, if the system reports them.
fn cpu() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

fn env_number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default()
}

/// Runs every `step`th attack from number `first`. Returns the failures, and the number of attacks by result.
fn run_attacks(seed: u64, first: u64, step: u64, count: u64) -> (Vec<String>, ResultCounts) {
    let mut failures = Vec::new();
    let mut counts = ResultCounts::default();
    for number in (first..count).step_by(step as usize) {
        let (family, attack) = attack(seed, number);
        let before = cpu();
        let result = catch_unwind(AssertUnwindSafe(|| run_attack(&attack)));
        let seconds = before.and_then(|before| Some(cpu()? - before)).unwrap_or(0.0);
        match result {
            Ok(result) => counts.add(result, family, seconds),
            Err(panic) => {
                failures.push(format!("{number} {family}: {}\n  {}", panic_message(&*panic), description(&attack)))
            }
        }
        if seconds > MAX_CPU_SECONDS {
            failures.push(format!("{number} {family}: took {seconds:.1} s of CPU\n  {}", description(&attack)));
        }
    }
    (failures, counts)
}

/// Number of attacks by result.
#[derive(Default)]
struct ResultCounts {
    results: u64,
    rejected: u64,
    stopped: u64,
    slowest: (f64, &'static str),
}

impl ResultCounts {
    fn add(&mut self, result: AttackResult, family: &'static str, seconds: f64) {
        match result {
            Ok(_) => self.results += 1,
            Err(code) if code.starts_with("PQ4") => self.stopped += 1,
            Err(_) => self.rejected += 1,
        }
        if seconds > self.slowest.0 {
            self.slowest = (seconds, family);
        }
    }
}

/// Runs on two threads with small stacks.
#[test]
fn attacks_end_with_a_result_or_a_coded_error() {
    let (seed, count) = (env_number("PIDQ_SEED", 1), env_number("PIDQ_HOSTILE", ATTACKS));
    let threads = [0, 1].map(|first| {
        let thread = thread::Builder::new().stack_size(512 << 10).name("hostile".into());
        thread.spawn(move || run_attacks(seed, first, 2, count)).expect("a thread starts")
    });
    let mut failures = Vec::new();
    for thread in threads {
        let (failures_of_thread, counts) = thread.join().expect("panics are caught");
        let ResultCounts { results, rejected, stopped, slowest: (seconds, family) } = counts;
        println!(
            "results {results}, rejected {rejected}, stopped by a limit {stopped}; slowest {seconds:.3} s ({family})"
        );
        failures.extend(failures_of_thread);
    }
    assert!(
        failures.is_empty(),
        "{} of {count} attacks failed:\n{}",
        failures.len(),
        failures[..failures.len().min(20)].join("\n")
    );
}

#[test]
fn the_same_seed_generates_the_same_attacks() {
    for number in 0..FAMILIES.len() as u64 {
        assert_eq!(format!("{:?}", attack(7, number)), format!("{:?}", attack(7, number)));
    }
}
