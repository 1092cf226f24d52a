//! Data of an installation: its data directory and its databases, as the settings name them.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pidq_http::{Secret, Settings};
use pidq_server::{DATA_DIR, DATABASE_URL, STORE_URL};
use pidq_store::spool::create_private_dir;
use walkdir::WalkDir;

use super::archive_writer::ArchiveWriter;
use super::{during, postgres, sqlite};
use crate::cli::failure::{Failure, Result};

/// Directory of the archive with the files of the data directory.
const DATA: &str = "data";
/// File names of databases in the archive.
const SQLITE_COPY: &str = "sqlite.db";
const POSTGRES_DUMP: &str = "postgres.dump";

/// Files and directories that are not backed up, by the start and the end of their names.
const EXCLUDED: &[(&str, &str)] = &[
    // Journals of SQLite: their content is in the copy of the database.
    ("", ".db-wal"),
    ("", ".db-shm"),
    ("", ".db-journal"),
    // Files that are being written, and those of a restoration.
    (".tmp-", ""),
    ("upload-", ".part"),
    (RESTORATION, ""),
];
/// Lock of the process that owns the graphs, and caches.
const EXCLUDED_NAMES: &[&str] = &["lock", "snapshots"];
/// Prefix of the directory with the entries of a backup that is being restored.
const RESTORATION: &str = ".restore-";
/// Maximum number of times that a directory is read.
const READ_ATTEMPTS: usize = 1_000;

/// Data of an installation.
pub struct Installation {
    data_dir: PathBuf,
    /// `true` if a backup requires the data directory: it has the graphs.
    needs_data_dir: bool,
    databases: Vec<RemoteDatabase>,
}

/// Database outside the data directory.
pub struct RemoteDatabase {
    /// Directory of the archive.
    name: &'static str,
    location: DatabaseLocation,
}

enum DatabaseLocation {
    Sqlite(PathBuf),
    Postgres(Secret),
}

impl Installation {
    /// Returns the installation with these settings.
    pub fn new(settings: &Settings) -> Result<Installation> {
        let data_dir = settings.get(&DATA_DIR).map_err(Failure::usage)?.to_path_buf();
        let accounts = settings.get(&DATABASE_URL).map_err(Failure::usage)?;
        let graphs = settings.get(&STORE_URL).map_err(Failure::usage)?;
        let has_graphs = graphs.is_none();
        // Both may be one database.
        let graphs = graphs.filter(|url| accounts.as_ref().is_none_or(|other| other.expose() != url.expose()));
        let named = [("database", accounts), ("graphs", graphs)];
        let databases: Vec<RemoteDatabase> = named
            .into_iter()
            .filter_map(|(name, url)| Some(RemoteDatabase { name, location: DatabaseLocation::new(&url?) }))
            .filter(|database| !database.is_below(&data_dir))
            .collect();
        // A document platform with PostgreSQL has no graphs, and needs no data directory: then, no setting names it.
        let needs_data_dir = has_graphs && (settings.is_set(&DATA_DIR) || databases.is_empty());
        Ok(Installation { data_dir, needs_data_dir, databases })
    }

    /// Adds everything to an archive: first the databases, then the files, which are written once.
    ///
    /// Copies of databases are written to a temporary directory first.
    pub async fn add_to<W: Write>(&self, archive: &mut ArchiveWriter<W>, temp_dir: &Path) -> Result<()> {
        let directories = self.directories()?;
        let mut copied = HashSet::new();
        for directory in &directories {
            for file in files(directory)? {
                if sqlite::is_database(&file).is_ok_and(|is_database| is_database) {
                    self.add_database_file(archive, &file, &temp_dir.join(SQLITE_COPY)).await?;
                    copied.insert(file);
                }
            }
        }
        for database in &self.databases {
            database.add_to(archive, temp_dir).await?;
        }
        directories.iter().try_for_each(|directory| self.add_files(archive, directory, &mut copied))
    }

