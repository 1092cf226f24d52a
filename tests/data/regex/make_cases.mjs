// Writes cases.json: the result of JavaScript for each pattern, flags and text. Run with node 20 or later.
import { writeFileSync } from "node:fs";

const cases = new Map();

function add(pattern, flags, ...texts) {
  for (const text of texts) {
    cases.set(JSON.stringify([pattern, flags, text]), { pattern, flags, text, expected: run(pattern, flags, text) });
  }
}

function run(pattern, flags, text) {
  let match;
  try {
    match = new RegExp(pattern, flags).exec(text);
  } catch {
    return { error: true };
  }
  if (match === null) return null;
  const groups = [...match].slice(1).map((group) => group ?? null);
  const named = Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, group]) => [name, group ?? null]));
  return { value: match[0], index: match.index, groups, named };
}

// Tags and lines as they occur in drawings.
for (const pattern of ["^P-\\d+[A-Z]?$", "([A-Z]+)-(\\d+)([A-Z])?", "(?<loop>[A-Z]{1,4})-?(?<number>\\d{3,})", "^(?!P-)", "^\\d+\"-[A-Z]{2}-\\d{4}", "(?<=P-)\\d+", "V|E", "\\bHV\\b"]) {
  for (const flags of ["", "i"]) add(pattern, flags, "P-101A", "hv-101", "FIC-2001", "6\"-PW-1004", "HV", "", "V-201 E-101");
}

// Syntax: valid and invalid patterns.
const syntax = [
  "", "a**", "a*?", "a*??", "a++", "a{2}{3}", "a{2,1}", "a{,2}", "a{2", "a{", "{", "}", "]", "{1}", "x{1}{", "a{1,2,3}", "(", ")", "()", "(?", "(?:", "(?a)", "(?i:a)", "(?<a", "(?<a>", "(?<>a)",
  "(?<1>a)", "(?<a>x)(?<a>y)", "(?<$>x)", "(?<_a1>x)", "(?<é>x)", "(?<\\u0061>x)", "(?<a b>x)", "(?<a>x)\\k<a>", "(?<a>x)\\k<b>", "\\k<a>", "\\k", "(?<a>x)\\k", "[", "[]", "[^]", "[a", "[z-a]", "[a-\\d]", "[\\d-x]",
  "[--a]", "[a-]", "[-a]", "[]a]", "[^]a]", "\\", "[\\]", "*", "+", "?", "^*", "$*", "\\b+", "(?=a)*", "(?=a)+", "(?!a){2}", "(?<=a)*", "(?<!a)?", "a|*", "|", "||", "a||b", "(|a)", "(a|)", "\\1", "\\2(a)", "(a)\\1",
  "(a)\\2", "\\8", "\\9", "\\0", "\\00", "\\01", "\\012", "\\400", "\\377", "\\18", "\\x", "\\x4", "\\x41", "\\u", "\\u004", "\\u0041", "\\u{41}", "\\u{110000}", "\\u{}", "\\c", "\\cA", "\\c1", "[\\c]", "[\\c1]", "[\\c_]",
  "\\p{L}", "\\p{Lu}", "\\P{L}", "\\pL", "\\p{Foo}", "\\p{greek}", "\\p{Greek}", "\\p{Script=Greek}", "\\p{sc=Grek}", "\\p{gc=Lu}", "\\p{lu}", "\\p{ASCII}", "\\p{Any}", "\\p{", "\\-", "[\\-]", "\\/", "/", "\\a", "\\_", "\\é", "#", " ",
  "a#b c", "[\\b]", "[\\B]", "[&&]", "[a&&b]", "[a--b]", "[a~~b]", "[[]", "[[a]]", "[\\q]", "\\q", "(?#a)", "(?>a)", "\\A", "\\z", "\\Z", "\\G", "\\h", "\\R", "\\X", "\\Q", "\\e", "a{0}", "a{0,0}", "(a){0}", "a{99999999999}",
  "a{0,99999999999}", "\\ud83d\\ude00", "[\\ud83d\\ude00]", "\\u{1F600}", "\\d{2}{", "(?:)", "(?:)*", "(?:a", "a)", "(?<=a)b", "(?<!a)b", "(?<=)", "\\(", "\\[", "\\{", "\\}", "\\]", "\\)", "\\|", "\\^", "\\$", "\\.", "\\*", "\\+", "\\?",
];
for (const pattern of syntax) {
  for (const flags of ["", "u", "v"]) add(pattern, flags, "", "aA{1}1-x\\ c");
}
for (const flags of ["d", "g", "i", "m", "s", "u", "v", "y", "dgimsuy", "dgimsvy", "uv", "gg", "a", "G", "x", " "]) add("a", flags, "xa");

