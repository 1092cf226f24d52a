//! The `semantic` splitter: groups sentences until the meaning changes.

use std::ops::Range;

use super::parameters::{Parameter, ParameterKind, Parameters};
use super::python_regex::Pattern;
use super::size_limit::SizeLimit;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `semantic` splitter.
pub const SEMANTIC: Splitter = Splitter {
    name: "semantic",
    summary: "groups of sentences, split where the embedding distance to the next sentence is unusually large; uses the embedding model",
    parameters: &[
        Parameter {
            name: "buffer_size",
            kind: ParameterKind::Integer,
            default: "1",
            summary: "number of neighboring sentences on each side that are embedded with a sentence",
        },
        Parameter {
            name: "breakpoint_threshold_type",
            kind: ParameterKind::OneOf(&["percentile", "standard_deviation", "interquartile", "gradient"]),
            default: "\"percentile\"",
            summary: "measure of an unusual distance",
        },
        Parameter {
            name: "breakpoint_threshold_amount",
            kind: ParameterKind::Number,
            default: "null",
            summary: "threshold amount; defaults for the four types: 95, 3, 1.5 and 95",
        },
        Parameter {
            name: "number_of_chunks",
            kind: ParameterKind::Integer,
            default: "null",
            summary: "approximate number of chunks, instead of a threshold",
        },
        Parameter {
            name: "min_chunk_size",
            kind: ParameterKind::Integer,
            default: "null",
            summary: "minimum length of a chunk in characters",
        },
        Parameter {
            name: "sentence_split_regex",
            kind: ParameterKind::Text,
            default: r#""(?<=[.?!])\\s+""#,
            summary: "pattern that separates sentences",
        },
    ],
    build: |parameters| Ok(Box::new(Semantic::new(parameters)?)),
};

/// Number of sentences embedded per batch. Only the distances of all sentences are kept.
const BATCH_SIZE: usize = 256;

struct Semantic {
    sentences: Pattern,
    buffer: usize,
    threshold: Threshold,
    /// Minimum number of sentences for grouping: one has no distance, and two have no gradient.
    min_sentences: usize,
    min_size: usize,
}

/// Threshold of the distance that ends a chunk.
enum Threshold {
    Percentile(f64),
    Deviation(f64),
    Interquartile(f64),
    Gradient(f64),
    ChunkCount(f64),
}

impl Semantic {
    fn new(parameters: &Parameters) -> Result<Self, SplitError> {
        Ok(Semantic {
            sentences: Pattern::new("sentence_split_regex", parameters.text("sentence_split_regex"))?,
            buffer: parameters.count("buffer_size")?,
            threshold: Threshold::from_parameters(parameters),
            min_sentences: if parameters.text("breakpoint_threshold_type") == "gradient" { 3 } else { 2 },
            min_size: parameters.count("min_chunk_size")?,
        })
    }

    /// Returns a sentence joined with its neighbors.
    fn window(&self, sentences: &[&str], index: usize, limit: &mut SizeLimit) -> Result<String, SplitError> {
        let end = index.saturating_add(1).saturating_add(self.buffer).min(sentences.len());
        let window = sentences[index.saturating_sub(self.buffer)..end].join(" ");
        limit.charge(window.len())?;
        Ok(window)
    }

    /// Returns the embedding distance of each sentence to the next one.
    fn distances(&self, text: &str, sentences: &[&str], embed: &Embed<'_>) -> Result<Vec<f64>, SplitError> {
        let mut limit = SizeLimit::for_text(text);
        let mut distances = Vec::with_capacity(sentences.len());
        let mut previous: Option<Vec<f64>> = None;
        for start in (0..sentences.len()).step_by(BATCH_SIZE) {
            let batch = start..(start + BATCH_SIZE).min(sentences.len());
            let windows =
                batch.map(|index| self.window(sentences, index, &mut limit)).collect::<Result<Vec<_>, _>>()?;
            for vector in embed(&windows)? {
                if let Some(previous) = &previous {
                    distances.push(distance(previous, &vector)?);
                }
                previous = Some(vector);
            }
        }
        Ok(distances)
    }
}

