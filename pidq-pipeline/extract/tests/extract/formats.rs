//! Text of each format, and format detection.

use pidq_extract::{ErrorCode, Extracted, FORMATS, Markup, Options, Upload, extract_in_process};

use super::{assert_rejected, extract_named, extract_unnamed, sample};

#[track_caller]
fn assert_text(name: &str, document: &str, text: &str) -> Extracted {
    let extracted = extract_named(name, document.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(extracted.text, text, "{name}");
    extracted
}

#[test]
fn html_blocks_are_lines_and_scripts_are_omitted() {
    let html = "<!doctype html><html><head><title>Unit 20</title><style>p {}</style></head><body>\
        <h1>Pumps</h1><p>P-101A  is\n <b>fed</b> from T&#45;101.<br>Next</p><script>if (a<b) {}</script>\
        <ul><li>one<li>two</ul><table><tr><th>Tag<th>DN<tr><td>HV-1<td>150</table>\
        <pre>a\n  b</pre><img alt='a sketch' src=x>";
    let extracted = assert_text(
        "a.html",
        html,
        "Pumps\n\nP-101A is fed from T-101.\nNext\n\none\ntwo\n\nTag\tDN\nHV-1\t150\n\na\n  b\n\na sketch",
    );
    assert_eq!(extracted.title.as_deref(), Some("Unit 20"));
}

/// Checks the text of an HTML document with a body.
#[track_caller]
fn assert_html_text(body: &str, text: &str) {
    assert_text("a.html", &format!("<!doctype html><html><body>{body}</body></html>"), text);
}

#[test]
fn html_cells_share_the_line_of_their_row() {
    let row = "<tr><td><p>PSV-1</p><p>spare</p></td><td></td><td><div>38.5</div><br>barg</td></tr>";
    assert_html_text(
        &format!("<table><tr><td></td><th>A<th>B</tr>{row}</table>end"),
        "\tA\tB\nPSV-1 spare\t\t38.5 barg\n\nend\n",
    );
    assert_html_text("<table><tr><td>a<table><tr><td>b<td>c</table></td><td>d</table>", "a b c\td\n\n");
    let page = "word ".repeat(300);
    let page = page.trim();
    assert_html_text(
        &format!("<table><tr><td><p>{page}</p><p>next</p></td><td>b</td></tr></table>"),
        &format!("{page}\n\nnext\n\nb\n\n"),
    );
}

#[test]
fn html_list_items_are_numbered() {
    assert_html_text(
        "<ol><li>open</li><li><p>close</p><ol type=a start=3><li>slowly</ol></li><li value=7>wait<ul><li>x</ul></ol>",
        "1. open\n\n2. close\n\nc. slowly\n\n7. wait\n\nx\n\n",
    );
}

#[test]
fn text_in_svg_and_form_fields_is_extracted() {
    assert_html_text(
        "<svg><title>t</title><defs>no</defs><text>PSV-1</text><text>V-2</text></svg><math><mi>p</mi><annotation>no</annotation></math>",
        "PSV-1\nV-2\np\n",
    );
    assert_html_text(
        "a <input value=38.5> b<input type=hidden value=no><button>Send</button><center>c</center>d",
        "a 38.5 b\nSend\nc\nd\n",
    );
}

#[test]
fn self_closing_xhtml_elements_keep_the_following_text() {
    let head = "<title>Unit 20</title><script src='a>b.js' /><style/>";
    let body = "<p>PSV-1</p><textarea name=\"n\"/><p><![CDATA[V-2]]></p>";
    let html = format!(
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head>{head}</head><body>{body}</body></html>"
    );
    assert_eq!(assert_text("a.xhtml", &html, "PSV-1\n\nV-2\n\n").title.as_deref(), Some("Unit 20"));
    assert_html_text("<script src=a />no</script>yes", "yes\n");
}

#[test]
fn invisible_html_is_omitted_with_a_warning() {
    for (body, text, omitted) in [
        ("<p>a</p><p style='display:none'>secret<p>b", "a\n\nb", 6),
        ("<div>a<div hidden>x<div>y</div>z</div>b</div>", "ab", 3),
        ("<ul><li>a<li hidden>x<ul><li>y</ul>z<li>b</ul>", "a\n\nb", 3),
        ("<table><tr><td>a<td hidden>x<td>b<tr style='visibility:hidden'><td>y<tr><td>c</table>", "a\tb\nc", 2),
        ("<div><p hidden>x</div>b", "b", 1),
        ("a <span style='font-size:0'>ignore the <b>above</b></span>b", "a b", 14),
        ("a<img hidden alt=x><br hidden>b", "ab", 0),
        ("<div hidden>x<style>div {}</style><script>y</script></div>b", "b", 1),
        ("<p style='opacity:0.5'>a</p>", "a", 0),
        ("<section hidden>x", "", 1),
    ] {
        let html = format!("<!doctype html><html><body style='visibility:hidden'>start {body}</body></html>");
        let extracted = extract_named("a.html", html.as_bytes()).unwrap();
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&extracted.text), words(&format!("start {text}")), "{body}");
        let warning = format!("{omitted} characters of invisible text were left out");
        assert_eq!(extracted.warnings, if omitted > 0 { vec![warning] } else { Vec::new() }, "{body}");
    }
}

