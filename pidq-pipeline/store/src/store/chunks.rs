//! Batch insertion of chunks: many rows per statement, because a statement costs more than a row.

use std::sync::LazyLock;

use pidq_http::database::{Arg, Transaction};
use pidq_http::uuid_v7;

use super::{Result, to_json};
use crate::domain::model::Chunk;

/// Column values that all chunks of a document share.
pub(super) struct ChunkContext<'a> {
    pub pipeline: &'a str,
    pub generation: i64,
    pub classification: &'a str,
    pub document: &'a str,
    pub revision: i64,
}

/// Number of arguments shared by all rows of a statement, and number of arguments per row.
const SHARED_ARGUMENTS: usize = 5;
const ROW_ARGUMENTS: usize = 12;
/// Rows per statement. SQLite accepts 32,766 arguments and PostgreSQL 65,535; beyond a few dozen rows a
/// statement gets no faster.
const BATCH_SIZES: [usize; 5] = [64, 8, 4, 2, 1];
/// Maximum content size of a statement in bytes, unless a single chunk exceeds it.
const MAX_STATEMENT_SIZE: usize = 4 << 20;

/// Statements for the batch sizes, built from constants only: caller input never becomes part of a statement.
static STATEMENTS: LazyLock<[String; BATCH_SIZES.len()]> = LazyLock::new(|| BATCH_SIZES.map(insert_statement));

fn insert_statement(rows: usize) -> String {
    let row = |row: usize| {
        let arguments: Vec<String> = (1..=ROW_ARGUMENTS)
            .map(|argument| format!("${}", SHARED_ARGUMENTS + row * ROW_ARGUMENTS + argument))
            .collect();
        format!("($1, $2, $3, $4, $5, {})", arguments.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!(
        "insert into chunks (pipeline_id, generation, classification, document_id, revision, id, number, start_char, end_char, \
         start_byte, end_byte, page, headings, content, tags, vector, gap) values {}",
        rows.join(", ")
    )
}

/// Inserts chunks in order, numbered from 0.
pub(super) async fn insert(tx: &mut Transaction, context: &ChunkContext<'_>, chunks: &[Chunk]) -> Result<()> {
    let mut remaining = chunks;
    while !remaining.is_empty() {
        let (rows, sql) = largest_batch(remaining);
        let number = chunks.len() - remaining.len();
        insert_batch(tx, sql, context, number, &remaining[..rows]).await?;
        remaining = &remaining[rows..];
    }
    Ok(())
}

/// Returns the largest batch that fits the remaining chunks and the statement size limit.
fn largest_batch(chunks: &[Chunk]) -> (usize, &'static str) {
    let statements: &'static [String] = &*STATEMENTS;
    let fits = |rows: usize| {
        let bytes = |chunk: &Chunk| chunk.content.len() + chunk.vector.len();
        chunks.get(..rows).is_some_and(|batch| batch.iter().map(bytes).sum::<usize>() <= MAX_STATEMENT_SIZE)
    };
    let index = BATCH_SIZES.iter().position(|&rows| fits(rows)).unwrap_or(BATCH_SIZES.len() - 1);
    (BATCH_SIZES[index], &statements[index])
}

/// Serialized fields of a chunk.
struct SerializedFields {
    id: String,
    headings: String,
    tags: String,
}

async fn insert_batch(
    tx: &mut Transaction,
    sql: &'static str,
    context: &ChunkContext<'_>,
    first: usize,
    chunks: &[Chunk],
) -> Result<()> {
    let serialized = |chunk: &Chunk| {
        Ok(SerializedFields { id: uuid_v7(), headings: to_json(&chunk.headings)?, tags: to_json(&chunk.tags)? })
    };
    let serialized = chunks.iter().map(serialized).collect::<Result<Vec<_>>>()?;
    let mut arguments: Vec<Arg<'_>> = Vec::with_capacity(SHARED_ARGUMENTS + ROW_ARGUMENTS * chunks.len());
    arguments.extend::<[Arg<'_>; SHARED_ARGUMENTS]>([
        context.pipeline.into(),
        context.generation.into(),
        context.classification.into(),
        context.document.into(),
        context.revision.into(),
    ]);
    for ((chunk, serialized), number) in chunks.iter().zip(&serialized).zip(first as i64..) {
        arguments.extend(row_arguments(chunk, serialized, number));
    }
    tx.execute(sql, &arguments).await?;
    Ok(())
}

fn row_arguments<'a>(chunk: &'a Chunk, serialized: &'a SerializedFields, number: i64) -> [Arg<'a>; ROW_ARGUMENTS] {
    [
        (&serialized.id).into(),
        number.into(),
        chunk.char_range.map(|range| range.0).into(),
        chunk.char_range.map(|range| range.1).into(),
        chunk.byte_range.map(|range| range.0).into(),
        chunk.byte_range.map(|range| range.1).into(),
        chunk.page.into(),
        (&serialized.headings).into(),
        (&chunk.content).into(),
        (&serialized.tags).into(),
        chunk.vector.as_slice().into(),
        chunk.gap.as_deref().into(),
    ]
}
