//! Chunks on their way into the database: many rows a statement, since a statement costs more than a row.

use std::sync::LazyLock;

use pidq_http::database::{Arg, Transaction};
use pidq_http::uuid_v7;

use super::{Result, text};
use crate::records::Chunk;

/// What all chunks of a document have in common.
pub(super) struct Home<'a> {
    pub pipeline: &'a str,
    pub generation: i64,
    pub classification: &'a str,
    pub document: &'a str,
    pub revision: i64,
}

/// The arguments that all rows of a statement share, and those that each row has.
const SHARED: usize = 5;
const OWN: usize = 12;
/// How many rows a statement has. SQLite takes 32,766 arguments and PostgreSQL 65,535; beyond some dozens of rows a
/// statement gets no faster.
const ROWS: [usize; 5] = [64, 8, 4, 2, 1];
/// The bytes of texts that a statement carries, unless one chunk is longer than that.
const BYTES: usize = 4 << 20;

/// Made of constants alone: no caller's text ever becomes part of a statement.
static STATEMENTS: LazyLock<[String; ROWS.len()]> = LazyLock::new(|| ROWS.map(statement));

fn statement(rows: usize) -> String {
    let row = |row: usize| {
        let own: Vec<String> = (1..=OWN).map(|at| format!("${}", SHARED + row * OWN + at)).collect();
        format!("($1, $2, $3, $4, $5, {})", own.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!(
        "insert into chunks (pipeline_id, generation, classification, document_id, revision, id, number, starts, ends, \
         first_byte, last_byte, page, headings, content, tags, vector, gap) values {}",
        rows.join(", ")
    )
}

/// Writes chunks in their order, numbered from 0.
pub(super) async fn insert(tx: &mut Transaction, home: &Home<'_>, chunks: &[Chunk]) -> Result<()> {
    let mut rest = chunks;
    while !rest.is_empty() {
        let (rows, sql) = statement_for(rest);
        let number = chunks.len() - rest.len();
        insert_some(tx, sql, home, number, &rest[..rows]).await?;
        rest = &rest[rows..];
    }
    Ok(())
}

/// The statement with the most rows that are there and not too long.
fn statement_for(chunks: &[Chunk]) -> (usize, &'static str) {
    let statements: &'static [String] = &*STATEMENTS;
    let fits = |rows: usize| {
        let bytes = |chunk: &Chunk| chunk.content.len() + chunk.vector.len();
        chunks.get(..rows).is_some_and(|some| some.iter().map(bytes).sum::<usize>() <= BYTES)
    };
    let at = ROWS.iter().position(|&rows| fits(rows)).unwrap_or(ROWS.len() - 1);
    (ROWS[at], &statements[at])
}

/// What of a chunk has to be written first.
struct Written {
    id: String,
    headings: String,
    tags: String,
}

async fn insert_some(
    tx: &mut Transaction,
    sql: &'static str,
    home: &Home<'_>,
    first: usize,
    chunks: &[Chunk],
) -> Result<()> {
    let written =
        |chunk: &Chunk| Ok(Written { id: uuid_v7(), headings: text(&chunk.headings)?, tags: text(&chunk.tags)? });
    let written = chunks.iter().map(written).collect::<Result<Vec<_>>>()?;
    let mut arguments: Vec<Arg<'_>> = Vec::with_capacity(SHARED + OWN * chunks.len());
    arguments.extend::<[Arg<'_>; SHARED]>([
        home.pipeline.into(),
        home.generation.into(),
        home.classification.into(),
        home.document.into(),
        home.revision.into(),
    ]);
    for ((chunk, written), number) in chunks.iter().zip(&written).zip(first as i64..) {
        arguments.extend(own(chunk, written, number));
    }
    tx.execute(sql, &arguments).await?;
    Ok(())
}

fn own<'a>(chunk: &'a Chunk, written: &'a Written, number: i64) -> [Arg<'a>; OWN] {
    [
        (&written.id).into(),
        number.into(),
        chunk.place.map(|place| place.0).into(),
        chunk.place.map(|place| place.1).into(),
        chunk.bytes.map(|bytes| bytes.0).into(),
        chunk.bytes.map(|bytes| bytes.1).into(),
        chunk.page.into(),
        (&written.headings).into(),
        (&chunk.content).into(),
        (&written.tags).into(),
        chunk.vector.as_slice().into(),
        chunk.gap.as_deref().into(),
    ]
}
