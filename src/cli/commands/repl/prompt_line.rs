//! Lines of the prompt: queries, and commands that begin with a colon.

use std::fmt::Write as _;

/// Command of the prompt.
pub struct Command {
    /// Names, the first one for the help.
    pub names: &'static [&'static str],
    /// Argument in the help.
    argument: &'static str,
    summary: &'static str,
    /// Returns the meaning of the command with an argument, or `None` if the argument does not fit.
    parse: for<'l> fn(&'l str) -> Option<PromptLine<'l>>,
}

/// Meaning of a line.
#[derive(Debug, Eq, PartialEq)]
pub enum PromptLine<'l> {
    Empty,
    Query(&'l str),
    /// Describe a function, or list the commands.
    Help(Option<&'l str>),
    /// List the functions whose description contains a text.
    Functions(&'l str),
    Explain(&'l str),
    Load(&'l str),
    SetLimits(&'l str),
    /// `on`, `off` or a command.
    SetPager(&'l str),
    Quit,
    Unknown(&'l str),
}

/// All commands, in the order of the help.
pub const COMMANDS: &[Command] = &[
    Command {
        names: &["help", "h"],
        argument: "[FUNCTION]",
        summary: "describe a function; without one, show this text",
        parse: |function| Some(PromptLine::Help(Some(function).filter(|function| !function.is_empty()))),
    },
    Command {
        names: &["functions", "f"],
        argument: "[TEXT]",
        summary: "list the functions whose name or description contains a text",
        parse: |text| Some(PromptLine::Functions(text)),
    },
    Command {
        names: &["explain", "e"],
        argument: "QUERY",
        summary: "run a query and show its plan, time and steps",
        parse: |query| Some(PromptLine::Explain(query)).filter(|_| !query.is_empty()),
    },
    Command {
        names: &["load", "l"],
        argument: "FILE",
        summary: "load another document",
        parse: |file| Some(PromptLine::Load(file)).filter(|_| !file.is_empty()),
    },
    Command {
        names: &["set", "s"],
        argument: "NAME VALUE",
        summary: "`limits time=2s,memory=1G`; `pager on`, `off` or a command",
        parse: setting,
    },
    Command {
        names: &["quit", "q", "exit"],
        argument: "",
        summary: "quit, like Ctrl-D",
        parse: |_| Some(PromptLine::Quit),
    },
];

/// Parses the argument of `:set`.
fn setting(text: &str) -> Option<PromptLine<'_>> {
    let (name, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match (name, value.trim()) {
        ("limits", limits) => Some(PromptLine::SetLimits(limits)),
        ("pager", "") => None,
        ("pager", pager) => Some(PromptLine::SetPager(pager)),
        _ => None,
    }
}

/// Parses a line.
pub fn parse(line: &str) -> PromptLine<'_> {
    let line = line.trim();
    let Some(command) = line.strip_prefix(':') else {
        return match line {
            "" => PromptLine::Empty,
            // Commands of other prompts; none of them is a valid query.
            "help" | "?" => PromptLine::Help(None),
            "exit" | "quit" => PromptLine::Quit,
            query => PromptLine::Query(query),
        };
    };
    let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let found = COMMANDS.iter().find(|command| command.names.contains(&name));
    found.and_then(|command| (command.parse)(argument.trim())).unwrap_or(PromptLine::Unknown(line))
}

/// Returns the help of the prompt.
pub fn help() -> String {
    let mut text = String::from(
        "Type a query; a query with open brackets continues on the next line. `$last` is\n\
         the last result. Tab completes functions, .fields, the tags and ids of nodes in a\n\
         string, and the values of a field in .field == \"\n",
    );
    for command in COMMANDS {
        let usage = format!(":{} {}", command.names[0], command.argument);
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {usage:<20} {}", command.summary);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_begin_with_a_colon() {
        assert_eq!(parse(":load  a b.json "), PromptLine::Load("a b.json"));
        assert_eq!(parse(":q"), PromptLine::Quit);
        assert_eq!(parse(":help groupBy"), PromptLine::Help(Some("groupBy")));
        assert_eq!(parse(":functions"), PromptLine::Functions(""));
        assert_eq!(parse(":explain .a | size()"), PromptLine::Explain(".a | size()"));
        assert_eq!(parse(":set limits time=1s"), PromptLine::SetLimits("time=1s"));
        assert_eq!(parse(":set pager less -S"), PromptLine::SetPager("less -S"));
        assert_eq!(parse(" .a "), PromptLine::Query(".a"));
        assert_eq!(parse(" "), PromptLine::Empty);
        assert_eq!(parse(".help"), PromptLine::Query(".help"));
        for unknown in [":load", ":explain", ":set", ":set color", ":set pager", ":nope", ":"] {
            assert_eq!(parse(unknown), PromptLine::Unknown(unknown));
        }
    }

    #[test]
    fn words_of_other_prompts_are_understood() {
        assert_eq!(
            [parse("help"), parse(" ?"), parse("exit "), parse("quit")],
            [PromptLine::Help(None), PromptLine::Help(None), PromptLine::Quit, PromptLine::Quit]
        );
    }

    #[test]
    fn the_help_names_every_command() {
        assert!(COMMANDS.iter().all(|command| help().contains(&format!(":{} ", command.names[0]))));
    }
}