#[test]
fn html_markup_is_retained_for_markup_splitters() {
    let html = "<h1>Pumps</h1>\r\n<p>P-101A</p>";
    let options = Options { markup: Markup::Keep, ..Options::default() };
    let extracted = extract_in_process(&Upload { bytes: html.as_bytes(), ..Upload::default() }, &options).unwrap();
    assert_eq!(extracted.text, "<h1>Pumps</h1>\n<p>P-101A</p>");
}

#[test]
fn html_declares_its_encoding() {
    let extracted =
        extract_named("a.html", b"<html><meta charset='iso-8859-7'><p>\xC1\xED\xF4\xEB\xDF\xE1</p>").unwrap();
    assert_eq!(extracted.text.trim(), "Αντλία");
    assert!(extracted.warnings.is_empty(), "{:?}", extracted.warnings);
}

#[test]
fn markdown_is_unchanged() {
    let extracted = assert_text(
        "a.md",
        "---\ntitle: \"Unit 20\"\n---\n# Pumps\r\n\r\n* P-101A\n",
        "---\ntitle: \"Unit 20\"\n---\n# Pumps\n\n* P-101A\n",
    );
    assert_eq!(extracted.title.as_deref(), Some("Unit 20"));
    assert_eq!(
        assert_text("a.md", "```\n# no\n```\n# Yes #\n", "```\n# no\n```\n# Yes #\n").title.as_deref(),
        Some("Yes")
    );
    assert_eq!(extract_unnamed(b"# Pumps\n").unwrap().format, "markdown");
}

#[test]
fn tables_are_rows_with_tabs() {
    assert_text("a.csv", "tag,note\r\nHV-1,\"a, \"\"b\"\"\nc\"\r\n", "tag\tnote\nHV-1\ta, \"b\" c\n");
    assert_text("a.csv", "tag;kvs\nHV-1;38,5\n", "tag\tkvs\nHV-1\t38,5\n");
    assert_text("a.tsv", "tag\tkvs\nHV-1\t38,5\n", "tag\tkvs\nHV-1\t38,5\n");
    assert_text("a.csv", "one\ntwo\n", "one\ntwo\n");
}

