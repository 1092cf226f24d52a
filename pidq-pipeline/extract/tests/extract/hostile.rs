//! Hostile documents: a child with little memory rejects each with its code, or extracts it.

use std::io::{Cursor, Write};

use pidq_extract::{
    ErrorCode, ExtractError, Extracted, Options, SandboxOptions, StopHandle, Upload, extract_in_sandbox,
};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Address space limit in bytes: a reader that needs more for one of these documents fails.
const MEMORY: u64 = 768 << 20;

pub fn extract_sandboxed(name: &str, bytes: &[u8], options: &Options) -> Result<Extracted, ExtractError> {
    let sandbox = SandboxOptions {
        memory_limit: MEMORY,
        cpu_seconds: 60,
        ..SandboxOptions::new(env!("CARGO_BIN_EXE_pidq-extract"), &[])
    };
    let result = extract_in_sandbox(
        &Upload { bytes, name: Some(name), media_type: None },
        options,
        &sandbox,
        &StopHandle::default(),
    );
    if let Err(error) = &result {
        // The readers must reject a document before it hits the limits of the process.
        for word in ["memory limit", "CPU time", "crashed", "panicked"] {
            assert!(!error.detail.contains(word), "{name}: {error}");
        }
    }
    result
}

#[track_caller]
pub fn assert_rejected(name: &str, bytes: &[u8], code: ErrorCode) {
    match extract_sandboxed(name, bytes, &Options::default()) {
        Err(error) => assert_eq!(error.code, code, "{name}: {error}"),
        Ok(extracted) => panic!("{name} was read: {:.200}", extracted.text),
    }
}

#[track_caller]
fn assert_text(name: &str, bytes: &[u8], text: &str) {
    let extracted =
        extract_sandboxed(name, bytes, &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(super::words(&extracted.text), text, "{name}");
}

pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub fn docx(body: &str) -> Vec<u8> {
    let document = format!("<w:document xmlns:w='w'><w:body>{body}</w:body></w:document>");
    archive(&[("word/document.xml", document.as_bytes())])
}

fn xlsx(sheet: &str, strings: &str) -> Vec<u8> {
    let book = "<workbook xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'>\
        <sheets><sheet name='S' sheetId='1' r:id='r1'/></sheets></workbook>";
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let targets = format!(
        "<Relationships><Relationship Id='r1' Type='{kind}/worksheet' Target='worksheets/sheet1.xml'/>\
         <Relationship Id='r2' Type='{kind}/sharedStrings' Target='sharedStrings.xml'/></Relationships>"
    );
    let package = format!(
        "<Relationships><Relationship Id='r' Type='{kind}/officeDocument' Target='xl/workbook.xml'/></Relationships>"
    );
    archive(&[
        ("_rels/.rels", package.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", targets.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/sharedStrings.xml", strings.as_bytes()),
    ])
}

fn ods(body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office='o' xmlns:table='t' xmlns:text='x'>{body}</office:document-content>"
    );
    archive(&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content.as_bytes())])
}

#[test]
fn decompression_bombs_are_rejected() {
    let spaces = vec![b' '; 32 << 20];
    assert_rejected("ratio.docx", &archive(&[("word/document.xml", &spaces)]), ErrorCode::TooLargeText);
    assert_rejected("ratio.xlsx", &archive(&[("xl/workbook.xml", &spaces)]), ErrorCode::TooLargeText);
    assert_rejected(
        "beside.docx",
        &archive(&[("word/document.xml", b"<a/>"), ("other", &spaces)]),
        ErrorCode::TooLargeText,
    );
}

