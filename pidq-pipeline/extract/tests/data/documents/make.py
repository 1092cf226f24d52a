"""Creates documents with third-party software: `make.py DIR` writes them there with their expected texts.

`NAME.expected.json` is `{"pages": [text, ...], "labels": [...], "title": ...}`; blanks are compared as one.
Needs reportlab, fpdf2, pikepdf, python-docx, openpyxl, python-pptx, odfpy, xlwt, ebooklib,
aspose-email-foss and compressed_rtf. The small ones are committed.
"""

import datetime
import json
import sys
from email.message import EmailMessage
from pathlib import Path

OUT = Path(sys.argv[1])
PAGES = [
    ["Relief valve PSV-2015A", "Set pressure: 38.5 barg. Inspect every 24 months.", "Körper aus Stahl, 80 °C"],
    ["Pump P-101A", "Rated flow 45 m³/h at 170 m head."],
]
TITLE = "Unit 20 manual"


def expect(name, pages, labels=None, title=TITLE):
    labels = labels or [str(number + 1) for number in range(len(pages))]
    text = json.dumps({"pages": pages, "labels": labels, "title": title}, ensure_ascii=False, indent=1)
    (OUT / f"{name}.expected.json").write_text(text + "\n", encoding="utf-8")


def joined(pages):
    return [" ".join(lines) for lines in pages]


def pdf_reportlab():
    from reportlab.pdfgen import canvas

    page = canvas.Canvas(str(OUT / "manual.pdf"), invariant=1)
    page.setTitle(TITLE)
    for lines in PAGES:
        for number, line in enumerate(lines):
            page.drawString(72, 760 - 20 * number, line)
        page.showPage()
    page.save()
    expect("manual.pdf", joined(PAGES))