#[test]
fn csv_delimiters_are_detected() {
    for (table, text) in [
        ("Valves\n\nTag;Set\nPSV-1;38,5\nPSV-2;40,1\n", "Valves\nTag\tSet\nPSV-1\t38,5\nPSV-2\t40,1\n"),
        ("PSV-1;38,5\nPSV-2;40,1\n", "PSV-1\t38,5\nPSV-2\t40,1\n"),
        ("sep=;\nTag;Set\nPSV-1;38,5\n", "Tag\tSet\nPSV-1\t38,5\n"),
        ("a,b\n\"x;y\nz;w\",1\n\"p;q\",2\n", "a\tb\nx;y z;w\t1\np;q\t2\n"),
        ("a,b\n1;2,3\n4;5,6\n", "a\tb\n1;2\t3\n4;5\t6\n"),
        ("a|b\n1,5|2\n", "a\tb\n1,5\t2\n"),
        ("word\n", "word\n"),
    ] {
        assert_text("a.csv", table, text);
    }
}

#[test]
fn json_escapes_are_decoded_except_for_the_json_splitter() {
    let json = r#"{"a":"\u00dcber\ud83d\ude00 \ud83d x\nPSV-1\r\n\t\/ \"\\n\" \u0022 \u0007"}"#;
    let text = "{\"a\":\"Über😀 \\ud83d x\nPSV-1\n\t/ \\\"\\\\n\\\" \\u0022 \\u0007\"}";
    assert_text("a.json", json, text);
    let options = Options { markup: Markup::Keep, ..Options::default() };
    assert_eq!(
        extract_in_process(&Upload { bytes: json.as_bytes(), ..Upload::default() }, &options).unwrap().text,
        json
    );
    assert_text("a.json", "\"text\"", "\"text\"");
}

#[test]
fn json_is_unchanged() {
    assert_text("a.json", "{\"tag\": \"HV-1\"}\r\n", "{\"tag\": \"HV-1\"}\n");
    assert_eq!(extract_unnamed(b"[1, 2]").unwrap().format, "json");
    assert_rejected("a.json", b"{\"tag\": ", ErrorCode::CorruptDocument);
    assert_rejected("a.json", b"tag: HV-1", ErrorCode::UnsupportedType);
    assert_eq!(extract_unnamed(b"{\"tag\": ").unwrap().format, "text");
}

#[test]
fn rtf_text_uses_the_encodings_of_its_fonts() {
    let rtf = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}}{\colortbl;\red0;}
{\info{\title Unit 20}{\author Somebody}}{\*\generator Word;}\f0 F\'f6rderh\'f6he \u8364? \uc2\u26085xy\uc1 {\b bold}\par
{\f1 \'cd\'e0\'f1\'ee\'f1}\tab end\line \{x\}\~y\u-10179?\u-8704?{\pict ffd8ff}\par}";
    let extracted = assert_text("a.rtf", rtf, "Förderhöhe € 日bold\nНасос\tend\n{x}\u{A0}y😀\n");
    assert_eq!(extracted.title.as_deref(), Some("Unit 20"));
}

#[test]
fn hidden_rtf_text_is_omitted_with_a_warning() {
    let extracted = assert_text("a.rtf", "{\\rtf1 a {\\v secret }b \\v x\\v0 c \\v y\\plain d}", "a b c d");
    assert_eq!(extracted.warnings, ["8 characters of invisible text were left out"]);
}

#[test]
fn rtf_boxes_tables_and_notes_are_extracted() {
    for (rtf, text) in [
        (
            r"{\rtf1 see{\footnote\pard the note} V-1{\header head\par}{\*\annotation{\*\atnref 1}remark}\par}",
            "see V-1\n\nthe note\nhead\nremark",
        ),
        (
            r"{\rtf1 a{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt PSV-1\par}}{\shprslt{\*\do{\dptxbxtext PSV-1}}}}b}",
            "a\nPSV-1\nb",
        ),
        (r"{\rtf1\trowd\pard\intbl a\par b\cell c\cell\row\pard d\par e\par}", "a b\tc\t\nd\ne"),
        (r"{\rtf1 a{\deleted gone} b{\upr{x??}{\*\ud{\u8364?}}}{\object{\*\objdata 00}{\result r}}}", "a b€r"),
        (r"{\rtf1\ansicpg1252\deff1{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\'cd{\f0 \'cd}\plain\'cd}", "НÍН"),
    ] {
        assert_eq!(extract_named("a.rtf", rtf.as_bytes()).unwrap().text.trim_end(), text, "{rtf}");
    }
    let extracted = extract_named("a.rtf", br"{\rtf1\pc a}").unwrap();
    assert_eq!(extracted.warnings, ["code page 437 is not supported; some characters may be wrong"]);
}

