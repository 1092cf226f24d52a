//! Benchmark of ingestion: from the upload of documents until they are searchable, compared with each stage alone and with
//! plain rows of the same data in the database.
//!
//! `bench_ingest URL… [--documents N] [--kilobytes N]` with `sqlite:FILE` or `postgres://…`, in a release build. Prints the
//! CPU time of this process and its children (not of the PostgreSQL server), and the wall-clock time. With `--attachments N`,
//! the documents are uploaded alone, and then as attachments of mails with N of them, with the peak memory of this process.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, iter};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::Request;
use pidq_extract::{
    self, ByteChunks, ExtractError, Extracted, Options, ReaderPool, SandboxOptions, StopHandle, Upload,
};
use pidq_http::database::{Arg, Database};
use pidq_http::{Service, Settings};
use pidq_pipeline::Platform;
use pidq_pipeline::TABLES;
use pidq_pipeline::events::sequencer;
use pidq_pipeline::ingest::worker;
use pidq_pipeline::open;
use pidq_pipeline::retrieval::index_cache::{IndexCache, SnapshotFiles};
use pidq_text::analyzer::tags;
use pidq_text::embedding::{self, ModelSources, to_blob};
use pidq_text::splitter;
use serde_json::{Value, json};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    // The extraction subprocess runs this program.
    if env::args().nth(1).as_deref() == Some("pipeline") {
        return pidq_extract::sandbox_main();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let (mut urls, mut documents, mut kilobytes, mut attachments) = (Vec::new(), 40usize, 200usize, 0usize);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|number| number.parse().ok()).ok_or("a number is missing");
        match argument.as_str() {
            "--documents" => documents = number()?,
            "--kilobytes" => kilobytes = number()?,
            "--attachments" => attachments = number()?,
            _ => urls.push(argument),
        }
    }
    let texts: Vec<String> = (0..documents).map(|number| text(number, kilobytes << 10)).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{documents} documents, {:.1} MB of text", bytes as f64 / 1e6);
    if attachments > 0 {
        for url in &urls {
            measure_attachments(url, &texts, attachments).await?;
        }
        return Ok(());
    }
    measure_readers(&texts)?;
    let (rows, stage_seconds) = stages(&texts)?;
    for url in &urls {
        let rows_time = insert_plain_rows(url, &texts, &rows).await?;
        let platform_time = run_platform(url, &Uploads::documents(&texts)).await?;
        let (cpu, wall) = (platform_time.0 / rows_time.0, platform_time.1 / rows_time.1);
        let stages = platform_time.0 / (stage_seconds + rows_time.0);
        println!("{:<28} {cpu:.1} of CPU, {wall:.1} of wall", "platform / plain rows");
        println!("{:<28} {stages:.2} of CPU", "platform / stages and plain rows");
    }
    Ok(())
}

/// Forms to upload, and what the platform makes of them.
struct Uploads {
    forms: Vec<String>,
    /// Number of documents.
    documents: usize,
    /// Size of all texts.
    bytes: usize,
}

impl Uploads {
    fn documents(texts: &[String]) -> Uploads {
        let forms: Vec<String> = texts.iter().map(|text| form("manual.md", text)).collect();
        Uploads { documents: forms.len(), forms, bytes: texts.iter().map(String::len).sum() }
    }

    /// Returns mails with attachments, which are documents as well.
    fn mails(texts: &[String], attachments: usize) -> Uploads {
        let mails = texts.chunks(attachments).enumerate();
        let forms: Vec<String> = mails.map(|(number, texts)| form("mail.eml", &mail(number, texts))).collect();
        Uploads { documents: forms.len() + texts.len(), forms, bytes: texts.iter().map(String::len).sum() }
    }
}

/// Returns a mail with texts as its attachments.
fn mail(number: usize, texts: &[String]) -> String {
    let mut mail = format!(
        "From: a@example.com\r\nSubject: Manuals {number}\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=y8y\r\n\r\n--y8y\r\n\r\nSee the manuals {number}.\r\n"
    );
    for (index, text) in texts.iter().enumerate() {
        let name = format!("manual-{index}.md");
        let head = format!(
            "--y8y\r\nContent-Type: text/markdown\r\nContent-Disposition: attachment; filename={name}\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n"
        );
        mail.push_str(&head);
        // Lines of 76 characters, as mail programs write them.
        for line in text.as_bytes().chunks(57) {
            mail.push_str(&BASE64_STANDARD.encode(line));
            mail.push_str("\r\n");
        }
    }
    mail + "--y8y--\r\n"
}

