//! An answer in the form of the contract, the shortest way: one that is kept; else a run on this thread, if it is a short
//! one; else a run on a thread for such work. Large answers are written while they are sent.
//!
//! A thread that serves connections runs a query only with little fuel, little memory and a small result. What needs
//! more runs again elsewhere, with all that a query may have: runs give the same each time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_core::error::Code;
use pidq_core::{Cancel, Graph, Limits, Scratch, Value};
use pidq_http::header::HeaderValue;
use pidq_http::{Fingerprint, Problem, Response, StatusCode};

use crate::asker::Asker;
use crate::graph::CHANGE_VERSION;
use crate::graphs::{self, Queries};
use crate::memory;
use crate::problems::problem;
use crate::question::{self, Asked, FUEL_USED, RESULT_KIND, no_room, refused};
use crate::recipe::Recipe;
use crate::rendering::{Failure, Media};
use crate::results::{Effort, Headers, Ready, ResultKey};
use crate::server::{Budget, Server};
use crate::store::{Meta, aside};

/// Bytes of a document that a query may be run on here, when nobody knows yet how long it takes.
const SMALL: usize = 1 << 20;
/// Bytes of a text that may be compiled here.
const PLAIN: usize = 4 << 10;
/// Steps that a run may take here: when nobody knows yet, and when it was short before.
const FIRST_FUEL: u64 = 20_000;
const FUEL: u64 = 500_000;
/// Bytes of a result that may be found here, when nobody knows yet how many there are.
const FIRST_OUTPUT: usize = 1 << 20;
/// A run with little fuel is a short one, and one within its fuel that did not take longer than this.
const SHORT: Duration = Duration::from_micros(1500);
/// An answer that is larger is copied elsewhere.
const LARGE: usize = 1 << 20;
/// An answer that is smaller is sent in one piece.
const PIECE: usize = 16 << 10;

/// A query on a graph, to be answered with the four members of the contract.
pub(crate) struct Plain {
    pub graph: Arc<Graph>,
    pub meta: Arc<Meta>,
    pub queries: Arc<Queries>,
    pub asked: Asked,
    pub query: Fingerprint,
    pub budget: Budget,
}

/// What a run gave.
struct Made {
    recipe: Recipe,
    headers: Headers,
    took: Duration,
}

/// Answers a question that is not kept.
pub(crate) async fn answer(
    server: &Server,
    asker: &Asker<'_>,
    plain: Plain,
    key: &ResultKey,
) -> Result<Response, Problem> {
    let question = server.results.question(key);
    let effort = question.effort();
    let here = plain
        .limits_here(effort)
        .and_then(|limits| server.memory.run_now(limits.memory, |scratch| plain.try_here(scratch, limits)).flatten());
    let (done, waited) = match here {
        Some(done) => (done, Duration::ZERO),
        // Boxed, so that an answer takes no more memory than most of them need: this and those below.
        None => Box::pin(plain.elsewhere(server, asker)).await?,
    };
    let made = done.map_err(|failure| refused(failure, server, Media::Json))?;
    question.asked(Effort::of(made.headers.fuel, made.took));
    // Who asks twice may ask again.
    let keep = effort.is_some() && server.results.have_room_for(made.recipe.len());
    let bytes = made.recipe.len() as u64;
    let notes = [("fuel", made.headers.fuel), ("queue_ms", waited.as_millis() as u64), ("bytes", bytes)];
    let response = made.respond(server, asker, keep.then_some(key)).await?;
    Ok(notes.into_iter().fold(response, |response, (name, value)| response.note(name, value)))
}

