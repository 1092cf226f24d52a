//! Hostile queries and documents, from a seed: an answer within its limits or a coded error, never a panic, and never
//! more memory than was allowed.
//!
//! `PIDQ_HOSTILE` is how many (`make soak` takes two hundred times as many), `PIDQ_SEED` where the dice begin.

mod drawings;
mod families;
mod holes;

use std::any::Any;
use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use pidq::limits::MAX_PATTERNS;
use pidq::{Dialect, Graph, Limits, Operator, Query, Result, Scratch};

use crate::allocator;
use families::FAMILIES;

/// How many attacks there are when nobody says.
const ATTACKS: u64 = 5_000;
/// What the small tables of a run may take, whatever its budget.
const SMALL: usize = 96 << 10;
/// What compiling a query may take: its patterns, and a tree of ten thousand parts.
const COMPILED: usize = MAX_PATTERNS + (24 << 20);
/// A byte of a query takes at most so many besides: variables, costs, caches, the way down into what it nests.
const TABLES: usize = 40;
/// What the automata of a pattern may take while they run. They stay with the query.
const AUTOMATA: usize = 3 << 20;
/// A byte of a document takes at most so many in memory, itself included: `[[],[]]` is the worst.
const LOADED: usize = 64;
/// Seconds of CPU for one attack, in a debug build.
const SECONDS: f64 = 5.0;

/// Somebody's attempt to hurt.
#[derive(Debug)]
pub struct Attack {
    pub document: Vec<u8>,
    pub query: Asked,
    pub limits: Limits<'static>,
}

/// The query in one of its forms.
#[derive(Debug)]
pub enum Asked {
    Text(String),
    Json(String),
    /// A text with parameters.
    Params(String, String),
    /// A text in a language with operators of one's own.
    Operators(Vec<Operator>, String),
}

impl Asked {
    fn compile(&self) -> Result<Query> {
        match self {
            Asked::Text(text) => Query::parse(text),
            Asked::Json(json) => Query::from_json(json),
            Asked::Params(text, params) => Query::with_params(text, params),
            Asked::Operators(operators, text) => Dialect::standard().with_operators(operators)?.parse(text),
        }
    }
}

/// How it ended: the bytes of the answer, or the code of the error.
pub type End = std::result::Result<usize, &'static str>;

/// Lets the engine face an attack, and holds it to its promises.
pub fn face(attack: &Attack) -> End {
    let Attack { document, query, limits } = attack;
    let bytes = document.len();
    let document = document.clone();
    let (graph, used) = allocator::peak(|| Graph::from_json(document));
    assert!(used.peak <= LOADED * bytes + SMALL, "loading {bytes} bytes took {}", used.peak);
    let (query, used) = allocator::peak(|| query.compile());
    assert!(used.peak <= COMPILED, "compiling took {}", used.peak);
    let (graph, query) = (graph.map_err(|error| coded(&error))?, query.map_err(|error| coded(&error))?);
    run(&query, &graph, *limits)
}

/// Runs the query and writes its answer.
pub fn run(query: &Query, graph: &Graph, limits: Limits<'_>) -> End {
    let scratch = Scratch::new();
    let (outcome, used) = allocator::peak(|| query.run(graph, &scratch, limits));
    let patterns = query.source().matches("regex").count() + query.source().matches("match").count();
    let own = SMALL + TABLES * query.source().len() + AUTOMATA * patterns;
    let allowed = limits.memory + limits.memory / 10 + own;
    assert!(used.peak <= allowed, "the run took {} bytes of {}: {:?}", used.peak, limits.memory, outcome.is_ok());
    let outcome = outcome.map_err(|error| coded(&error))?;
    let mut written = 0;
    let answer = outcome.value.write_json(limits.output, &mut |piece| {
        written += piece.len();
        Ok(())
    });
    assert!(written <= limits.output, "the answer has {written} bytes of {}", limits.output);
    answer.map(|()| written).map_err(|error| coded(&error))
}

