//! "Did you mean": near names, and what other languages call our functions.

/// Names near to `name`, nearest first, at most three; ties in the order given.
///
/// Damerau-Levenshtein distance (optimal string alignment) without regard to case, at most a third of the length.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    /// Longer names are not misspelt, they are something else; and distance is quadratic.
    const LONGEST: usize = 64;
    let letters = lower(name);
    if letters.is_empty() || letters.len() > LONGEST {
        return Vec::new();
    }
    let allowed = (letters.len() / 3).max(1);
    let mut near: Vec<(usize, &str)> = known
        .filter(|other| other.len() <= 4 * LONGEST)
        .map(|other| (distance(&letters, &lower(other)), other))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

fn lower(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// How many letters have to be added, taken away, replaced or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// What another language calls a function of ours.
pub(crate) struct Habit {
    names: &'static [&'static str],
    pub function: &'static str,
    /// What our function is for.
    what: &'static str,
}

impl Habit {
    pub fn text(&self) -> String {
        format!("{} is `{}()`", self.what, self.function)
    }
}

/// One row a function of ours.
const HABITS: &[Habit] = &[
    Habit { names: &["length", "count", "len"], function: "size", what: "the number of items" },
    Habit { names: &["select", "where", "grep"], function: "filter", what: "keeping some items" },
    Habit { names: &["sort_by", "sortby", "orderby", "order_by"], function: "sort", what: "sorting by a value" },
    Habit { names: &["group_by", "groupby"], function: "groupBy", what: "grouping by a value" },
    Habit { names: &["unique", "distinct"], function: "uniq", what: "dropping repeated items" },
    Habit { names: &["unique_by", "distinctby"], function: "uniqBy", what: "dropping repeated items" },
    Habit { names: &["to_entries"], function: "entries", what: "the list of keys and values" },
    Habit { names: &["from_entries"], function: "fromEntries", what: "the object of a list of keys and values" },
    Habit { names: &["avg", "mean"], function: "average", what: "the mean of numbers" },
    Habit { names: &["add"], function: "sum", what: "the sum of a list" },
    Habit { names: &["head", "take"], function: "limit", what: "taking the first items" },
    Habit { names: &["drop", "offset"], function: "skip", what: "leaving out the first items" },
    Habit { names: &["test"], function: "regex", what: "testing a pattern" },
    Habit { names: &["tostring", "str"], function: "string", what: "turning a value into a text" },
    Habit { names: &["tonumber", "parseint", "parsefloat"], function: "number", what: "turning a text into a number" },
    Habit { names: &["touppercase", "ascii_upcase", "ucase"], function: "upper", what: "a text in capital letters" },
    Habit { names: &["tolowercase", "ascii_downcase", "lcase"], function: "lower", what: "a text in small letters" },
    Habit { names: &["includes"], function: "contains", what: "looking for a part" },
    Habit { names: &["gsub", "replaceall"], function: "replace", what: "replacing a part of a text" },
    Habit { names: &["substr"], function: "substring", what: "a part of a text" },
    Habit { names: &["some"], function: "any", what: "whether a condition holds for an item" },
    Habit { names: &["every"], function: "all", what: "whether a condition holds for all items" },
    Habit { names: &["foreach"], function: "map", what: "a value for each item" },
    Habit { names: &["has"], function: "exists", what: "whether there is a field" },
    Habit { names: &["del", "delete", "unset"], function: "omit", what: "leaving out fields" },
    Habit { names: &["project"], function: "pick", what: "keeping some fields" },
    Habit { names: &["ifnull", "isnull", "nvl"], function: "coalesce", what: "a value in place of null" },
    Habit { names: &["upstreamof"], function: "upstream", what: "what feeds a node" },
];

/// Our function for a name of another language.
pub(crate) fn habit(name: &str) -> Option<&'static Habit> {
    let name = name.to_lowercase();
    HABITS.iter().find(|habit| habit.names.contains(&name.as_str()))
}

/// The same for a name of another language that is misspelt. Short names are near to too many others.
pub(crate) fn near_habit(name: &str) -> Option<&'static Habit> {
    const SHORTEST: usize = 4;
    let names = HABITS.iter().flat_map(|habit| habit.names.iter().copied()).filter(|name| name.len() >= SHORTEST);
    nearest(name, names).first().and_then(|name| habit(name))
}

#[cfg(test)]
mod tests {
    use super::{near_habit, nearest};

    #[test]
    fn misspelt_names_of_other_languages_are_known() {
        let check = |name: &str, function: Option<&str>| {
            assert_eq!(near_habit(name).map(|habit| habit.function), function, "{name}");
        };
        check("lenght", Some("size"));
        check("oderBy", Some("sort"));
        check("dsitinct", Some("uniq"));
        check("pump", None);
        check("x", None);
    }

    #[test]
    fn near_names_are_offered_nearest_first() {
        let known = ["filter", "flatten", "size", "sort", "tag", "tags"];
        let check = |name: &str, near: &[&str]| assert_eq!(nearest(name, known.into_iter()), near, "{name}");
        check("fliter", &["filter"]);
        check("SIZE", &["size"]);
        check("tga", &["tag"]);
        check("tagz", &["tag", "tags"]);
        check("upstream", &[]);
        check("", &[]);
    }
}
