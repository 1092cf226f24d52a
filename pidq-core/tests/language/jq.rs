//! The queries that the manual names for filters of jq, with the results of jq 1.6.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::value;

/// A filter of jq, the query, an input, and what jq prints for it.
const FILTERS: &[(&str, &str, &str, &str)] = &[
    (r#".[1]"#, r#".1"#, r#"[4,5,6]"#, r#"5"#),
    (r#".[-1]"#, r#"nth(-1)"#, r#"[4,5,6]"#, r#"6"#),
    (r#".[1:3]"#, r#"slice(1, 3)"#, r#"[4,5,6,7]"#, r#"[5,6]"#),
    (r#"map(select(.a > 1))"#, r#"filter(.a > 1)"#, r#"[{"a":1},{"a":2}]"#, r#"[{"a":2}]"#),
    (r#"map(.a)"#, r#"map(.a)"#, r#"[{"a":1},{}]"#, r#"[1,null]"#),
    (r#"length"#, r#"size()"#, r#"[1,2]"#, r#"2"#),
    (
        r#"[.. | select(type == "number")]"#,
        r#"descendants(typeOf(get()) == "number")"#,
        r#"{"a":1,"b":[2,{"c":3}]}"#,
        r#"[1,2,3]"#,
    ),
    (r#"[paths]"#, r#"valuePaths()"#, r#"{"a":[5,{"b":6}]}"#, r#"[["a"],["a",0],["a",1],["a",1,"b"]]"#),
    (r#"[paths(. == 6)]"#, r#"valuePaths(get() == 6)"#, r#"{"a":[5,{"b":6}]}"#, r#"[["a",1,"b"]]"#),
    (r#"getpath(["a",0])"#, r#"getAt(["a", 0])"#, r#"{"a":[5]}"#, r#"5"#),
    (r#".a.b = 1"#, r#"set(.a.b, 1)"#, r#"{"c":0}"#, r#"{"c":0,"a":{"b":1}}"#),
    (r#".a += 1"#, r#"update(.a, get() + 1)"#, r#"{"a":1}"#, r#"{"a":2}"#),
    (r#"setpath(["a",1]; 9)"#, r#"setAt(["a", 1], 9)"#, r#"{"a":[5,6]}"#, r#"{"a":[5,9]}"#),
    (r#"del(.a.b)"#, r#"omit(.a.b)"#, r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"c":2}}"#),
    (r#"delpaths([["a",0]])"#, r#"deleteAt(["a", 0])"#, r#"{"a":[5,6]}"#, r#"{"a":[6]}"#),
    (
        r#"walk(if type == "number" then . * 2 else . end)"#,
        r#"mapDeep(if(typeOf(get()) == "number", get() * 2, get()))"#,
        r#"{"a":[1,{"b":2}]}"#,
        r#"{"a":[2,{"b":4}]}"#,
    ),
    (r#".x * .y"#, r#"mergeDeep(.x, .y)"#, r#"{"x":{"a":{"b":1,"c":2}},"y":{"a":{"c":3}}}"#, r#"{"a":{"b":1,"c":3}}"#),
    (r#".x + .y"#, r#"merge(.x, .y)"#, r#"{"x":{"a":1},"y":{"b":2}}"#, r#"{"a":1,"b":2}"#),
    (r#".list + .more"#, r#"[.list, .more] | flatten()"#, r#"{"list":[1,[2]],"more":[1]}"#, r#"[1,[2],1]"#),
    (
        r#".list - .more"#,
        r#"let({more: .more}, .list | filter(get() not in $more))"#,
        r#"{"list":[1,2,1,3],"more":[1]}"#,
        r#"[2,3]"#,
    ),
    (r#"{(.k): .v}"#, r#"[{key: .k, value: .v}] | fromEntries()"#, r#"{"k":"a","v":1}"#, r#"{"a":1}"#),
    (r#"flatten"#, r#"flattenDeep()"#, r#"[1,[2,[3]]]"#, r#"[1,2,3]"#),
    (r#"to_entries"#, r#"entries()"#, r#"{"a":1}"#, r#"[{"key":"a","value":1}]"#),
    (r#"with_entries(.value += 1)"#, r#"mapValues(get() + 1)"#, r#"{"a":1}"#, r#"{"a":2}"#),
    (
        r#"group_by(.a) | map(length)"#,
        r#"groupBy(.a) | values() | map(size())"#,
        r#"[{"a":1},{"a":2},{"a":1}]"#,
        r#"[2,1]"#,
    ),
    (
        r#"group_by(.a) | map({a: .[0].a, n: length})"#,
        r#"groupBy(.a) | entries() | map({a: .key, n: .value | size()})"#,
        r#"[{"a":"x"},{"a":"y"},{"a":"x"}]"#,
        r#"[{"a":"x","n":2},{"a":"y","n":1}]"#,
    ),
    (r#"sort_by(.a) | reverse"#, r#"sort(.a, "desc")"#, r#"[{"a":1},{"a":2}]"#, r#"[{"a":2},{"a":1}]"#),
    (r#"unique"#, r#"uniq() | sort()"#, r#"[2,1,2]"#, r#"[1,2]"#),
    (r#"add"#, r#"sum()"#, r#"[1,2,3]"#, r#"6"#),
    (r#"[range(2; 5)]"#, r#"range(2, 5)"#, r#"null"#, r#"[2,3,4]"#),
    (r#"reduce .[] as $x (0; . + $x)"#, r#"reduce(0, .result + .item)"#, r#"[1,2,3]"#, r#"6"#),
    (r#"[foreach .[] as $x (0; . + $x)]"#, r#"scan(0, .result + .item)"#, r#"[1,2,3]"#, r#"[1,3,6]"#),
    (r#"transpose"#, r#"transpose()"#, r#"[[1,2],[3]]"#, r#"[[1,3],[2,null]]"#),
    (
        r#"gsub("(?<d>[0-9]+)"; "<\(.d)>")"#,
        r#"replaceRegex(get(), "(?<d>[0-9]+)", "<$<d>>")"#,
        r#""a1b22""#,
        r#""a<1>b<22>""#,
    ),
    (r#"has("a")"#, r#"exists(.a)"#, r#"{"a":null}"#, r#"true"#),
    (r#"map({a, b})"#, r#"pick(.a, .b)"#, r#"[{"a":1,"b":2,"c":3}]"#, r#"[{"a":1,"b":2}]"#),
    (r#"first(.[] | select(. > 1))"#, r#"filter(get() > 1) | first()"#, r#"[1,2,3]"#, r#"2"#),
    (
        r#"sort_by(.a, .b)"#,
        r#"sortBy([.a, .b])"#,
        r#"[{"a":1,"b":2},{"a":1,"b":1}]"#,
        r#"[{"a":1,"b":1},{"a":1,"b":2}]"#,
    ),
    (r#"any(. > 1)"#, r#"any(get() > 1)"#, r#"[1,2]"#, r#"true"#),
    (r#".a | split(",")"#, r#"split(.a, ",")"#, r#"{"a":"x,y"}"#, r#"["x","y"]"#),
    (r#"ltrimstr("v")"#, r#"replaceRegex(get(), "^v", "")"#, r#""v1.2""#, r#""1.2""#),
    (r#"floor"#, r#"floor(get())"#, r#"2.7"#, r#"2"#),
    (r#"test("^a")"#, r#"regex(get(), "^a")"#, r#""abc""#, r#"true"#),
    (r#"test("^a"; "i")"#, r#"regex(get(), "^a", "i")"#, r#""ABC""#, r#"true"#),
    (r#"capture("(?<no>[0-9]+)")"#, r#"match(get(), "(?<no>[0-9]+)").namedGroups"#, r#""P-101""#, r#"{"no":"101"}"#),
    (r#".p as $p | .t | test($p)"#, r#"regex(.t, .p)"#, r#"{"t":"abc","p":"^a"}"#, r#"true"#),
    (r#".a | fromjson"#, r#"fromJson(.a)"#, r#"{"a":"[1]"}"#, r#"[1]"#),
    (r#".a | tojson"#, r#"toJson(.a)"#, r#"{"a":[1]}"#, r#""[1]""#),
    (r#".a | @uri"#, r#"uriEncode(.a)"#, r#"{"a":"6\" ä/b"}"#, r#""6%22%20%C3%A4%2Fb""#),
    (r#".a | @base64"#, r#"base64Encode(.a)"#, r#"{"a":"P-101"}"#, r#""UC0xMDE=""#),
    (r#".a | @base64d"#, r#"base64Decode(.a)"#, r#"{"a":"UC0xMDE="}"#, r#""P-101""#),
    (r#".a | @html"#, r#"htmlEncode(.a)"#, r#"{"a":"<&\">"}"#, r#""&lt;&amp;&quot;&gt;""#),
    (
        r#". as $all | .a | map(. + $all.n)"#,
        r#"let({all: get()}, .a | map(get() + $all.n))"#,
        r#"{"a":[1,2],"n":10}"#,
        r#"[11,12]"#,
    ),
    (r#".a // 5"#, r#"coalesce(.a, 5)"#, r#"{"a":null}"#, r#"5"#),
    (r#""\(.a): \(.b)""#, r#"format("{a}: {b}")"#, r#"{"a":"x","b":1}"#, r#""x: 1""#),
    (r#".d | fromdate"#, r#"dateToEpoch(.d)"#, r#"{"d":"2026-11-26T08:30:00Z"}"#, r#"1795681800"#),
    (
        r#".d | strptime("%d.%m.%Y") | strftime("%Y-%m-%d")"#,
        r#"dateParse(.d, "%d.%m.%Y")"#,
        r#"{"d":"26.11.2026"}"#,
        r#""2026-11-26""#,
    ),
];

#[test]
fn queries_for_filters_of_jq_have_their_results() {
    for (filter, query, input, expected) in FILTERS {
        let expected: Value = serde_json::from_str(expected).expect("jq prints JSON");
        assert_eq!(value(query, input), expected, "{filter}: {query} on {input}");
    }
}

#[test]
fn the_table_of_the_manual_lists_these_queries() {
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/cli/commands/manual/language.md");
    let page = fs::read_to_string(template).expect("the template of the manual");
    let cell = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    let rows = FILTERS.iter().map(|(filter, query, _, _)| format!("| {} | {} |\n", cell(filter), cell(query)));
    let table: String = rows.collect();
    assert!(page.contains(&table), "the table of jq in the manual is\n{table}");
}

/// The functions of jq 1.7, by the words that the error of an unknown one contains. Those in the first row are functions
/// here too.
const BUILTINS: &[(&str, &str)] = &[
    (
        "",
        "abs add all any ceil contains first flatten floor format in join keys last limit map match max min not nth paths pick pow",
    ),
    ("", "range repeat reverse round scan sort split transpose trim values"),
    ("`size()`", "length"),
    ("`size() == 0`", "isempty"),
    ("`.a | size()`", "utf8bytelength"),
    ("filter", "select empty arrays booleans iterables nulls numbers objects scalars strings"),
    ("`sort", "sort_by"),
    ("`groupBy()`", "group_by"),
    ("`uniq()`", "unique"),
    ("`uniqBy()`", "unique_by"),
    ("`maxBy(.a)`", "max_by"),
    ("`minBy(.a)`", "min_by"),
    ("`entries()`", "to_entries"),
    ("fromEntries()", "from_entries"),
    ("`mapObject({key: .key, value: .value})`", "with_entries"),
    ("`mapValues()`", "map_values"),
    ("`keys()`", "keys_unsorted"),
    ("`regex()`", "test"),
    ("`replaceRegex", "sub gsub ltrimstr rtrimstr ltrim rtrim"),
    ("namedGroups", "capture"),
    ("split(", "splits explode"),
    ("`join(\"\")`", "implode"),
    ("`lower()`", "ascii_downcase"),
    ("`upper()`", "ascii_upcase"),
    ("`string()`", "tostring"),
    ("`number()`", "tonumber"),
    ("`toJson(.a)`", "tojson"),
    ("`fromJson(.a)`", "fromjson"),
    ("`typeOf(.a)", "type finites isinfinite isnan isnormal normals"),
    ("exists()", "has"),
    ("omit()", "del"),
    ("`endsWith(", "endswith"),
    ("`startsWith(", "startswith"),
    ("contains(", "inside"),
    ("`.a in [1, 2]`", "IN"),
    ("`keyBy(.id)`", "INDEX"),
    ("innerJoin()", "JOIN"),
    ("enumerate()", "index rindex indices bsearch"),
    ("flatMap(", "combinations"),
    ("`[.a] | flatten()`", "toarray"),
    ("valuePaths()", "path leaf_paths"),
    ("descendants()", "recurse recurse_down"),
    ("`leaves()`", "tostream"),
    ("setAt(", "fromstream truncate_stream"),
    ("getAt()", "getpath"),
    ("setAt()", "setpath"),
    ("deleteAt()", "delpaths"),
    ("mapDeep()", "walk"),
    ("tryOr(", "isvalid"),
    ("reduce(", "until while"),
    ("`abs(.a)`", "fabs"),
    ("`.a ^ 0.5`", "sqrt cbrt exp exp10 exp2 hypot pow10"),
    ("round(", "nearbyint rint"),
    ("floor(", "trunc modf"),
    ("| max()", "fmax"),
    ("| min()", "fmin"),
    ("mod(.a, .b)", "drem fmod"),
    ("dateToEpoch(", "fromdate fromdateiso8601 mktime"),
    ("dateFromEpoch(", "todate todateiso8601 dateiso8601"),
    ("datePart(", "gmtime localtime"),
    ("dateFormat()", "strftime strflocaltime"),
    ("dateParse()", "strptime date"),
    ("dateAdd(", "dateadd datesub"),
    ("`$now`", "now"),
    ("null", "error infinite nan"),
    ("$ENV", "env"),
    ("--slurp", "input inputs"),
    ("--arg file", "input_filename input_line_number"),
    ("pidq explain", "debug stderr"),
    ("pidq query -e", "halt halt_error"),
    ("first()", "break label"),
    ("substring(", "ascii"),
    ("pidq functions", "builtins get_search_list have_decnum have_literal_numbers modulemeta"),
    (
        "functions of its own",
        "acos acosh asin asinh atan atan2 atanh copysign cos cosh expm1 fdim fma frexp gamma j0 j1 jn",
    ),
    ("functions of its own", "ldexp lgamma lgamma_r log log10 log1p log2 logb nextafter nexttoward scalb scalbln"),
    ("functions of its own", "significand sin sinh tan tanh tgamma y0 y1 yn"),
];

#[test]
fn every_function_of_jq_is_known_or_its_error_names_the_equivalent() {
    let dialect = pidq_core::Dialect::standard();
    let known: Vec<&str> = dialect.functions().map(|function| function.name()).collect();
    let mut unclear = Vec::new();
    for (words, names) in BUILTINS {
        for name in names.split(' ') {
            assert_eq!(words.is_empty(), known.contains(&name), "{name}");
            for query in [format!("{name}()"), format!("{name}(.a, .b)"), name.to_owned(), format!(".a | {name}")] {
                let Err(error) = dialect.parse(&query) else { continue };
                let help = error.help().unwrap_or_default();
                // For a bare word, the help may be the call of the function only.
                let is_call = known.iter().any(|known| *help == format!("did you mean `.{name}` or `{known}()`?"));
                if help.is_empty() || !(help.contains(words) || is_call) {
                    unclear.push(format!("{query}: {help}"));
                }
            }
        }
    }
    assert!(unclear.is_empty(), "{unclear:#?}");
}

#[test]
fn calls_with_the_arguments_of_jq_are_explained() {
    for (query, words) in [
        ("scan(\"[0-9]+\")", "`matchAll(.a, \"[0-9]+\")`"),
        ("paths()", "`valuePaths()`"),
        ("repeat(. * 2)", "reduce("),
        (".a | contains(\"x\")", "`contains(.a, \"x\")`"),
        ("limit(3; .a)", "`.a | limit(3)`"),
        ("any(.a[]; . > 1)", "map("),
        ("any(.a; . > 1)", "`.a | any(get() > 1)`"),
        ("until(. > 100; . * 2)", "range(10)"),
        (".a | @csv", "pidq query --csv"),
        (".a | @json", "`toJson(.a)`"),
        ("env.HOME", "`$ENV.HOME`"),
        ("@text", "`string(.a)`"),
        ("@base64", "`base64Encode(.a)`"),
        ("@sh", "there is no `@`"),
        (". as {a: $x} | $x", "let("),
        (". as $x | $x", "let("),
        ("import \"a\" as a; .", "no modules"),
        ("label $out | .a", "first()"),
    ] {
        let error = pidq_core::Query::parse(query).err();
        let help = error.as_ref().and_then(|error| error.help());
        assert!(help.is_some_and(|help| help.contains(words)), "{query}: {help:?}");
    }
}

#[test]
fn the_help_for_jq_contains_queries_that_run() {
    for (query, input, expected) in [
        (
            "let({b: .b}, .a | flatMap(let({x: get()}, $b | map([$x, get()]))))",
            r#"{"a":[1,2],"b":[3]}"#,
            "[[1,3],[2,3]]",
        ),
        (
            "leaves() | reduce({}, let({e: .item}, .result | setAt($e.path, $e.value)))",
            r#"{"a":{"b":1},"c":2}"#,
            r#"{"a":{"b":1},"c":2}"#,
        ),
        ("range(10) | reduce(1, .result * 2)", "null", "1024"),
        ("map(split(replaceRegex(get(), \", *\", \"\\n\"), \"\\n\"))", r#"["a, b,c"]"#, r#"[["a","b","c"]]"#),
        ("map(replaceRegex(get(), \"^\\\\s+\", \"\"))", r#"["  a "]"#, r#"["a "]"#),
        ("mapObject({key: .key, value: .value})", r#"{"a":1}"#, r#"{"a":1}"#),
    ] {
        crate::check(query, input, expected);
    }
}