/// An error has a code, words, and a message that can be shown.
fn coded(error: &pidq::Error) -> &'static str {
    assert!(!error.message().is_empty());
    assert_ne!(error.code().as_str(), "PQ9001", "{error}");
    error.code().as_str()
}

/// What a person sees of a query that may be very long.
fn shown(attack: &Attack) -> String {
    let text: String = format!("{:?}", attack.query).chars().take(600).collect();
    let document = String::from_utf8_lossy(&attack.document[..attack.document.len().min(300)]).into_owned();
    format!("{text}\n  on {} bytes {document:?}\n  within {:?}", attack.document.len(), attack.limits)
}

/// Numbers that look random and are the same everywhere (splitmix64).
pub struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }

    /// A number up to 2^`bits`; small ones are as likely as large ones.
    pub fn size(&mut self, bits: usize) -> usize {
        let power = self.below(bits + 1);
        (1 << power) + self.below(1 << power)
    }

    pub fn one_of<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        &things[self.below(things.len())]
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// The attack of a number: families take turns.
fn attack(seed: u64, number: u64) -> (&'static str, Attack) {
    let family = &FAMILIES[(number % FAMILIES.len() as u64) as usize];
    let mut dice = Dice(seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
    (family.name, (family.make)(&mut dice))
}

/// CPU seconds of this thread, where the system tells.
fn cpu() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

fn setting(name: &str, standard: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(standard)
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default()
}

/// Faces every `step`th attack, beginning with `first`. Gives what a person should know, when something is wrong.
fn face_all(seed: u64, first: u64, step: u64, count: u64) -> (Vec<String>, Tally) {
    let mut complaints = Vec::new();
    let mut tally = Tally::default();
    for number in (first..count).step_by(step as usize) {
        let (family, attack) = attack(seed, number);
        let before = cpu();
        let end = catch_unwind(AssertUnwindSafe(|| face(&attack)));
        let seconds = before.and_then(|before| Some(cpu()? - before)).unwrap_or(0.0);
        match end {
            Ok(end) => tally.add(end, family, seconds),
            Err(panic) => complaints.push(format!("{number} {family}: {}\n  {}", words(&*panic), shown(&attack))),
        }
        if seconds > SECONDS {
            complaints.push(format!("{number} {family}: took {seconds:.1} s of CPU\n  {}", shown(&attack)));
        }
    }
    (complaints, tally)
}

/// How attacks ended.
#[derive(Default)]
struct Tally {
    answers: u64,
    refused: u64,
    stopped: u64,
    slowest: (f64, &'static str),
}

impl Tally {
    fn add(&mut self, end: End, family: &'static str, seconds: f64) {
        match end {
            Ok(_) => self.answers += 1,
            Err(code) if code.starts_with("PQ4") => self.stopped += 1,
            Err(_) => self.refused += 1,
        }
        if seconds > self.slowest.0 {
            self.slowest = (seconds, family);
        }
    }
}

/// On two threads with small stacks.
#[test]
fn attacks_end_cleanly() {
    let (seed, count) = (setting("PIDQ_SEED", 1), setting("PIDQ_HOSTILE", ATTACKS));
    let threads = [0, 1].map(|first| {
        let thread = thread::Builder::new().stack_size(512 << 10).name("hostile".into());
        thread.spawn(move || face_all(seed, first, 2, count)).expect("a thread starts")
    });
    let mut complaints = Vec::new();
    for thread in threads {
        let (more, tally) = thread.join().expect("panics are caught");
        let Tally { answers, refused, stopped, slowest: (seconds, family) } = tally;
        println!(
            "answered {answers}, refused {refused}, stopped by a limit {stopped}; slowest {seconds:.3} s ({family})"
        );
        complaints.extend(more);
    }
    assert!(
        complaints.is_empty(),
        "{} of {count}:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(20)].join("\n")
    );
}

#[test]
fn the_same_seed_makes_the_same_attacks() {
    for number in 0..FAMILIES.len() as u64 {
        assert_eq!(format!("{:?}", attack(7, number)), format!("{:?}", attack(7, number)));
    }
}
