//! "Did you mean" suggestions: similar names, functions of other languages, and those of features that were left out.

mod drawing_names;
mod jq_names;

/// Functions of each feature, whether or not this program has it.
pub(crate) const FEATURES: &[(&str, &[&str])] = &[
    (
        "dates",
        &[
            "dateAdd",
            "dateDiff",
            "dateFormat",
            "dateFromEpoch",
            "dateParse",
            "datePart",
            "dateToEpoch",
            "dateToOffset",
            "dateTrunc",
            "durationFrom",
            "durationTo",
        ],
    ),
    ("encoding", &["base64Decode", "base64Encode", "htmlEncode", "uriDecode", "uriEncode"]),
    ("units", &["convertUnit", "units"]),
];

/// Returns the feature of a function if this program was built without it.
pub(crate) fn missing_feature(function: &str) -> Option<&'static str> {
    let (feature, _) = FEATURES.iter().find(|(_, names)| names.contains(&function))?;
    let built = [
        ("dates", cfg!(feature = "dates")),
        ("encoding", cfg!(feature = "encoding")),
        ("units", cfg!(feature = "units")),
    ];
    (!built.contains(&(*feature, true))).then_some(feature)
}

/// Returns the names most similar to `name`, at most three; ties in the given order.
///
/// Damerau-Levenshtein distance (optimal string alignment), ignoring case, at most a third of the length, and less than
/// the length of the longer name: names without a common letter are not similar.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    /// Longer names are not misspellings; and the distance takes quadratic time.
    const MAX_LEN: usize = 64;
    let letters = lower(name);
    if letters.is_empty() || letters.len() > MAX_LEN {
        return Vec::new();
    }
    let allowed = (letters.len() / 3).max(1);
    let mut rows = DistanceRows::default();
    let mut similar: Vec<(usize, &str)> = known
        .filter(|other| may_be_similar(other, letters.len(), allowed))
        .filter_map(|other| {
            let other_letters = lower(other);
            let distance = rows.distance(&letters, &other_letters, allowed);
            let is_similar = distance <= allowed && distance < letters.len().max(other_letters.len());
            is_similar.then_some((distance, other))
        })
        .collect();
    similar.sort_by_key(|(distance, _)| *distance);
    similar.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Returns the names that contain `part`, ignoring case, at most three, in the given order: only those that have it as a
/// word, such as `component_class` for `class`, if there are any. A short part is in too many.
pub(crate) fn containing<'n>(part: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    const MIN_LEN: usize = 4;
    const MAX_LEN: usize = 64;
    const MAX_FOUND: usize = 3;
    if !(MIN_LEN..=MAX_LEN).contains(&part.len()) {
        return Vec::new();
    }
    let part = part.to_lowercase();
    let (mut with_word, mut others) = (Vec::new(), Vec::new());
    for name in known.filter(|name| name.len() <= 4 * MAX_LEN && name.to_lowercase().contains(&part)) {
        let found = if has_word(name, &part) { &mut with_word } else { &mut others };
        found.push(name);
        if with_word.len() == MAX_FOUND {
            break;
        }
    }
    let mut found = if with_word.is_empty() { others } else { with_word };
    found.truncate(MAX_FOUND);
    found
}

/// Returns true if a name in snake case or camel case has a word, which is in lower case.
fn has_word(name: &str, word: &str) -> bool {
    let is_word = |(start, _): (usize, &str)| {
        let (before, rest) = name.split_at(start);
        let after = &rest[word.len()..];
        let starts = !before.ends_with(char::is_alphanumeric) || rest.starts_with(char::is_uppercase);
        starts && !after.starts_with(char::is_lowercase)
    };
    // Only ASCII letters keep their positions in lower case.
    name.is_ascii() && name.to_ascii_lowercase().match_indices(word).any(is_word)
}

/// Returns a list of alternatives such as `a, b or c`.
pub(crate) fn alternatives(names: &[String]) -> String {
    match names {
        [others @ .., second_last, last] => {
            let others: String = others.iter().map(|name| format!("{name}, ")).collect();
            format!("{others}{second_last} or {last}")
        }
        names => names.concat(),
    }
}

