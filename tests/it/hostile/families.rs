//! Families of attacks: each generates one attack of its kind from random numbers.

use std::sync::LazyLock;

use pidq::{Dialect, Limits, Operator, Precedence};

use super::{Attack, AttackQuery, Random};

/// A kind of attack.
pub struct Family {
    pub name: &'static str,
    pub make: fn(&mut Random) -> Attack,
}

pub const FAMILIES: &[Family] = &[
    Family { name: "deep query", make: deep_query },
    Family { name: "deep query in JSON format", make: deep_json_query },
    Family { name: "deep document", make: deep_document },
    Family { name: "deep result", make: deep_result },
    Family { name: "flat query", make: flat_query },
    Family { name: "flat document", make: flat_document },
    Family { name: "doubling", make: doubling },
    Family { name: "quadratic", make: quadratic },
    Family { name: "heavy rows", make: heavy_rows },
    Family { name: "patterns", make: patterns },
    Family { name: "strings", make: strings },
    Family { name: "bytes", make: bytes },
    Family { name: "numbers", make: numbers },
    Family { name: "keys", make: keys },
    Family { name: "truncated", make: truncated },
    Family { name: "long names", make: long_names },
    Family { name: "operators", make: operators },
    Family { name: "mutated", make: mutated },
    Family { name: "JSON format", make: json_format },
    Family { name: "calls", make: calls },
    Family { name: "parameters", make: parameters },
];

/// Queries to mutate, in addition to the examples of all functions.
const SEEDS: &[&str] = &[
    ".pid_graph.nodes | filter(.node_type == \"loop\") | pick(.tag, .unit)",
    "filter((.a > 1 and .b != \"x\") or not(.c)) | sort(.a, \"desc\") | limit(3)",
    "groupBy(.a) | mapValues(size()) | keys()",
    "{a: .b, \"c d\": [1, .e.0.\"f\", -1.5e3], g: {}}",
    "let({x: .a, y: map(.b)}, [$x, $y | size()])",
    "map(.a * 2 + (.b - 1) / 3 % 4 ^ 2) | sum() | round(get(), 2)",
    "if(exists(.a), .a, \"none\") // comment",
    "map(regex(.a, \"^[a-z]+$\", \"i\")) | uniq() /* more */ | reverse()",
    "mapObject({key: upper(.key), value: .value}) | entries() | fromEntries()",
    "innerJoin(.b, .id, .id) | flatMap(.x) | countBy(.y) | top(2, .z)",
    "tryOr(.a.length, .b in [1, \"2\", null]) | string(get()) | split(get(), \",\")",
    ".a | .b | .c not in [true, false]",
    "[$root, $root.a] | flatten() | keyBy(.id) | values()",
];

/// Documents to mutate.
const DOCUMENTS: &[&str] = &[
    r#"{"pid_graph":{"nodes":[{"id":1,"tag":"P-101","kw":15.0,"tags":["a",null]},{"id":2,"tag":"V-1"}],"edges":[{"source":1,"target":2}]}}"#,
    r#"[{"a":1,"b":"x","c":[1,[2,[3]]]},{"a":"1","b":null,"c":{"d":{"e":false}}},{"a":-0.0,"b":[],"c":{}}]"#,
    r#"["","a","\u0000","\ud83d\ude00","\ud800","é","0","-1e-7","null"]"#,
    r#"[0,-0,1e308,-1e308,5e-324,1e400,53.0,12345678901234567890,0.1]"#,
    r#"{"__proto__":1,"constructor":2,"length":3,"":4,"0":5,"10":6,"9":7,"a b":8,"toString":9}"#,
    r#"[[[[1]]],[],[[]],[{}],{}]"#,
    "null",
    "true",
    "\"text\"",
    "1",
];

/// Unexpected arguments of functions.
const ARGUMENTS: &[&str] = &[
    "get()",
    ".a",
    ".0",
    "$root",
    "null",
    "true",
    "0",
    "-1",
    "1e308",
    "-1e308",
    "9007199254740993",
    "1e-320",
    "0.5",
    "4294967296",
    "2147483647",
    "\"\"",
    "\"a\"",
    "\"\\u0000\"",
    "\"😀\"",
    "\"(\"",
    "\"(?=(a+)+b)\"",
    "\"desc\"",
    "\"g\"",
    "[]",
    "{}",
    "[get(), get()]",
    "{a: get()}",
    "map(get())",
    "filter(true)",
    "size()",
    ".a.b.c",
    "keys()",
    "[null]",
    "string(get())",
    "number(get())",
    "1 / 0",
    "0 / 0",
    "[1, 2, 3]",
    "{key: \"a\", value: 1}",
    "(get() | .b)",
    "not(.a)",
];