#[test]
fn false_archive_sizes_are_rejected() {
    let spaces = vec![b' '; 32 << 20];
    for (kind, part) in [("docx", "word/document.xml"), ("xlsx", "xl/workbook.xml"), ("pptx", "ppt/presentation.xml")] {
        let mut bytes = archive(&[(part, &spaces)]);
        let size = (spaces.len() as u32).to_le_bytes();
        for index in 0..bytes.len() - 4 {
            if bytes[index..index + 4] == size {
                bytes[index..index + 4].copy_from_slice(&1000u32.to_le_bytes());
            }
        }
        let error = extract_sandboxed(&format!("lie.{kind}"), &bytes, &Options::default()).unwrap_err();
        assert!(matches!(error.code, ErrorCode::TooLargeText | ErrorCode::CorruptDocument), "{kind}: {error}");
    }
}

#[test]
fn archives_with_too_many_files_are_rejected() {
    let names: Vec<String> = (0..10_001).map(|number| number.to_string()).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert_rejected("many.docx", &archive(&files), ErrorCode::TooLargeText);
    assert_rejected("many", &archive(&files), ErrorCode::TooLargeText);
}

#[test]
fn overlapping_archive_entries_are_rejected() {
    let bytes = archive(&[("word/document.xml", b"<a/>")]);
    let list = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    let end = bytes.windows(4).position(|four| four == b"PK\x05\x06").unwrap();
    let mut twice = bytes[list..end].to_vec();
    let name = twice.windows(4).position(|four| four == b"word").unwrap();
    twice[name..name + 4].copy_from_slice(b"ward");
    let mut tail = bytes[end..].to_vec();
    tail[8] = 2;
    tail[10] = 2;
    let size = 2 * (end - list) as u32;
    tail[12..16].copy_from_slice(&size.to_le_bytes());
    assert_rejected("overlap.docx", &[&bytes[..end], &twice, &tail].concat(), ErrorCode::CorruptDocument);
}

#[test]
fn nested_archives_are_not_opened() {
    let inner = archive(&[("bomb", &vec![0; 8 << 20])]);
    let document = b"<w:document xmlns:w='w'><w:p><w:r><w:t>text</w:t></w:r></w:p></w:document>";
    assert_text("nested.docx", &archive(&[("word/document.xml", document), ("word/embeddings/a.zip", &inner)]), "text");
    assert_rejected("nested", &archive(&[("a.zip", &inner)]), ErrorCode::UnsupportedType);
}

const BILLION_LAUGHS: &str = "<!DOCTYPE a [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>\
    <!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY x SYSTEM 'file:///etc/passwd'>]>";

#[test]
fn entities_are_not_expanded() {
    let word = format!("{BILLION_LAUGHS}<w:document xmlns:w='w'><w:p><w:t>&c;&x;</w:t></w:p></w:document>");
    assert_rejected("laughs.docx", &archive(&[("word/document.xml", word.as_bytes())]), ErrorCode::CorruptDocument);
    assert_rejected("entity.docx", &docx("<w:p><w:t>&c;</w:t></w:p>"), ErrorCode::CorruptDocument);
    let plant = format!("{BILLION_LAUGHS}<PlantModel><Equipment ID='E' TagName='&c;'/></PlantModel>");
    assert_rejected("laughs.xml", plant.as_bytes(), ErrorCode::CorruptDocument);
    let strings = format!("{BILLION_LAUGHS}<sst><si><t>&c;&x;</t></si></sst>");
    let sheet = "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1'><v>7</v></c></row></sheetData></worksheet>";
    assert_rejected("laughs.xlsx", &xlsx(sheet, &strings), ErrorCode::CorruptDocument);
    let extracted = extract_sandboxed(
        "entity.xlsx",
        &xlsx(&format!("{BILLION_LAUGHS}{sheet}"), "<sst><si><t>a</t></si></sst>"),
        &Options::default(),
    );
    assert!(extracted.is_ok_and(|extracted| extracted.text == "a\t7"));
    // Plain text is not parsed.
    let text = format!("{BILLION_LAUGHS}<a>&c;</a>");
    assert_eq!(extract_sandboxed("laughs.xml", text.as_bytes(), &Options::default()).unwrap().text, text);
}

