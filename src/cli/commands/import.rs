//! Subcommand `pidq import`: converts drawings of other programs to `pid_graph` JSON.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq_formats::{Format, Import, Severity};

use crate::cli::drawing_files::{format_failure, print_findings, read, write};
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::{input, progress, table};

const EXAMPLES: &str = "\
Examples:
  pidq import drawing.xml                     writes drawing.json next to it
  pidq import drawing.xml -o - | pidq query '.pid_graph.metadata.diagnostics'
  pidq import drawings/ -o graphs/            every drawing in a directory
  pidq import drawing.xml --profile symbols.xml   a DEXPI 2.0 drawing with the symbols of a profile
  pidq import --from csv-graph nodes.csv edges.csv -o graph.json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Files, or directories with files; `-` reads standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Input format [default: detected from the content]
    #[arg(long, value_name = "FORMAT", help = from_help())]
    from: Option<String>,

    /// DEXPI 2.0 profile with the symbols of the drawings; can be repeated
    #[arg(long, value_name = "FILE")]
    profile: Vec<PathBuf>,

    /// Output file, directory, or `-` [default: next to each input file]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Print every finding, including intentionally skipped content
    #[arg(short, long)]
    verbose: bool,
}

/// Returns the help of the input format with the formats that can be read.
fn from_help() -> String {
    format!("Input format: {} [default: detected from the content]", Format::readable_names().join(", "))
}

/// File extensions imported from a directory. JSON and CSV are excluded: a directory may hold earlier output.
const DRAWING_EXTENSIONS: &[&str] = &["xml", "graphml"];

/// Runs the subcommand. It fails only if a file could not be read.
pub fn run(options: &Options) -> Result {
    let tasks = options.tasks()?;
    if tasks.is_empty() {
        return Err(Failure::Usage("the directory has no drawings: no file ends with .xml or .graphml".into()));
    }
    let bar = progress::files(tasks.len());
    let mut summary = Summary::default();
    for task in &tasks {
        bar.set_message(task.name());
        match options.import(task) {
            Ok(imported) => summary.add(&imported, task, options),
            Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
            Err(failure) => {
                failure.report();
                summary.failed += 1;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    summary.print(tasks.len(), options.verbose);
    Ok(if summary.failed > 0 { Status::Usage } else { Status::Done })
}

/// Input files of one drawing and its output file.
struct ImportTask {
    files: Vec<PathBuf>,
    output: PathBuf,
}

impl ImportTask {
    fn name(&self) -> String {
        self.files.first().map(|file| input::name(file)).unwrap_or_default()
    }
}

impl Options {
    /// Returns one task per file, or one task for a format that consists of several files.
    fn tasks(&self) -> Result<Vec<ImportTask>> {
        let files = self.find_files()?;
        let format = self.from.as_deref().map(Format::find).transpose().map_err(format_failure)?;
        let needed = format.and_then(|format| format.read.as_ref()).map_or(1, |reader| reader.files.len());
        let mut taken = BTreeSet::new();
        if needed > 1 {
            let output = self.output_path(&files[0], 1, &mut taken);
            return Ok(vec![ImportTask { files, output }]);
        }
        let count = files.len();
        let task = |file: PathBuf| ImportTask { output: self.output_path(&file, count, &mut taken), files: vec![file] };
        Ok(files.into_iter().map(task).collect())
    }

    /// Returns the named files, and the files of directories in name order.
    fn find_files(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for path in &self.files {
            if !path.is_dir() {
                found.push(path.clone());
                continue;
            }
            let entries = fs::read_dir(path).map_err(|error| Failure::unreadable(path, &error))?;
            let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
            files.retain(|file| has_drawing_extension(file) && file.is_file());
            files.sort();
            found.extend(files);
        }
        Ok(found)
    }

    /// Returns the output path of a file. Outputs never collide with each other or with an input.
    fn output_path(&self, file: &Path, count: usize, taken: &mut BTreeSet<PathBuf>) -> PathBuf {
        let is_dir_output = |path: &Path| path.is_dir() || count > 1 && path != Path::new("-");
        let dir = match &self.output {
            Some(path) if !is_dir_output(path) => return path.clone(),
            Some(path) => path.clone(),
            None if file == Path::new("-") => return PathBuf::from("-"),
            None => file.parent().unwrap_or(Path::new("")).to_path_buf(),
        };
        let name = file.file_name().unwrap_or(file.as_os_str());
        let short = dir.join(name).with_extension("json");
        let output_path = match short != *file && !taken.contains(&short) {
            true => short,
            false => dir.join(format!("{}.json", name.to_string_lossy())),
        };
        taken.insert(output_path.clone());
        output_path
    }

    fn import(&self, task: &ImportTask) -> Result<Import> {
        let paths = task.files.iter().chain(&self.profile);
        let files: Vec<Vec<u8>> = paths.map(|file| input::bytes(file)).collect::<Result<_>>()?;
        let names: Vec<String> = task.files.iter().map(|file| input::name(file)).collect();
        let imported = read(&files, self.from.as_deref(), &names)?;
        if task.output == Path::new("-") {
            io::stdout().lock().write_all(imported.json.as_bytes())?;
        } else {
            write(&task.output, imported.json.as_bytes())?;
        }
        Ok(imported)
    }
}

fn has_drawing_extension(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    DRAWING_EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Totals of an import.
#[derive(Default)]
struct Summary {
    read: usize,
    failed: usize,
    nodes: usize,
    edges: usize,
    warnings: usize,
}

impl Summary {
    fn add(&mut self, imported: &Import, task: &ImportTask, options: &Options) {
        let warnings =
            imported.diagnostics.iter().filter(|diagnostic| diagnostic.finding.severity() == Severity::Warning);
        self.read += 1;
        self.nodes += imported.nodes;
        self.edges += imported.edges;
        self.warnings += warnings.count();
        if options.verbose {
            print_findings(&imported.diagnostics, &task.name());
        }
    }

    fn print(&self, files: usize, is_verbose: bool) {
        let Summary { read, nodes, edges, warnings, .. } = self;
        let noun = if files == 1 { "file" } else { "files" };
        let more = if *warnings > 0 && !is_verbose { "; --verbose shows them" } else { "" };
        let counts = [(nodes, "node"), (edges, "edge"), (warnings, "warning")];
        let counts = counts.map(|(count, noun)| table::count(*count, noun)).join(", ");
        failure::warn(&format!("{read} of {files} {noun}: {counts}{more}\n"));
    }
}