static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| Dialect::standard().groups().flat_map(|(_, rows)| rows).map(|function| function.name()).collect());

static EXAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let dialect = Dialect::standard();
    let examples = dialect.functions().filter_map(|row| row.example().split_once(" => "));
    examples.map(|(query, _)| query.to_owned()).chain(SEEDS.iter().map(|seed| (*seed).to_owned())).collect()
});

fn limits(random: &mut Random) -> Limits<'static> {
    Limits {
        fuel: *random.one_of(&[1_000, 20_000, 100_000]),
        memory: *random.one_of(&[64 << 10, 256 << 10, 1 << 20, 4 << 20]),
        output: *random.one_of(&[100, 10_000, 1 << 20]),
        string: *random.one_of(&[1 << 10, 64 << 10, 16 << 20]),
        backtracks: *random.one_of(&[100, 20_000]),
        ..Limits::default()
    }
}

fn text(random: &mut Random, query: impl Into<String>, document: impl Into<Vec<u8>>) -> Attack {
    Attack { document: document.into(), query: AttackQuery::Text(query.into()), limits: limits(random) }
}

fn any_document(random: &mut Random) -> String {
    (*random.one_of(DOCUMENTS)).to_owned()
}

fn any_query(random: &mut Random) -> String {
    random.one_of(&EXAMPLES).clone()
}

/// Nested brackets, of one kind or mixed, mostly closed.
fn deep_query(random: &mut Random) -> Attack {
    const BRACKETS: &[(&str, &str)] = &[
        ("(", ")"),
        ("[", "]"),
        ("{a: ", "}"),
        ("map(", ")"),
        ("not(", ")"),
        ("1 + (", ")"),
        ("if(true, ", ", 2)"),
        ("{a: [", "]}"),
        ("let({x: ", "}, $x)"),
        ("let({x: 1}, ", ")"),
        ("filter(", " == 1)"),
        ("(1 | (", "))"),
        ("1 in [", "]"),
        ("tryOr(", ", 0)"),
        ("get() | (", ")"),
        ("mapObject({key: \"a\", value: ", "})"),
    ];
    let depth = *random.one_of(&[2, 30, 126, 127, 128, 129, 500, 4_000]) + random.below(3);
    let single = *random.one_of(BRACKETS);
    let mixed = random.once_in(2);
    let chosen: Vec<_> = (0..depth).map(|_| if mixed { *random.one_of(BRACKETS) } else { single }).collect();
    let closed = if random.once_in(4) { random.below(depth) } else { depth };
    let open: String = chosen.iter().map(|bracket| bracket.0).collect();
    let close: String = chosen.iter().rev().take(closed).map(|bracket| bracket.1).collect();
    let document = any_document(random);
    text(random, format!("{open}get(){close}"), document)
}

fn deep_json_query(random: &mut Random) -> Attack {
    let depth = *random.one_of(&[2, 60, 127, 128, 129, 600, 8_000]) + random.below(3);
    let (open, close) = *random.one_of(&[
        ("[\"map\",", "]"),
        ("[", "]"),
        ("[\"pipe\",[\"get\"],", "]"),
        ("[\"object\",{\"a\":", "}]"),
        ("[\"array\",", "]"),
        ("{\"a\":", "}"),
        ("[\"get\",", "]"),
        ("[\"let\",[\"object\",{\"a\":1}],", "]"),
    ]);
    let query = format!("{}[\"get\"]{}", open.repeat(depth), close.repeat(depth));
    Attack { document: any_document(random).into(), query: AttackQuery::Json(query), limits: limits(random) }
}

fn deep_document(random: &mut Random) -> Attack {
    let depth = *random.one_of(&[10, 127, 400, 510, 511, 512, 513, 20_000]) + random.below(2);
    let single = random.below(3);
    let mut open = String::new();
    let mut close = Vec::new();
    for level in 0..depth {
        let is_object = match single {
            0 => false,
            1 => true,
            _ => level % 2 == 0,
        };
        open.push_str(if is_object { "{\"a\":" } else { "[" });
        close.push(if is_object { '}' } else { ']' });
    }
    let closed = if random.once_in(4) { random.below(depth) } else { depth };
    let close: String = close.into_iter().rev().take(closed).collect();
    let queries = [
        "get()",
        ". == $root",
        "[get(), get()] | uniq()",
        "[get(), get()] | sort()",
        "string(get())",
        "flatten()",
        "contains([get()], get())",
        "[get()] | join()",
        "merge({b: get()})",
        "[get(), [get()]] | map(. == $root)",
        "get() in [$root]",
        "[get(), get()] | groupBy(get())",
        "keys()",
        "map(map(map(get())))",
        "get() | number(get())",
    ];
    let query = *random.one_of(&queries);
    text(random, query, format!("{open}1{close}"))
}

