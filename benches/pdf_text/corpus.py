#!/usr/bin/env python3
"""Corpus of PDF documents with a known reading order.

    python3 corpus.py FOLDER [COUNT]

Writes COUNT documents (default 8) of each kind, `KIND-NUMBER.pdf` with the expected text in `KIND-NUMBER.json`: a list of
flows, each a list of words in reading order. Text that belongs together in reading (the body, a footnote, a running header)
is one flow; the order of the flows among each other is not measured.

Kinds `latex-*` need pdflatex, kinds `html-*` need Chromium, and kinds `drawn-*` need the Python package reportlab. Missing
programs are printed and their kinds left out. The same number always gives the same text.
"""

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = """absorber actuator additional adjacent agitator alarm alternative ambient analysis applicable approved assembly
atmospheric automatic auxiliary barrel bearing before bellows between blanket blowdown boiler bottom bypass calculated
calibration capacity catalyst cavitation centrifugal certified characteristic check chemical circulation classification clean
closed coefficient column combustion commissioning compressor condenser conductivity configuration connection consequence
continuous control conveyor cooling corrosion coupling critical cylinder damper decrease defined deflection delivery density
depressurization design detector deviation diaphragm differential dimension discharge distillation distribution documentation
drainage drum economizer efficiency efflux ejector electrical emergency emission enclosure engineering equipment evaporator
exchanger exhaust expansion external failure fallback feedwater field filter final finish fitting flange flexible float
flow flushing frequency fuel furnace gasket gauge generator gradient handwheel hazard header heater horizontal humidity
hydraulic identification ignition impeller independent indicator inflow inhibitor initial inlet inspection installation
instrument insulation integrity interlock intermediate internal isolation jacket junction laboratory lagging leakage level
limiting liquid loading location lubrication maintenance manifold manual manufacturer material maximum measurement mechanical
membrane minimum mixture moderate module moisture monitor motor nameplate negative nitrogen nominal nozzle obstruction offset
operation orifice outlet overflow overpressure oxygen packing parallel permissible pipeline piping piston pneumatic position
positive precaution preliminary pressure prevention primary procedure process protection provision pump purge qualified
quantity reactor reboiler receiver recirculation recommended record reduction reference reflux refrigerant regulator relief
remote replacement requirement reservoir residue resistance responsible restriction return rotation rupture safety sample
saturated schedule scrubber sealing secondary section sediment selection sensor separator sequence service settling shaft
shutdown signal silencer simplified skirt solenoid solution solvent specification spindle stability standard startup static
stationary steam storage strainer strength structure suction supply support surface surge suspension switch system tank
temperature tensile terminal testing thermal threshold throttle tolerance transfer transmitter treatment tubing turbine
turbulent typical ultimate underground uniform upstream vacuum valve vapor variable velocity ventilation verification vertical
vessel vibration viscosity volume warning water welding withdrawal""".split()