impl Plain {
    /// What it may cost on this thread; nothing when it has to run elsewhere.
    fn limits_here(&self, effort: Option<Effort>) -> Option<Limits<'static>> {
        let is_quickly_compiled =
            self.asked.query.len() + self.asked.params().len() <= PLAIN && !graphs::has_patterns(&self.asked.query);
        let (fuel, output) = match effort {
            _ if !is_quickly_compiled => return None,
            Some(Effort::Short) => (FUEL, usize::MAX),
            None if self.graph.source().len() <= SMALL => (FIRST_FUEL, FIRST_OUTPUT),
            Some(Effort::Long) | None => return None,
        };
        let Budget { fuel: most_fuel, memory, output: most_output, .. } = self.budget;
        let (fuel, output) = (fuel.min(most_fuel), output.min(most_output));
        Some(Limits { fuel, output, memory: memory.min(memory::SMALL), ..Limits::default() })
    }

    /// A run with little of everything; nothing when that was too little.
    fn try_here(&self, scratch: &Scratch, limits: Limits<'_>) -> Option<Result<Made, Failure>> {
        match self.run(scratch, limits) {
            Err(Failure::Query(error)) if is_for_want(error.code()) => None,
            done => Some(done),
        }
    }

    /// The run on a thread for such work, within its time. Also tells how long it waited for the thread.
    async fn elsewhere(self, server: &Server, asker: &Asker<'_>) -> Result<(Result<Made, Failure>, Duration), Problem> {
        let (memory, cancel) = (server.memory.clone(), Arc::new(Cancel::default()));
        let (budget, fired) = (self.budget, cancel.clone());
        let job = move || {
            memory.run(budget.memory, &fired, |scratch, memory| {
                self.run(scratch, Budget { memory, ..budget }.limits(budget.output, &fired))
            })
        };
        let done = question::within(&server.work, &asker.key, budget.time, cancel, job).await?;
        Ok((done.value, done.queued))
    }

    fn run(&self, scratch: &Scratch, limits: Limits<'_>) -> Result<Made, Failure> {
        let begun = Instant::now();
        let query = self.asked.compiled(&self.queries)?;
        let outcome = query.run(&self.graph, scratch, limits)?;
        let mut recipe = Recipe::new(self.graph.clone(), self.head());
        let kind = match outcome.value {
            Value::Array(_) => "array",
            Value::Undefined => "none",
            _ => "value",
        };
        match kind {
            "array" => recipe.add_result(&outcome)?,
            "none" => recipe.add(b"[]"),
            _ => {
                recipe.add(b"[");
                recipe.add_result(&outcome)?;
                recipe.add(b"]");
            }
        }
        recipe.add(b"}");
        let headers = Headers::new(kind, outcome.fuel, &self.meta, self.query);
        Ok(Made { recipe, headers, took: begun.elapsed() })
    }

    /// The contract's members before the result.
    fn head(&self) -> Vec<u8> {
        let mut head = Vec::with_capacity(256);
        let members = [
            (r#"{"query":"#, self.asked.query.as_str()),
            (r#","schema_version":"#, &self.meta.schema_version),
            (r#","change_version":"#, self.meta.version.as_str()),
        ];
        for (name, text) in members {
            head.extend_from_slice(name.as_bytes());
            // Writing a text into memory does not fail.
            let _ = serde_json::to_writer(&mut head, text);
        }
        head.extend_from_slice(br#","result":"#);
        head
    }
}

/// Whether more fuel, more memory or more room might have helped.
fn is_for_want(code: Code) -> bool {
    matches!(code, Code::OutOfFuel | Code::OutOfMemory | Code::OutputTooLarge)
}

impl Effort {
    fn of(fuel: u64, took: Duration) -> Effort {
        // However quick: with less fuel than it needs it would be tried in vain each time.
        let is_short = fuel <= FIRST_FUEL || fuel <= FUEL && took <= SHORT;
        if is_short { Effort::Short } else { Effort::Long }
    }
}

impl Made {
    /// The response; it is kept where a key says so.
    async fn respond(self, server: &Server, asker: &Asker<'_>, keep: Option<&ResultKey>) -> Result<Response, Problem> {
        let Made { recipe, headers, .. } = self;
        if let Some(key) = keep {
            let body = server.results.put(key, whole(recipe).await?.into(), headers.clone());
            return Ok(headers.on(Response::ok("application/json", body)));
        }
        // Boxed, as what is not for small answers.
        match recipe.len() {
            ..=PIECE => Ok(headers.on(Response::ok("application/json", recipe.whole()))),
            _ => Box::pin(large(server, asker, recipe, headers)).await,
        }
    }
}

/// An answer that is sent while it is written.
async fn large(server: &Server, asker: &Asker<'_>, recipe: Recipe, headers: Headers) -> Result<Response, Problem> {
    // A recipe keeps its graph until the last reader has the answer.
    if server.graphs.are_crowded() {
        let room = server.memory.hold(&asker.key, recipe.len()).ok_or_else(no_room)?;
        return Ok(headers.on(Response::ok("application/json", room.keep(whole(recipe).await?))));
    }
    let room = server.memory.hold(&asker.key, recipe.size()).ok_or_else(no_room)?;
    Ok(headers.on(match recipe.is_coarse() {
        true => Response::gathered("application/json", recipe.in_parts(room)),
        false => Response::filled("application/json", recipe.served(&server.buffers, room)),
    }))
}

/// All of an answer. A thread that serves connections copies no megabytes.
async fn whole(recipe: Recipe) -> Result<Vec<u8>, Problem> {
    match recipe.len() {
        ..=LARGE => Ok(recipe.whole()),
        _ => aside(move || Ok(recipe.whole())).await.map_err(problem),
    }
}

impl Ready {
    /// The same answer again.
    pub fn again(&self) -> Response {
        let response = self.headers.clone().on(Response::new(StatusCode::OK, "application/json", self.body.clone()));
        response.note("fuel", self.headers.fuel).note("queue_ms", 0).note("bytes", self.body.len() as u64)
    }
}

impl Headers {
    fn new(kind: &'static str, fuel: u64, meta: &Meta, query: Fingerprint) -> Headers {
        // A served file may call its version what no header can carry.
        let version = HeaderValue::from_str(meta.version.as_str()).ok();
        Headers { kind, fuel, fuel_used: fuel.into(), version, query }
    }

    fn on(self, response: Response) -> Response {
        let response = response.with(RESULT_KIND, HeaderValue::from_static(self.kind)).with(FUEL_USED, self.fuel_used);
        match self.version {
            Some(version) => response.with(CHANGE_VERSION, version),
            None => response,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_short_only_if_it_has_enough_fuel_here() {
        let (quick, slow) = (SHORT, SHORT * 2);
        assert_eq!([quick, slow].map(|took| Effort::of(FIRST_FUEL, took)), [Effort::Short, Effort::Short]);
        assert_eq!([quick, slow].map(|took| Effort::of(FUEL, took)), [Effort::Short, Effort::Long]);
        assert_eq!([quick, slow].map(|took| Effort::of(FUEL + 1, took)), [Effort::Long, Effort::Long]);
    }
}
