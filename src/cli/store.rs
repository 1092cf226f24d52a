//! `pidq graph`: the graphs that a service keeps, put in and taken out: by its store, or with `--url` by asking it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use pidq_server::door::{self, Rules};
use pidq_server::store::{Coding, ETag, Error, JobId, Meta, Outcome, Precondition, Store, Tenant, Which};
use pidq_server::{OPEN_TENANT, OpenError, open_store};

use super::failure::{Failure, Result, Status};
use super::remote::{self, Client, Question, Remote};
use super::service::{Place, print, print_text, refused, wait};

const EXAMPLES: &str = "\
Examples:
  pidq graph import plant.json
  pidq graph import --job 100-PID-0001 plant.json
  pidq graph list
  pidq graph export plant-100 > plant.json
  pidq graph verify

A store of files belongs to one process at a time: stop the service, or put graphs in through it.

  export PIDQ_CLIENT_ID=historian PIDQ_CLIENT_SECRET_FILE=historian.secret
  pidq graph --url https://pidq.example.com list
  pidq graph --url https://pidq.example.com import --if-match 2-0f3a… plant.json
  pidq graph --url https://pidq.example.com query '.pid_graph.nodes | size()' plant-100

What a service is shown comes from the environment: PIDQ_TOKEN, or PIDQ_CLIENT_ID and PIDQ_CLIENT_SECRET, with
PIDQ_USERNAME and PIDQ_PASSWORD where a user asks. A secret may stand in a file: PIDQ_TOKEN_FILE, PIDQ_PASSWORD_FILE.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,

    /// Whose graphs they are [default: main]; with --url the token says it
    #[arg(long, global = true)]
    tenant: Option<String>,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    remote: Remote,
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
        /// The ETag of the version that this replaces, for one file; `list` shows it
        #[arg(long, value_name = "ETAG")]
        if_match: Option<String>,
        /// Refuse to replace what is there
        #[arg(long, conflicts_with = "if_match")]
        new: bool,
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
        #[arg(long, default_value = "", hide_default_value = true)]
        prefix: String,
    },
    /// Delete a graph with all its versions.
    Delete { job: String },
    /// Ask a service, which runs the query; rows are printed as they come.
    Query(Question),
    /// Read everything and compare it with its hashes.
    Verify,
}

/// The most graphs that are asked for at once.
const PAGE: usize = 1000;

/// The columns of a list.
pub const HEAD: [&str; 7] = ["job", "version", "nodes", "edges", "stored", "etag", "drawing"];

/// What has to be so for a graph to be stored.
pub enum Condition {
    None,
    /// There is no such job yet.
    New,
    /// The job has this version, by its ETag.
    Replaces(String),
}

/// What became of a graph that was put in.
pub struct Stored<'a> {
    pub job: &'a str,
    pub version: &'a str,
    pub is_unchanged: bool,
    pub nodes: u64,
    pub edges: u64,
    pub warnings: usize,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    match (options.remote.url.is_some(), &options.action) {
        (true, _) => options.nothing_local(),
        (false, Action::Query(_)) => Err(Failure::Usage(NO_SERVICE.into())),
        (false, Action::Import { .. }) => Ok(()),
        (false, _) => options.place.is_there("PIDQ_STORE_URL"),
    }?;
    wait(async {
        match options.remote.open()? {
            Some(mut client) => ask(&options.action, &mut client).await,
            None => {
                let store = open_store(&options.place.settings()?).await.map_err(unopened)?;
                let tenant = options.tenant.as_deref().unwrap_or(OPEN_TENANT);
                act(&options.action, &store, &Tenant::parse(tenant).map_err(failed)?).await
            }
        }
    })
}

/// The process that holds a store is the service, most likely, and can be asked itself.
fn unopened(error: OpenError) -> Failure {
    match &error {
        OpenError::Store(Error::StoreLocked(_)) => Failure::Usage(format!("{error}; ask it with `--url`, or stop it")),
        _ => refused(error),
    }
}

const NO_SERVICE: &str = "`query` asks a service: name it with `--url`; \
    for a graph of this machine, `pidq graph export JOB | pidq query QUERY`";

impl Options {
    /// With a service, what belongs to a store means nothing.
    fn nothing_local(&self) -> Result<()> {
        let no = |option: &str| Err(Failure::Usage(format!("`{option}` is for a store, not for `--url`")));
        match (&self.tenant, self.place.is_named(), &self.action) {
            (Some(_), _, _) => no("--tenant"),
            (_, true, _) => no("--data-dir"),
            (_, _, Action::Verify) => no("verify"),
            _ => Ok(()),
        }
    }
}

async fn ask(action: &Action, client: &mut Client) -> Result {
    match action {
        Action::Import { files, job, .. } => remote::import(client, files, job.as_deref(), &action.condition()?).await,
        Action::Export { job, version } => remote::export(client, job, version.as_deref()).await,
        Action::List { prefix } => remote::list(client, prefix).await,
        Action::Delete { job } => remote::delete(client, job).await,
        Action::Query(question) => remote::query(client, question).await,
        Action::Verify => Ok(Status::Done),
    }
}