class Text:
    """Source of random words, and the flows written so far."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.flows = [[]]

    def words(self, count):
        return [self.random.choice(WORDS) for _ in range(count)]

    def sentence(self, count=None):
        words = self.words(count or self.random.randint(7, 22))
        words[0] = words[0].capitalize()
        if self.random.random() < 0.3:
            words[len(words) // 2] = f"{self.random.choice('PTFLXQ')}{self.random.choice('VTIC')}-{self.random.randint(100, 9999)}"
        if self.random.random() < 0.3:
            words.insert(len(words) // 2, f"{self.random.randint(1, 999)}.{self.random.randint(0, 9)}")
        words[-1] += "."
        return words

    def add(self, words, flow=0):
        """Adds words to a flow and returns them as text."""
        while len(self.flows) <= flow:
            self.flows.append([])
        self.flows[flow].extend(words)
        return " ".join(words)

    def own(self, words):
        """Adds a flow of its own and returns its text."""
        self.flows.append(list(words))
        return " ".join(words)

    def paragraph(self, flow=0):
        return self.add([word for _ in range(self.random.randint(2, 6)) for word in self.sentence()], flow)

    def heading(self, number, flow=0):
        return self.add([str(number), *[word.capitalize() for word in self.words(3)]], flow)


# --- HTML, printed by Chromium ---

STYLE = """@page { size: A4; margin: 18mm 16mm 20mm } body { font: 10pt/1.3 'DejaVu Serif', serif; margin: 0; text-align: justify }
table { border-collapse: collapse; width: 100%; text-align: left } td, th { border: 1px solid #444; padding: 2px 5px; vertical-align: top }
h2 { font-size: 12pt; margin: 8pt 0 4pt } p { margin: 0 0 5pt }"""


def html_paragraphs(text, sections, flow=0):
    body = ""
    for number in range(1, sections + 1):
        body += f"<h2>{text.heading(number, flow)}</h2>"
        body += "".join(f"<p>{text.paragraph(flow)}</p>" for _ in range(3))
    return body


def html_plain(text):
    return html_paragraphs(text, 5), ""


def html_two_columns(text):
    return f"<div class=c>{html_paragraphs(text, 9)}</div>", ".c { column-count: 2; column-gap: 7mm; column-fill: auto }"


def html_three_columns(text):
    body = f"<div class=c>{html_paragraphs(text, 9)}</div>"
    return body, "body { font-size: 8pt } .c { column-count: 3; column-gap: 5mm; column-fill: balance }"


def html_mixed_widths(text):
    title = f"<h1>{text.add([word.capitalize() for word in text.words(8)])}</h1><p>{text.paragraph()}</p>"
    first = f"<div class=c>{html_paragraphs(text, 2)}</div>"
    middle = f"<h2>{text.heading(3)}</h2><p>{text.paragraph()}</p>"
    return title + first + middle + f"<div class=c>{html_paragraphs(text, 3)}</div>", ".c { column-count: 2; column-gap: 6mm }"


def html_table(text, columns=4, rows=14, style="", cell_words=(1, 9)):
    body = f"<p>{text.paragraph()}</p><table>"
    body += "<tr>" + "".join(f"<th>{text.add(text.words(2))}</th>" for _ in range(columns)) + "</tr>"
    for row in range(rows):
        cells = [text.add([f"V-{text.random.randint(100, 9999)}"])]
        cells += [text.add(text.words(text.random.randint(*cell_words))) for _ in range(columns - 1)]
        body += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    return body + f"</table><p>{text.paragraph()}</p>", style


def html_table_many_lines(text):
    return html_table(text, 4, 10, "", (4, 24))


def html_table_without_lines(text):
    return html_table(text, 5, 18, "td, th { border: none; padding: 3px 10px }", (1, 2))


def html_table_without_lines_wrapped(text):
    return html_table(text, 3, 12, "td, th { border: none; padding: 5px 12px }", (3, 16))


def html_headers_and_footers(text):
    header = text.own(["Operating", "Manual", "Unit", "4711"])
    footer = text.own(["Document", "PM-2201", "Revision", "C"])
    style = """@page { margin: 0 } thead td, tfoot td, tbody td { border: none; padding: 0 16mm } .h { height: 20mm } .f { height: 18mm }
    .H, .F { position: fixed; left: 16mm; right: 16mm; font-size: 8pt } .H { top: 9mm } .F { bottom: 8mm }"""
    body = f"<div class=H>{header}</div><div class=F>{footer}</div>"
    body += f"<table><thead><tr><td class=h></td></tr></thead><tbody><tr><td>{html_paragraphs(text, 8)}</td></tr></tbody>"
    return body + "<tfoot><tr><td class=f></td></tr></tfoot></table>", style


def html_side_notes(text):
    body = ""
    for number in range(1, 7):
        note = text.own(text.sentence(9))
        body += f"<h2>{text.heading(number)}</h2><aside>{note}</aside><p>{text.paragraph()}</p><p>{text.paragraph()}</p>"
    style = "body { margin-left: 45mm } aside { float: left; width: 36mm; margin-left: -45mm; font-size: 8pt; text-align: left }"
    return body, style


def html_hyphens(text):
    def soft(words):
        return " ".join(f"{word[:len(word) // 2]}&shy;{word[len(word) // 2:]}" if len(word) > 7 and word.isalpha() else word
                        for word in words.split(" "))
    paragraphs = "".join(f"<p>{soft(text.paragraph())}</p>" for _ in range(18))
    return f"<div class=c>{paragraphs}</div>", ".c { column-count: 3; column-gap: 5mm }"


def html_form(text):
    rows = ""
    for _ in range(22):
        pairs = [(text.add(text.words(2)), text.add([f"{text.random.randint(1, 900)}", text.random.choice(["bar", "kg/h", "mm"])]))
                 for _ in range(2)]
        rows += "<div class=r>" + "".join(f"<b>{label}</b><span>{value}</span>" for label, value in pairs) + "</div>"
    return rows, ".r { display: grid; grid-template-columns: 3fr 2fr 3fr 2fr; column-gap: 8mm; margin: 2mm 0; text-align: left }"


def html_cards(text):
    cards = "".join(f"<div class=k><b>{text.own(text.words(3) + text.sentence(34))}</b></div>" for _ in range(8))
    body = f"<p>{text.paragraph()}</p><div class=g>{cards}</div>"
    return body, ".g { display: grid; grid-template-columns: 1fr 1fr; gap: 8mm } .k { text-align: left; border: 1px solid } b { font-weight: 400 }"


def html_landscape(text):
    body, _ = html_table(text, 6, 12, "", (2, 8))
    return body, "@page { size: A4 landscape }"


HTML = {
    "html-plain": html_plain, "html-two-columns": html_two_columns, "html-three-columns": html_three_columns,
    "html-mixed-widths": html_mixed_widths, "html-table": html_table, "html-table-many-lines": html_table_many_lines,
    "html-table-without-lines": html_table_without_lines,
    "html-table-without-lines-wrapped": html_table_without_lines_wrapped,
    "html-headers-and-footers": html_headers_and_footers, "html-side-notes": html_side_notes, "html-hyphens": html_hyphens,
    "html-form": html_form, "html-cards": html_cards, "html-landscape": html_landscape,
}


def print_html(make, text, path):
    body, style = make(text)
    page = f"<!doctype html><meta charset=utf-8><title>Test</title><style>{STYLE} {style}</style>{body}"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.html")
        source.write_text(page)
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
                        f"--user-data-dir={folder}/profile", f"--print-to-pdf={path}", source.as_uri()],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)


# --- LaTeX ---

def latex_sections(text, count, footnotes=False):
    body = ""
    for _ in range(count):
        number = body.count("\\section") + 1
        body += f"\\section{{{text.heading(number)[len(str(number)) + 1:]}}}\n"
        for _ in range(3):
            paragraph = text.paragraph()
            if footnotes and text.random.random() < 0.4:
                note = text.own(text.sentence(12))
                paragraph += f"\\footnote{{{note}}}"
            body += paragraph + "\n\n"
    return body


def latex_article(text):
    return "\\documentclass{article}", latex_sections(text, 4)


def latex_two_columns(text):
    return "\\documentclass[twocolumn]{article}", latex_sections(text, 9)


def latex_title_and_columns(text):
    title, author = text.own([word.capitalize() for word in text.words(9)]), text.own(["Ada", "Engineer"])
    return "\\documentclass[twocolumn]{article}", f"\\title{{{title}}}\\author{{{author}}}\\date{{}}\\maketitle\n" + latex_sections(text, 6)


def latex_footnotes(text):
    return "\\documentclass[twocolumn]{article}", latex_sections(text, 7, footnotes=True)


def latex_running_headers(text):
    text.own(["Safety", "Manual"])
    head = "\\documentclass[twoside,twocolumn]{article}\\pagestyle{myheadings}\\markboth{Safety Manual}{Safety Manual}"
    return head, latex_sections(text, 9)


def latex_three_columns(text):
    head = "\\documentclass[9pt]{article}\\usepackage[margin=2cm]{geometry}\\usepackage{multicol}"
    return head, "\\begin{multicols}{3}" + latex_sections(text, 8) + "\\end{multicols}"


def latex_table(text, spec="llll", cell=lambda text: text.words(text.random.randint(1, 2)), rows=16):
    columns = 4
    lines = []
    for row in range(rows):
        cells = [text.add(cell(text)) for _ in range(columns)]
        lines.append(" & ".join(cells) + " \\\\")
    table = f"\\noindent\\begin{{tabular}}{{{spec}}}\\hline\n" + "\n".join(lines) + "\\hline\\end{tabular}\n\n"
    return "\\documentclass{article}\\usepackage[margin=2cm]{geometry}\\usepackage{array}", table + text.paragraph()


def latex_table_many_lines(text):
    spec = ">{\\raggedright}p{2cm}" + ">{\\raggedright}p{4.2cm}" * 2 + ">{\\raggedright\\arraybackslash}p{4.2cm}"
    return latex_table(text, spec, lambda text: text.words(text.random.randint(1, 14)), 12)


def latex_items(text):
    body = ""
    for _ in range(6):
        body += text.paragraph() + "\n\\begin{itemize}\n"
        for _ in range(4):
            body += f"\\item[{text.add(['--'])}] {text.add(text.sentence())}\n"
        body += "\\end{itemize}\n"
    return "\\documentclass[twocolumn]{article}", body


def latex_sideways(text):
    head = "\\documentclass{article}\\usepackage[margin=2cm]{geometry}\\usepackage{graphicx}"
    lines = []
    for _ in range(12):
        lines.append(" & ".join(text.add(text.words(2)) for _ in range(5)) + " \\\\")
    table = "\\begin{tabular}{lllll}" + "\n".join(lines) + "\\end{tabular}"
    return head, f"\\noindent\\rotatebox{{90}}{{\\parbox{{22cm}}{{{table}\n\n{text.paragraph()}\n\n{text.paragraph()}}}}}"


LATEX = {
    "latex-article": latex_article, "latex-two-columns": latex_two_columns, "latex-title-and-columns": latex_title_and_columns,
    "latex-footnotes": latex_footnotes, "latex-running-headers": latex_running_headers,
    "latex-three-columns": latex_three_columns, "latex-table": latex_table, "latex-table-many-lines": latex_table_many_lines,
    "latex-items": latex_items, "latex-sideways": latex_sideways,
}


def print_latex(make, text, path):
    head, body = make(text)
    with tempfile.TemporaryDirectory() as folder:
        source = head + "\\begin{document}\n" + body + "\\end{document}\n"
        Path(folder, "page.tex").write_text(source)
        subprocess.run(["pdflatex", "-interaction=batchmode", "page.tex"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        shutil.move(Path(folder, "page.pdf"), path)


# --- Drawn word by word with reportlab, in an order that is not the reading order ---

def drawn_columns(text, pen, columns=2):
    """Columns drawn line by line across the page, as by a printer driver."""
    width, gap = 595 - 100, 18
    column_width = (width - gap * (columns - 1)) / columns
    lines = []
    for column in range(columns):
        left, y = 50 + column * (column_width + gap), 780
        while y > 60:
            words, used = [], 0.0
            while True:
                word = text.random.choice(WORDS)
                size = pen.stringWidth(word + " ", "Times-Roman", 10)
                if used + size > column_width:
                    break
                words.append(word)
                used += size
            text.add(words)
            lines.append((y, left, words))
            y -= 12 if text.random.random() < 0.85 else 20
    pen.setFont("Times-Roman", 10)
    for y, left, words in sorted(lines, key=lambda line: (-line[0], line[1])):
        pen.drawString(left, y, " ".join(words))
    pen.showPage()


def drawn_three_columns(text, pen):
    drawn_columns(text, pen, 3)


def drawn_words(text, pen):
    """Single words without space characters, drawn in a random order."""
    words, y = [], 780
    while y > 60:
        left = 50.0
        line = []
        while left < 480:
            word = text.random.choice(WORDS)
            line.append(word)
            words.append((left, y, word))
            left += pen.stringWidth(word, "Helvetica", 10) + 2.8
        text.add(line)
        y -= 13
    text.random.shuffle(words)
    pen.setFont("Helvetica", 10)
    for left, y, word in words:
        pen.drawString(left, y, word)
    pen.showPage()


def drawn_letters(text, pen):
    """Letters placed one by one, as by some CAD programs."""
    y = 780
    pen.setFont("Helvetica", 9)
    while y > 60:
        words = text.words(9)
        left = 40.0
        for letter in text.add(words):
            if letter != " ":
                pen.drawString(left, y, letter)
            left += pen.stringWidth(letter, "Helvetica", 9)
        y -= 12
    pen.showPage()


def drawn_rotated_page(text, pen):
    """A landscape page whose content is turned and turned back by the page's rotation."""
    pen.setPageRotation(90)
    pen.saveState()
    pen.translate(595, 0)
    pen.rotate(90)
    pen.setFont("Helvetica", 10)
    for y in range(540, 60, -14):
        pen.drawString(50, y, text.add(text.words(12)))
    pen.restoreState()
    pen.showPage()


DRAWN = {
    "drawn-two-columns": drawn_columns, "drawn-three-columns": drawn_three_columns, "drawn-words": drawn_words,
    "drawn-letters": drawn_letters, "drawn-rotated-page": drawn_rotated_page,
}


def draw(make, text, path):
    from reportlab.pdfgen.canvas import Canvas
    pen = Canvas(str(path), pagesize=(595, 842))
    make(text, pen)
    pen.save()


def main():
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8
    folder.mkdir(parents=True, exist_ok=True)
    for kinds, write, needed in [(DRAWN, draw, None), (LATEX, print_latex, "pdflatex"), (HTML, print_html, "chromium")]:
        if needed and not shutil.which(needed):
            print(f"left out: {', '.join(kinds)}; there is no {needed}")
            continue
        for kind, make in kinds.items():
            for number in range(count):
                text = Text(f"{kind} {number}")
                write(make, text, folder / f"{kind}-{number}.pdf")
                flows = [flow for flow in text.flows if flow]
                (folder / f"{kind}-{number}.json").write_text(json.dumps(flows))


if __name__ == "__main__":
    main()
