//! "Did you mean": near names, and what other languages call our functions.

/// Names near to `name`, nearest first, at most three; ties in the order given.
///
/// Damerau-Levenshtein distance (optimal string alignment) without regard to case, at most a third of the length, and
/// less than the length of the longer name: one that shares no letter is no misspelling.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    /// Longer names are not misspelt, they are something else; and distance is quadratic.
    const LONGEST: usize = 64;
    let letters = lower(name);
    if letters.is_empty() || letters.len() > LONGEST {
        return Vec::new();
    }
    let allowed = (letters.len() / 3).max(1);
    let mut rows = Rows::default();
    let mut near: Vec<(usize, &str)> = known
        .filter(|other| may_be_near(other, letters.len(), allowed))
        .filter_map(|other| {
            let theirs = lower(other);
            let distance = rows.distance(&letters, &theirs, allowed);
            let is_near = distance <= allowed && distance < letters.len().max(theirs.len());
            is_near.then_some((distance, other))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// A search for near names again and again, among so many that only the first ones of all searches are looked at: how
/// long that takes must not be up to the query and the document.
pub(crate) struct Search {
    left: usize,
}

impl Search {
    pub fn new() -> Search {
        const MOST: usize = 50_000;
        Search { left: MOST }
    }

    /// Whether no name may be looked at any more.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// As [`nearest`], among the names that may still be looked at.
    pub fn nearest<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        let mut next = || self.left.checked_sub(1).map(|left| self.left = left);
        nearest(name, known.map_while(|known| next().map(|()| known)))
    }
}

fn lower(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Whether a name may have about so many letters. A letter takes up to four bytes.
fn may_be_near(name: &str, letters: usize, allowed: usize) -> bool {
    let most = if name.is_ascii() { letters + allowed } else { 4 * (letters + allowed) };
    (letters - allowed.min(letters)..=most).contains(&name.len())
}

/// The last rows of a table of distances.
#[derive(Default)]
struct Rows {
    before: Vec<usize>,
    last: Vec<usize>,
    row: Vec<usize>,
}

impl Rows {
    /// How many letters have to be added, taken away, replaced or swapped with their neighbour: exactly, if that is not
    /// more than `allowed`.
    fn distance(&mut self, a: &[char], b: &[char], allowed: usize) -> usize {
        let Rows { before, last, row } = self;
        last.clear();
        last.extend(0..=b.len());
        for i in 0..a.len() {
            row.clear();
            row.push(i + 1);
            for j in 0..b.len() {
                let replaced = last[j] + usize::from(a[i] != b[j]);
                let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
                if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                    best = best.min(before[j - 1] + 1);
                }
                row.push(best);
            }
            // What is swapped reaches back two rows.
            if row.iter().chain(last.iter()).all(|distance| *distance > allowed) {
                return usize::MAX;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
        last[b.len()]
    }
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
    Habit { names: &["ifnull", "nvl"], function: "coalesce", what: "a value in place of null" },
    Habit { names: &["isnull", "is_null"], function: "eq", what: "testing for null, `.a == null`," },
    Habit { names: &["concat"], function: "add", what: "joining two texts, `.a + .b`," },
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
    use super::{Search, near_habit, nearest};

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

    #[test]
    fn a_name_that_shares_no_letter_is_not_near() {
        let check = |name: &str, known: &[&'static str], near: &[&str]| {
            assert_eq!(nearest(name, known.iter().copied()), near, "{name}");
        };
        check("a", &["x", "y"], &[]);
        check("a", &["", "A", "b", "ab"], &["A", "ab"]);
        check("ab", &["b", "ba", "ac", "xy"], &["b", "ba", "ac"]);
        check("ä", &["Ä", "ö"], &["Ä"]);
    }

    #[test]
    fn letters_of_several_bytes_are_letters() {
        let known = ["größe", "GRÖẞE", "Länge", "ÄÖÜ"];
        assert_eq!(nearest("grösse", known.into_iter()), ["größe", "GRÖẞE"]);
        assert_eq!(nearest("äöu", known.into_iter()), ["ÄÖÜ"]);
    }

    #[test]
    fn many_searches_end_after_so_many_names() {
        let mut search = Search::new();
        let names: Vec<String> = (0..30_000).map(|name| format!("a{name}")).collect();
        let names = || names.iter().map(String::as_str).chain(["tag"]);
        assert_eq!(search.nearest("tga", names()), ["tag"]);
        assert!(search.nearest("tga", names()).is_empty());
        assert!(search.nearest("tga", ["tag"].into_iter()).is_empty());
    }
}