/// Measures documents that are uploaded alone, and as attachments of mails.
async fn measure_attachments(url: &str, texts: &[String], attachments: usize) -> Result<()> {
    for (name, uploads) in
        [("documents", Uploads::documents(texts)), ("attachments", Uploads::mails(texts, attachments))]
    {
        reset_peak_memory()?;
        let before = peak_memory();
        run_platform(url, &uploads).await?;
        println!("{:<28} {:.0} MB, {before:.0} MB before", format!("peak memory, {name}"), peak_memory());
    }
    Ok(())
}

/// Sets the peak memory of this process to its present memory, on Linux.
fn reset_peak_memory() -> Result<()> {
    Ok(fs::write("/proc/self/clear_refs", "5")?)
}

/// Returns the peak memory of this process in megabytes on Linux, and 0 on other systems.
fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0 / 1e6
}

/// Returns paragraphs of words with a Zipf distribution and occasional tags.
fn text(number: usize, bytes: usize) -> String {
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut text = format!("# Manual {number}\n\n");
    while text.len() < bytes {
        let word = 20_000f64.powf(next()) as usize;
        match (next() * 60.0) as usize {
            0 => text.push_str(&format!("P-{:03}A ", word % 1000)),
            1..=4 => text.push_str("is. "),
            5 => text.push_str("\n\n"),
            _ => text.push_str(&format!("w{word:x} ")),
        }
    }
    text
}

/// Measures the extraction in a new process for each document, and in reused processes of one classification.
fn measure_readers(texts: &[String]) -> Result<()> {
    let sandbox = SandboxOptions::installed(&["pipeline"])?;
    let (pool, stop, options) = (ReaderPool::default(), StopHandle::default(), Options::default());
    let hints = Upload { bytes: &[], name: Some("a.md"), media_type: None };
    let chunks = |text: &str| -> ByteChunks { Box::new(iter::once(Ok(text.as_bytes().to_vec()))) };
    let measure = |name: &str, extract: &dyn Fn(&str) -> std::result::Result<Extracted, ExtractError>| -> Result<()> {
        let (cpu, started) = (process_cpu(), Instant::now());
        for text in texts {
            extract(text)?;
        }
        // Only the CPU time of terminated children is counted.
        pool.clear();
        let milliseconds = |seconds: f64| seconds * 1000.0 / texts.len() as f64;
        println!(
            "{name:<28} {:6.2} ms of CPU a document, {:.2} ms of wall",
            milliseconds(process_cpu() - cpu),
            milliseconds(started.elapsed().as_secs_f64())
        );
        Ok(())
    };
    measure("extract, new processes", &|text| {
        pidq_extract::extract_stream_in_sandbox(&hints, chunks(text), &options, &sandbox, &stop)
    })?;
    measure("extract, reused processes", &|text| {
        pool.extract_stream("bench", &hints, chunks(text), &options, &sandbox, &stop)
    })
}

/// The stored data of a chunk.
struct Row {
    content: String,
    vector: Vec<u8>,
}

