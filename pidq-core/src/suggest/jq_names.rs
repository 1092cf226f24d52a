//! Names of jq 1.7: the function that does the same, or what to do without one.

use super::ForeignName;

/// Functions of jq that have a counterpart. Names that other languages share are in the table of the parent module.
pub(super) const COUNTERPARTS: &[ForeignName] = &[
    ForeignName { names: &["IN"], function: "in", help: "to test for an item of a list, write `.a in [1, 2]`" },
    ForeignName { names: &["INDEX"], function: "keyBy", help: "an object of items by a key is `keyBy(.id)`" },
    ForeignName {
        names: &["JOIN"],
        function: "innerJoin",
        help: "to join arrays by key, use `innerJoin()` or `leftJoin()`",
    },
    ForeignName { names: &["type"], function: "typeOf", help: "the type of a value is `typeOf(.a)`" },
    ForeignName {
        names: &["arrays", "booleans", "iterables", "nulls", "numbers", "objects", "scalars", "strings"],
        function: "filter",
        help: "to keep the items of a type, use `filter(typeOf(get()) == \"number\")`",
    },
    ForeignName {
        names: &["finites", "isinfinite", "isnan", "isnormal", "normals"],
        function: "typeOf",
        help: "JSON has finite numbers only: test a value with `typeOf(.a) == \"number\"`",
    },
    ForeignName {
        names: &["empty"],
        function: "filter",
        help: "a query returns one value; to leave out items of a list, use `filter()`",
    },
    ForeignName {
        names: &["with_entries"],
        function: "mapObject",
        help: "to change keys and values, use `mapObject({key: .key, value: .value})`; values only, `mapValues()`",
    },
    ForeignName {
        names: &["map_values"],
        function: "mapValues",
        help: "to change the values of an object, use `mapValues()`",
    },
    ForeignName { names: &["keys_unsorted"], function: "keys", help: "`keys()` keeps the order of the object" },
    ForeignName { names: &["max_by"], function: "maxBy", help: "the item with the greatest key is `maxBy(.a)`" },
    ForeignName { names: &["min_by"], function: "minBy", help: "the item with the smallest key is `minBy(.a)`" },
    ForeignName {
        names: &["endswith"],
        function: "endsWith",
        help: "to test the end of a string, use `endsWith(.a, \"x\")`",
    },
    ForeignName {
        names: &["startswith"],
        function: "startsWith",
        help: "to test the start of a string, use `startsWith(.a, \"x\")`",
    },
    ForeignName {
        names: &["inside"],
        function: "contains",
        help: "the whole is the first argument: `contains(\"abc\", .a)`",
    },
    ForeignName {
        names: &["rindex", "bsearch"],
        function: "enumerate",
        help: "the positions of items are `enumerate() | filter(.item == 1) | map(.index)`",
    },
    ForeignName {
        names: &["combinations"],
        function: "flatMap",
        help: "the pairs of two lists are `let({b: .b}, .a | flatMap(let({x: get()}, $b | map([$x, get()]))))`",
    },
    ForeignName {
        names: &["toarray"],
        function: "flatten",
        help: "a list of one value, or the list itself, is `[.a] | flatten()`",
    },
    ForeignName {
        names: &["path"],
        function: "valuePaths",
        help: "the paths of nested values are `valuePaths()`; those between items of a drawing, `paths(\"T-1\", \"P-1\")`",
    },
    ForeignName { names: &["recurse_down"], function: "descendants", help: "all nested values are `descendants()`" },
    ForeignName {
        names: &["fromstream", "truncate_stream"],
        function: "setAt",
        help: "a value from its paths is `reduce({}, let({e: .item}, .result | setAt($e.path, $e.value)))`",
    },
    ForeignName { names: &["isvalid"], function: "tryOr", help: "a default for an error is `tryOr(query, default)`" },
    ForeignName {
        names: &["until", "while"],
        function: "reduce",
        help: "a loop has a fixed number of rounds: `range(10) | reduce(1, .result * 2)`",
    },
    ForeignName {
        names: &["ltrim", "rtrim"],
        function: "replaceRegex",
        help: "to trim one side, use `replaceRegex(.a, \"^\\\\s+\", \"\")`, or `\"\\\\s+$\"`; both sides, `trim()`",
    },
    ForeignName {
        names: &["trimstr"],
        function: "replaceRegex",
        help: "to remove a prefix, write `replaceRegex(.a, \"^v\", \"\")`; a suffix, `\"v$\"`",
    },
    ForeignName {
        names: &["splits"],
        function: "split",
        help: "to split at a text, use `split(.a, \",\")`; at a pattern, `split(replaceRegex(.a, \", *\", \"\\n\"), \"\\n\")`",
    },
    ForeignName {
        names: &["explode"],
        function: "split",
        help: "the characters of a string are `split(.a, \"\")`; there are no code points",
    },
    ForeignName {
        names: &["implode"],
        function: "join",
        help: "a string of characters is `join(\"\")`; there are no code points",
    },
    ForeignName {
        names: &["utf8bytelength"],
        function: "size",
        help: "the number of UTF-16 units of a string is `.a | size()`",
    },
    ForeignName { names: &["fabs"], function: "abs", help: "the absolute value is `abs(.a)`" },
    ForeignName {
        names: &["cbrt", "exp", "exp10", "exp2", "hypot", "pow10"],
        function: "pow",
        help: "powers and roots are `2 ^ .a`, `.a ^ 0.5`",
    },
    ForeignName { names: &["nearbyint", "rint"], function: "round", help: "to round to an integer, use `round(.a)`" },
    ForeignName { names: &["fmax"], function: "max", help: "the greater of two numbers is `[.a, .b] | max()`" },
    ForeignName { names: &["fmin"], function: "min", help: "the smaller of two numbers is `[.a, .b] | min()`" },
    ForeignName { names: &["drem", "fmod"], function: "mod", help: "the remainder is `.a % .b`, or `mod(.a, .b)`" },
    ForeignName { names: &["modf"], function: "floor", help: "the integer part is `floor(.a)`, the fraction `.a % 1`" },
    ForeignName {
        names: &["fromdate", "fromdateiso8601", "mktime"],
        function: "dateToEpoch",
        help: "the seconds since 1970 are `dateToEpoch(.at)`",
    },
    ForeignName {
        names: &["todate", "todateiso8601", "dateiso8601"],
        function: "dateFromEpoch",
        help: "the date of seconds since 1970 is `dateFromEpoch(.at)`; of a text, `dateParse(.at, format)`",
    },
    ForeignName {
        names: &["gmtime", "localtime"],
        function: "datePart",
        help: "the parts of a date are `datePart(.at, \"hour\")`; a time has the offset that its text states",
    },
    ForeignName {
        names: &["strflocaltime"],
        function: "dateToOffset",
        help: "a date at another offset from UTC is `dateToOffset(.at, \"+01:00\")`, which `dateFormat()` formats; there are no names of time zones",
    },
    ForeignName {
        names: &["dateadd", "datesub"],
        function: "dateAdd",
        help: "to add a duration, use `dateAdd(.at, \"P1D\")`; to subtract, `\"-P1D\"`",
    },
];