impl Threshold {
    fn from_parameters(parameters: &Parameters) -> Self {
        if let Some(chunks) = parameters.optional_integer("number_of_chunks") {
            return Threshold::ChunkCount(chunks as f64);
        }
        let amount = |default| parameters.number("breakpoint_threshold_amount").unwrap_or(default);
        match parameters.value("breakpoint_threshold_type").as_str() {
            Some("standard_deviation") => Threshold::Deviation(amount(3.0)),
            Some("interquartile") => Threshold::Interquartile(amount(1.5)),
            Some("gradient") => Threshold::Gradient(amount(95.0)),
            _ => Threshold::Percentile(amount(95.0)),
        }
    }

    /// Returns the indexes of the sentences after which a chunk ends.
    fn breakpoints(&self, distances: &[f64]) -> Vec<usize> {
        let (values, limit) = match self {
            Threshold::Percentile(amount) => (distances.to_vec(), percentile(distances, *amount)),
            Threshold::Deviation(amount) => {
                (distances.to_vec(), mean(distances) + amount * standard_deviation(distances))
            }
            Threshold::Interquartile(amount) => {
                (distances.to_vec(), mean(distances) + amount * interquartile_range(distances))
            }
            Threshold::Gradient(amount) => {
                let gradient = gradient(distances);
                let limit = percentile(&gradient, *amount);
                (gradient, limit)
            }
            Threshold::ChunkCount(chunks) => {
                (distances.to_vec(), percentile(distances, percent(*chunks, distances.len())))
            }
        };
        (0..values.len()).filter(|&index| values[index] > limit).collect()
    }
}

impl Split for Semantic {
    fn split<'t>(&self, text: &'t str, embed: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let spans = spans_between(text, &self.sentences.find_all(text)?);
        let sentences: Vec<&str> = spans.iter().map(|span| &text[span.clone()]).collect();
        if sentences.len() < self.min_sentences {
            return Ok(spans.into_iter().map(|span| Chunk::exact(text, span)).collect());
        }
        let distances = self.distances(text, &sentences, embed)?;
        let mut chunks = Vec::new();
        let mut start = 0;
        for index in self.threshold.breakpoints(&distances).into_iter().chain([spans.len() - 1]) {
            let joined = join_sentences(text, &spans[start..=index], &sentences[start..=index]);
            let is_last = index + 1 == spans.len();
            if is_last || joined.text.chars().count() >= self.min_size {
                chunks.push(joined);
                start = index + 1;
            }
        }
        Ok(chunks)
    }
}

/// Returns the ranges between separators, including empty ones.
fn spans_between(text: &str, separators: &[Range<usize>]) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(separators.iter().map(|separator| separator.end));
    let ends = separators.iter().map(|separator| separator.start).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns sentences joined with spaces; an exact chunk if that equals the text.
fn join_sentences<'t>(text: &'t str, spans: &[Range<usize>], sentences: &[&str]) -> Chunk<'t> {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return Chunk::exact(text, 0..0) };
    let span = first.start..last.end;
    let joined = sentences.join(" ");
    if joined == text[span.clone()] { Chunk::exact(text, span) } else { Chunk::composed(joined, Some(span)) }
}

fn distance(a: &[f64], b: &[f64]) -> Result<f64, SplitError> {
    if a.len() != b.len() {
        return Err(SplitError::text("the embedding model returned vectors of different lengths"));
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

fn standard_deviation(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt()
}

fn interquartile_range(numbers: &[f64]) -> f64 {
    percentile(numbers, 75.0) - percentile(numbers, 25.0)
}

/// Returns the percentile by linear interpolation between the nearest ranks, as numpy does.
fn percentile(numbers: &[f64], percent: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = percent.clamp(0.0, 100.0) / 100.0 * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    let fraction = rank - rank.floor();
    if fraction >= 0.5 { above - (above - below) * (1.0 - fraction) } else { below + (above - below) * fraction }
}

/// Returns the percentile that yields about a number of chunks.
fn percent(chunks: f64, distances: usize) -> f64 {
    let max_chunks = distances as f64;
    let target = chunks.min(max_chunks).max(1.0);
    if max_chunks == 1.0 { 100.0 } else { (100.0 / (1.0 - max_chunks) * (target - max_chunks)).clamp(0.0, 100.0) }
}

/// Returns the gradient: one-sided differences at the ends, central differences inside.
fn gradient(numbers: &[f64]) -> Vec<f64> {
    let last = numbers.len() - 1;
    let slope = |index: usize| match index {
        0 => numbers[1] - numbers[0],
        index if index == last => numbers[last] - numbers[last - 1],
        index => (numbers[index + 1] - numbers[index - 1]) / 2.0,
    };
    (0..numbers.len()).map(slope).collect()
}
