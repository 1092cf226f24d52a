"""Checks links: those of Markdown files in the repository, and those of the built site.

    python3 scripts/docs/check_links.py [SITE]

A link to a file needs the file, and one to an anchor the heading. Pages of the site load nothing from other hosts. Needs
no packages.
"""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from slugs import slug

ROOT = Path(__file__).resolve().parents[2]

# A code block or span, which has no links.
CODE = re.compile(r"^( *)```.*?^\1```$|(`+)[^\n]*?\2(?!`)", re.MULTILINE | re.DOTALL)
CODE_BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)

# Attributes that make a browser load something, by element; `a` only links.
LOADING = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
# Relations of `link` elements that load nothing.
NOT_LOADED = {"canonical", "next", "prev", "edit"}
EXTERNAL_IN_CSS = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])(https?:)?//")


def markdown_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True)
    # `manual/` has parts of generated pages, whose links count from the page.
    return [ROOT / name for name in listed.stdout.splitlines() if "/manual/" not in name]


def headings(path):
    """Returns the anchors of a Markdown file; those of repeated headings are numbered."""
    anchors = set()
    for heading in HEADING.findall(CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchor = slug(plain.replace("`", ""))
        number = 0
        while (candidate := f"{anchor}-{number}" if number else anchor) in anchors:
            number += 1
        anchors.add(candidate)
    return anchors


def broken_markdown_links():
    for path in markdown_files():
        for link in MARKDOWN_LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
            target, _, anchor = link.partition("#")
            if urlsplit(link).scheme:
                continue
            file = (path.parent / unquote(target)).resolve() if target else path
            name = path.relative_to(ROOT)
            if not file.exists():
                yield f"{name}: there is no file {link}"
            elif anchor and file.suffix == ".md" and anchor not in headings(file):
                yield f"{name}: there is no heading {link}"


class Page(HTMLParser):
    """Anchors, links and loaded resources of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        loads = tag in LOADING and not NOT_LOADED & set((values.get("rel") or "").split())
        if loads and values.get(LOADING[tag]):
            self.loaded.append(values[LOADING[tag]])


def broken_site_links(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    if not pages:
        yield f"there are no pages in {site}"
    for path, page in pages.items():
        name = path.relative_to(site)
        # Relative to the root of a server, not to the page.
        if name.name == "404.html":
            continue
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{name} loads {link}"
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file = file / "index.html"
            if not file.exists():
                yield f"{name}: there is no file {link}"
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                yield f"{name}: there is no anchor {link}"
    for path in site.rglob("*.css"):
        if EXTERNAL_IN_CSS.search(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads something from another host"


def main(arguments):
    problems = list(broken_markdown_links())
    for site in arguments:
        problems += broken_site_links(Path(site).resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
