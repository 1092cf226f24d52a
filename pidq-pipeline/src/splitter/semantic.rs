//! Sentences kept together until the meaning changes.

use std::ops::Range;

use super::parameters::{Kind, Parameter, Parameters};
use super::pattern::Pattern;
use super::room::Room;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The row.
pub const SEMANTIC: Splitter = Splitter {
    name: "semantic",
    summary: "sentences until the distance of the meaning to the next one is unusually large; asks the embedding model",
    parameters: &[
        Parameter {
            name: "buffer_size",
            kind: Kind::Integer,
            default: "1",
            summary: "how many sentences on each side are compared with a sentence",
        },
        Parameter {
            name: "breakpoint_threshold_type",
            kind: Kind::OneOf(&["percentile", "standard_deviation", "interquartile", "gradient"]),
            default: "\"percentile\"",
            summary: "what an unusual distance is measured by",
        },
        Parameter {
            name: "breakpoint_threshold_amount",
            kind: Kind::Number,
            default: "null",
            summary: "how unusual: 95, 3, 1.5 and 95 for the four types",
        },
        Parameter {
            name: "number_of_chunks",
            kind: Kind::Integer,
            default: "null",
            summary: "about how many chunks there shall be, in place of a threshold",
        },
        Parameter {
            name: "min_chunk_size",
            kind: Kind::Integer,
            default: "null",
            summary: "a shorter chunk is not ended, in characters",
        },
        Parameter {
            name: "sentence_split_regex",
            kind: Kind::Text,
            default: r#""(?<=[.?!])\\s+""#,
            summary: "what separates sentences",
        },
    ],
    build: |parameters| Ok(Box::new(Semantic::new(parameters)?)),
};

/// Sentences that get their vectors at once. Only distances are kept of all of them.
const BATCH: usize = 256;

struct Semantic {
    sentences: Pattern,
    buffer: usize,
    threshold: Threshold,
    /// Fewer sentences stay as they are: one has no distance, and two have no gradient.
    least: usize,
    min_size: usize,
}

/// What distance ends a chunk.
enum Threshold {
    Percentile(f64),
    Deviation(f64),
    Interquartile(f64),
    Gradient(f64),
    Chunks(f64),
}

impl Semantic {
    fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        Ok(Semantic {
            sentences: Pattern::new("sentence_split_regex", parameters.text("sentence_split_regex"))?,
            buffer: parameters.count("buffer_size")?,
            threshold: Threshold::of(parameters),
            least: if parameters.text("breakpoint_threshold_type") == "gradient" { 3 } else { 2 },
            min_size: parameters.count("min_chunk_size")?,
        })
    }

    /// A sentence with its neighbours.
    fn window(&self, sentences: &[&str], at: usize, room: &mut Room) -> Result<String, Refusal> {
        let end = at.saturating_add(1).saturating_add(self.buffer).min(sentences.len());
        let window = sentences[at.saturating_sub(self.buffer)..end].join(" ");
        room.take(window.len())?;
        Ok(window)
    }

    /// How far the meaning of each sentence is from that of the next one.
    fn distances(&self, text: &str, sentences: &[&str], embed: &Embed<'_>) -> Result<Vec<f64>, Refusal> {
        let mut room = Room::of(text);
        let mut distances = Vec::with_capacity(sentences.len());
        let mut before: Option<Vec<f64>> = None;
        for from in (0..sentences.len()).step_by(BATCH) {
            let batch = from..(from + BATCH).min(sentences.len());
            let windows = batch.map(|at| self.window(sentences, at, &mut room)).collect::<Result<Vec<_>, _>>()?;
            for vector in embed(&windows)? {
                if let Some(before) = &before {
                    distances.push(distance(before, &vector)?);
                }
                before = Some(vector);
            }
        }
        Ok(distances)
    }
}

impl Threshold {
    fn of(parameters: &Parameters) -> Self {
        if let Some(chunks) = parameters.optional_integer("number_of_chunks") {
            return Threshold::Chunks(chunks as f64);
        }
        let amount = |default| parameters.number("breakpoint_threshold_amount").unwrap_or(default);
        match parameters.value("breakpoint_threshold_type").as_str() {
            Some("standard_deviation") => Threshold::Deviation(amount(3.0)),
            Some("interquartile") => Threshold::Interquartile(amount(1.5)),
            Some("gradient") => Threshold::Gradient(amount(95.0)),
            _ => Threshold::Percentile(amount(95.0)),
        }
    }

