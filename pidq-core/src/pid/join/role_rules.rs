//! Role rules of joined sheets: each class keeps the role that its own sheet gives it.
//!
//! The topology of one sheet applies to the joined drawing. Rules of the others are added for the classes that need them; a
//! class with different roles on two sheets cannot be joined, since one of its items would change its role. A class that is
//! unknown on a sheet has the role that a rule of another one gives it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use hashbrown::HashSet;

use crate::error::{Code, Error, Result};
use crate::graph::config::{MAX_CLASS, TopologyConfig};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::limits::MAX_TOPOLOGY_NAMES;
use crate::pid::{ChargeFn, Datum};

/// Role of a class, and the sheet that gives it.
struct Given {
    role: Option<Role>,
    sheet: usize,
    /// A rule of the sheet gives the role, not a built-in one.
    is_declared: bool,
}

impl Given {
    /// Returns whether nothing gives the class a role: neither a rule nor the built-in ones.
    fn is_unknown(&self) -> bool {
        self.role.is_none() && !self.is_declared
    }
}

/// Returns the rules to be tried before the `known` ones of a sheet whose topology applies to all.
pub(super) fn additional_rules<'a>(
    sheets: &[Drawing<'_>],
    names: &[String],
    config: &TopologyConfig,
    known: usize,
    charge: ChargeFn<'_>,
) -> Result<Vec<Datum<'a>>> {
    let mut rules: Vec<(String, Role)> = Vec::new();
    for (class, given) in given_roles(sheets, names, charge)? {
        charge(1 + class.len() as u64 / 4)?;
        let role = config.role_of(&class);
        if role == given.role || given.is_unknown() {
            continue;
        }
        // A rule cannot state a built-in role: what rules declare is certain.
        match given.role.filter(|_| given.is_declared) {
            Some(role) => rules.push((class, role)),
            None => return Err(contradiction(&class, [(&names[given.sheet], given.role), ("another one", role)])),
        }
    }
    if rules.len() + known > MAX_TOPOLOGY_NAMES {
        let message = format!("the sheets have more than {MAX_TOPOLOGY_NAMES} rules at `roles` together");
        return Err(Error::new(Code::BadOption, message));
    }
    // Longer classes first: a rule also matches the last part of a class.
    rules.sort_by_key(|(class, _)| std::cmp::Reverse(class.len()));
    Ok(rules.into_iter().map(|(class, role)| rule(&class, role)).collect())
}

/// Returns the roles of the classes of all sheets.
fn given_roles(sheets: &[Drawing<'_>], names: &[String], charge: ChargeFn<'_>) -> Result<BTreeMap<String, Given>> {
    let mut given: BTreeMap<String, Given> = BTreeMap::new();
    for (at, sheet) in sheets.iter().enumerate() {
        let config = &sheet.topology.config;
        let mut seen = HashSet::new();
        for node in 0..sheet.topology.node_count() as u32 {
            charge(1)?;
            for class in sheet.class_texts(node).filter(|class| class.len() <= MAX_CLASS && seen.insert(*class)) {
                charge(1 + class.len() as u64)?;
                let role = config.role_of(class);
                let found = Given { role, sheet: at, is_declared: config.is_declared(class) };
                let is_unknown = found.is_unknown();
                match given.entry(snake_case(class)) {
                    Entry::Vacant(vacant) => drop(vacant.insert(found)),
                    Entry::Occupied(mut known) if known.get().is_unknown() => drop(known.insert(found)),
                    Entry::Occupied(known) if known.get().role != role && !is_unknown => {
                        let known = known.get();
                        return Err(contradiction(class, [(&names[known.sheet], known.role), (&names[at], role)]));
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
    }
    Ok(given)
}

fn rule<'a>(class: &str, role: Role) -> Datum<'a> {
    let pattern = Datum::String(format!("^{}$", regex::escape(class)));
    let fields = [("role", Datum::Word(role.name())), ("match", pattern)];
    Datum::Map(fields.map(|(key, value)| (key.to_owned(), value)).into())
}

fn contradiction(class: &str, roles: [(&str, Option<Role>); 2]) -> Error {
    let [first, second] = roles.map(|(sheet, role)| (sheet, role.map_or("unknown", Role::name)));
    let message = format!(
        "the sheets give the class `{class}` different roles: `{}` on {}, `{}` on {}",
        first.1, first.0, second.1, second.0
    );
    Error::new(Code::BadOption, message).with_help("give the sheets the same `metadata.topology.roles`")
}