/// Values nested deeper than any document, because the query nests them.
fn deep_result(random: &mut Random) -> Attack {
    let times = random.size(10);
    let wrap =
        *random.one_of(&["[get()]", "{a: get()}", "[get(), 1]", "{a: [get()]}", "[[[[get()]]]]", "{a: {b: get()}}"]);
    let last = *random.one_of(&[
        "get()",
        "string(get())",
        "[get(), get()] | uniq()",
        "get() == get()",
        "[get(), get()] | sort()",
        "flatten()",
        "[get(), get()] | groupBy(get()) | keys()",
        "get() + \"\"",
        "number(get())",
        "keys()",
        "[get()] | keyBy(get())",
        "typeOf(get())",
        "[get()] | contains(get(), get())",
        "merge(get())",
        "values()",
        "get() in [get()]",
    ]);
    let document = any_document(random);
    text(random, format!("{wrap}{} | {last}", format!(" | {wrap}").repeat(times)), document)
}

fn flat_query(random: &mut Random) -> Attack {
    let count = random.size(13);
    let repeated = |part: &str, separator: &str| vec![part; count].join(separator);
    let query = match random.below(12) {
        0 => repeated("1", " + "),
        1 => repeated("get()", " | "),
        2 => format!("get(){}", ".a".repeat(count)),
        3 => format!("[{}]", repeated(".a", ",")),
        4 => format!("{{{}}}", (0..count).map(|at| format!("k{at}: .a")).collect::<Vec<_>>().join(",")),
        5 => repeated("true", " and "),
        6 => format!("pick({})", repeated(".a", ",")),
        7 => format!("[{}]", repeated("regex(get(), \"\\\\p{L}{9}\")", ",")),
        8 => format!("{}get()", "/* */ ".repeat(count)),
        9 => format!("let({{{}}}, $v0)", (0..count).map(|at| format!("v{at}: {at}")).collect::<Vec<_>>().join(",")),
        10 => format!("{}1", "-".repeat(count)),
        _ => format!("get() in [{}]", repeated("\"a\"", ",")),
    };
    let document = any_document(random);
    text(random, query, document)
}

fn flat_document(random: &mut Random) -> Attack {
    let count = random.size(13);
    let item = *random.one_of(&[
        "[]",
        "{}",
        "0",
        "\"a\"",
        "null",
        "{\"a\":1}",
        "[[],[]]",
        "\"\\n\"",
        "1e5",
        "{\"a\":{\"a\":[]}}",
    ]);
    let document = match random.below(3) {
        0 => format!("[{}]", vec![item; count].join(",")),
        1 => format!("{{{}}}", (0..count).map(|at| format!("\"k{at}\":{item}")).collect::<Vec<_>>().join(",")),
        _ => format!("[{}]", (0..count).map(|at| format!("{{\"k{at}\":{item}}}")).collect::<Vec<_>>().join(",")),
    };
    let query = match random.below(3) {
        0 => call(random, 2),
        1 => format!("map({})", call(random, 1)),
        _ => any_query(random),
    };
    text(random, query, document)
}

fn doubling(random: &mut Random) -> Attack {
    let steps = [
        "[get(), get()] | flatten()",
        "get() + get()",
        "[get(), get()] | join()",
        "map([get(), get()]) | flatten()",
        "{a: get(), b: get()}",
        "[get(), get()]",
        "string([get(), get()])",
        "flatMap([get(), get()])",
        "replace(get(), \"a\", \"aaaa\")",
        "[get(), get()] | join(string(get()))",
        "split(get(), \"\") | join(\"ab\")",
        "padStart(get(), size() * 2, \"ab\")",
        "mapValues([get(), get()])",
        "innerJoin($root, 1, 1)",
        "leftJoin(get(), 1, 1)",
        "mapObject({key: .key + .key, value: .value})",
        "map($root) | flatten()",
        "merge({a: get()})",
    ];
    let single = *random.one_of(&steps);
    let mixed = random.once_in(3);
    let times = 2 + random.below(40);
    let stages: Vec<&str> = (0..times).map(|_| if mixed { *random.one_of(&steps) } else { single }).collect();
    let document =
        *random.one_of(&["[1]", "\"abcdefgh\"", "{\"a\":1}", "[\"a\",\"b\"]", "[[1],[2]]", "\"\"", "[{\"a\":1}]"]);
    text(random, format!("get() | {}", stages.join(" | ")), document)
}

