//! `pidq graph`: the graphs that a service keeps, put in and taken out without it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use pidq_server::door::{self, Rules};
use pidq_server::store::{Coding, Error, JobId, Meta, Outcome, Precondition, Store, Tenant, Which};
use pidq_server::{OPEN_TENANT, open_store};

use super::failure::{Failure, Result, Status};
use super::service::{Place, print, print_text, refused, wait};

const EXAMPLES: &str = "\
Examples:
  pidq graph import plant.json
  pidq graph import --job 100-PID-0001 plant.json
  pidq graph list
  pidq graph export plant-100 > plant.json
  pidq graph verify

A store of files belongs to one process at a time: stop the service, or put graphs in through it.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,

    /// Whose graphs they are
    #[arg(long, default_value = OPEN_TENANT, global = true)]
    tenant: String,

    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand)]
enum Action {
    /// Store graphs; each is the job that its metadata or its file name says.
    Import {
        /// pid_graph JSON
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The job, for one file
        #[arg(long)]
        job: Option<String>,
    },
    /// Print a graph as it was stored.
    Export {
        job: String,
        /// This version instead of the latest
        #[arg(long)]
        version: Option<String>,
    },
    /// List the graphs.
    List {
        /// Only jobs that begin so
        #[arg(long, default_value = "")]
        prefix: String,
    },
    /// Delete a graph with all its versions.
    Delete { job: String },
    /// Read everything and compare it with its hashes.
    Verify,
}

/// The most graphs that are asked for at once.
const PAGE: usize = 1000;

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let settings = options.place.settings()?;
    wait(async {
        let store = open_store(&settings).await.map_err(refused)?;
        let tenant = Tenant::parse(&options.tenant).map_err(failed)?;
        act(&options.action, &store, &tenant).await
    })
}

async fn act(action: &Action, store: &Arc<dyn Store>, tenant: &Tenant) -> Result {
    match action {
        Action::Import { files, job } => import(store, tenant, files, job.as_deref()).await,
        Action::Export { job, version } => export(store, tenant, job, version.as_deref()).await,
        Action::List { prefix } => list(store, tenant, prefix).await,
        Action::Delete { job } => {
            let job = JobId::parse(job).map_err(failed)?;
            store.delete(tenant, &job, &Precondition::None).await.map_err(failed)?;
            Ok(Status::Done)
        }
        Action::Verify => verify(store).await,
    }
}

async fn import(store: &Arc<dyn Store>, tenant: &Tenant, files: &[PathBuf], job: Option<&str>) -> Result {
    if job.is_some() && files.len() > 1 {
        return Err(Failure::Usage("`--job` is for one file; others are told by their metadata".into()));
    }
    for file in files {
        let body = fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
        let job = job_of(&body, file, job)?;
        let draft = door::admit(&job, body.into(), &Rules::default()).map_err(|error| about(file, &error))?;
        let count = draft.warnings.len();
        let committed = store.commit(tenant, &job, draft, &Precondition::None).await.map_err(failed)?;
        tell(&committed.meta, committed.outcome, count)?;
    }
    Ok(Status::Done)
}

/// The job of a file: as given, as its metadata says, else as the file is called.
fn job_of(body: &[u8], file: &Path, given: Option<&str>) -> Result<JobId> {
    let said = pidq::Graph::from_json(body).ok().and_then(|graph| {
        let metadata = graph.root().as_object()?.get("pid_graph")?.as_object()?.get("metadata")?;
        metadata.as_object()?.get("job_id")?.as_str().map(str::to_owned)
    });
    let called = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = given.map(str::to_owned).or(said).or(called).unwrap_or_default();
    JobId::parse(&name).map_err(|error| about(file, &error))
}

fn tell(meta: &Meta, outcome: Outcome, warnings: usize) -> Result<()> {
    let what = match outcome {
        Outcome::Created | Outcome::Changed => "stored",
        Outcome::Unchanged => "unchanged",
    };
    let warnings = if warnings == 0 { String::new() } else { format!(", {warnings} kinds of warnings") };
    let (job, version) = (meta.job.as_str(), meta.version.as_str());
    print_text(&format!("{job} version {version} {what}: {} nodes, {} edges{warnings}\n", meta.nodes, meta.edges))?;
    Ok(())
}

async fn export(store: &Arc<dyn Store>, tenant: &Tenant, job: &str, version: Option<&str>) -> Result {
    let job = JobId::parse(job).map_err(failed)?;
    let which = version.map_or(Which::Latest, |name| Which::Version(pidq_server::store::Version::named(name)));
    let stored = store.get(tenant, &job, &which, Coding::Identity).await.map_err(failed)?;
    io::stdout().lock().write_all(&stored.bytes)?;
    Ok(Status::Done)
}

async fn list(store: &Arc<dyn Store>, tenant: &Tenant, prefix: &str) -> Result {
    let head = ["job", "version", "nodes", "edges", "stored", "drawing"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    let mut after = None;
    loop {
        let page = store.list(tenant, prefix, after.as_ref(), PAGE).await.map_err(failed)?;
        rows.extend(page.iter().map(|meta| row(meta)));
        match page.last() {
            Some(last) if page.len() == PAGE => after = Some(last.job.clone()),
            _ => return print(&rows),
        }
    }
}

fn row(meta: &Meta) -> Vec<String> {
    let name = super::table::clean(meta.drawing_name.as_deref().unwrap_or_default());
    let [nodes, edges] = [meta.nodes, meta.edges].map(|count| count.to_string());
    vec![meta.job.as_str().into(), meta.version.to_string(), nodes, edges, meta.created_on.to_rfc3339(), name]
}

async fn verify(store: &Arc<dyn Store>) -> Result {
    let verified = store.verify().await.map_err(failed)?;
    print_text(&format!("{} versions were read, {} are damaged\n", verified.versions, verified.corrupt.len()))?;
    for (tenant, job, version) in &verified.corrupt {
        print_text(&format!("damaged: {} of {}, version {version}\n", job.as_str(), tenant.as_str()))?;
    }
    Ok(if verified.corrupt.is_empty() { Status::Done } else { Status::Falsy })
}

fn failed(error: Error) -> Failure {
    Failure::Usage(error.to_string())
}

fn about(file: &Path, error: &Error) -> Failure {
    Failure::Usage(format!("{}: {error}", file.display()))
}