/// Other names for options, and the options.
const OPTION_NAMES: &[(&[&str], &str)] = &[
    (&["stop", "stopat", "end", "target", "to"], "until"),
    (&["exclude", "except", "skip", "without", "block"], "avoid"),
    (&["maxdepth", "hops", "levels"], "depth"),
    (&["max", "maxresults"], "limit"),
    (&["direction"], "dir"),
];

/// Returns the option that another name stands for.
pub(crate) fn option_of(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    OPTION_NAMES.iter().find(|(names, _)| names.contains(&&*name)).map(|(_, option)| *option)
}

/// Repeated searches for similar names with a limit on the total number of names compared, so that the time does not
/// depend on the query and the document.
pub(crate) struct BoundedSearch {
    left: usize,
}

impl BoundedSearch {
    pub fn new() -> BoundedSearch {
        const MAX_NAMES: usize = 50_000;
        BoundedSearch { left: MAX_NAMES }
    }

    /// Returns true if the limit is reached.
    pub fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// As [`nearest`], among the names that the limit still allows.
    pub fn nearest<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        nearest(name, self.limited(known))
    }

    /// As [`containing`], among the names that the limit still allows.
    pub fn containing<'n>(&mut self, part: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        containing(part, self.limited(known))
    }

    fn limited<'n>(&mut self, known: impl Iterator<Item = &'n str>) -> impl Iterator<Item = &'n str> {
        let mut next = || self.left.checked_sub(1).map(|left| self.left = left);
        known.map_while(move |known| next().map(|()| known))
    }
}

fn lower(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Returns true if the name may have about this number of letters. A letter takes up to four bytes.
fn may_be_similar(name: &str, letters: usize, allowed: usize) -> bool {
    let max_len = if name.is_ascii() { letters + allowed } else { 4 * (letters + allowed) };
    (letters - allowed.min(letters)..=max_len).contains(&name.len())
}

/// The most recent rows of the distance matrix.
#[derive(Default)]
struct DistanceRows {
    second_last: Vec<usize>,
    previous: Vec<usize>,
    row: Vec<usize>,
}

impl DistanceRows {
    /// Returns the number of letters to insert, delete, replace or swap with a neighbor: exact if at most `allowed`.
    fn distance(&mut self, a: &[char], b: &[char], allowed: usize) -> usize {
        let DistanceRows { second_last, previous, row } = self;
        previous.clear();
        previous.extend(0..=b.len());
        for i in 0..a.len() {
            row.clear();
            row.push(i + 1);
            for j in 0..b.len() {
                let replaced = previous[j] + usize::from(a[i] != b[j]);
                let mut best = replaced.min(previous[j + 1] + 1).min(row[j] + 1);
                if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                    best = best.min(second_last[j - 1] + 1);
                }
                row.push(best);
            }
            // A swap refers to the row before the previous one.
            if row.iter().chain(previous.iter()).all(|distance| *distance > allowed) {
                return usize::MAX;
            }
            std::mem::swap(second_last, previous);
            std::mem::swap(previous, row);
        }
        previous[b.len()]
    }
}

/// Names of a function in other languages.
pub(crate) struct ForeignName {
    names: &'static [&'static str],
    pub function: &'static str,
    /// Help for a query that uses one of the names.
    help: &'static str,
}

impl ForeignName {
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// Returns true if the function takes the place of the name, without another argument or a condition.
    pub fn is_synonym(&self) -> bool {
        self.help.ends_with(&format!("`{}()`", self.function))
    }
}

