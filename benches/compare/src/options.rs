//! Command line options.

use crate::Result;

const USAGE: &str = "usage: pidq-compare [--sizes 1k,10k,100k,1M] [--rounds N] [--quick] [--only load,warm,walks,compile,functions,cold]";

/// A part of the comparison.
#[derive(Clone, Copy, PartialEq)]
pub enum Group {
    Load,
    Warm,
    Walks,
    Compile,
    Functions,
    Cold,
}

const GROUPS: [(&str, Group); 6] = [
    ("load", Group::Load),
    ("warm", Group::Warm),
    ("walks", Group::Walks),
    ("compile", Group::Compile),
    ("functions", Group::Functions),
    ("cold", Group::Cold),
];

pub struct Options {
    /// Number of nodes of each drawing.
    pub sizes: Vec<usize>,
    pub rounds: usize,
    /// Minimum CPU seconds per sample.
    pub sample: f64,
    groups: Vec<Group>,
}

impl Options {
    pub fn parse(arguments: &[String]) -> Result<Self> {
        let groups = GROUPS.iter().map(|(_, group)| *group).collect();
        let mut options = Self { sizes: vec![1_000, 10_000, 100_000], rounds: 9, sample: 0.02, groups };
        if arguments.iter().any(|argument| argument == "--quick") {
            options.use_quick_settings();
        }
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(USAGE);
            match argument.as_str() {
                "--sizes" => options.sizes = value()?.split(',').map(size).collect::<Result<_>>()?,
                "--rounds" => options.rounds = value()?.parse::<usize>()?.max(1),
                "--only" => options.groups = value()?.split(',').map(group).collect::<Result<_>>()?,
                "--quick" => (),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }

    fn use_quick_settings(&mut self) {
        self.sizes = vec![1_000, 10_000];
        self.rounds = 3;
        self.sample = 0.005;
    }

    pub fn has(&self, group: Group) -> bool {
        self.groups.contains(&group)
    }
}

/// Parses a size: `10k` is 10,000 and `1M` is a million.
fn size(text: &str) -> Result<usize> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    Ok(digits.parse::<usize>()? * factor)
}

fn group(name: &str) -> Result<Group> {
    let row = GROUPS.iter().find(|(known, _)| *known == name);
    Ok(row.ok_or_else(|| format!("unknown group `{name}`\n{USAGE}"))?.1)
}