fn quadratic(random: &mut Random) -> Attack {
    let count = random.size(11);
    let queries = [
        "innerJoin(get(), 1, 1)",
        "leftJoin($root, .a, .b)",
        "map($root | size())",
        "map($root | sum())",
        "uniq()",
        "sort(string($root))",
        "uniqBy(string(get()))",
        "groupBy(string($root))",
        "map(get() in $root)",
        "flatten()",
        "filter(contains($root, get()))",
        "map(. == $root)",
        "sortBy(map($root))",
        "map(sort())",
        "keyBy($root)",
        "map($root | uniq())",
        "[get(), get(), get(), get()] | flatten() | uniq()",
        "map($root | join(\",\"))",
        "map(index)",
        "join(\",\") | split(get(), \",\") | map($root)",
        "map(lookup($root, .a, .b))",
        "sort() | reverse() | sort()",
        "map(string($root)) | uniq()",
        "map(regex(string($root), \"(a|b)*c\"))",
        "countBy($root)",
        "map($root | max())",
        "flatMap($root)",
        "map(replace(string($root), \"1\", \"22\"))",
        "map(split(string($root), \",\"))",
        "map(merge($root))",
    ];
    let items: Vec<String> = match random.below(4) {
        0 => (0..count).map(|at| at.to_string()).collect(),
        1 => (0..count).map(|at| format!("{{\"a\":{at},\"b\":{}}}", at / 2)).collect(),
        2 => (0..count).map(|at| format!("[{at},[{at}]]")).collect(),
        _ => (0..count).map(|at| format!("\"{}{at}\"", "a".repeat(at % 40))).collect(),
    };
    let query = *random.one_of(&queries);
    text(random, query, format!("[{}]", items.join(",")))
}

/// Documents with rows whose queries each read the whole document: its size must be charged for every row.
fn heavy_rows(random: &mut Random) -> Attack {
    let count = random.size(11);
    let (length, width) = (1 << (10 + random.below(8)), 1 << (6 + random.below(7)));
    let long = "a".repeat(length);
    let items = "1,".repeat(width);
    let fields: Vec<String> = (0..width).map(|at| format!("\"k{at}\":1")).collect();
    let fields = fields.join(",");
    let rows = "0,".repeat(count);
    let document = format!(
        "{{\"rows\":[{rows}0],\"a\":\"{long}b\",\"b\":\"{long}c\",\"c\":[{items}1],\"d\":[{items}2],\
         \"e\":{{{fields},\"x\":1}},\"f\":{{{fields},\"x\":2}}}}"
    );
    let (one, other) =
        *random.one_of(&[("a", "b"), ("c", "d"), ("e", "f"), ("a", "a"), ("c", "c"), ("e", "e"), ("c", "e")]);
    let calls = [
        "$root.X == $root.Y",
        "$root.X > $root.Y",
        "$root.X in [$root.Y]",
        "$root.X | size()",
        "contains($root.X, $root.Y)",
        "startsWith($root.X, $root.Y)",
        "endsWith($root.X, $root.Y)",
        "string($root.X)",
        "$root.X + $root.Y",
        "number($root.X)",
        "upper($root.X)",
        "trim($root.X)",
        "replace($root.X, $root.Y, \"\")",
        "split($root.X, \"x\")",
        "substring($root.X, 5, 6)",
        "substring($root.X, -1)",
        "regex($root.X, \"ab$\")",
        "match($root.X, \"(?=b)b\")",
        "$root.X | keys()",
        "$root.X | values()",
        "$root.X | reverse()",
        "$root.X | first()",
        "$root.X | last()",
        "$root.X | sum()",
        "$root.X | max()",
        "$root.X | sort()",
        "$root.X | uniq()",
        "$root.X | flatten()",
        "$root.X | limit(1)",
        "$root.X | slice(1, 2)",
        "$root.X | merge($root.Y)",
        "$root.X | omit(.k1)",
        "$root.X | pick(.k1)",
        "$root.X | mapValues(1)",
        "$root.X | any(get() == 2)",
        "$root.X | entries()",
        "$root.X.k9999999",
        "$root.X.x",
        "$root.X.99999",
        "typeOf($root.X)",
        "$root.X | join()",
        "toNumber($root.X)",
        "lookup($root.X, 1, 2)",
        "$root.X | get()",
        "not($root.X)",
        "padStart($root.X, 3)",
        "$root.X | contains(get(), 7)",
        "$root.X | keyBy(get())",
        "$root.X | fromEntries()",
        "$root.X | count(get())",
        "$root.X | skip(1)",
        "abs($root.X)",
    ];
    let lists = [
        "sort()",
        "uniq()",
        "max()",
        "min()",
        "groupBy(get())",
        "keyBy(get())",
        "countBy(get())",
        "sortBy(get())",
        "top(2, get())",
        "uniqBy(get())",
        "join()",
        "flatten()",
        "sum()",
        "innerJoin(get(), get(), get())",
        "filter(get())",
        "map(size())",
        "maxBy(get())",
        "minBy(get())",
        "average()",
        "get() == get()",
        "contains(get(), $root.Y)",
        "sort(get(), \"desc\")",
        "$root.Y in get()",
        "reverse() | sort()",
        "filter(get() == $root.Y)",
        "filter(get() < $root.Y)",
        "lookup(get(), get(), 1)",
    ];
    let query = match random.once_in(2) {
        true => format!(".rows | map({}) | size()", random.one_of(&calls)),
        false => format!(".rows | map($root.X) | {}", random.one_of(&lists)),
    };
    text(random, query.replace('X', one).replace('Y', other), document)
}