/// One entry per meaning.
const FOREIGN_NAMES: &[ForeignName] = &[
    ForeignName { names: &["length", "count", "len"], function: "size", help: "the number of items is `size()`" },
    ForeignName { names: &["select", "where", "grep"], function: "filter", help: "to keep some items, use `filter()`" },
    ForeignName {
        names: &["sort_by", "sortby", "orderby", "order_by"],
        function: "sort",
        help: "to sort by a value, use `sort()`",
    },
    ForeignName { names: &["group_by", "groupby"], function: "groupBy", help: "to group by a value, use `groupBy()`" },
    ForeignName { names: &["unique", "distinct"], function: "uniq", help: "to drop repeated items, use `uniq()`" },
    ForeignName {
        names: &["unique_by", "distinctby"],
        function: "uniqBy",
        help: "to drop repeated items, use `uniqBy()`",
    },
    ForeignName { names: &["to_entries"], function: "entries", help: "the array of keys and values is `entries()`" },
    ForeignName {
        names: &["from_entries"],
        function: "fromEntries",
        help: "to build an object from keys and values, use `fromEntries()`",
    },
    ForeignName { names: &["avg", "mean"], function: "average", help: "the mean of numbers is `average()`" },
    ForeignName { names: &["add"], function: "sum", help: "the sum of an array is `sum()`" },
    ForeignName { names: &["head", "take"], function: "limit", help: "to take the first items, use `limit()`" },
    ForeignName { names: &["drop", "offset"], function: "skip", help: "to skip the first items, use `skip()`" },
    ForeignName { names: &["test", "like", "matches"], function: "regex", help: "to test a pattern, use `regex()`" },
    ForeignName {
        names: &["tostring", "str"],
        function: "string",
        help: "to convert a value to a string, use `string()`",
    },
    ForeignName {
        names: &["tonumber", "parseint", "parsefloat", "float"],
        function: "number",
        help: "to convert a string to a number, use `number()`",
    },
    ForeignName {
        names: &["touppercase", "ascii_upcase", "ucase"],
        function: "upper",
        help: "to convert to upper case, use `upper()`",
    },
    ForeignName {
        names: &["tolowercase", "ascii_downcase", "lcase"],
        function: "lower",
        help: "to convert to lower case, use `lower()`",
    },
    ForeignName { names: &["includes"], function: "contains", help: "to test for a part, use `contains()`" },
    ForeignName { names: &["substr"], function: "substring", help: "a part of a string is `substring()`" },
    ForeignName { names: &["some"], function: "any", help: "to test if a condition is true for any item, use `any()`" },
    ForeignName {
        names: &["every"],
        function: "all",
        help: "to test if a condition is true for all items, use `all()`",
    },
    ForeignName { names: &["foreach"], function: "map", help: "to compute a value for each item, use `map()`" },
    ForeignName {
        names: &["has", "haskey", "defined", "isset"],
        function: "exists",
        help: "to test for a field, use `exists()`",
    },
    ForeignName { names: &["del", "delete", "unset"], function: "omit", help: "to remove fields, use `omit()`" },
    ForeignName { names: &["project"], function: "pick", help: "to keep some fields, use `pick()`" },
    ForeignName { names: &["ifnull", "nvl"], function: "coalesce", help: "to replace null, use `coalesce()`" },
    ForeignName { names: &["isnull", "is_null"], function: "eq", help: "to test for null, write `.a == null`" },
    ForeignName {
        names: &["concat"],
        function: "add",
        help: "to join two strings, write `.a + .b`; two arrays, `[.a, .b] | flatten()`",
    },
    ForeignName {
        names: &["append", "push", "arrayconcat"],
        function: "flatten",
        help: "to append to an array, write `[.a, [1]] | flatten()`",
    },
    ForeignName {
        names: &["indexof", "index", "findindex", "indices"],
        function: "enumerate",
        help: "the positions of items are `enumerate() | filter(.item == 1) | map(.index)`",
    },
    ForeignName {
        names: &["find", "firstwhere"],
        function: "filter",
        help: "the first item for which a condition holds is `filter(.a > 1) | first()`",
    },
    ForeignName {
        names: &["isempty", "is_empty"],
        function: "size",
        help: "to test for no items, write `size() == 0`",
    },
    ForeignName {
        names: &["percentile", "quantile"],
        function: "nth",
        help: "a percentile is an item of the sorted array, such as `sort() | nth(ceil(0.95 * size()) - 1)`",
    },
    ForeignName {
        names: &["median"],
        function: "nth",
        help: "the median is in the middle of the sorted array: `sort() | [nth(ceil(size() / 2) - 1), nth(floor(size() / 2))] | average()`",
    },
    ForeignName { names: &["sqrt"], function: "pow", help: "the square root is `.a ^ 0.5`" },
    ForeignName {
        names: &["trunc", "truncate", "rounddown", "int"],
        function: "floor",
        help: "to round down, use `floor()`",
    },
    ForeignName { names: &["ceiling", "roundup"], function: "ceil", help: "to round up, use `ceil()`" },
    ForeignName {
        names: &["capitalize", "title", "initcap"],
        function: "upper",
        help: "a capital first letter is `upper(substring(.a, 0, 1)) + substring(.a, 1)`",
    },
    ForeignName {
        names: &["capture"],
        function: "match",
        help: "the named groups of a match are `match(.a, \"(?<n>[0-9]+)\") | .namedGroups`",
    },
    ForeignName {
        names: &["ltrimstr", "rtrimstr", "trimprefix", "trimsuffix", "removeprefix", "removesuffix"],
        function: "replaceRegex",
        help: "to remove a prefix, write `replaceRegex(.a, \"^v\", \"\")`; a suffix, `\"v$\"`",
    },
    ForeignName {
        names: &["encodeURIComponent", "urlencode", "url_encode", "quote", "encodeURI"],
        function: "uriEncode",
        help: "a part of a URI is `uriEncode(.a)`",
    },
    ForeignName {
        names: &["decodeURIComponent", "urldecode", "url_decode", "unquote", "decodeURI"],
        function: "uriDecode",
        help: "the text of a part of a URI is `uriDecode(.a)`; of a query string, `uriDecode(replace(.a, \"+\", \" \"))`",
    },
    ForeignName { names: &["btoa", "b64encode"], function: "base64Encode", help: "base64 is `base64Encode(.a)`" },
    ForeignName {
        names: &["atob", "b64decode"],
        function: "base64Decode",
        help: "the text of base64 is `base64Decode(.a)`",
    },
    ForeignName {
        names: &["escapeHtml", "html_escape", "htmlspecialchars"],
        function: "htmlEncode",
        help: "a text in HTML is `htmlEncode(.a)`",
    },
    ForeignName {
        names: &["tojson", "stringify", "json_encode", "dumps"],
        function: "toJson",
        help: "the JSON of a value is `toJson(.a)`",
    },
    ForeignName {
        names: &["fromjson", "json_decode", "loads", "parse_json", "parsejson"],
        function: "fromJson",
        help: "the value of a string with JSON is `fromJson(.a)`",
    },
    ForeignName {
        names: &["ifelse", "iif", "case", "when", "switch", "cond"],
        function: "if",
        help: "for a conditional, use `if(condition, value, otherwise)`",
    },
    ForeignName { names: &["tostream"], function: "leaves", help: "the nested values with their paths are `leaves()`" },
    ForeignName { names: &["zipwith"], function: "zip", help: "to combine two arrays, use `zip()` and `map()`" },
    ForeignName {
        names: &["gsub", "sub", "regexreplace", "replaceall", "re_sub"],
        function: "replaceRegex",
        help: "to replace matches of a pattern, use `replaceRegex()`; of a text, `replace()`",
    },
    ForeignName {
        names: &["recurse", "walkdown"],
        function: "descendants",
        help: "all nested values are `descendants()`",
    },
    ForeignName {
        names: &["leaf_paths", "getpaths"],
        function: "valuePaths",
        help: "the paths of nested values are `valuePaths()`",
    },
    ForeignName { names: &["getpath", "dig"], function: "getAt", help: "to read a computed path, use `getAt()`" },
    ForeignName { names: &["setpath", "assoc_in"], function: "setAt", help: "to set a computed path, use `setAt()`" },
    ForeignName {
        names: &["delpaths", "delpath"],
        function: "deleteAt",
        help: "to delete a computed path, use `deleteAt()`",
    },
    ForeignName { names: &["walk"], function: "mapDeep", help: "to change all nested values, use `mapDeep()`" },
    ForeignName {
        names: &["deepmerge", "merge_deep"],
        function: "mergeDeep",
        help: "to merge nested objects, use `mergeDeep()`",
    },
    ForeignName { names: &["fold", "aggregate"], function: "reduce", help: "to combine all items, use `reduce()`" },
    ForeignName {
        names: &["cumsum", "runningtotal"],
        function: "runningSum",
        help: "running totals are `runningSum()`",
    },
    ForeignName {
        names: &["rownumber", "row_number", "withindex", "zipwithindex", "to_indexed"],
        function: "enumerate",
        help: "to number the items, use `enumerate()`",
    },
    ForeignName { names: &["sliding", "rolling"], function: "windows", help: "overlapping parts are `windows()`" },
    ForeignName {
        names: &["chunk", "batch", "nwise", "_nwise"],
        function: "chunks",
        help: "parts of equal size are `chunks()`",
    },
    ForeignName { names: &["seq", "sequence"], function: "range", help: "a list of numbers is `range()`" },
    ForeignName {
        names: &["strftime", "formatdate"],
        function: "dateFormat",
        help: "to format a date, use `dateFormat()`",
    },
    ForeignName {
        names: &["strptime", "parsedate", "to_date", "date"],
        function: "dateParse",
        help: "to read a date, use `dateParse()`",
    },
    ForeignName {
        names: &["datediff", "daysbetween"],
        function: "dateDiff",
        help: "the time between dates is `dateDiff()`",
    },
    ForeignName {
        names: &["now", "today"],
        function: "dateAdd",
        help: "a query has no clock: pass the present as a parameter, such as `$now`",
    },
    ForeignName {
        names: &["convert", "unitconvert"],
        function: "convertUnit",
        help: "to convert units, use `convertUnit()`",
    },
    ForeignName {
        names: &["tofixed", "printf", "sprintf"],
        function: "formatNumber",
        help: "to format a number, use `formatNumber()`; a text, `format()`",
    },
    ForeignName { names: &["rpad", "ljust"], function: "padEnd", help: "to pad a string at the end, use `padEnd()`" },
    ForeignName {
        names: &["lpad", "rjust"],
        function: "padStart",
        help: "to pad a string at the start, use `padStart()`",
    },
    ForeignName {
        names: &["mergejoin", "join_by", "joinby"],
        function: "innerJoin",
        help: "to join arrays by key, use `innerJoin()` or `leftJoin()`",
    },
    ForeignName {
        names: &["except", "difference", "minus"],
        function: "antiJoin",
        help: "the items that another list lacks are `let({b: .b}, .a | filter(get() not in $b))`; by a key, `antiJoin()`",
    },
    ForeignName {
        names: &["intersect", "intersection"],
        function: "semiJoin",
        help: "the items that two lists share are `let({b: .b}, .a | filter(get() in $b))`; by a key, `semiJoin()`",
    },
    ForeignName {
        names: &["union"],
        function: "uniq",
        help: "the items of two lists, each once, are `[.a, .b] | flatten() | uniq()`",
    },
    ForeignName {
        names: &["upstreamof"],
        function: "upstream",
        help: "to find the nodes that feed a node, use `upstream()`",
    },
];