    /// Adds the files of a directory that are not added yet. A new version of a graph may replace the file of an old one
    /// meanwhile, so the directory is read again until no file has disappeared.
    fn add_files<W: Write>(
        &self,
        archive: &mut ArchiveWriter<W>,
        directory: &Path,
        added: &mut HashSet<PathBuf>,
    ) -> Result<()> {
        for _ in 0..READ_ATTEMPTS {
            let mut is_complete = true;
            for file in files(directory)? {
                if !added.contains(&file) {
                    let path = self.archive_path(&file)?;
                    let exists = archive.add_file(&path, &file);
                    is_complete &= exists.map_err(during(&format!("cannot back up `{}`", file.display())))?;
                    added.insert(file);
                }
            }
            if is_complete {
                return Ok(());
            }
        }
        Err(Failure::Usage(format!("the files in `{}` change too often to be backed up", directory.display())))
    }

    async fn add_database_file<W: Write>(
        &self,
        archive: &mut ArchiveWriter<W>,
        file: &Path,
        copy: &Path,
    ) -> Result<()> {
        sqlite::copy(file, copy).await?;
        add_and_remove(archive, &self.archive_path(file)?, copy)
    }

    /// Returns the directories of the data directory, itself first.
    fn directories(&self) -> Result<Vec<PathBuf>> {
        if !self.data_dir.is_dir() {
            // With both in PostgreSQL, there need not be a data directory. Otherwise, a backup without it would look complete.
            return if self.needs_data_dir { Err(self.missing_data_dir()) } else { Ok(Vec::new()) };
        }
        let walk = WalkDir::new(&self.data_dir).follow_links(true).sort_by_file_name();
        let is_included = |entry: &walkdir::DirEntry| entry.depth() == 0 || !is_excluded(entry.file_name());
        let mut directories = Vec::new();
        for entry in walk.into_iter().filter_entry(is_included) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => directories.push(entry.into_path()),
                Ok(_) => {}
                Err(error) if error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound) => {}
                Err(error) => return Err(Failure::Usage(format!("cannot read the data directory: {error}"))),
            }
        }
        Ok(directories)
    }

    fn missing_data_dir(&self) -> Failure {
        Failure::Usage(format!(
            "no data directory `{}`; set `--data-dir` to the data directory of the service",
            self.data_dir.display()
        ))
    }

    fn archive_path(&self, file: &Path) -> Result<String> {
        let relative = file.strip_prefix(&self.data_dir).ok().and_then(Path::to_str);
        let relative = relative.ok_or_else(|| Failure::Usage(format!("the name of {file:?} is not UTF-8")))?;
        Ok(format!("{DATA}/{relative}"))
    }

    /// Creates the directory for the entries of a backup, next to where they belong.
    ///
    /// # Errors
    /// Returns an error if the data directory or a SQLite database has content: a backup replaces nothing.
    pub fn create_restoration_dir(&self) -> Result<tempfile::TempDir> {
        let dir = &self.data_dir;
        let shown = dir.display();
        create_private_dir(dir).map_err(during(&format!("cannot create the directory `{shown}`")))?;
        let entries = fs::read_dir(dir).map_err(|error| Failure::unreadable(dir, &error))?;
        if entries.flatten().any(|entry| entry.file_name() != "lost+found") {
            return Err(Failure::Usage(format!(
                "the data directory `{shown}` is not empty; restore into an empty one"
            )));
        }
        for database in &self.databases {
            database.require_absent()?;
        }
        tempfile::Builder::new()
            .prefix(RESTORATION)
            .tempdir_in(dir)
            .map_err(during(&format!("cannot write to `{shown}`")))
    }

    /// Moves the unpacked entries of a backup to where they belong, and restores the databases.
    ///
    /// # Errors
    /// Returns an error if the backup has other databases than the settings name, or if a database is not empty.
    pub fn restore(&self, unpacked: &Path) -> Result<()> {
        self.require_same_databases(unpacked)?;
        for database in &self.databases {
            database.restore(&unpacked.join(database.name))?;
        }
        let data = unpacked.join(DATA);
        if !data.is_dir() {
            return Ok(());
        }
        let entries = fs::read_dir(&data).map_err(|error| Failure::unreadable(&data, &error))?;
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        // Databases last: a service that starts too early finds none.
        names.sort_by_key(|name| (data.join(name).is_file(), name.clone()));
        for name in names {
            let target = self.data_dir.join(&name);
            fs::rename(data.join(&name), &target).map_err(during(&format!("cannot restore `{}`", target.display())))?;
        }
        Ok(())
    }

    fn require_same_databases(&self, unpacked: &Path) -> Result<()> {
        for (name, setting) in [("database", DATABASE_URL.env()), ("graphs", STORE_URL.env())] {
            let expected = self.databases.iter().find(|database| database.name == name);
            let expected = expected.map(|database| database.location.file_name());
            let found = [SQLITE_COPY, POSTGRES_DUMP].into_iter().find(|file| unpacked.join(name).join(file).is_file());
            if expected != found {
                let remedy = match found {
                    Some(POSTGRES_DUMP) => "is in PostgreSQL: set it to the URL of an empty database",
                    Some(_) => "is a SQLite file outside the data directory: set it to `sqlite:FILE`",
                    None => "is not in the backup: leave it unset",
                };
                return Err(Failure::Usage(format!("the data of `{setting}` {remedy}")));
            }
        }
        Ok(())
    }
}

