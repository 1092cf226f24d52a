//! Subcommand `pidq graph`: administration of stored graphs, directly in the store or through a service (`--url`).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use pidq_server::store::validation::{self, GraphDraft, JobIdPolicy, ValidationRules};
use pidq_server::store::{
    Coding, CommitOutcome, ETag, Error, GraphId, GraphMeta, Precondition, Store, Tenant, VersionSelector,
};
use pidq_server::{DEFAULT_TENANT, OpenError, open_store};

use super::remote::{self, Client, RemoteOptions, RemoteQuery};
use super::serve::{ServiceOptions, block_on, print, print_text};
use crate::cli::drawing_files;
use crate::cli::failure::{Failure, Result, Status};
use crate::cli::graph_import::{COLUMNS, Condition, ImportResult, file_failure, graph_id_of};

const EXAMPLES: &str = "\
Examples:
  pidq graph import plant.json
  pidq graph import --graph-id 100-PID-0001 plant.json
  pidq graph list
  pidq graph export plant-100 > plant.json
  pidq graph verify

Only one process at a time can open the store in a data directory: stop the service, or use it through --url.

  export PIDQ_CLIENT_ID=historian PIDQ_CLIENT_SECRET_FILE=historian.secret
  pidq graph --url https://pidq.example.com list
  pidq graph --url https://pidq.example.com import --if-match 2-0f3a… plant.json
  pidq graph --url https://pidq.example.com query '.pid_graph.nodes | size()' plant-100
  pidq graph --url https://pidq.example.com query 'rankDiff($old, get())' plant-100 --graph-param old @3

Credentials come from the environment: PIDQ_TOKEN, or PIDQ_CLIENT_ID and PIDQ_CLIENT_SECRET, with PIDQ_USERNAME and
PIDQ_PASSWORD to log in as a user. A secret can be read from a file: PIDQ_TOKEN_FILE, PIDQ_PASSWORD_FILE.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,

    /// Tenant of the graphs [default: main]; with --url, defined by the token
    #[arg(long, global = true)]
    tenant: Option<String>,

    #[command(flatten)]
    service: ServiceOptions,

    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Subcommand)]
enum Action {
    /// Store graphs; their ids come from their metadata or file names.
    Import {
        /// Drawings: pid_graph JSON, or a format that `pidq import` detects, such as Proteus and DEXPI
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Graph id, for a single file
        #[arg(long)]
        graph_id: Option<String>,
        /// ETag of the version to replace, for a single file; shown by `list`
        #[arg(long, value_name = "ETAG")]
        if_match: Option<String>,
        /// Fail if the graph exists
        #[arg(long, conflicts_with = "if_match")]
        new: bool,
    },
    /// Print a stored graph.
    Export {
        graph_id: String,
        /// Version to print [default: latest]
        #[arg(long)]
        version: Option<String>,
    },
    /// List the graphs.
    List {
        /// Prefix of the graph ids to list
        #[arg(long, default_value = "", hide_default_value = true)]
        prefix: String,
    },
    /// Delete a graph with all its versions.
    Delete { graph_id: String },
    /// Run a query in a service and print the rows as they arrive.
    Query(RemoteQuery),
    /// Verify the hashes of all stored versions.
    Verify,
}

/// Page size of listings.
const PAGE_SIZE: usize = 1000;

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    match (options.remote.url.is_some(), &options.action) {
        (true, _) => options.reject_store_options(),
        (false, Action::Query(_)) => Err(Failure::Usage(URL_REQUIRED.into())),
        (false, Action::Import { .. }) => Ok(()),
        (false, _) => options.service.require_data_dir(&pidq_server::STORE_URL),
    }?;
    block_on(async {
        match options.remote.open()? {
            Some(mut client) => run_remote(&options.action, &mut client).await,
            None => {
                let store = open_store(&options.service.settings()?).await.map_err(open_failure)?;
                let tenant = options.tenant.as_deref().unwrap_or(DEFAULT_TENANT);
                run_local(&options.action, &store, &Tenant::parse(tenant).map_err(store_failure)?).await
            }
        }
    })
}

/// Converts an open error. A locked store probably belongs to a running service.
fn open_failure(error: OpenError) -> Failure {
    match &error {
        OpenError::Store(Error::StoreLocked(_)) => {
            Failure::Usage(format!("{error}; use the service through `--url`, or stop it"))
        }
        _ => Failure::usage(error),
    }
}

const URL_REQUIRED: &str = "`query` needs a service: specify `--url`; \
    for a local graph, use `pidq graph export GRAPH_ID | pidq query QUERY`";

impl Options {
    /// Rejects options of a local store together with `--url`.
    fn reject_store_options(&self) -> Result<()> {
        let reject = |option: &str| Err(Failure::Usage(format!("`{option}` cannot be used with `--url`")));
        match (&self.tenant, self.service.has_data_dir(), &self.action) {
            (Some(_), _, _) => reject("--tenant"),
            (_, true, _) => reject("--data-dir"),
            (_, _, Action::Verify) => reject("verify"),
            _ => Ok(()),
        }
    }
}

async fn run_remote(action: &Action, client: &mut Client) -> Result {
    match action {
        Action::Import { files, graph_id, .. } => {
            remote::import(client, files, graph_id.as_deref(), &action.condition()?).await
        }
        Action::Export { graph_id, version } => remote::export(client, graph_id, version.as_deref()).await,
        Action::List { prefix } => remote::list(client, prefix).await,
        Action::Delete { graph_id } => remote::delete(client, graph_id).await,
        Action::Query(query) => remote::query(client, query).await,
        Action::Verify => Ok(Status::Done),
    }
}