/// Returns the function for a name of another language.
pub(crate) fn foreign_name(name: &str) -> Option<&'static ForeignName> {
    let find = |name: &str| {
        let entries = FOREIGN_NAMES.iter().chain(jq_names::COUNTERPARTS).chain(drawing_names::DRAWING_NAMES);
        entries.into_iter().find(|entry| entry.names.contains(&name))
    };
    // `IN` and `in` of jq are two functions.
    find(name).or_else(|| find(&name.to_lowercase()))
}

/// Returns help for a name of jq that has no counterpart.
pub(crate) fn help_without_counterpart(name: &str) -> Option<&'static str> {
    jq_names::WITHOUT_COUNTERPART.iter().find(|(names, _)| names.contains(&name)).map(|(_, help)| *help)
}

/// Returns help for a function that is another one in jq.
pub(crate) fn other_meaning(function: &str) -> Option<&'static str> {
    jq_names::OTHER_MEANINGS.iter().find(|(name, _)| *name == function).map(|(_, help)| *help)
}

/// As `foreign_name`, for a misspelled name. Short names are similar to too many others.
pub(crate) fn nearest_foreign_name(name: &str) -> Option<&'static ForeignName> {
    const MIN_LEN: usize = 4;
    let names = FOREIGN_NAMES.iter().flat_map(|entry| entry.names.iter().copied()).filter(|name| name.len() >= MIN_LEN);
    nearest(name, names).first().and_then(|name| foreign_name(name))
}