/// Measures each stage on one thread, without subprocesses and without a database.
fn stages(texts: &[String]) -> Result<(Vec<Vec<Row>>, f64)> {
    let model = embedding::open("hash-512", &ModelSources::default())?;
    let splitter = splitter::find("recursive_character").ok_or("no splitter")?;
    let splitter = splitter.build(&json!({}).as_object().cloned().unwrap_or_default()).map_err(|e| e.to_string())?;
    let (mut seconds, mut rows) = ([0.0; 4], Vec::new());
    for text in texts {
        let mut started = thread_cpu();
        let mut record_stage = |stage: usize| {
            let now = thread_cpu();
            seconds[stage] += now - started;
            started = now;
        };
        let upload = Upload { bytes: text.as_bytes(), name: Some("a.md"), media_type: None };
        let extracted = pidq_extract::extract_in_process(&upload, &Options::default())?;
        record_stage(0);
        let chunks = splitter.split(&extracted.text, &|_| Ok(Vec::new())).map_err(|e| e.to_string())?;
        let chunks: Vec<String> = chunks.iter().map(|chunk| chunk.text.to_string()).collect();
        record_stage(1);
        let vectors = model.embed(&chunks)?;
        record_stage(2);
        let tag_count: usize = chunks.iter().map(|chunk| tags(chunk).len()).sum();
        std::hint::black_box(tag_count);
        record_stage(3);
        let document_rows =
            chunks.into_iter().zip(vectors).map(|(content, vector)| Row { content, vector: to_blob(&vector) });
        rows.push(document_rows.collect());
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    for (name, seconds) in ["extract", "split", "embed", "tags"].into_iter().zip(seconds) {
        println!("{name:<28} {seconds:6.2} s of CPU, {:7.1} MB/s", bytes as f64 / 1e6 / seconds);
    }
    let stage_seconds = seconds.iter().sum();
    println!("{:<28} {stage_seconds:6.2} s of CPU", "all stages");
    Ok((rows, stage_seconds))
}

const DROP: &str = "drop table if exists plain_rows";
const CREATE: &str = "create table plain_rows (content text not null, vector bytea)";
const INSERT: &str =
    "insert into plain_rows (content, vector) values ($1, $2), ($3, $4), ($5, $6), ($7, $8), ($9, $10),
  ($11, $12), ($13, $14), ($15, $16)";
const INSERT_ONE: &str = "insert into plain_rows (content, vector) values ($1, $2)";
/// Number of rows that [`INSERT`] inserts.
const ROWS_PER_STATEMENT: usize = 8;

/// Inserts the same documents, texts and vectors into a table without an index, with one transaction per document.
async fn insert_plain_rows(url: &str, texts: &[String], documents: &[Vec<Row>]) -> Result<(f64, f64)> {
    let database = Database::open(url).await?;
    database.execute(DROP, &[]).await?;
    database.execute(CREATE, &[]).await?;
    let (cpu, started) = (process_cpu(), Instant::now());
    let mut rows = 0;
    for (text, document) in texts.iter().zip(documents) {
        let mut tx = database.begin().await?;
        tx.execute(INSERT_ONE, &[text.into(), text.as_bytes().into()]).await?;
        let batched = document.len() / ROWS_PER_STATEMENT * ROWS_PER_STATEMENT;
        for batch in document[..batched].chunks(ROWS_PER_STATEMENT) {
            let arguments: Vec<Arg<'_>> =
                batch.iter().flat_map(|row| [(&row.content).into(), row.vector.as_slice().into()]).collect();
            tx.execute(INSERT, &arguments).await?;
        }
        for row in &document[batched..] {
            tx.execute(INSERT_ONE, &[(&row.content).into(), row.vector.as_slice().into()]).await?;
        }
        rows += document.len();
        tx.commit().await?;
    }
    let elapsed = (process_cpu() - cpu, started.elapsed().as_secs_f64());
    println!(
        "{:<28} {:6.2} s of CPU, {:.2} s of wall, {rows} rows",
        format!("plain rows, {}", kind(url)),
        elapsed.0,
        elapsed.1
    );
    database.execute(DROP, &[]).await?;
    Ok(elapsed)
}

/// Ingests the documents with a platform with two workers, through its HTTP interface.
async fn run_platform(url: &str, uploads: &Uploads) -> Result<(f64, f64)> {
    let extractor = env::current_exe()?;
    let environment = [
        ("PIDQ_DATABASE_URL", url.to_owned()),
        ("PIDQ_RATE_LIMIT", "0".to_owned()),
        ("PIDQ_UPLOAD_RATE_LIMIT", "0".to_owned()),
        ("PIDQ_ASK_RATE_LIMIT", "0".to_owned()),
        ("PIDQ_EXTRACTOR", extractor.display().to_string()),
        ("PIDQ_DATA_DIR", env::temp_dir().join("pidq-bench").display().to_string()),
    ];
    let settings = Settings::read(TABLES, [], environment.map(|(name, value)| (name.to_owned(), value)))?;
    let app = open(&settings).await.map_err(|error| error.to_string())?;
    let state = app.state.clone();
    let mut tasks: JoinSet<()> = (0..2).map(|_| worker::run_worker(Arc::clone(&state))).collect();
    tasks.spawn(sequencer::run_sequencer(Arc::clone(&state)));
    let service = app.build();
    let name = format!("bench {}", pidq_http::uuid_v7());
    let pipeline = json!({
        "name": name, "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["a"],
    });
    let created = send(&service, "POST", "/api/pipelines", "application/json", pipeline.to_string().into()).await?;
    let path = format!("/api/pipelines/{}", created["id"].as_str().ok_or("no pipeline")?);
    let (cpu, started) = (process_cpu(), Instant::now());
    for form in &uploads.forms {
        let media = "multipart/form-data; boundary=x7x";
        send(&service, "POST", &format!("{path}/documents"), media, form.clone().into()).await?;
    }
    loop {
        let counts = send(&service, "GET", &path, "", Vec::new()).await?["document_counts"].clone();
        if counts["failed"] != 0 {
            return Err("a document failed".into());
        }
        if counts["ready"] == uploads.documents {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let elapsed = (process_cpu() - cpu, started.elapsed().as_secs_f64());
    drop(tasks);
    let chunks = measure_partition(&state, &path).await?;
    println!(
        "{:<28} {:6.2} s of CPU, {:.2} s of wall: {:.1} MB and {:.0} chunks a second of CPU",
        format!("platform, {}", kind(url)),
        elapsed.0,
        elapsed.1,
        uploads.bytes as f64 / 1e6 / elapsed.0,
        chunks as f64 / elapsed.0
    );
    Ok(elapsed)
}

/// Measures loading the partition from the database and from a snapshot. Returns its number of chunks.
async fn measure_partition(state: &Arc<Platform>, path: &str) -> Result<usize> {
    let id = path.rsplit('/').next().unwrap_or_default();
    let pipeline = state.store.pipeline(id).await?.ok_or("no pipeline")?;
    let folder = tempfile::tempdir()?;
    let new_cache =
        || IndexCache::default().with_snapshots(SnapshotFiles::new(folder.path().into(), 1 << 40).with_min_chunks(1));
    let (built, loaded) = (new_cache(), new_cache());
    measure("building the partition", built.get(&state.store, &pipeline, "a")).await?;
    measure("writing the snapshot", built.save(&state.store, Duration::ZERO)).await?;
    let index = measure("loading the snapshot", loaded.get(&state.store, &pipeline, "a")).await?;
    let chunks = index.read().await.partition.len();
    let snapshot_size = fs::read_dir(folder.path())?.next().ok_or("no file")??.metadata()?.len();
    println!(
        "{:<28} {chunks} chunks, {:.0} MB, snapshot {:.0} MB",
        "partition",
        loaded.bytes() as f64 / 1e6,
        snapshot_size as f64 / 1e6
    );
    Ok(chunks)
}

async fn measure<T, E>(
    description: &str,
    work: impl Future<Output = std::result::Result<T, E>>,
) -> std::result::Result<T, E> {
    let (cpu, started) = (process_cpu(), Instant::now());
    let result = work.await;
    println!(
        "{description:<28} {:6.2} s of CPU, {:.2} s of wall",
        process_cpu() - cpu,
        started.elapsed().as_secs_f64()
    );
    result
}

async fn send(service: &Service<Platform>, method: &str, path: &str, media: &str, body: Vec<u8>) -> Result<Value> {
    let request = Request::builder().method(method).uri(path).header("host", "localhost").header("content-type", media);
    let (head, body) = service.call(request.body(body.into())?).await.into_parts();
    let body = http_body_util::BodyExt::collect(body).await.map_err(|_| "the response ends early")?.to_bytes();
    match head.status.is_success() {
        true => Ok(serde_json::from_slice(&body)?),
        false => Err(String::from_utf8_lossy(&body).into()),
    }
}

fn form(filename: &str, text: &str) -> String {
    let part =
        |name: &str, value: &str| format!("--x7x\r\nContent-Disposition: form-data; name={name}\r\n\r\n{value}\r\n");
    part("\"classification\"", "a") + &part(&format!("\"file\"; filename=\"{filename}\""), text) + "--x7x--\r\n"
}

fn kind(url: &str) -> &str {
    url.split(':').next().unwrap_or_default()
}

/// Returns the CPU seconds of this thread on Linux, and 0 on other systems.
fn thread_cpu() -> f64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Returns the CPU seconds of this process and its terminated children, in hundredths.
fn process_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program name is in parentheses and may contain spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