async fn act(action: &Action, store: &Arc<dyn Store>, tenant: &Tenant) -> Result {
    match action {
        Action::Import { files, job, .. } => import(store, tenant, files, job.as_deref(), &action.condition()?).await,
        Action::Export { job, version } => export(store, tenant, job, version.as_deref()).await,
        Action::List { prefix } => list(store, tenant, prefix).await,
        Action::Delete { job } => {
            let job = JobId::parse(job).map_err(failed)?;
            store.delete(tenant, &job, &Precondition::None).await.map_err(failed)?;
            Ok(Status::Done)
        }
        Action::Verify => verify(store).await,
        Action::Query(_) => Err(Failure::Usage(NO_SERVICE.into())),
    }
}

impl Action {
    /// What an import asks for, if the options go together.
    fn condition(&self) -> Result<Condition> {
        let Action::Import { files, job, if_match, new } = self else { return Ok(Condition::None) };
        if job.is_some() && files.len() > 1 {
            return Err(Failure::Usage("`--job` is for one file; others are told by their metadata".into()));
        }
        match if_match {
            Some(_) if files.len() > 1 => Err(Failure::Usage("`--if-match` is for one file".into())),
            Some(tag) => Ok(Condition::Replaces(quoted(tag))),
            None if *new => Ok(Condition::New),
            None => Ok(Condition::None),
        }
    }
}

/// An ETag as a header has it: shells take the quotes away.
fn quoted(tag: &str) -> String {
    let is_whole = tag == "*" || tag.starts_with('"') || tag.starts_with("W/");
    if is_whole { tag.into() } else { format!("\"{tag}\"") }
}

impl Condition {
    fn precondition(&self) -> Precondition {
        match self {
            Condition::None => Precondition::None,
            Condition::New => Precondition::Absent,
            Condition::Replaces(tag) if tag == "*" => Precondition::Exists,
            Condition::Replaces(tag) => Precondition::Is(ETag::parse(tag).into_iter().collect()),
        }
    }
}

async fn import(
    store: &Arc<dyn Store>,
    tenant: &Tenant,
    files: &[PathBuf],
    job: Option<&str>,
    condition: &Condition,
) -> Result {
    for file in files {
        let body = fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
        let job = job_of(&body, file, job)?;
        let draft = door::admit(&job, body.into(), &Rules::default()).map_err(|error| about(file, &error))?;
        let warnings = draft.warnings.len();
        let committed = store.commit(tenant, &job, draft, &condition.precondition()).await.map_err(failed)?;
        let meta = &committed.meta;
        let told = Stored {
            job: meta.job.as_str(),
            version: meta.version.as_str(),
            is_unchanged: matches!(committed.outcome, Outcome::Unchanged),
            nodes: meta.nodes,
            edges: meta.edges,
            warnings,
        };
        print_text(&told.line())?;
    }
    Ok(Status::Done)
}

/// The job of a file: as given, as its metadata says, else as the file is called.
pub fn job_of(body: &[u8], file: &Path, given: Option<&str>) -> Result<JobId> {
    let said = pidq::Graph::from_json(body).ok().and_then(|graph| {
        let metadata = graph.root().as_object()?.get("pid_graph")?.as_object()?.get("metadata")?;
        metadata.as_object()?.get("job_id")?.as_str().map(str::to_owned)
    });
    let called = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = given.map(str::to_owned).or(said).or(called).unwrap_or_default();
    JobId::parse(&name).map_err(|error| about(file, &error))
}

impl Stored<'_> {
    /// The line that tells it.
    pub fn line(&self) -> String {
        let what = if self.is_unchanged { "unchanged" } else { "stored" };
        let Stored { job, version, nodes, edges, warnings, .. } = self;
        let warnings = if *warnings == 0 { String::new() } else { format!(", {warnings} kinds of warnings") };
        format!("{job} version {version} {what}: {nodes} nodes, {edges} edges{warnings}\n")
    }
}

async fn export(store: &Arc<dyn Store>, tenant: &Tenant, job: &str, version: Option<&str>) -> Result {
    let job = JobId::parse(job).map_err(failed)?;
    let which = version.map_or(Which::Latest, |name| Which::Version(pidq_server::store::Version::named(name)));
    let stored = store.get(tenant, &job, &which, Coding::Identity).await.map_err(failed)?;
    io::stdout().lock().write_all(&stored.bytes)?;
    Ok(Status::Done)
}

async fn list(store: &Arc<dyn Store>, tenant: &Tenant, prefix: &str) -> Result {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
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
    let (stored, etag) = (meta.created_on.to_rfc3339(), meta.etag().to_string());
    vec![meta.job.as_str().into(), meta.version.to_string(), nodes, edges, stored, etag, name]
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