#[test]
fn html_is_extracted_if_the_plain_text_of_a_mail_is_blank() {
    let mail = "From: a@example.com\r\nSubject: PSV\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\
        Content-Type: text/plain\r\n\r\n \r\n--b\r\nContent-Type: text/html\r\n\r\n<p>38.5 barg</p>\r\n--b--\r\n";
    assert_text("a.eml", mail, "Subject: PSV\nFrom: a@example.com\n\n38.5 barg\n\n");
    let odd = b"From: a@example.com\r\nSubject: PSV\r\nContent-Type: text/plain; charset=odd\r\n\r\n38 \xFC\r\n";
    let extracted = extract_named("a.eml", odd).unwrap();
    assert_eq!(
        extracted.warnings,
        ["some characters of the e-mail could not be decoded and were replaced by \u{FFFD}"]
    );
}

#[test]
fn mails_are_extracted_from_text_or_html() {
    let mail = "From: a@example.com\r\nSubject: =?utf-8?q?F=C3=B6rderh=C3=B6he?=\r\nContent-Type: text/html; charset=latin1\r\n\
        Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>F=F6rderh=F6he<br>170 m</p>\r\n";
    let extracted = assert_text("a.eml", mail, "Subject: Förderhöhe\nFrom: a@example.com\n\nFörderhöhe\n170 m\n\n");
    assert_eq!(extracted.title.as_deref(), Some("Förderhöhe"));
    assert_eq!(extract_unnamed(mail.as_bytes()).unwrap().format, "eml");
}

#[test]
fn forwarded_mails_are_extracted_and_attachments_are_listed() {
    let mail = "From: a@example.com\r\nSubject: Fwd\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
        --b\r\n\r\nSee below.\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: c@example.com\r\nSubject: PSV\r\n\r\n38.5 barg\r\n\
        --b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=a.png\r\n\r\nx\r\n--b--\r\n";
    let extracted = extract_named("a.eml", mail.as_bytes()).unwrap();
    let text = "Subject: Fwd\nFrom: a@example.com\n\nSee below.\n\nSubject: PSV\nFrom: c@example.com\n\n38.5 barg";
    assert_eq!(extracted.text.trim_end(), text);
    assert_eq!(extracted.warnings, ["attachment not read: a.png (1 bytes)"]);
}

#[test]
fn drawings_are_described_in_sentences() {
    let graph = r#"{"pid_graph": {"metadata": {"drawing_name": "PID-1", "revision": "A"}, "nodes": [
        {"id": "n1", "tag": "T-101", "node_classification": "equipment.tank", "attributes": [{"name": "volume", "value": 250.0, "unit": "m³"}]},
        {"id": "n2", "tag": "N1", "node_classification": "equipment_component.nozzle"},
        {"id": "n3", "tag": "HV-1", "component_class": "valve", "sub_class": "gate", "size_dn": 150},
        {"id": "n4", "tag": "LT-1"}], "edges": [
        {"source": "n1", "target": "n2", "edge_type": "physically_has_a"},
        {"source": "n2", "target": "n3", "edge_type": "physically_connected_to"},
        {"source": "n4", "target": "n3", "edge_type": "associated_with", "edge_classification": "signal_line.electrical"}]}}"#;
    let extracted = assert_text(
        "a.json",
        graph,
        "Drawing PID-1, revision A.\n\nT-101 is a tank (equipment.tank).\nT-101: volume 250.0 m³.\nT-101 has the parts T-101 N1.\n\
         T-101 flows to HV-1 through its parts.\n\n\
         T-101 N1 is a nozzle (equipment_component.nozzle).\nT-101 N1 is part of T-101.\nT-101 N1 is connected to and flows to HV-1.\n\n\
         HV-1 is a gate valve.\nHV-1: size dn 150.\nHV-1 is fed from T-101 N1.\nHV-1 receives a signal from LT-1.\n\n\
         LT-1 is on the drawing.\nLT-1 sends a signal to HV-1.\n",
    );
    assert_eq!((extracted.title.as_deref(), extracted.media_type.as_str()), (Some("PID-1"), "application/json"));
}