def pdf_fonts():
    """Writes a PDF with an embedded two-byte font subset and several pages."""
    import reportlab
    from fpdf import FPDF

    page = FPDF()
    page.set_title(TITLE)
    page.add_font("Vera", fname=str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"))
    page.set_font("Vera", size=12)
    for lines in PAGES:
        page.add_page()
        for line in lines:
            page.cell(0, 8, line, new_x="LMARGIN", new_y="NEXT")
    page.output(str(OUT / "subset.pdf"))
    expect("subset.pdf", joined(PAGES))


def pdf_variants():
    import pikepdf

    with pikepdf.open(OUT / "manual.pdf") as source:
        source.save(OUT / "streams.pdf", object_stream_mode=pikepdf.ObjectStreamMode.generate)
        source.save(OUT / "secret.pdf", encryption=pikepdf.Encryption(user="u", owner="o", R=6))
        source.save(OUT / "owner.pdf", encryption=pikepdf.Encryption(user="", owner="o", R=4))
    expect("streams.pdf", joined(PAGES))
    expect("owner.pdf", joined(PAGES))
    with pikepdf.new() as empty:
        empty.add_blank_page()
        empty.save(OUT / "scan.pdf")


def docx():
    import docx

    document = docx.Document()
    document.core_properties.title = TITLE
    for lines in PAGES:
        document.add_heading(lines[0])
        for line in lines[1:]:
            document.add_paragraph(line)
    table = document.add_table(rows=2, cols=2)
    for row, cells in enumerate([["Tag", "DN"], ["HV-101", "150"]]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.save(str(OUT / "manual.docx"))
    expect("manual.docx", [" ".join(joined(PAGES)) + " Tag DN HV-101 150"])


def xlsx():
    import openpyxl

    book = openpyxl.Workbook()
    book.properties.title = TITLE
    valves = book.active
    valves.title = "Valves"
    valves.append(["Tag", "DN", "Kvs", "Tested", "Open"])
    valves.append(["HV-101", 150, 38.5, datetime.date(2026, 11, 21), True])
    valves.append(["CV-102", 80, None, datetime.datetime(2026, 1, 2, 3, 4, 5), False])
    pumps = book.create_sheet("Pumps & more")
    pumps["B2"] = "P-101A"
    pumps["XFD1048576"] = "corner"
    book.save(OUT / "lists.xlsx")
    first = "Tag DN Kvs Tested Open HV-101 150 38.5 2026-11-21 TRUE CV-102 80 2026-01-02 03:04:05 FALSE"
    expect("lists.xlsx", [first, "P-101A corner"], ["Valves", "Pumps & more"])


def xls():
    import xlwt

    book = xlwt.Workbook(encoding="utf-8")
    valves = book.add_sheet("Valves")
    day, minute = xlwt.easyxf(num_format_str="YYYY-MM-DD"), xlwt.easyxf(num_format_str="YYYY-MM-DD HH:MM:SS")
    for column, heading in enumerate(["Tag", "DN", "Kvs", "Tested", "Open"]):
        valves.write(0, column, heading)
    valves.write(1, 0, "HV-101")
    valves.write(1, 1, 150)
    valves.write(1, 2, 38.5)
    valves.write(1, 3, datetime.date(2026, 11, 21), day)
    valves.write(1, 4, True)
    valves.write(2, 0, "Größe €")
    valves.write(2, 3, datetime.datetime(2026, 1, 2, 3, 4, 5), minute)
    formats = [(0.125, "0.0%"), (0.5, "0%"), (42, "00000"), (12, '0 "barg"'), (1234.5, "#,##0.00"), (7, "General")]
    for column, (value, code) in enumerate(formats):
        valves.write(3, column, value, xlwt.easyxf(num_format_str=code))
    pumps = book.add_sheet("Pumps & more")
    pumps.write(0, 0, 0.25, xlwt.easyxf(num_format_str="0.00%"))
    pumps.write(1, 1, "P-101A")
    pumps.write(500, 100, "corner")
    book.save(str(OUT / "lists.xls"))
    first = "Tag DN Kvs Tested Open HV-101 150 38.5 2026-11-21 TRUE Größe € 2026-01-02 03:04:05"
    first += " 12.5% 50% 00042 12 barg 1234.50 7"
    expect("lists.xls", [first, "25.00% P-101A corner"], ["Valves", "Pumps & more"], None)


def epub():
    from ebooklib import epub

    book = epub.EpubBook()
    book.set_title(TITLE)
    chapters = []
    for number, lines in enumerate(PAGES):
        chapter = epub.EpubHtml(title=lines[0], file_name=f"text/part {number}.xhtml")
        chapter.content = f"<h1>{lines[0]}</h1>" + "".join(f"<p>{line}</p>" for line in lines[1:])
        chapters.append(chapter)
        book.add_item(chapter)
    book.add_item(epub.EpubNcx())
    # The reading order differs from that of the files.
    book.spine = chapters[::-1]
    epub.write_epub(str(OUT / "manual.epub"), book)
    expect("manual.epub", joined(PAGES)[::-1])


def pptx():
    import pptx

    show = pptx.Presentation()
    show.core_properties.title = TITLE
    for lines in PAGES:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = lines[0]
        slide.placeholders[1].text = "\n".join(lines[1:])
    show.slides[1].notes_slide.notes_text_frame.text = "Say why there are two."
    # The order of slides differs from that of their files.
    order = show.slides._sldIdLst
    order.insert(0, order[1])
    show.save(str(OUT / "talk.pptx"))
    first, second = joined(PAGES)
    expect("talk.pptx", [second + " Say why there are two.", first])


def ods():
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book = OpenDocumentSpreadsheet()
    table = Table(name="Valves")
    for cells in [["Tag", "DN"], ["HV-101", "150"]]:
        row = TableRow()
        for text in cells:
            cell = TableCell(valuetype="string")
            cell.addElement(P(text=text))
            row.addElement(cell)
        table.addElement(row)
    book.spreadsheet.addElement(table)
    book.save(str(OUT / "lists.ods"))
    expect("lists.ods", ["Tag DN HV-101 150"], ["Valves"], None)


def odt():
    from odf.opendocument import OpenDocumentText
    from odf.text import H, P

    document = OpenDocumentText()
    for lines in PAGES:
        document.text.addElement(H(outlinelevel=1, text=lines[0]))
        for line in lines[1:]:
            document.text.addElement(P(text=line))
    document.save(str(OUT / "manual.odt"))
    expect("manual.odt", [" ".join(joined(PAGES))], None, None)


def mail_of(subject, lines):
    mail = EmailMessage()
    mail["Subject"] = subject
    mail["From"] = "Jürgen Maß <j@example.com>"
    mail["To"] = "a@example.com"
    mail["Date"] = "Sat, 21 Nov 2026 10:00:00 +0100"
    mail.set_content("\n".join(lines) + "\n")
    return mail


def eml():
    mail = mail_of(TITLE, PAGES[0])
    mail.add_alternative("<p>Not this: it is the same in HTML.</p>", subtype="html")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="V-201.pdf")
    (OUT / "question.eml").write_bytes(mail.as_bytes())
    head = f"Subject: {TITLE} From: Jürgen Maß <j@example.com> To: a@example.com Date: 2026-11-21T10:00:00+01:00"
    expect("question.eml", [head + " " + joined(PAGES)[0]])


def eml_with_attachments():
    """Writes an e-mail with files of all kinds: documents, equal names, names of hostile senders, images of the text, other e-mails."""
    png = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082")
    mail = mail_of(TITLE, PAGES[0])
    mail.add_alternative('<p>See <img src="cid:logo@example.com"></p>', subtype="html")
    mail.get_payload()[1].add_related(png, maintype="image", subtype="png", cid="<logo@example.com>", filename="logo.png")
    mail.add_attachment((OUT / "manual.pdf").read_bytes(), maintype="application", subtype="pdf", filename="V-201.pdf")
    mail.add_attachment((OUT / "manual.docx").read_bytes(), maintype="application", subtype="octet-stream", filename="manual.docx")
    mail.add_attachment(png, maintype="image", subtype="png", filename="photo.png", disposition="inline")
    mail.add_attachment((OUT / "manual.pdf").read_bytes(), maintype="application", subtype="pdf", filename="copy.pdf")
    mail.add_attachment("The valve HV-1 is closed.\n", filename="notes.txt")
    mail.add_attachment("The valve HV-2 is open.\n", filename="notes.txt")
    mail.add_attachment("The valve HV-3 is locked.\n", filename="../../etc/passwd")
    mail.add_attachment("The valve HV-4 is removed.\n", filename="a\u202efdp.txt")
    forwarded = mail_of("Förderhöhe", PAGES[1])
    forwarded.add_attachment("The pump P-101A is running.\n", filename="pump.txt")
    mail.add_attachment(forwarded)
    thread = mail_of("Thread", ["The vessel V-301 is empty."])
    thread.add_attachment("The vessel V-302 is full.\n", filename="vessel.txt")
    mail.add_attachment(thread.as_bytes(), maintype="application", subtype="octet-stream", filename="thread.eml")
    mail.add_attachment(b"", maintype="application", subtype="octet-stream", filename="empty.bin")
    mail.add_attachment(b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0", maintype="application", subtype="octet-stream", filename="setup.exe")
    mail.add_attachment(b"\x30\x82\x01\x00", maintype="application", subtype="pkcs7-signature", filename="smime.p7s")
    (OUT / "project.eml").write_bytes(mail.as_bytes())
    head = "From: Jürgen Maß <j@example.com> To: a@example.com Date: 2026-11-21T10:00:00+01:00"
    expect("project.eml", [f"Subject: {TITLE} {head} {joined(PAGES)[0]} Subject: Förderhöhe {head} {joined(PAGES)[1]}"])


def msg():
    """Writes Outlook messages: Unicode with attachments, code page with HTML, and RTF only."""
    import compressed_rtf
    from aspose.email_foss.msg import MapiMessage, PropertyTypeCode

    def head(subject, to="a@example.com"):
        return f"Subject: {subject} From: Jürgen Maß <j@example.com> To: {to} Date: 2026-11-21T09:00:00Z"

    mail = mail_of(TITLE, PAGES[0])
    mail["Cc"] = "Bö <b@example.com>, c@example.com"
    mail.add_alternative("<p>Not this: it is the same in HTML.</p>", subtype="html")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="V-201.pdf")
    mail.add_attachment(mail_of("Förderhöhe", PAGES[1]), filename="Förderhöhe.msg")
    MapiMessage.from_email_message(mail).save(OUT / "question.msg")
    copies = head(TITLE).replace(" Date:", " Cc: Bö <b@example.com>, c@example.com Date:")
    expect("question.msg", [f"{copies} {joined(PAGES)[0]} {head('Förderhöhe')} {joined(PAGES)[1]}"])

    old = MapiMessage.from_email_message(mail_of("Größe €", ["x"]), unicode_strings=False)
    old.body = ""
    old.set_property(0x3FFD, PropertyTypeCode.PTYP_INTEGER32, 1252)
    old.set_property(0x3FDE, PropertyTypeCode.PTYP_INTEGER32, 1252)
    old.set_property(0x1013, PropertyTypeCode.PTYP_BINARY, "<p>Größe 5 €<br>PSV-2015A".encode("cp1252"))
    old.save(OUT / "old.msg")
    expect("old.msg", [f"{head('Größe €')} Größe 5 € PSV-2015A"], None, "Größe €")

    rich = MapiMessage.from_email_message(mail_of(TITLE, ["x"]))
    rich.body = ""
    rtf = rb"{\rtf1\ansi\ansicpg1252 K\'f6rper aus Stahl, \b 38.5 barg\b0 , 38.5 barg, 38.5 barg\par}"
    rich.set_property(0x1009, PropertyTypeCode.PTYP_BINARY, compressed_rtf.compress(rtf))
    rich.save(OUT / "rich.msg")
    expect("rich.msg", [f"{head(TITLE)} Körper aus Stahl, 38.5 barg, 38.5 barg, 38.5 barg"])


def encodings():
    lines = {
        "latin.txt": ("windows-1252", "Die Förderhöhe der Pumpe beträgt 170 m, die größte Menge 45 m³/h. Prüfen!"),
        "russian.txt": ("windows-1251", "Насос перекачивает воду из резервуара в колонну. Давление десять бар."),
        "japanese.txt": ("shift_jis", "ポンプはタンクから水を送ります。圧力は十バールです。安全弁を確認してください。"),
        "jis.txt": ("iso2022_jp", "ポンプはタンクから水を送ります。圧力は十バールです。"),
        "wide.txt": ("utf-16", "Förderhöhe 170 m ポンプ"),
        "wide_without_mark.txt": ("utf-16-le", "Die Förderhöhe der Pumpe"),
        "wider.txt": ("utf-32", "Förderhöhe 😀"),
        "marked.txt": ("utf-8-sig", "Förderhöhe 😀"),
    }
    for name, (encoding, text) in lines.items():
        (OUT / name).write_bytes((text + "\r\n").encode(encoding))
        expect(name, [text], None, None)


for make in [pdf_reportlab, pdf_fonts, pdf_variants, docx, xlsx, xls, epub, pptx, ods, odt, eml, eml_with_attachments, msg, encodings]:
    make()