fn patterns(random: &mut Random) -> Attack {
    let patterns = [
        "^(a+)+$",
        "(a|a)*b",
        "(a|aa)+$",
        "(.*)*x",
        "(?=(a+)+b)",
        "(a*)*\\\\1b",
        "(\\\\w+\\\\s?)*!",
        "(?<=a{1,50}.*)b",
        "((a{1,20}){1,20}){1,20}",
        "\\\\p{L}{200}",
        "[\\\\s\\\\S]*[\\\\s\\\\S]*[\\\\s\\\\S]*x",
        "(?!(a+)+b)a",
        "(a?){30}a{30}",
        "(",
        "a{99999999}",
        "a{1000}{1000}",
        "[z-a]",
        "\\\\",
        "(?<n>a)\\\\k<n>",
        "\\\\k<x>",
        "(?:a|b|ab)*?c$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?i:K)",
        "\\\\u{1F600}",
        "[^]*$",
        "(?<=(?=(?<=a)))b",
        "()*",
        "(()*)*",
        "(?:)*a",
        "\\\\b\\\\B\\\\b",
        "$^",
        "a||b",
        "(?<a>x)(?<a>y)",
        "(((((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))))",
    ];
    let mut pattern = (*random.one_of(&patterns)).to_owned();
    if random.once_in(4) {
        pattern = pattern.repeat(random.size(6)).chars().take(5_000).collect();
    }
    if random.once_in(4) {
        pattern = format!("{}{pattern}{}", "(".repeat(random.size(9)), ")".repeat(random.size(9)));
    }
    let flags = *random.one_of(&["", "i", "g", "u", "v", "y", "s", "m", "gimsuy", "d", "gg", "q"]);
    let call = *random.one_of(&["regex", "match", "matchAll"]);
    let part = *random.one_of(&["a", "aaaab", "ab ", "😀", "\\u017f", "K", "é\\r\\n", "x", "\\u0000"]);
    let length = random.size(12);
    let query = format!("{call}(get(), \"{pattern}\", \"{flags}\")");
    text(random, query, format!("\"{}\"", part.repeat(length)))
}

