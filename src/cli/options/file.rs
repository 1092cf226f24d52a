//! Default options of the subcommands, from a file of the user: one option per line, as on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::{env, fs, io};

use crate::cli::failure::{Failure, Result};

/// Environment variable with the path of the file. Empty, no file is read.
const VARIABLE: &str = "PIDQ_OPTIONS";

/// A line of the file.
#[derive(Debug, Eq, PartialEq)]
struct Line {
    number: usize,
    /// Subcommand, such as `query` or `graph import`.
    command: Vec<String>,
    /// Option, with its value.
    option: Vec<String>,
}

/// Result of parsing arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parsed {
    Valid,
    /// Options exclude each other, or one is repeated.
    Conflict,
    Invalid,
}

/// Inserts the options of the file after the subcommand. An option that conflicts with one of the command line is not
/// inserted.
pub fn with_defaults(arguments: Vec<OsString>, parse: impl Fn(&[OsString]) -> Parsed) -> Result<Vec<OsString>> {
    let Some(path) = path() else { return Ok(arguments) };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && env::var_os(VARIABLE).is_none() => {
            return Ok(arguments);
        }
        Err(error) => return Err(Failure::unreadable(&path, &error)),
    };
    let place = |line: usize| format!("line {line} of `{}`", path.display());
    let lines = lines(&text).map_err(|line| {
        let example = "`query --sort-keys` or `query --indent 4`";
        Failure::Usage(format!("{} is not a subcommand with one option, such as {example}", place(line)))
    })?;
    insert(arguments, &lines, parse).map_err(|line| {
        let help = "`pidq help` lists the subcommands and their options";
        Failure::Usage(format!("{} has no valid option of the subcommand; {help}", place(line)))
    })
}

/// Returns the path of the file: that of the environment variable, or `pidq/options` in the directory for configuration.
fn path() -> Option<PathBuf> {
    if let Some(path) = env::var_os(VARIABLE) {
        return (!path.is_empty()).then(|| path.into());
    }
    let directory = |name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let configuration = match cfg!(windows) {
        true => directory("APPDATA"),
        false => directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config"))),
    };
    Some(configuration?.join("pidq").join("options"))
}

/// Reads the lines. Fails with the number of a line that has no subcommand or no option.
fn lines(text: &str) -> std::result::Result<Vec<Line>, usize> {
    let numbered = text.trim_start_matches('\u{FEFF}').lines().zip(1..);
    let meaningful = numbered.map(|(line, number)| (line.trim(), number));
    meaningful
        .filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
        .map(|(line, number)| read(line, number).ok_or(number))
        .collect()
}

fn read(line: &str, number: usize) -> Option<Line> {
    let start = if line.starts_with('-') { 0 } else { line.find(" -")? + 1 };
    let (command, option) = line.split_at(start);
    let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    // The value may contain spaces.
    let option = match option.split_once(char::is_whitespace) {
        Some((name, value)) => vec![name.to_owned(), value.trim_start().to_owned()],
        None => vec![option.to_owned()],
    };
    (!command.is_empty()).then_some(Line { number, command, option })
}

/// Inserts the options of the subcommand. Fails with the number of a line that is invalid.
fn insert(
    arguments: Vec<OsString>,
    lines: &[Line],
    parse: impl Fn(&[OsString]) -> Parsed,
) -> std::result::Result<Vec<OsString>, usize> {
    let mut merged = arguments;
    let own: Vec<&Line> = lines.iter().filter(|line| is_command(&merged, &line.command)).collect();
    if own.is_empty() || parse(&merged) != Parsed::Valid {
        return Ok(merged);
    }
    for line in own {
        let mut extended = merged.clone();
        let at = line.command.len();
        extended.splice(at..at, line.option.iter().map(OsString::from));
        match parse(&extended) {
            Parsed::Valid => merged = extended,
            Parsed::Conflict => {}
            Parsed::Invalid => return Err(line.number),
        }
    }
    Ok(merged)
}

fn is_command(arguments: &[OsString], command: &[String]) -> bool {
    arguments.len() >= command.len() && arguments.iter().zip(command).all(|(argument, word)| argument == word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(file: &str, arguments: &[&str]) -> std::result::Result<Vec<String>, usize> {
        let lines = lines(file)?;
        let parse = |arguments: &[OsString]| {
            let count = |name: &str| arguments.iter().filter(|argument| *argument == name).count();
            match () {
                () if count("--unknown") > 0 => Parsed::Invalid,
                () if count("--indent") + count("-c") > 1 => Parsed::Conflict,
                () => Parsed::Valid,
            }
        };
        let merged = insert(arguments.iter().map(OsString::from).collect(), &lines, parse)?;
        Ok(merged.into_iter().map(|argument| argument.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn options_of_the_subcommand_are_inserted() {
        let file =
            "# defaults\n\nquery -S\ndraw --theme dark\n  query --limits   time=5s, memory=1G \ngraph import -v\n";
        let check = |arguments: &[&str], expected: &[&str]| {
            assert_eq!(
                merged(file, arguments),
                Ok(expected.iter().map(ToString::to_string).collect()),
                "{arguments:?}"
            );
        };
        check(&["query", "."], &["query", "--limits", "time=5s, memory=1G", "-S", "."]);
        check(&["graph", "import", "x"], &["graph", "import", "-v", "x"]);
        check(&["graph", "list"], &["graph", "list"]);
        check(&["validate", "x"], &["validate", "x"]);
        check(&[], &[]);
    }

    #[test]
    fn the_command_line_has_precedence() {
        let check = |arguments: &[&str], expected: &[&str]| {
            let merged = merged("query --indent 4", arguments);
            assert_eq!(merged, Ok(expected.iter().map(ToString::to_string).collect()), "{arguments:?}");
        };
        check(&["query", "-c", "."], &["query", "-c", "."]);
        check(&["query", "--indent", "1", "."], &["query", "--indent", "1", "."]);
        // The error in the arguments is reported, not that it makes of the file.
        check(&["query", "--unknown"], &["query", "--unknown"]);
    }

    #[test]
    fn an_invalid_line_is_named() {
        assert_eq!(merged("query -S\n\nquery --unknown", &["query", "."]), Err(3));
        assert_eq!(merged("query -S\nsort-keys", &["query", "."]), Err(2));
        assert_eq!(merged("-S", &["query", "."]), Err(1));
    }
}
