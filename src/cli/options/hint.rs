//! Help for arguments that a subcommand does not have: the option that was meant.

use std::env;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Returns help for an unknown argument; `None` if the message of the parser has a suggestion, or there is none.
pub fn hint(message: &Error, program: &Command) -> Option<String> {
    if message.kind() != ErrorKind::UnknownArgument || message.get(ContextKind::SuggestedArg).is_some() {
        return None;
    }
    let Some(ContextValue::String(given)) = message.get(ContextKind::InvalidArg) else { return None };
    let given_arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let subcommand = subcommand_of(&given_arguments, program);
    match given.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next().unwrap_or_default();
            similar_option(name, subcommand).map(|option| format!("did you mean `--{option}`?\n"))
        }
        None if subcommand.get_name() == "check" && !given.starts_with('-') => {
            Some(format!("a document is named by an option: `pidq check QUERY --against {given}`\n"))
        }
        None => None,
    }
}

/// Returns the innermost subcommand that the first arguments name.
fn subcommand_of<'c>(arguments: &[OsString], program: &'c Command) -> &'c Command {
    let mut command = program;
    for argument in arguments {
        match argument.to_str().and_then(|name| command.find_subcommand(name)) {
            Some(subcommand) => command = subcommand,
            None => break,
        }
    }
    command
}

/// Returns the long option of a subcommand that is nearest to a name: at most a third of its letters differ, or are
/// exchanged with their neighbors.
fn similar_option(name: &str, subcommand: &Command) -> Option<String> {
    let allowed = (name.len() / 3).max(1);
    let options = subcommand.get_arguments().filter_map(|argument| argument.get_long());
    let distances = options.map(|option| (strsim::damerau_levenshtein(name, option), option));
    let nearest = distances.filter(|(distance, _)| *distance <= allowed).min()?;
    Some(nearest.1.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn the_nearest_option_is_suggested() {
        let command =
            Command::new("query").args(["csv", "tsv", "slurp", "raw-output"].map(|name| Arg::new(name).long(name)));
        for (given, option) in [
            ("cvs", Some("csv")),
            ("tvs", Some("tsv")),
            ("slrup", Some("slurp")),
            ("rwa-output", Some("raw-output")),
            ("compact", None),
            ("x", None),
        ] {
            assert_eq!(similar_option(given, &command).as_deref(), option, "{given}");
        }
    }

    #[test]
    fn nested_subcommands_are_found() {
        let program = Command::new("pidq").subcommand(Command::new("pipeline").subcommand(Command::new("ask")));
        let name = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            subcommand_of(&arguments, &program).get_name().to_owned()
        };
        assert_eq!(name(&["pipeline", "ask", "--x"]), "ask");
        assert_eq!(name(&["--x", "pipeline"]), "pidq");
    }
}