#[test]
fn proteus_is_a_drawing_and_other_xml_is_text() {
    let xml = r#"<PlantModel><PlantInformation SchemaVersion="4.1" Units="mm"/>
        <Equipment ID="E1" TagName="T4711" ComponentClass="Tank"><Nozzle ID="N1" TagName="N1"/></Equipment></PlantModel>"#;
    let extracted = extract_named("a.xml", xml.as_bytes()).unwrap();
    assert_eq!((extracted.format.as_str(), extracted.media_type.as_str()), ("drawing", "application/xml"));
    assert!(extracted.text.contains("T4711 is a tank (equipment.tank).\n"), "{}", extracted.text);
    assert!(extracted.text.contains("T4711 has the parts T4711 N1.\n"), "{}", extracted.text);
    assert_text("a.xml", "<a>b</a>", "<a>b</a>");
}

#[test]
fn the_example_plant_names_every_tag() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data");
    let plant = std::fs::read(format!("{folder}/plant.json")).unwrap();
    let extracted = extract_named("plant.json", &plant).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&plant).unwrap();
    for node in json["pid_graph"]["nodes"].as_array().unwrap() {
        let tag = node["tag"].as_str().unwrap();
        assert!(extracted.text.contains(tag), "{tag}");
    }
    let skid = std::fs::read(format!("{folder}/skid.xml")).unwrap();
    assert_eq!(extract_unnamed(&skid).unwrap().format, "drawing");
}

#[test]
fn formats_are_detected_by_content_and_contradictions_are_rejected() {
    let pdf = sample("manual.pdf");
    for name in ["a.docx", "a.txt", "a.html", "a.json", "a.eml", "a.rtf"] {
        assert_rejected(name, &pdf, ErrorCode::UnsupportedType);
    }
    for name in [
        "manual.pdf",
        "manual.docx",
        "lists.xlsx",
        "talk.pptx",
        "lists.ods",
        "manual.odt",
        "question.eml",
        "question.msg",
        "lists.xls",
        "manual.epub",
    ] {
        let bytes = sample(name);
        let format = name.rsplit_once('.').unwrap().1;
        assert_eq!(extract_unnamed(&bytes).unwrap().format, format, "{name}");
        assert_eq!(extract_named("a.bin", &bytes).unwrap().format, format, "{name}");
        assert_eq!(extract_named(&name.to_uppercase(), &bytes).unwrap().format, format, "{name}");
        let wrong = if format == "xlsx" { "a.docx" } else { "a.xlsx" };
        assert_rejected(wrong, &bytes, ErrorCode::UnsupportedType);
    }
    for name in ["a.pdf", "a.docx", "a.xlsx", "a.pptx", "a.ods", "a.rtf"] {
        assert_rejected(name, b"only text", ErrorCode::UnsupportedType);
    }
}

#[test]
fn plain_text_with_a_signature_word_is_text() {
    assert_eq!(extract_unnamed(b"A PDF begins with %PDF-1.7.").unwrap().format, "text");
    let late = [&b"\x01\x02\n"[..], &sample("manual.pdf")].concat();
    assert_eq!(extract_unnamed(&late).map(|extracted| extracted.format), Ok("pdf".into()));
}