#[test]
fn too_deep_nesting_is_rejected_or_flattened() {
    let depth = 200_000;
    assert_rejected("deep.docx", &docx(&"<w:tbl>".repeat(depth / 10)), ErrorCode::CorruptDocument);
    assert_rejected("deep.ods", &ods(&"<table:table>".repeat(depth / 10)), ErrorCode::CorruptDocument);
    assert_rejected("deep.json", "[".repeat(depth).as_bytes(), ErrorCode::CorruptDocument);
    assert_rejected(
        "deep.json",
        format!("{}{}", "[".repeat(depth), "]".repeat(depth)).as_bytes(),
        ErrorCode::CorruptDocument,
    );
    let graph = format!(r#"{{"nodes": [{}{}], "edges": []}}"#, "[".repeat(depth), "]".repeat(depth));
    assert_rejected("deep.json", graph.as_bytes(), ErrorCode::CorruptDocument);
    assert_rejected("deep.rtf", format!("{{\\rtf1 {}", "{".repeat(depth)).as_bytes(), ErrorCode::CorruptDocument);
    assert_rejected("deep.xml", format!("<PlantModel>{}", "<a>".repeat(depth)).as_bytes(), ErrorCode::CorruptDocument);
    assert_text("deep.html", format!("{}text", "<div><b><table><svg></svg>".repeat(depth)).as_bytes(), "text");
    let sheet = format!("<worksheet><sheetData><row>{}", "<c><is>".repeat(depth / 10));
    assert_rejected("deep.xlsx", &xlsx(&sheet, "<sst/>"), ErrorCode::CorruptDocument);
}

#[test]
fn nested_mails_are_limited() {
    let mut mail = String::new();
    for level in 0..5000 {
        mail += &format!(
            "From: a@example.com\r\nSubject: s\r\nContent-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n"
        );
        if level % 2 == 0 {
            mail += "Content-Type: message/rfc822\r\n\r\n";
        }
    }
    let extracted = extract_sandboxed("deep.eml", mail.as_bytes(), &Options::default()).unwrap();
    assert!(extracted.text.starts_with("Subject: s"));
}

#[test]
fn repeated_shared_strings_are_limited() {
    let strings = format!("<sst><si><t>{}</t></si></sst>", (0..200_000).map(|n| n.to_string()).collect::<String>());
    let row = |row: usize| format!("<row r='{row}'><c r='A{row}' t='s'><v>0</v></c></row>");
    let rows: String = (1..100).map(row).collect();
    let bytes = xlsx(&format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"), &strings);
    assert_rejected("huge.xlsx", &bytes, ErrorCode::TooLargeText);
}

#[test]
fn a_workbook_with_a_false_string_count_is_rejected() {
    for count in ["1000000000000", "18446744073709551615", "99999999999999999999999"] {
        let bytes = xlsx("<worksheet/>", &format!("<sst uniqueCount='{count}'><si><t>a</t></si></sst>"));
        assert_rejected("count.xlsx", &bytes, ErrorCode::CorruptDocument);
    }
}

#[test]
fn repeated_slides_are_read_once() {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let target = |n: usize| format!("<Relationship Id='r{n}' Type='{kind}/slide' Target='slides/slide1.xml'/>");
    let targets: String = (0..20_000).map(target).collect();
    let ids: String = (0..100_000).map(|n| format!("<p:sldId r:id='r{}'/>", n % 7)).collect();
    let bytes = archive(&[
        ("ppt/presentation.xml", format!("<p:presentation xmlns:p='p' xmlns:r='r'>{ids}</p:presentation>").as_bytes()),
        ("ppt/_rels/presentation.xml.rels", format!("<Relationships>{targets}</Relationships>").as_bytes()),
        ("ppt/slides/slide1.xml", b"<p:sld xmlns:p='p' xmlns:a='a'><a:p><a:r><a:t>text</a:t></a:r></a:p></p:sld>"),
    ]);
    let extracted = extract_sandboxed("often.pptx", &bytes, &Options::default()).unwrap();
    assert_eq!(extracted.pages.len(), 7);
}

#[test]
fn repeated_cells_are_limited() {
    let cell = "<table:table-cell table:number-columns-repeated='1000000000'><text:p>x</text:p></table:table-cell>";
    let row = format!("<table:table-row table:number-rows-repeated='1000000000'>{cell}</table:table-row>");
    let bytes = ods(&format!(
        "<table:table table:name='S'>{row}<table:table-row><table:table-cell><text:p>a<text:s text:c='999999999'/>b</text:p></table:table-cell></table:table-row></table:table>"
    ));
    let extracted = extract_sandboxed("repeat.ods", &bytes, &Options::default()).unwrap();
    assert!(extracted.text.len() < 10_000, "{}", extracted.text.len());
}

/// A PDF of objects, the first of which is the catalog.
fn pdf(objects: &[&str]) -> Vec<u8> {
    raw_pdf(&objects.iter().map(|object| object.as_bytes().to_vec()).collect::<Vec<_>>())
}

pub fn raw_pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.5\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        offsets.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
        bytes.extend_from_slice(object);
        bytes.extend_from_slice(b"\nendobj\n");
    }
    let table: String = offsets.iter().map(|offset| format!("{offset:010} 00000 n \n")).collect();
    let start = bytes.len();
    let size = objects.len() + 1;
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    );
    bytes.extend_from_slice(end.as_bytes());
    bytes
}