    /// The sentences after which a chunk ends.
    fn breaks(&self, distances: &[f64]) -> Vec<usize> {
        let (measured, limit) = match self {
            Threshold::Percentile(amount) => (distances.to_vec(), percentile(distances, *amount)),
            Threshold::Deviation(amount) => (distances.to_vec(), mean(distances) + amount * deviation(distances)),
            Threshold::Interquartile(amount) => (distances.to_vec(), mean(distances) + amount * quartiles(distances)),
            Threshold::Gradient(amount) => {
                let gradient = gradient(distances);
                let limit = percentile(&gradient, *amount);
                (gradient, limit)
            }
            Threshold::Chunks(chunks) => (distances.to_vec(), percentile(distances, percent(*chunks, distances.len()))),
        };
        (0..measured.len()).filter(|&at| measured[at] > limit).collect()
    }
}

impl Split for Semantic {
    fn split<'t>(&self, text: &'t str, embed: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let spans = between(text, &self.sentences.find_all(text)?);
        let sentences: Vec<&str> = spans.iter().map(|span| &text[span.clone()]).collect();
        if sentences.len() < self.least {
            return Ok(spans.into_iter().map(|span| Chunk::exact(text, span)).collect());
        }
        let distances = self.distances(text, &sentences, embed)?;
        let mut chunks = Vec::new();
        let mut from = 0;
        for at in self.threshold.breaks(&distances).into_iter().chain([spans.len() - 1]) {
            let together = joined(text, &spans[from..=at], &sentences[from..=at]);
            let is_last = at + 1 == spans.len();
            if is_last || together.text.chars().count() >= self.min_size {
                chunks.push(together);
                from = at + 1;
            }
        }
        Ok(chunks)
    }
}

/// What stands between the places, with what is empty.
fn between(text: &str, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(places.iter().map(|place| place.end));
    let ends = places.iter().map(|place| place.start).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Sentences joined with blanks; exact if that is how they stand in the text.
fn joined<'t>(text: &'t str, spans: &[Range<usize>], sentences: &[&str]) -> Chunk<'t> {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return Chunk::exact(text, 0..0) };
    let span = first.start..last.end;
    let together = sentences.join(" ");
    if together == text[span.clone()] { Chunk::exact(text, span) } else { Chunk::made(together, Some(span)) }
}

fn distance(a: &[f64], b: &[f64]) -> Result<f64, Refusal> {
    if a.len() != b.len() {
        return Err(Refusal::text("the embedding model gave vectors of different lengths"));
    }
    Ok(1.0 - cosine(a, b))
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let norms = dot(a, a).sqrt() * dot(b, b).sqrt();
    if norms == 0.0 { 0.0 } else { dot(a, b) / norms }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn deviation(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt()
}

fn quartiles(numbers: &[f64]) -> f64 {
    percentile(numbers, 75.0) - percentile(numbers, 25.0)
}

/// The percentile between the two nearest ranks, in proportion, as numpy has it.
fn percentile(numbers: &[f64], percent: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = percent.clamp(0.0, 100.0) / 100.0 * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    let part = rank - rank.floor();
    if part >= 0.5 { above - (above - below) * (1.0 - part) } else { below + (above - below) * part }
}

/// The percentile that leaves about so many chunks.
fn percent(chunks: f64, distances: usize) -> f64 {
    let most = distances as f64;
    let wanted = chunks.min(most).max(1.0);
    if most == 1.0 { 100.0 } else { (100.0 / (1.0 - most) * (wanted - most)).clamp(0.0, 100.0) }
}

/// Differences of neighbours: one-sided at the ends, halved over two steps within.
fn gradient(numbers: &[f64]) -> Vec<f64> {
    let last = numbers.len() - 1;
    let slope = |at: usize| match at {
        0 => numbers[1] - numbers[0],
        at if at == last => numbers[last] - numbers[last - 1],
        at => (numbers[at + 1] - numbers[at - 1]) / 2.0,
    };
    (0..numbers.len()).map(slope).collect()
}
