//! Generated Office documents: the displayed text is extracted.

use pidq_extract::{ErrorCode, Extracted, Options, Upload, extract_in_process};

use super::hostile::{archive, docx};
use super::{assert_rejected, extract_named};

const RELATIONSHIP_NAMESPACE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

#[track_caller]
fn assert_text(name: &str, bytes: &[u8], text: &str) -> Extracted {
    let extracted = extract_named(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(extracted.text.trim_end(), text, "{name}");
    extracted
}

fn relationships(targets: &[(&str, &str, &str)]) -> String {
    let elements = targets.iter().map(|(id, kind, target)| {
        format!("<Relationship Id='{id}' Type='{RELATIONSHIP_NAMESPACE}/{kind}' Target='{target}'/>")
    });
    format!("<Relationships>{}</Relationships>", elements.collect::<String>())
}

#[test]
fn text_boxes_and_nested_tables_are_separate() {
    let text = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let text_box = format!(
        "<w:p><w:r><w:t>see </w:t><w:pict><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></w:pict>\
         <w:t>V-201</w:t></w:r></w:p>",
        text("PSV-1")
    );
    assert_text("a.docx", &docx(&text_box), "see \nPSV-1\nV-201");
    let inner = format!("<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>", text("b"), text("c"));
    let outer = format!("<w:tbl><w:tr><w:tc>{}{inner}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>", text("a"), text("d"));
    assert_text("a.docx", &docx(&outer), "a b\tc\td");
}

#[test]
fn word_symbols_and_tabs_are_extracted() {
    let symbol = |font: &str, code: &str| format!("<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>");
    let body = format!(
        "<w:p><w:r><w:t>38 </w:t></w:r>{}{}<w:r><w:ptab/><w:t>end</w:t></w:r>{}</w:p>",
        symbol("Symbol", "F0B0"),
        symbol("Wingdings", "F0FC"),
        symbol("Webdings", "F061"),
    );
    let extracted = assert_text("a.docx", &docx(&body), "38 °✓\tend");
    assert_eq!(extracted.warnings, ["a symbol of the font Webdings is not supported"]);
}

#[test]
fn hidden_word_text_is_omitted_with_a_warning() {
    let run = |property: &str, text: &str| format!("<w:r><w:rPr>{property}</w:rPr><w:t>{text}</w:t></w:r>");
    let body = format!(
        "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>a</w:t></w:r>{}{}{}</w:p>",
        run("<w:b/><w:vanish/>", "secret"),
        run("<w:vanish w:val='0'/>", "b"),
        run("<w:b/>", "c"),
    );
    let extracted = assert_text("a.docx", &docx(&body), "abc");
    assert_eq!(extracted.warnings, ["6 characters of invisible text were left out"]);
}

/// A document with two lists, one of them attached to a style.
fn numbered(body: &str) -> Vec<u8> {
    let level = |index: u8, count_format: &str, text: &str, style: &str| {
        format!(
            "<w:lvl w:ilvl='{index}'><w:start w:val='1'/><w:numFmt w:val='{count_format}'/>{style}<w:lvlText w:val='{text}'/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:numbering><w:abstractNum w:abstractNumId='0'>{}{}</w:abstractNum><w:abstractNum w:abstractNumId='1'>{}</w:abstractNum>\
         <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='1'/></w:num>\
         <w:num w:numId='3'><w:abstractNumId w:val='1'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='3'/></w:lvlOverride></w:num>\
         </w:numbering>",
        level(0, "decimal", "%1", "<w:pStyle w:val='Heading1'/>"),
        level(1, "decimal", "%1.%2", "<w:pStyle w:val='Heading2'/>"),
        level(0, "lowerLetter", "%1)", ""),
    );
    let styles = "<w:styles><w:style w:styleId='Heading1'><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr></w:style>\
        <w:style w:styleId='Heading2'><w:basedOn w:val='Heading1'/></w:style></w:styles>";
    let document = format!("<w:document xmlns:w='w'><w:body>{body}</w:body></w:document>");
    archive(&[
        ("word/document.xml", document.as_bytes()),
        ("word/numbering.xml", numbering.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ])
}

#[test]
fn heading_and_list_numbers_are_extracted() {
    let heading = |style: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let item = |number: u8, text: &str| {
        let numbers = format!("<w:numPr><w:ilvl w:val='0'/><w:numId w:val='{number}'/></w:numPr>");
        format!("<w:p><w:pPr>{numbers}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = [
        heading("Heading1", "Scope"),
        heading("Heading1", "Valves"),
        heading("Heading2", "Relief"),
        item(2, "open"),
        item(2, "close"),
        item(3, "again"),
        item(3, "on"),
        item(0, "plain"),
        heading("Heading2", "Control"),
        heading("Heading1", "Pumps"),
        heading("Heading2", "Seals"),
    ];
    assert_text(
        "a.docx",
        &numbered(&body.concat()),
        "1 Scope\n\n2 Valves\n\n2.1 Relief\na) open\nb) close\nc) again\nd) on\nplain\n\n2.2 Control\n\n3 Pumps\n\n3.1 Seals",
    );
}

#[test]
fn word_comments_and_charts_follow_the_text() {
    let document = "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>text</w:t></w:r></w:p></w:body></w:document>";
    let comments = "<w:comments><w:comment><w:p><w:r><w:t>is this right?</w:t></w:r></w:p></w:comment></w:comments>";
    let targets = relationships(&[("r1", "chart", "charts/chart1.xml")]);
    let files = [
        ("word/document.xml", document),
        ("word/comments.xml", comments),
        ("word/_rels/document.xml.rels", &targets),
        ("word/charts/chart1.xml", CHART),
    ];
    let bytes = archive(&files.map(|(name, text)| (name, text.as_bytes())));
    assert_text("a.docx", &bytes, "text\n\nis this right?\n\nSet pressures\nPSV\t\nUnit 1\tUnit 2\t\n38.5\t40");
}

#[test]
fn a_broken_optional_part_is_ignored() {
    let document = "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>text</w:t></w:r></w:p></w:body></w:document>";
    let files = [
        ("word/document.xml", document),
        ("word/numbering.xml", "<w:numbering><w:num"),
        ("word/_rels/document.xml.rels", &relationships(&[("r1", "chart", "charts/chart1.xml")])),
        ("word/charts/chart1.xml", "<c:chart><a:p><a:t>Set</a:t></a:p><c:v>"),
    ];
    let bytes = archive(&files.map(|(name, text)| (name, text.as_bytes())));
    let extracted = assert_text("a.docx", &bytes, "text\n\nSet");
    let warning = "the list definitions are damaged: paragraph numbers are missing";
    assert_eq!(extracted.warnings, [warning, "word/charts/chart1.xml is damaged; part of its text is missing"]);
}

const CHART: &str = "<c:chart><c:title><a:p><a:r><a:t>Set pressures</a:t></a:r></a:p></c:title><c:ser>\
    <c:tx><c:strCache><c:pt><c:v>PSV</c:v></c:pt></c:strCache></c:tx>\
    <c:cat><c:strCache><c:pt><c:v>Unit 1</c:v></c:pt><c:pt><c:v>Unit 2</c:v></c:pt></c:strCache></c:cat>\
    <c:val><c:numCache><c:pt><c:v>38.5</c:v></c:pt><c:pt><c:v>40</c:v></c:pt></c:numCache></c:val></c:ser></c:chart>";

#[test]
fn hidden_sheets_and_slides_cause_a_warning() {
    let extracted = extract_named("a.xlsx", &workbook_in_state("<row><c><v>1</v></c></row>", "hidden")).unwrap();
    assert!(extracted.text.starts_with('1'), "{extracted:?}");
    assert_eq!(extracted.warnings, ["the sheet S is hidden in the workbook"]);
    let presentation = format!(
        "<p:presentation xmlns:r='{RELATIONSHIP_NAMESPACE}'><p:sldIdLst><p:sldId r:id='r1'/></p:sldIdLst></p:presentation>"
    );
    let bytes = archive(&[
        ("ppt/presentation.xml", presentation.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", relationships(&[("r1", "slide", "slides/slide1.xml")]).as_bytes()),
        ("ppt/slides/slide1.xml", b"<p:sld show='0'><a:p><a:r><a:t>Slide</a:t></a:r></a:p></p:sld>"),
    ]);
    assert_eq!(assert_text("a.pptx", &bytes, "Slide").warnings, ["the slide 1 is hidden in the presentation"]);
}

/// A book with two documents in folders, whose names contain spaces, and files of its package.
fn book(files: &[(&str, &str)]) -> Vec<u8> {
    let container = "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>";
    let package = "<package><metadata><dc:title>Pumps</dc:title></metadata><manifest>\
                   <item id='a' href='text/part%201.xhtml' media-type='application/xhtml+xml'/>\
                   <item id='b' href='../end.xhtml#start' media-type='application/xhtml+xml'/>\
                   <item id='c' href='cover.svg' media-type='image/svg+xml'/></manifest>\
                   <spine><itemref idref='c'/><itemref idref='b'/><itemref idref='a'/><itemref idref='b'/></spine></package>";
    let own = [("mimetype", "application/epub+zip"), ("META-INF/container.xml", container), ("OPS/book.opf", package)];
    let files: Vec<(&str, &[u8])> = own.iter().chain(files).map(|(name, text)| (*name, text.as_bytes())).collect();
    archive(&files)
}

#[test]
fn documents_of_a_book_are_read_in_its_order() {
    let (first, end) = (("OPS/text/part 1.xhtml", "<html><title>x</title><p>P-101"), ("end.xhtml", "<html><p>V-201"));
    let extracted = assert_text("a.epub", &book(&[first, end]), "V-201\n\nP-101");
    assert_eq!(extracted.title.as_deref(), Some("Pumps"));
    assert_eq!(extracted.pages.iter().map(|page| page.label.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    let extracted = assert_text("a.epub", &book(&[first]), "P-101");
    assert_eq!(extracted.warnings, ["the document end.xhtml is missing from the book"]);
    let encryption = "<encryption><EncryptedData><CipherData><CipherReference URI='OPS/text/part%201.xhtml'/></CipherData>\
                      </EncryptedData></encryption>";
    let bytes = book(&[first, end, ("META-INF/encryption.xml", encryption)]);
    assert_rejected("a.epub", &bytes, ErrorCode::EncryptedDocument);
}

/// Twice the package document would exceed the limit for the unpacked size of a book.
#[test]
fn the_package_document_of_a_book_is_read_once() {
    let padding = " ".repeat(1 << 20);
    let package = format!(
        "<package>{padding}<metadata><dc:title>Pumps</dc:title></metadata>\
         <manifest><item id='a' href='a.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>"
    );
    let files = [
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", "<container><rootfiles><rootfile full-path='book.opf'/></rootfiles></container>"),
        ("book.opf", &package),
        ("a.xhtml", "<html><p>P-101"),
    ];
    let bytes = archive(&files.map(|(name, text)| (name, text.as_bytes())));
    let options = Options { max_unpacked_size: 3 << 19, ..Options::default() };
    let upload = Upload { bytes: &bytes, name: Some("a.epub"), media_type: None };
    let extracted = extract_in_process(&upload, &options).unwrap();
    assert_eq!((extracted.title.as_deref(), extracted.text.as_str()), (Some("Pumps"), "P-101"));
}

#[test]
fn slide_charts_are_extracted() {
    let presentation = format!(
        "<p:presentation xmlns:r='{RELATIONSHIP_NAMESPACE}'><p:sldIdLst><p:sldId r:id='r1'/></p:sldIdLst></p:presentation>"
    );
    let files = [
        ("ppt/presentation.xml", presentation.as_str()),
        ("ppt/_rels/presentation.xml.rels", &relationships(&[("r1", "slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", "<p:sld><a:p><a:r><a:t>Slide</a:t></a:r></a:p></p:sld>"),
        ("ppt/slides/_rels/slide1.xml.rels", &relationships(&[("r1", "chart", "../charts/chart1.xml")])),
        ("ppt/charts/chart1.xml", CHART),
    ];
    let bytes = archive(&files.map(|(name, text)| (name, text.as_bytes())));
    assert_text("a.pptx", &bytes, "Slide\n\nSet pressures\nPSV\t\nUnit 1\tUnit 2\t\n38.5\t40");
}

/// A workbook with number formats, a comment and a text box.
fn workbook(sheet: &str) -> Vec<u8> {
    workbook_in_state(sheet, "visible")
}

fn workbook_in_state(sheet: &str, state: &str) -> Vec<u8> {
    let codes = [(164, "0.0%"), (165, "00000"), (166, "0 &quot;barg&quot;"), (167, "yyyy\\-mm\\-dd hh:mm")];
    let formats: String =
        codes.iter().map(|(id, code)| format!("<numFmt numFmtId='{id}' formatCode='{code}'/>")).collect();
    let styles: String = [0, 164, 165, 166, 167].iter().map(|id| format!("<xf numFmtId='{id}'/>")).collect();
    let styles = format!("<styleSheet><numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>");
    let book = format!(
        "<workbook xmlns:r='{RELATIONSHIP_NAMESPACE}'><sheets><sheet name='S' sheetId='1' state='{state}' r:id='r1'/></sheets></workbook>"
    );
    let files = [
        ("_rels/.rels", relationships(&[("r", "officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", book),
        (
            "xl/_rels/workbook.xml.rels",
            relationships(&[("r1", "worksheet", "worksheets/sheet1.xml"), ("r2", "styles", "styles.xml")]),
        ),
        ("xl/styles.xml", styles),
        ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{sheet}</sheetData></worksheet>")),
        (
            "xl/worksheets/_rels/sheet1.xml.rels",
            relationships(&[("r1", "comments", "../comments1.xml"), ("r2", "drawing", "../drawings/drawing1.xml")]),
        ),
        (
            "xl/comments1.xml",
            "<comments><comment ref='B2'><text><r><t>by test</t></r></text></comment></comments>".into(),
        ),
        ("xl/drawings/drawing1.xml", "<xdr:wsDr><a:p><a:r><a:t>note</a:t></a:r></a:p></xdr:wsDr>".into()),
    ];
    archive(&files.each_ref().map(|(name, text)| (*name, text.as_bytes())))
}

#[test]
fn numbers_are_formatted_as_displayed() {
    let cells = [("1", "0.125"), ("2", "42"), ("3", "12"), ("0", "0.30000000000000004"), ("4", "45351.99999999")];
    let row: String = cells.iter().map(|(style, value)| format!("<c s='{style}'><v>{value}</v></c>")).collect();
    let extracted = assert_text(
        "a.xlsx",
        &workbook(&format!("<row>{row}</row>")),
        "12.5%\t00042\t12 barg\t0.3\t2024-03-01\n\nB2: by test\n\nnote",
    );
    assert!(extracted.warnings.is_empty(), "{:?}", extracted.warnings);
}

#[test]
fn formulas_without_a_value_cause_a_warning() {
    let row = "<row><c><f>1+1</f></c><c><f>1+1</f><v></v></c><c><f>1+1</f><v/></c><c><f>1+1</f><v>2</v></c></row>";
    let extracted = assert_text("a.xlsx", &workbook(row), "2\n\nB2: by test\n\nnote");
    assert_eq!(
        extracted.warnings,
        ["3 formulas have no cached value; open and save the file in a spreadsheet program to add them"]
    );
}
