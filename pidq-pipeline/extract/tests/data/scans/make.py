"""Creates pages without text: `make.py DIR` writes them there with the texts that they show.

Needs pillow, fonttools, and the fonts Liberation and DejaVu. The texts are those of the plant corpus of `pidq-text`; the pages
are black and white with 200 pixels per inch, as those of an office scanner. The results are committed.
"""

import json
import sys
import textwrap
from pathlib import Path

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

OUT = Path(sys.argv[1])
CORPUS = Path(__file__).parents[4] / "text/tests/data/plant_corpus/corpus.jsonl"
TEXTS = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
FONTS = Path("/usr/share/fonts/truetype")
SANS, SERIF = FONTS / "liberation/LiberationSans-Regular.ttf", FONTS / "liberation/LiberationSerif-Regular.ttf"
MONO = FONTS / "dejavu/DejaVuSansMono.ttf"
RESOLUTION = 200
A4 = (1654, 2339)


def page(font, points, width, texts, tilt=0.0):
    """Returns an image of a page and its lines."""
    face = ImageFont.truetype(str(font), round(points * RESOLUTION / 72))
    image = Image.new("L", A4, 255)
    draw = ImageDraw.Draw(image)
    lines = []
    top = 150
    for text in texts:
        for line in [text["title"], *textwrap.wrap(text["text"], width)]:
            draw.text((150, top), line, font=face, fill=0)
            lines.append(line)
            top += round(points * 1.4 * RESOLUTION / 72)
        top += 20
    assert top < A4[1]
    if tilt:
        image = image.rotate(tilt, fillcolor=255, resample=Image.Resampling.BICUBIC)
    return image.point(lambda value: 255 if value > 140 else 0).convert("1"), lines


def save(name, pages, **options):
    images = [image for image, _ in pages]
    images[0].save(OUT / name, save_all=len(images) > 1, append_images=images[1:], **options)
    expected = {"pages": ["\n".join(lines) for _, lines in pages]}
    (OUT / f"{name}.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def scans():
    pages = [
        page(SANS, 10, 90, TEXTS[0:9]),
        page(SERIF, 10, 95, TEXTS[20:29]),
        page(MONO, 9, 76, TEXTS[40:48]),
        page(SANS, 8, 110, TEXTS[60:72]),
        page(SERIF, 12, 80, TEXTS[80:87], tilt=0.6),
        page(SANS, 11, 85, TEXTS[100:107], tilt=-0.4),
    ]
    save("manual.pdf", pages, resolution=RESOLUTION)
    save("page.png", pages[:1], dpi=(RESOLUTION, RESOLUTION))
    save("pages.tif", pages[:2], dpi=(RESOLUTION, RESOLUTION), compression="group4")


class Outline(BasePen):
    """Collects the outline of a glyph as operators of PDF."""

    def __init__(self, glyphs):
        super().__init__(glyphs)
        self.operators = []

    def _moveTo(self, point):
        self.operators.append("%.0f %.0f m" % point)

    def _lineTo(self, point):
        self.operators.append("%.0f %.0f l" % point)

    def _curveToOne(self, first, second, point):
        self.operators.append("%.0f %.0f %.0f %.0f %.0f %.0f c" % (*first, *second, *point))

    def _closePath(self):
        self.operators.append("h")


FACE = TTFont(SANS)
GLYPHS, NAMES, UNITS = FACE.getGlyphSet(), FACE.getBestCmap(), FACE["head"].unitsPerEm


def outlines(left, base, points, text):
    """Returns a text as paths."""
    scale = points / UNITS
    parts = [f"q {scale:.5f} 0 0 {scale:.5f} {left} {base} cm"]
    advance = 0
    for character in text:
        glyph = GLYPHS[NAMES[ord(character)]]
        pen = Outline(GLYPHS)
        glyph.draw(pen)
        if pen.operators:
            parts.append(f"q 1 0 0 1 {advance} 0 cm {' '.join(pen.operators)} f Q")
        advance += glyph.width
    return "\n".join([*parts, "Q"])


def drawing():
    """Writes an A3 drawing in the manner of a CAD program: all letters are paths."""
    parts, tags = ["0.7 w"], []

    def add(left, base, points, text):
        parts.append(outlines(left, base, points, text))
        tags.append(text)

    for row in range(5):
        for column in range(6):
            left, base = 100 + column * 170, 160 + row * 125
            number = 100 * (row + 1) + column
            if (row + column) % 3:
                parts.append(f"{left - 24} {base - 12} 48 24 re S")
                add(left - 18, base + 18, 8, f"{'PVE'[column % 3]}-{number}{'AB'[row % 2]}")
            else:
                parts.append(f"{left - 24} {base} m {left} {base + 24} l {left + 24} {base} l {left} {base - 24} l h S")
                add(left - 18, base + 28, 8, f"PSV-{number}")
            parts.append(f"{left + 26} {base} m {left + 144} {base} l S")
            add(left + 48, base + 4, 8, f'{2 + column}"-P-{1000 + number}-A1B')
    parts.append("900 20 270 90 re S")
    add(910, 88, 10, "UNIT 20 INLET SEPARATION")
    add(910, 58, 10, "DRAWING 20-PID-0001 REV C")
    write_pdf("drawing.pdf", 1191, 842, "\n".join(parts).encode())
    expected = {"tags": [word for tag in tags for word in tag.split()]}
    (OUT / "drawing.pdf.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


def write_pdf(name, width, height, content):
    import zlib

    content = zlib.compress(content, 9)
    page_object = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R /Resources << >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page_object.encode(),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(content) + content + b"\nendstream",
    ]
    written, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(written))
        written += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(written))
    (OUT / name).write_bytes(written + end + trailer)


scans()
drawing()