#[cfg(test)]
mod tests {
    use super::{BoundedSearch, alternatives, containing, has_word, nearest, nearest_foreign_name};

    #[test]
    fn misspelled_names_of_other_languages_are_found() {
        let check = |name: &str, function: Option<&str>| {
            assert_eq!(nearest_foreign_name(name).map(|entry| entry.function), function, "{name}");
        };
        check("lenght", Some("size"));
        check("oderBy", Some("sort"));
        check("dsitinct", Some("uniq"));
        check("medain", Some("nth"));
        check("pump", None);
        check("x", None);
    }

    #[test]
    fn similar_names_are_sorted_by_distance() {
        let known = ["filter", "flatten", "size", "sort", "tag", "tags"];
        let check = |name: &str, similar: &[&str]| assert_eq!(nearest(name, known.into_iter()), similar, "{name}");
        check("fliter", &["filter"]);
        check("SIZE", &["size"]);
        check("tga", &["tag"]);
        check("tagz", &["tag", "tags"]);
        check("upstream", &[]);
        check("", &[]);
    }

    #[test]
    fn a_name_without_common_letters_is_not_similar() {
        let check = |name: &str, known: &[&'static str], similar: &[&str]| {
            assert_eq!(nearest(name, known.iter().copied()), similar, "{name}");
        };
        check("a", &["x", "y"], &[]);
        check("a", &["", "A", "b", "ab"], &["A", "ab"]);
        check("ab", &["b", "ba", "ac", "xy"], &["b", "ba", "ac"]);
        check("ä", &["Ä", "ö"], &["Ä"]);
    }