impl RemoteDatabase {
    async fn add_to<W: Write>(&self, archive: &mut ArchiveWriter<W>, temp_dir: &Path) -> Result<()> {
        let file_name = self.location.file_name();
        let copy = temp_dir.join(file_name);
        match &self.location {
            DatabaseLocation::Sqlite(file) => sqlite::copy(file, &copy).await?,
            DatabaseLocation::Postgres(url) => postgres::dump(url, &copy)?,
        }
        add_and_remove(archive, &format!("{}/{file_name}", self.name), &copy)
    }

    /// Restores the copy of the database in a directory.
    fn restore(&self, dir: &Path) -> Result<()> {
        let copy = dir.join(self.location.file_name());
        match &self.location {
            DatabaseLocation::Postgres(url) => postgres::restore(url, &copy),
            DatabaseLocation::Sqlite(file) => fs::copy(&copy, file)
                .and_then(|_| fs::File::open(file)?.sync_all())
                .map_err(during(&format!("cannot restore `{}`", file.display()))),
        }
    }

    fn require_absent(&self) -> Result<()> {
        match &self.location {
            DatabaseLocation::Sqlite(file) if file.exists() => {
                Err(Failure::Usage(format!("the database `{}` exists; a restoration replaces nothing", file.display())))
            }
            // `pg_restore` fails if a table exists.
            _ => Ok(()),
        }
    }

    /// Returns whether the database is a file of the directory, which is backed up with it.
    fn is_below(&self, dir: &Path) -> bool {
        let DatabaseLocation::Sqlite(file) = &self.location else { return false };
        resolved(file).starts_with(resolved(dir))
    }
}

/// Returns the absolute path without symbolic links. The end of it need not exist: a restoration creates the database.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = absolute.ancestors().find_map(|ancestor| Some((ancestor.canonicalize().ok()?, ancestor)));
    match existing {
        Some((real, ancestor)) => real.join(absolute.strip_prefix(ancestor).unwrap_or(Path::new(""))),
        None => absolute,
    }
}

impl DatabaseLocation {
    fn new(url: &Secret) -> DatabaseLocation {
        match url.expose().strip_prefix("sqlite:") {
            Some(path) => DatabaseLocation::Sqlite(path.strip_prefix("//").unwrap_or(path).into()),
            None => DatabaseLocation::Postgres(url.clone()),
        }
    }

    /// Returns the file name in the archive.
    fn file_name(&self) -> &'static str {
        match self {
            DatabaseLocation::Sqlite(_) => SQLITE_COPY,
            DatabaseLocation::Postgres(_) => POSTGRES_DUMP,
        }
    }
}

/// Moves a temporary copy into an archive.
fn add_and_remove<W: Write>(archive: &mut ArchiveWriter<W>, path: &str, copy: &Path) -> Result<()> {
    let added = archive.add_file(path, copy).and_then(|_| fs::remove_file(copy));
    added.map_err(during(&format!("cannot back up `{path}`")))
}

/// Returns the files of a directory in the order of their names; none if it no longer exists.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Failure::unreadable(directory, &error))?,
    };
    let included = entries.flatten().filter(|entry| !is_excluded(&entry.file_name()));
    let mut files: Vec<PathBuf> = included.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

fn is_excluded(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    EXCLUDED.iter().any(|(start, end)| name.starts_with(start) && name.ends_with(end))
        || EXCLUDED_NAMES.contains(&&*name)
}