// Classes and assertions, with boundary characters.
const characters = ["a", "K", "s", "S", "k", "\u212a", "\u017f", "_", "5", "é", "É", "µ", "μ", "Μ", "Å", "\u212b", "å", "σ", "ς", "Σ", "ß", "ẞ", "ı", "İ", "i", "I", "ǅ", "ǆ", "Ω", "\u2126", "ω", " ", "\u00a0", "\ufeff", "\u180e", "\u2003", "\u200b", "\t", "\u000b", "\n", "\r", "\u2028", "\u0085", "٣", "-"];
for (const pattern of ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", ".", "[^\\s]", "[^\\W]", "\\b", "\\B", "[\\w-]", "k", "s", "[a-z]", "[^a-z]", "[^ks]", "é", "μ", "å", "σ", "ß", "ω", "ǆ", "i", "[à-ÿ]", "[\\s\\S]", "[^]", "^.$"]) {
  for (const flags of ["", "i", "iu", "s"]) add(pattern, flags, ...characters.filter((_, at) => (at + pattern.length + flags.length) % 3 === 0));
}

// Lines.
for (const pattern of ["^", "$", "^$", "^b", "a$", "^.*$", "^\\w+$", "(?:^|,)b", ".$", "\\n^", "$\\n", "b"]) {
  for (const flags of ["", "m", "ms", "my"]) add(pattern, flags, "a\nb", "a\r\nb", "a\rb", "a\u2028b", "b", "\r\n", "a\n");
}

// Groups in repetitions, empty rounds, back-references.
const loops = [
  "(?:(a)|b)*", "(?:(a)|(b))*", "(z)((a+)?(b+)?(c))*", "(a*)*", "(a*)+", "(a*){2}", "(a*){2,}", "(a*){0,3}", "(a?)*?", "(a?)??", "(?:|a)*", "(?:|a)+", "(|a)*", "(|a)+", "(a|)*", "(a??)*", "(a*?)*", "(a*?)+?b", "(?:a?b?)*", "((a)|b)*",
  "(?:a|(b))+", "((a)?b)*", "(?:(a)|b\\1)*", "(a)\\1", "(a)?\\1b", "\\1(a)", "(\\1a)", "(a\\1)", "(?:\\2b|(a)(b))*", "(?:(a)|(b)\\1)*", "(?<x>a)|(?<y>b)", "(?<x>a)\\k<x>", "\\k<x>(?<x>a)", "(?=(a))\\1", "(?!(a))b\\1", "(?:(?=(a))a|b)*",
  "(?<=(a)(b))", "(?<=(\\w+)(\\w+))$", "(?<=\\1(a))", "(?<=(a)\\1)", "(?<=a.*)b", "(?<!a)b", "(?<!^)b", "(?=a|b)b", "(?=.*b)a", "a(?!b)", "a(?=b(?=a))", "(?:a(?=(b)))*b", "()*", "()+", "(){2}", "(?:()|a)*", "(?:a()|b)*", "(\\b)*a", "(a{0,2}){2}", "(a|ab)(c|bcd)(d*)", "(a+|b+?)*?$", "a{2,3}?", "(?:ab){1,2}",
];
for (const pattern of loops) add(pattern, "", "", "a", "b", "aab", "abab", "zaacbbbcac", "abcd", "baa");
for (const pattern of ["(a)\\1", "(k)\\1", "(é)\\1", "(s)\\1"]) for (const flags of ["i", "iu"]) add(pattern, flags, "aA", "k\u212a", "éÉ", "s\u017f");

// Set operations.
for (const pattern of ["[\\w--\\d]", "[\\w--[a-f]]", "[\\w&&[a-f]]", "[^\\w--\\d]", "[[a-c][x-z]]", "[a-c--b]", "[a--b&&c]", "[a&&&b]", "[(]", "[\\(]", "[a-z&&[^aeiou]]", "[\\p{L}--\\p{Lu}]", "[!!]", "[a-]", "[\\-]", "[[a-z]--[b-y]--[z]]", "\\p{RGI_Emoji}", "[\\q{ab}]"]) {
  for (const flags of ["v", "iv"]) add(pattern, flags, "a", "b", "7", "Q");
}

// Characters outside the BMP.
for (const pattern of [".", "^.$", "..", "😀", "😀+", "[😀]", "[^a]", "\\W", "\\ud83d", "[\\ud800-\\udbff]", "\\p{Emoji}"]) for (const flags of ["", "u"]) add(pattern, flags, "😀", "a😀");

const wellFormed = [...cases.values()].filter(({ expected }) => JSON.stringify(expected).isWellFormed() && !/\\ud[89a-f]/.test(JSON.stringify(expected)));
const lines = wellFormed.map((entry) => JSON.stringify(entry));
writeFileSync(new URL("cases.json", import.meta.url), `[\n${lines.join(",\n")}\n]\n`);
console.log(`${lines.length} cases`);