pub fn stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< {dictionary} /Length {} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// Data for `FlateDecode`: the stream of an archive with a header and a checksum.
pub fn deflated(bytes: &[u8]) -> Vec<u8> {
    let zip = archive(&[("a", bytes)]);
    let list = zip.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    let size = u32::from_le_bytes(zip[list + 20..list + 24].try_into().unwrap()) as usize;
    let adler = bytes.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (a + b) % 65521)
    });
    [&b"\x78\x9C"[..], &zip[31..31 + size], &(adler.1 << 16 | adler.0).to_be_bytes()].concat()
}

const CATALOG: &str = "<< /Type /Catalog /Pages 2 0 R >>";
const PAGES: &str = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>";
const PAGE: &str =
    "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >> >>";
const FONT: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/// Extracts a PDF with one page and one form.
fn read_page(content: Vec<u8>, form: Vec<u8>, font: &str) -> Result<Extracted, ExtractError> {
    let objects = [CATALOG, PAGES, PAGE].map(|object| object.as_bytes().to_vec());
    let bytes = raw_pdf(&[objects.to_vec(), vec![content, font.as_bytes().to_vec(), form]].concat());
    extract_sandboxed("a.pdf", &bytes, &Options::default())
}

#[test]
fn cyclic_page_trees_are_read_once_or_rejected() {
    for pages in [
        "<< /Type /Pages /Kids [2 0 R] /Count 1 >>",
        "<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 99999999 >>",
        "<< /Type /Pages /Parent 2 0 R /Kids [2 0 R] /Count -1 >>",
        "2 0 R",
        "null",
    ] {
        let content = "<< /Length 4 0 R >>\nstream\nBT /F 9 Tf (text) Tj ET\nendstream";
        let bytes = pdf(&[CATALOG, pages, PAGE, content, FONT]);
        let result = extract_sandboxed("cycle.pdf", &bytes, &Options::default());
        let is_expected = result.as_ref().is_ok_and(|extracted| extracted.text.len() < 1000)
            || result
                .as_ref()
                .is_err_and(|error| matches!(error.code, ErrorCode::CorruptDocument | ErrorCode::EmptyText));
        assert!(is_expected, "{pages}: {result:?}");
    }
}