    #[test]
    fn names_that_contain_a_part_are_found() {
        let known = ["node_classification", "piping_class", "tag", "Class"];
        let check = |part: &str, found: &[&str]| assert_eq!(containing(part, known.into_iter()), found, "{part}");
        check("class", &["piping_class", "Class"]);
        check("classi", &["node_classification"]);
        check("PIPING", &["piping_class"]);
        check("tag", &[]);
        check("classes", &[]);
    }

    #[test]
    fn words_begin_after_an_underscore_or_with_a_capital_letter() {
        let check = |name: &str, is_found: bool| assert_eq!(has_word(name, "class"), is_found, "{name}");
        for name in ["class", "sub_class", "class_2", "nodeClass", "ClassName", "class2"] {
            check(name, true);
        }
        for name in ["subclass", "node_classification", "classes", "2class", "größe_class"] {
            check(name, false);
        }
    }

    #[test]
    fn alternatives_are_a_list() {
        let check = |names: &[&str], text: &str| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            assert_eq!(alternatives(&names), text);
        };
        check(&[], "");
        check(&["a"], "a");
        check(&["a", "b"], "a or b");
        check(&["a", "b", "c"], "a, b or c");
    }

    #[test]
    fn multibyte_letters_count_as_one() {
        let known = ["größe", "GRÖẞE", "Länge", "ÄÖÜ"];
        assert_eq!(nearest("grösse", known.into_iter()), ["größe", "GRÖẞE"]);
        assert_eq!(nearest("äöu", known.into_iter()), ["ÄÖÜ"]);
    }

    #[test]
    fn searches_stop_at_their_total_limit() {
        let mut search = BoundedSearch::new();
        let names: Vec<String> = (0..30_000).map(|name| format!("a{name}")).collect();
        let names = || names.iter().map(String::as_str).chain(["tag"]);
        assert_eq!(search.nearest("tga", names()), ["tag"]);
        assert!(search.nearest("tga", names()).is_empty());
        assert!(search.nearest("tga", ["tag"].into_iter()).is_empty());
    }
}