/// Names of jq without a counterpart, with help.
pub(super) const WITHOUT_COUNTERPART: &[(&[&str], &str)] = &[
    (&["error"], "a query cannot raise an error: return a value that says so, such as null"),
    (&["env"], "in the command, an environment variable is `$ENV.HOME`; otherwise, pass a parameter"),
    (
        &["input", "inputs"],
        "a query runs on each input: `pidq query --slurp` makes one list of them, `--slurpfile name FILE` the parameter `$name`",
    ),
    (
        &["input_filename", "input_line_number"],
        "a query does not know where its input comes from: pass a parameter, such as `--arg file NAME`",
    ),
    (&["debug", "stderr"], "there is no output but the result: `pidq explain` shows the rows of each step"),
    (&["halt", "halt_error"], "a query cannot end the process: `pidq query -e` sets the exit code by the result"),
    (&["break", "label"], "there is no `break`: `filter(.a > 1) | first()` ends at the first match"),
    (&["infinite", "nan"], "JSON has finite numbers only; a missing one is null"),
    (
        &[
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
            "copysign",
            "cos",
            "cosh",
            "expm1",
            "fdim",
            "fma",
            "frexp",
            "gamma",
            "j0",
            "j1",
            "jn",
            "ldexp",
            "lgamma",
            "lgamma_r",
            "log",
            "log10",
            "log1p",
            "log2",
            "logb",
            "nextafter",
            "nexttoward",
            "scalb",
            "scalbln",
            "significand",
            "sin",
            "sinh",
            "tan",
            "tanh",
            "tgamma",
            "y0",
            "y1",
            "yn",
        ],
        "there are powers (`2 ^ .a`), but no logarithms and trigonometric functions; a program can add functions of its own",
    ),
    (&["ascii"], "there are no code points: a character is `substring(.a, 0, 1)`"),
    (
        &["builtins", "get_search_list", "have_decnum", "have_literal_numbers", "import", "include", "modulemeta"],
        "there are no modules and no information about the language in it; `pidq functions` lists all functions",
    ),
];

/// Functions with the name of another one in jq, and help for a call with the arguments of jq.
pub(super) const OTHER_MEANINGS: &[(&str, &str)] = &[
    ("contains", "the whole is the first argument: `contains(.a, \"x\")`"),
    ("paths", "`paths(from, to)` are walks in the graph; the paths of nested values are `valuePaths()`"),
    ("repeat", "`repeat(text, count)` repeats a text; a loop is `range(10) | reduce(1, .result * 2)`"),
    ("scan", "`scan(initial, next)` is a running value; the matches of a pattern are `matchAll(.a, \"[0-9]+\")`"),
];