/// A compound file whose directory has one entry.
fn compound_file(stream: &str) -> Vec<u8> {
    let mut bytes = vec![0; 2048];
    bytes[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    let name: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes[1024..1024 + name.len()].copy_from_slice(&name);
    bytes
}

#[test]
fn unsupported_formats_are_named() {
    let elf = [&b"\x7FELF\x02\x01\x01"[..], &[0; 57]].concat();
    for (bytes, word) in [
        (&b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR"[..], "image/png"),
        (&elf, "application/x-executable"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and so on", "legacy Office"),
        (&[0, 1, 2, 3, 4, 5, 6, 7, 250, 251], "an unknown type"),
    ] {
        let error = extract_unnamed(bytes).unwrap_err();
        assert_eq!(error.code, ErrorCode::UnsupportedType);
        assert!(error.detail.contains(word), "{error}");
    }
    assert_rejected("a.docx", &compound_file("EncryptedPackage"), ErrorCode::EncryptedDocument);
    assert_rejected("a.doc", &compound_file("WordDocument"), ErrorCode::UnsupportedType);
    assert_rejected("a.xls", &compound_file("WordDocument"), ErrorCode::UnsupportedType);
    assert_rejected("a.xls", &compound_file("Workbook"), ErrorCode::CorruptDocument);
}

#[test]
fn a_document_without_text_is_rejected() {
    for (name, bytes) in [("a.txt", &b""[..]), ("a.txt", b" \r\n\t"), ("a.html", b"<p></p>"), ("a.csv", b"\n\n")] {
        assert_rejected(name, bytes, ErrorCode::EmptyText);
    }
}

#[test]
fn invalid_bytes_cause_a_warning() {
    let extracted =
        extract_named("a.txt", b"F\xC3\xB6rderh\xC3\xB6he gr\xC3\xB6\xC3\x9Fer als 170 m \xFF Ende").unwrap();
    assert!(extracted.text.starts_with("Förderhöhe größer"));
    assert_eq!(extracted.warnings, ["some bytes are not valid UTF-8 and were replaced by \u{FFFD}"]);
    let long = format!("a\rb\r\nc\n\0d{}", "e".repeat(100));
    assert!(extract_named("a.txt", long.as_bytes()).unwrap().text.starts_with("a\nb\nc\nde"));
}

#[test]
fn too_much_text_is_rejected_at_the_limit() {
    let options = Options { max_characters: 10, ..Options::default() };
    let extract = |text: &str| extract_in_process(&Upload { bytes: text.as_bytes(), ..Upload::default() }, &options);
    assert_eq!(extract("ÄÖÜÄÖÜÄÖÜÄ").unwrap().text.chars().count(), 10);
    assert_eq!(extract("ÄÖÜÄÖÜÄÖÜÄÖ").unwrap_err().code, ErrorCode::TooLargeText);
}

#[test]
fn a_position_has_its_page() {
    let extracted = extract_named("manual.pdf", &sample("manual.pdf")).unwrap();
    assert_eq!(extracted.pages.len(), 2);
    for (number, page) in extracted.pages.iter().enumerate() {
        assert_eq!((extracted.page_at(page.start), extracted.page_at(page.end - 1)), (number, number));
    }
    assert_eq!(extracted.page_at(usize::MAX), 1);
    assert!(extracted.text[extracted.pages[1].start..].starts_with("Pump P-101A"));
}

#[test]
fn every_format_has_media_types_and_lowercase_extensions() {
    for format in FORMATS {
        assert!(!format.media_types.is_empty() && !format.extensions.is_empty(), "{}", format.name);
        assert!(format.extensions.iter().all(|extension| *extension == extension.to_lowercase()), "{}", format.name);
    }
}