/// NUL, lone surrogates and control characters: in strings, keys and queries.
fn strings(random: &mut Random) -> Attack {
    const PIECES: &[&str] = &[
        "\\u0000",
        "\\ud800",
        "\\udc00",
        "\\ud83d\\ude00",
        "\\udc00\\ud800",
        "😀",
        "\u{FEFF}",
        "\\/",
        "\\\"",
        "\\\\",
        "a",
        "\u{202E}",
        "\u{0301}",
        "\\u2028",
        "\u{7F}",
        "\\b\\f",
        "İ",
        "ß",
        "\u{10FFFF}",
        "\\uFFFF",
        " ",
        "\\u00",
        "\\x",
        "\n",
        "\0",
    ];
    let length = 1 + random.below(20);
    let literal: String = (0..length).map(|_| *random.one_of(PIECES)).collect();
    let other: String = (0..length).map(|_| *random.one_of(&PIECES[..20])).collect();
    let query = match random.below(7) {
        0 => format!("get() == \"{literal}\""),
        1 => format!(".\"{literal}\""),
        2 => format!("{{\"{literal}\": get()}} | keys()"),
        3 => format!("split(\"{other}\", \"{literal}\") | sort() | join(\"{other}\")"),
        4 => format!("[upper(\"{literal}\"), lower(\"{other}\"), substring(\"{literal}\", 1, -1), size()]"),
        5 => format!("regex(\"{literal}\", \"{other}\")"),
        _ => format!("\"{literal}\" > \"{other}\" and contains(\"{literal}\", \"{other}\")"),
    };
    text(random, query, format!("{{\"{other}\":\"{literal}\",\"{literal}\":[\"{other}\"]}}"))
}

/// Invalid UTF-8, other encodings, byte order marks, random bytes.
fn bytes(random: &mut Random) -> Attack {
    let plain = any_document(random);
    let mut document: Vec<u8> = match random.below(6) {
        0 => plain.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        1 => [0xFE, 0xFF].into_iter().chain(plain.encode_utf16().flat_map(u16::to_be_bytes)).collect(),
        2 => b"\xEF\xBB\xBF".iter().copied().chain(plain.bytes()).collect(),
        3 => (0..random.size(9)).map(|_| random.below(256) as u8).collect(),
        4 => plain.into_bytes(),
        _ => plain.chars().flat_map(|c| (c as u32).to_be_bytes()).collect(),
    };
    const BAD: &[&[u8]] = &[
        b"\xFF",
        b"\xC0\x80",
        b"\xED\xA0\x80",
        b"\xF4\x90\x80\x80",
        b"\xE2\x82",
        b"\0",
        b"\x80",
        b"\xF8\x88\x80\x80\x80",
    ];
    for _ in 0..random.below(4) {
        let at = random.below(document.len() + 1);
        let bad = *random.one_of(BAD);
        document.splice(at..at, bad.iter().copied());
    }
    text(random, "get()", document)
}

fn numbers(random: &mut Random) -> Attack {
    let digits = random.size(14);
    let number = match random.below(14) {
        0 => "9".repeat(digits),
        1 => format!("0.{}1", "0".repeat(digits)),
        2 => format!("1e{}", "9".repeat(digits)),
        3 => format!("-1e-{}", "9".repeat(digits)),
        4 => format!("{}e-{digits}", "1".repeat(digits)),
        5 => format!("1{}.{}e-{digits}", "0".repeat(digits), "0".repeat(digits)),
        6 => "0".repeat(digits),
        7 => format!("{}1", "-".repeat(digits)),
        _ => (*random.one_of(&[
            "1e400",
            "-1e400",
            "-0",
            "-0.0e-0",
            "5e-324",
            "2e-324",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "9007199254740993",
            "0.1e",
            "1.",
            ".5",
            "+1",
            "0x10",
            "NaN",
            "Infinity",
            "-",
            "1e+",
            "01",
            "1_000",
            "4294967295",
            "4294967296",
            "18446744073709551616",
            "-9223372036854775809",
            "0e999999999999",
            "1E1",
            "2.2250738585072011e-308",
        ]))
        .to_owned(),
    };
    let query = match random.below(8) {
        0 => number.clone(),
        1 => format!("[get() + {number}, get() == {number}]"),
        2 => format!("limit({number})"),
        3 => format!("round(get(), {number})"),
        4 => format!("substring(string(get()), {number}, {number})"),
        5 => format!("number(\"{number}\")"),
        6 => format!(".{number}"),
        _ => "[get(), get() + 0, string(get()), round(get(), 2), get() % 7, get() ^ 2, get() * 1e300 * 1e300] | sort()"
            .into(),
    };
    text(random, query, number)
}