#[test]
fn cyclic_object_streams_are_rejected() {
    for stream in [
        "<< /Type /ObjStm /N 1 /First 4 /Extends 2 0 R /Length 5 >>\nstream\n2 0 2 0 R\nendstream",
        "<< /Type /ObjStm /N 99999999 /First 0 /Length 2 0 R >>\nstream\n2 0\nendstream",
        "<< /Type /XRef /Size 99999999 /W [1 99999999 1] /Index [0 99999999] /Length 3 >>\nstream\nabc\nendstream",
    ] {
        let bytes = pdf(&[CATALOG, stream]);
        let error = extract_sandboxed("streams.pdf", &bytes, &Options::default()).unwrap_err();
        assert!(matches!(error.code, ErrorCode::CorruptDocument | ErrorCode::EmptyText), "{error}");
    }
}

#[test]
fn recursive_forms_end() {
    let form = stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >>",
        "BT /F 9 Tf (x) Tj ET /X Do ".repeat(30).as_bytes(),
    );
    let content = stream("", "/X Do BT /F 9 Tf (text) Tj ET ".repeat(30).as_bytes());
    assert!(read_page(content, form, FONT).unwrap().text.len() < 4 << 20);
}

#[test]
fn a_page_bomb_is_rejected_or_blank() {
    let content = stream("/Filter /FlateDecode", &deflated(&vec![b' '; 80 << 20]));
    let error = read_page(content, b"null".to_vec(), FONT).unwrap_err();
    assert!(matches!(error.code, ErrorCode::TooLargeText | ErrorCode::EmptyText), "{error}");
}

#[test]
fn huge_character_maps_are_not_expanded() {
    let map = "1 begincodespacerange <00000000> <FFFFFFFF> endcodespacerange\n\
        1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange\n1 beginbfrange <0000> <FFFF> <0041> endbfrange";
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /ToUnicode 6 0 R >>";
    let content = stream("", b"BT /F 9 Tf (text) Tj ET");
    let result = read_page(content, stream("", map.as_bytes()), font);
    assert!(result.is_ok_and(|extracted| extracted.text.len() < 1000));
}

#[test]
fn deeply_nested_pdf_objects_do_not_overflow_the_stack() {
    for open in ["[", "<< /A ", "("] {
        let bytes = pdf(&[CATALOG, PAGES, PAGE, &open.repeat(200_000), FONT]);
        let error = extract_sandboxed("deep.pdf", &bytes, &Options::default()).unwrap_err();
        assert!(matches!(error.code, ErrorCode::CorruptDocument | ErrorCode::EmptyText), "{open}: {error}");
    }
}

#[test]
fn an_unclosed_csv_field_is_one_field() {
    let text = format!("\"{}", "a,\n".repeat(200_000));
    assert!(extract_sandboxed("open.csv", text.as_bytes(), &Options::default()).unwrap().text.len() <= text.len());
}

#[test]
fn a_node_with_many_edges_has_a_bounded_description() {
    let nodes: String = (0..20_000).map(|n| format!(",{{\"id\": {n}, \"tag\": \"V-{n}\"}}")).collect();
    let edges: Vec<String> = (0..20_000).map(|n| format!("{{\"from\": \"hub\", \"to\": {n}}}")).collect();
    let graph = format!(r#"{{"nodes": [{{"id": "hub"}}{nodes}], "edges": [{}]}}"#, edges.join(","));
    let extracted = extract_sandboxed("hub.json", graph.as_bytes(), &Options::default()).unwrap();
    assert!(extracted.text.contains("and 19960 more"), "{:.400}", extracted.text);
}

#[test]
fn unclosed_xhtml_tags_take_linear_time() {
    let html = format!("<html xmlns='http://www.w3.org/1999/xhtml'><p>V-201</p>{}", "<script '".repeat(100_000));
    let extracted = extract_sandboxed("a.xhtml", html.as_bytes(), &Options::default()).unwrap();
    assert_eq!(super::words(&extracted.text), "V-201");
}
