#!/usr/bin/env python3
"""Compare a drawing with the picture of another program: the shares of ink that the other one has, too.

Both SVG files are rendered at the same scale and laid over each other. The first share is our ink that lies within a
distance of theirs, the second one theirs within that distance of ours. All texts have one font, since the fonts of the
files are rarely installed. Needs Chromium, and the packages numpy, scipy and pillow.

    pidq draw drawing.xml -o ours.svg
    python3 scripts/compare_drawings.py ours.svg theirs.svg --overlay overlay.png

In the overlay, ink of both is gray, ink of ours alone is red, and ink of theirs alone is blue.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import numpy
from PIL import Image
from scipy.ndimage import distance_transform_edt

Image.MAX_IMAGE_PIXELS = None
# Darkness from which a pixel counts as ink.
INK = 96


def view_box(svg: str) -> list[float]:
    match = re.search(r'viewBox="([^"]+)"', svg)
    if not match:
        raise SystemExit("the SVG file has no viewBox")
    return [float(number) for number in match[1].replace(",", " ").split()]


def render(path: Path, box: list[float], scale: float) -> Image.Image:
    """Renders the part of an SVG file in a box of its own units, with one CSS pixel a unit.

    The scale is that of the device, so that widths of strokes that do not scale are right, too.
    """
    svg = path.read_text(encoding="utf-8")
    svg = re.sub(r'font-family="[^"]*"', 'font-family="Arial"', svg[svg.index("<svg"):])
    left, top, width, height = box
    pixels = round(width), round(height)
    head, body = svg.split(">", 1)
    head = re.sub(r'\s(width|height|viewBox)="[^"]*"', "", head)
    head += f' width="{pixels[0]}" height="{pixels[1]}" viewBox="{left} {top} {width} {height}"'
    with tempfile.TemporaryDirectory() as folder:
        page, image = Path(folder, "page.html"), Path(folder, "page.png")
        page.write_text(
            f'<meta charset="utf-8"><body style="margin:0;background:#fff">{head}>{body}', encoding="utf-8"
        )
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--force-device-scale-factor={scale:g}", f"--window-size={pixels[0]},{pixels[1]}",
             f"--screenshot={image}", page.as_uri()],
            check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )
        return Image.open(image).convert("RGB")


def ink(image: Image.Image) -> numpy.ndarray:
    return numpy.asarray(image).min(axis=2) < 255 - INK


def share(a: numpy.ndarray, b: numpy.ndarray, distance: float) -> float:
    """Returns the share of the ink of one picture that lies within a distance of that of the other."""
    near = distance_transform_edt(~b) <= distance
    return (a & near).sum() / max(a.sum(), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("--scale", type=float, default=10.0, help="pixels per unit of their viewBox (default: 10)")
    parser.add_argument("--distance", type=float, default=0.5, help="tolerance in these units (default: 0.5)")
    parser.add_argument(
        "--region",
        type=float,
        nargs=4,
        metavar=("LEFT", "TOP", "RIGHT", "BOTTOM"),
        help="compare this part only, in these units: such as the inside of a frame that is in no file",
    )
    parser.add_argument("--overlay", type=Path, help="file for a picture of both")
    options = parser.parse_args()
    box = view_box(options.theirs.read_text(encoding="utf-8"))
    ours, theirs = (ink(render(path, box, options.scale)) for path in (options.ours, options.theirs))
    distance = options.distance * options.scale
    if options.region:
        left, top, right, bottom = (
            round((edge - start) * options.scale) for edge, start in zip(options.region, box[:2] * 2, strict=True)
        )
        ours, theirs = (picture[top:bottom, left:right] for picture in (ours, theirs))
    print(f"ours in theirs {share(ours, theirs, distance):.2%}, theirs in ours {share(theirs, ours, distance):.2%}")
    if options.overlay:
        picture = numpy.full((*ours.shape, 3), 255, dtype=numpy.uint8)
        picture[theirs] = (0, 80, 255)
        picture[ours] = (255, 0, 0)
        picture[ours & theirs] = (120, 120, 120)
        Image.fromarray(picture).save(options.overlay)


if __name__ == "__main__":
    main()
