//! `pidq import`: drawings of other programs into `pid_graph` JSON, one file or a folder of them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use pidq::Graph;
use pidq_formats::{FORMATS, Format, Imported, Severity};

use super::failure::{self, Failure, Result, Status};
use super::input;

const EXAMPLES: &str = "\
Examples:
  pidq import drawing.xml                     writes drawing.json beside it
  pidq import drawing.xml -o - | pidq query '.pid_graph.metadata.diagnostics'
  pidq import drawings/ -o graphs/            every drawing of a folder
  pidq import --from csv-graph nodes.csv edges.csv -o graph.json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The files, or folders with files; `-` is the standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// The format; without it, what the file begins like
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,

    /// Where the JSON goes: a file, a folder, or `-`; without it, beside each file
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Tell every finding, also of what was left out on purpose
    #[arg(short, long)]
    verbose: bool,
}

/// Endings of files that are taken from a folder. JSON and CSV are not: a folder may hold what an import wrote.
const ENDINGS: &[&str] = &["xml", "graphml"];

/// Runs the subcommand. It fails only when a file could not be read at all.
pub fn run(options: &Options) -> Result {
    let jobs = options.jobs()?;
    if jobs.is_empty() {
        return Err(Failure::Usage("there are no drawings in the folder: no file ends with .xml or .graphml".into()));
    }
    let bar = progress(jobs.len());
    let mut summary = Summary::default();
    for job in &jobs {
        bar.set_message(job.name());
        match options.import(job) {
            Ok(imported) => summary.add(&imported, job, options, &bar),
            Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
            Err(failure) => bar.suspend(|| {
                failure.report();
                summary.failed += 1;
            }),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    summary.tell(jobs.len(), options.verbose);
    Ok(if summary.failed > 0 { Status::Usage } else { Status::Done })
}

/// A bar for many files on a terminal. Nothing elsewhere.
fn progress(count: usize) -> ProgressBar {
    if count < 2 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    match ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The files of one drawing, and where its JSON goes.
struct Job {
    files: Vec<PathBuf>,
    output: PathBuf,
}

impl Job {
    fn name(&self) -> String {
        self.files.first().map(|file| input::name(file)).unwrap_or_default()
    }
}

impl Options {
    /// One job a file, or one for all files of a format that needs several.
    fn jobs(&self) -> Result<Vec<Job>> {
        let files = self.found()?;
        let format = self.from.as_deref().map(Format::find).transpose().map_err(refused)?;
        let needed = format.and_then(|format| format.read.as_ref()).map_or(1, |reader| reader.files.len());
        let mut taken = BTreeSet::new();
        if needed > 1 {
            let output = self.place(&files[0], 1, &mut taken);
            return Ok(vec![Job { files, output }]);
        }
        let count = files.len();
        let job = |file: PathBuf| Job { output: self.place(&file, count, &mut taken), files: vec![file] };
        Ok(files.into_iter().map(job).collect())
    }

    /// The files that are named, and those of folders in the order of their names.
    fn found(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for path in &self.files {
            if !path.is_dir() {
                found.push(path.clone());
                continue;
            }
            let entries = fs::read_dir(path).map_err(|error| Failure::unreadable(path, &error))?;
            let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
            files.retain(|file| has_ending(file) && file.is_file());
            files.sort();
            found.extend(files);
        }
        Ok(found)
    }

    /// Where the JSON of a file goes. Two files never share a place, and none is written over.
    fn place(&self, file: &Path, count: usize, taken: &mut BTreeSet<PathBuf>) -> PathBuf {
        let is_folder = |path: &Path| path.is_dir() || count > 1 && path != Path::new("-");
        let folder = match &self.output {
            Some(path) if !is_folder(path) => return path.clone(),
            Some(path) => path.clone(),
            None if file == Path::new("-") => return PathBuf::from("-"),
            None => file.parent().unwrap_or(Path::new("")).to_path_buf(),
        };
        let name = file.file_name().unwrap_or(file.as_os_str());
        let short = folder.join(name).with_extension("json");
        let place = match short != *file && !taken.contains(&short) {
            true => short,
            false => folder.join(format!("{}.json", name.to_string_lossy())),
        };
        taken.insert(place.clone());
        place
    }

    fn import(&self, job: &Job) -> Result<Imported> {
        let files: Vec<Vec<u8>> = job.files.iter().map(|file| input::bytes(file)).collect::<Result<_>>()?;
        let imported = read(&files, self.from.as_deref(), &job.name())?;
        if job.output == Path::new("-") {
            io::stdout().lock().write_all(imported.json.as_bytes())?;
        } else {
            write(&job.output, imported.json.as_bytes())?;
        }
        Ok(imported)
    }
}

fn has_ending(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Reads the files of one drawing, in a format by name or in the one that they begin like.
fn read(files: &[Vec<u8>], from: Option<&str>, name: &str) -> Result<Imported> {
    let format = match (from, files.first()) {
        (Some(from), _) => Format::find(from).map_err(refused)?,
        (None, first) => first.and_then(|bytes| Format::sniff(bytes)).ok_or_else(|| unknown(name))?,
    };
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    format.import(&files).map_err(|error| Failure::Usage(format!("{name}: {error}")))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = FORMATS.iter().filter(|format| format.read.is_some()).map(|format| format.name).collect();
    Failure::Usage(format!("{name}: cannot tell the format: give it with --from {}", names.join("|")))
}

/// An error of a format without a file.
pub fn refused(error: pidq_formats::Error) -> Failure {
    Failure::Usage(error.to_string())
}

/// Writes a file, and the folder it is in.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, bytes)).map_err(|error| unwritable(path, folder, &error))
}

fn unwritable(path: &Path, folder: Option<&Path>, error: &io::Error) -> Failure {
    Failure::Usage(match folder.filter(|folder| folder.is_file()) {
        Some(folder) => format!("`{}` is a file; several files go into a folder", folder.display()),
        None => format!("cannot write `{}`: {error}", path.display()),
    })
}

/// The graph in a file: JSON as it is, drawings of other programs imported.
pub fn graph(path: &Path) -> Result<Graph> {
    let bytes = input::bytes(path)?;
    let name = input::name(path);
    let json = match Format::sniff(&bytes) {
        Some(format) if format.name != "node-link" => read(&[bytes], Some(format.name), &name)?.json.into_bytes(),
        _ => bytes,
    };
    Graph::from_json(json).map_err(|error| Failure::Input(error, name))
}

/// What was imported.
#[derive(Default)]
struct Summary {
    read: usize,
    failed: usize,
    nodes: usize,
    edges: usize,
    warnings: usize,
}

impl Summary {
    fn add(&mut self, imported: &Imported, job: &Job, options: &Options, bar: &ProgressBar) {
        let warnings = imported.diagnostics.iter().filter(|one| one.finding.severity() == Severity::Warning);
        self.read += 1;
        self.nodes += imported.nodes;
        self.edges += imported.edges;
        self.warnings += warnings.count();
        if options.verbose {
            bar.suspend(|| tell_findings(imported, &job.name()));
        }
    }

    fn tell(&self, files: usize, is_verbose: bool) {
        let Summary { read, nodes, edges, warnings, .. } = self;
        let noun = if files == 1 { "file" } else { "files" };
        let more = if *warnings > 0 && !is_verbose { "; --verbose tells them" } else { "" };
        failure::warn(&format!("{read} of {files} {noun}: {nodes} nodes, {edges} edges, {warnings} warnings{more}\n"));
    }
}

fn tell_findings(imported: &Imported, name: &str) {
    for one in &imported.diagnostics {
        let times = if one.count > 1 { format!(" ({} times)", one.count) } else { String::new() };
        let severity = one.finding.severity().as_str();
        failure::warn(&format!("{name}: {severity}[{}]: {}{times}\n", one.finding.code(), one.message));
    }
}