async fn run_local(action: &Action, store: &Arc<dyn Store>, tenant: &Tenant) -> Result {
    match action {
        Action::Import { files, graph_id, .. } => {
            import(store, tenant, files, graph_id.as_deref(), &action.condition()?).await
        }
        Action::Export { graph_id, version } => export(store, tenant, graph_id, version.as_deref()).await,
        Action::List { prefix } => list(store, tenant, prefix).await,
        Action::Delete { graph_id } => {
            let graph_id = GraphId::parse(graph_id).map_err(store_failure)?;
            store.delete(tenant, &graph_id, &Precondition::None).await.map_err(store_failure)?;
            Ok(Status::Done)
        }
        Action::Verify => verify(store).await,
        Action::Query(_) => Err(Failure::Usage(URL_REQUIRED.into())),
    }
}

impl Action {
    /// Returns the precondition of an import after validating its options.
    fn condition(&self) -> Result<Condition> {
        let Action::Import { files, graph_id, if_match, new } = self else { return Ok(Condition::None) };
        if graph_id.is_some() && files.len() > 1 {
            return Err(Failure::Usage(
                "`--graph-id` needs a single file; without it, ids come from the metadata or the file names".into(),
            ));
        }
        match if_match {
            Some(_) if files.len() > 1 => Err(Failure::Usage("`--if-match` needs a single file".into())),
            Some(tag) => Ok(Condition::Replaces(quoted(tag))),
            None if *new => Ok(Condition::New),
            None => Ok(Condition::None),
        }
    }
}

/// Quotes an ETag as in a header, because shells remove the quotes.
fn quoted(tag: &str) -> String {
    let is_quoted = tag == "*" || tag.starts_with('"') || tag.starts_with("W/");
    if is_quoted { tag.into() } else { format!("\"{tag}\"") }
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
    graph_id: Option<&str>,
    condition: &Condition,
) -> Result {
    for file in files {
        let body = fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
        let (graph_id, draft) = draft_of(body, file, graph_id)?;
        let warnings = draft.warnings.len();
        let committed =
            store.commit(tenant, &graph_id, draft, &condition.precondition()).await.map_err(store_failure)?;
        let meta = &committed.meta;
        let result = ImportResult {
            graph_id: meta.graph_id.as_str(),
            version: meta.version.as_str(),
            is_unchanged: matches!(committed.outcome, CommitOutcome::Unchanged),
            nodes: meta.nodes,
            edges: meta.edges,
            warnings,
        };
        print_text(&result.line())?;
    }
    Ok(Status::Done)
}

/// Validates a graph; a drawing in another format is converted first, and its findings are printed.
fn draft_of(body: Vec<u8>, file: &Path, explicit_id: Option<&str>) -> Result<(GraphId, GraphDraft)> {
    let graph_id = graph_id_of(&body, file, explicit_id)?;
    let mut rules = ValidationRules::default();
    let json = match drawing_files::drawing_format(&body) {
        None => body,
        Some(format) => {
            let name = file.display().to_string();
            let imported = drawing_files::read(&[body], Some(format.name), std::slice::from_ref(&name))?;
            drawing_files::print_findings(&imported.diagnostics, &name);
            rules.job_id = JobIdPolicy::Replace;
            imported.json.into_bytes()
        }
    };
    let draft = validation::validate(&graph_id, json.into(), &rules).map_err(|error| file_failure(file, &error))?;
    Ok((graph_id, draft))
}

async fn export(store: &Arc<dyn Store>, tenant: &Tenant, graph_id: &str, version: Option<&str>) -> Result {
    let graph_id = GraphId::parse(graph_id).map_err(store_failure)?;
    let selector = version
        .map_or(VersionSelector::Latest, |name| VersionSelector::Version(pidq_server::store::Version::named(name)));
    let stored = store.get(tenant, &graph_id, &selector, Coding::Identity).await.map_err(store_failure)?;
    io::stdout().lock().write_all(&stored.bytes)?;
    Ok(Status::Done)
}

async fn list(store: &Arc<dyn Store>, tenant: &Tenant, prefix: &str) -> Result {
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    let mut after = None;
    loop {
        let page = store.list(tenant, prefix, after.as_ref(), PAGE_SIZE).await.map_err(store_failure)?;
        rows.extend(page.iter().map(|meta| row(meta)));
        match page.last() {
            Some(last) if page.len() == PAGE_SIZE => after = Some(last.graph_id.clone()),
            _ => return print(&rows),
        }
    }
}

fn row(meta: &GraphMeta) -> Vec<String> {
    let name = crate::cli::table::escape_controls(meta.drawing_name.as_deref().unwrap_or_default());
    let [nodes, edges] = [meta.nodes, meta.edges].map(|count| count.to_string());
    let (stored, etag) = (meta.created_on.to_rfc3339(), meta.etag().to_string());
    vec![meta.graph_id.as_str().into(), meta.version.to_string(), nodes, edges, stored, etag, name]
}

async fn verify(store: &Arc<dyn Store>) -> Result {
    let verified = store.verify().await.map_err(store_failure)?;
    print_text(&format!("{} versions verified, {} corrupt\n", verified.versions, verified.corrupt.len()))?;
    for (tenant, graph_id, version) in &verified.corrupt {
        print_text(&format!(
            "corrupt: graph {} of tenant {}, version {version}\n",
            graph_id.as_str(),
            tenant.as_str()
        ))?;
    }
    Ok(if verified.corrupt.is_empty() { Status::Done } else { Status::Falsy })
}

fn store_failure(error: Error) -> Failure {
    Failure::Usage(error.to_string())
}