/// Thousands of keys: equal, in pairs, names of JavaScript prototypes, numeric, and with colliding hashes.
fn keys(random: &mut Random) -> Attack {
    const UNUSUAL: &[&str] = &[
        "__proto__",
        "constructor",
        "toString",
        "length",
        "hasOwnProperty",
        "",
        "0",
        "4294967294",
        "4294967295",
        "00",
        "-0",
        "1e3",
        "key",
        "value",
        "id",
        "__defineGetter__",
        "a.b",
        "$root",
        "\\u0000",
        "é",
        "e\u{301}",
        "null",
    ];
    let count = random.size(11);
    let kind = random.below(6);
    let fields: Vec<String> = (0..count)
        .map(|at| {
            let key = match kind {
                0 => "same".to_owned(),
                1 => (*random.one_of(UNUSUAL)).to_owned(),
                2 => (count - at).to_string(),
                3 => colliding_key(at),
                4 => format!("{}{at}", "k".repeat(at % 50)),
                _ => format!("k{}", at / 2),
            };
            format!("\"{key}\":{at}")
        })
        .collect();
    let key = *random.one_of(UNUSUAL);
    let query = match random.below(10) {
        0 => format!(".\"{key}\""),
        1 => "keys() | map({key: get(), value: 1}) | fromEntries()".into(),
        2 => "mapKeys(get())".into(),
        3 => format!("mapKeys(\"{key}\")"),
        4 => format!("[get(), {{\"{key}\": 1}}] | map(.\"{key}\")"),
        5 => "values() | groupBy(get())".into(),
        6 => format!("keys() | keyBy(get()) | .\"{key}\""),
        7 => "merge({a: get()}) | keys() | size()".into(),
        8 => "get() == $root".into(),
        _ => format!("pick(.\"{key}\", .same, .k1) | entries()"),
    };
    text(random, query, format!("{{{}}}", fields.join(",")))
}

/// Returns a key with the same hash for every number, in hash functions that multiply by 31 or 33: in these, `Ez` and
/// `FY` are equal.
pub fn colliding_key(number: usize) -> String {
    (0..17).map(|bit| if number >> bit & 1 == 0 { "Ez" } else { "FY" }).collect()
}

fn truncated(random: &mut Random) -> Attack {
    let mut query = any_query(random);
    let mut document = any_document(random).into_bytes();
    if random.once_in(2) {
        document.truncate(random.below(document.len()));
    } else {
        let cut = random.below(query.len());
        query.truncate((0..=cut).rev().find(|at| query.is_char_boundary(*at)).unwrap_or(0));
    }
    text(random, query, document)
}

fn long_names(random: &mut Random) -> Attack {
    let name = (*random.one_of(&["a", "_", "é", "$", "a1"])).repeat(random.size(14));
    let query = match random.below(8) {
        0 => format!(".{name}"),
        1 => format!("{name}(.a)"),
        2 => format!("${name}"),
        3 => format!("{{{name}: 1, b: {{{name}: 2}}}}"),
        4 => format!(".\"{name}\".{name}"),
        5 => format!("let({{{name}: 1}}, ${name})"),
        6 => format!("\"{name}\" | regex(get(), \"{name}\")"),
        _ => format!("// {name}\nget() | map(.{name})"),
    };
    text(random, query, format!("{{\"{name}\":{{\"{name}\":1}}}}"))
}

fn operators(random: &mut Random) -> Attack {
    const TEXTS: &[&str] =
        &["~", "has", "<>", "", " ", "(", "|", "==", "a b", "\"", "//", "+", "😀", "=", "&&&&", "in", "1", ".", "$"];
    const ANCHORS: &[&str] = &["+", "==", "|", "and", "^", "in", "not in", "nope", "", "~"];
    let count = 1 + random.below(6);
    let rows: Vec<Operator> = (0..count)
        .map(|_| {
            let anchor = (*random.one_of(ANCHORS)).to_owned();
            let precedences =
                [Precedence::At(anchor.clone()), Precedence::Before(anchor.clone()), Precedence::After(anchor)];
            Operator {
                name: (*random.one_of(&["contains", "add", "eq", "nope", "pipe", "object", "", "get"])).to_owned(),
                text: (*random.one_of(TEXTS)).to_owned(),
                precedence: random.one_of(&precedences).clone(),
                vararg: random.once_in(2),
                left_associative: random.once_in(2),
            }
        })
        .collect();
    let mut query = String::from("get()");
    for _ in 0..random.size(7) {
        let operator = if random.once_in(3) { *random.one_of(ANCHORS) } else { *random.one_of(TEXTS) };
        let operand = *random.one_of(&["1", ".a", "(get())", "\"b\"", "[1]", "size()"]);
        query = format!("{query} {operator} {operand}");
    }
    Attack { document: any_document(random).into(), query: AttackQuery::Operators(rows, query), limits: limits(random) }
}

