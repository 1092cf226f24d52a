//! Encodings of strings.

use pidq_core::Limits;

use crate::{Random, check, check_error, run_with, value};

#[test]
fn texts_are_encoded_for_uris_and_back() {
    check(
        r#"map(uriEncode(get()))"#,
        r#"["aZ09-._~", "a b+c", "ä€😀", "/?#&=%", "", null, "'()*!"]"#,
        r#"["aZ09-._~","a%20b%2Bc","%C3%A4%E2%82%AC%F0%9F%98%80","%2F%3F%23%26%3D%25","",null,"%27%28%29%2A%21"]"#,
    );
    check(
        r#"map(uriDecode(get()))"#,
        r#"["a%20b+c", "%c3%A4", "ä%25", "", null, "%00"]"#,
        r#"["a b+c","ä","ä%","",null,"\u0000"]"#,
    );
    check(
        r#"split(get(), "&") | map(split(get(), "=")) | map([{key: .0, value: uriDecode(replace(.1, "+", " "))}]) | flatten() | fromEntries()"#,
        r#""tag=P-101%2FA&service=cooling+water""#,
        r#"{"tag":"P-101/A","service":"cooling water"}"#,
    );
}

#[test]
fn texts_are_encoded_in_base64_and_back() {
    // RFC 4648, section 10.
    let vectors =
        [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
    for (text, encoded) in vectors {
        assert_eq!(value("base64Encode(get())", &format!("{text:?}")), encoded, "{text}");
        assert_eq!(value("base64Decode(get())", &format!("{encoded:?}")), text, "{encoded}");
    }
    // Both alphabets, without padding, in lines.
    check(
        "map(base64Decode(get()))",
        r#"["w6TDvz8/Pw==", "w6TDvz8_Pw", "Zm9v\r\nYmFy", null]"#,
        r#"["äÿ???","äÿ???","foobar",null]"#,
    );
    check(
        r#"split(get(), ".") | nth(1) | base64Decode(get()) | fromJson(get()) | .sub"#,
        r#""e30.eyJzdWIiOiJhZGEifQ.x""#,
        r#""ada""#,
    );
}

#[test]
fn special_characters_of_html_become_references() {
    check(
        "map(htmlEncode(get()))",
        r#"["<a href=\"x\">'b' & c</a>", "ä", "", null, "&amp;", "end<"]"#,
        r#"["&lt;a href=&quot;x&quot;&gt;&#39;b&#39; &amp; c&lt;/a&gt;","ä","",null,"&amp;amp;","end&lt;"]"#,
    );
}

#[test]
fn what_is_not_encoded_is_an_error_with_the_reason() {
    for (query, text, words) in [
        ("uriDecode(get())", "100%", "`%`"),
        ("uriDecode(get())", "a%2", "`%2`"),
        ("uriDecode(get())", "%é1 and more", "`%é1`"),
        ("uriDecode(get())", "%C3", "UTF-8"),
        ("base64Decode(get())", "Zm9*", "`*`"),
        ("base64Decode(get())", "Zm9vY", "its length"),
        ("base64Decode(get())", "Z-9+", "`+`"),
        ("base64Decode(get())", "/w==", "UTF-8"),
        ("base64Decode(get())", "Zm9v+", "its length"),
        ("base64Decode(get())", "Zh", "surplus bits"),
        ("base64Decode(get())", "Zmé9", "`é`"),
        ("base64Decode(get())", "Zm=v", "`=`"),
    ] {
        check_error(query, &format!("{text:?}"), "PQ2008", words);
        check(&format!("tryOr({query}, 0)"), &format!("{text:?}"), "0");
    }
    for function in ["uriEncode", "uriDecode", "base64Encode", "base64Decode", "htmlEncode"] {
        check_error(&format!("{function}(get())"), "5", "PQ2002", "string(");
    }
}

#[test]
fn random_texts_come_back() {
    let mut random = Random(32);
    for _ in 0..300 {
        let text: String = (0..random.below(40))
            .map(|_| ['a', '%', '+', '/', 'ä', '€', '😀', '\n', '"', '='][random.below(10) as usize])
            .collect();
        let input = serde_json::to_string(&text).expect("a string");
        for query in ["uriDecode(uriEncode(get()))", "base64Decode(base64Encode(get()))"] {
            assert_eq!(value(query, &input), text.as_str(), "{query} on {input}");
        }
    }
}

#[test]
fn long_results_keep_to_the_limits() {
    let input = serde_json::to_string(&"<".repeat(1000)).expect("a string");
    for function in ["uriEncode", "base64Encode", "htmlEncode"] {
        let limits = Limits { string: 1_200, ..Limits::default() };
        let error = run_with(&format!("{function}(get()) | size()"), &input, limits).expect_err("too long");
        assert_eq!(error.code().as_str(), "PQ4007", "{function}");
    }
}