/// Seeds with parts removed, repeated or replaced.
fn mutated(random: &mut Random) -> Attack {
    let mut query: Vec<char> = any_query(random).chars().collect();
    let mut document: Vec<char> = any_document(random).chars().collect();
    for _ in 0..1 + random.below(4) {
        let other: Vec<char> = any_query(random).chars().collect();
        mutate(random, &mut query, &other);
    }
    if random.once_in(3) {
        let other: Vec<char> = any_document(random).chars().collect();
        mutate(random, &mut document, &other);
    }
    let (query, document): (String, String) = (query.into_iter().collect(), document.into_iter().collect());
    text(random, query, document)
}

fn mutate(random: &mut Random, text: &mut Vec<char>, other: &[char]) {
    const TOKENS: &[&str] =
        &["(", ")", "[", "]", "{", "}", ",", ".", "|", "\"", "$", "get()", "-", "1e999", "\\", "//", "/*", "not in"];
    let range = |random: &mut Random, length: usize| {
        let start = random.below(length + 1);
        start..start + random.below(length - start + 1)
    };
    let here = range(random, text.len());
    match random.below(4) {
        0 => drop(text.drain(here)),
        1 => {
            let part: Vec<char> = text[here.clone()].to_vec();
            text.splice(here.start..here.start, part);
        }
        2 => {
            let token = *random.one_of(TOKENS);
            text.splice(here.start..here.start, token.chars());
        }
        _ => {
            let there = range(random, other.len());
            text.splice(here, other[there].iter().copied());
        }
    }
}

/// Trees that the parser of the text format never returns.
fn json_format(random: &mut Random) -> Attack {
    let mut budget = 40;
    let query = json_call(random, &mut budget, 6);
    Attack { document: any_document(random).into(), query: AttackQuery::Json(query), limits: limits(random) }
}

fn json_call(random: &mut Random, budget: &mut usize, depth: usize) -> String {
    if depth == 0 || *budget == 0 || random.once_in(3) {
        let leaves = [
            "null",
            "true",
            "1e400",
            "-0",
            "\"a\"",
            "[]",
            "[null]",
            "[1,2]",
            "{}",
            "{\"a\":1}",
            "\"\\ud800\"",
            "[[\"get\"]]",
        ];
        return (*random.one_of(&leaves)).to_owned();
    }
    *budget -= 1;
    let name = match random.below(8) {
        0 => "$",
        1 => "get",
        2 => "__proto__",
        _ => random.one_of(&NAMES),
    };
    let count = random.below(5);
    let arguments: String = (0..count).map(|_| format!(",{}", json_call(random, budget, depth - 1))).collect();
    format!("[\"{name}\"{arguments}]")
}

/// Random functions with random arguments.
fn calls(random: &mut Random) -> Attack {
    let count = 1 + random.below(4);
    let stages: Vec<String> = (0..count).map(|_| call(random, 2)).collect();
    let document = any_document(random);
    text(random, stages.join(" | "), document)
}

fn call(random: &mut Random, depth: usize) -> String {
    let name = (*random.one_of(&NAMES)).replace(' ', "");
    let count = random.below(4);
    let arguments: Vec<String> = (0..count)
        .map(|_| {
            if depth > 0 && random.once_in(4) {
                call(random, depth - 1)
            } else {
                (*random.one_of(ARGUMENTS)).to_owned()
            }
        })
        .collect();
    format!("{name}({})", arguments.join(", "))
}

fn parameters(random: &mut Random) -> Attack {
    let params = match random.below(6) {
        0 => format!("{{\"p\":{}}}", any_document(random)),
        1 => format!("{{\"p\":{}1{}}}", "[".repeat(random.size(9)), "]".repeat(random.size(9))),
        2 => format!("{{{}}}", (0..random.size(7)).map(|at| format!("\"p{at}\":{at}")).collect::<Vec<_>>().join(",")),
        3 => "[1]".into(),
        4 => format!("{{\"p\":\"{}\"}}", "(a+)+".repeat(random.size(10))),
        _ => {
            "{\"p\":1,\"p\":\"2\",\"__proto__\":3,\"root\":4,\"\":5".to_owned()
                + if random.once_in(2) { "}" } else { "" }
        }
    };
    let stage = *random.one_of(&[
        "$p",
        "limit($p)",
        "regex(get(), $p)",
        "sort(.a, $p)",
        "$p.a.0",
        "join($p)",
        "$__proto__",
        "$root",
        "get() in $p",
        "$p == $p",
    ]);
    let document = any_document(random);
    Attack {
        document: document.into(),
        query: AttackQuery::Params(format!("[{stage}, {}]", call(random, 1)), params),
        limits: limits(random),
    }
}
