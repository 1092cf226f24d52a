"""MkDocs hooks: pages outside `docs/`, links to files of the repository, and the anchors that GitHub gives headings."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

from slugs import slug

ROOT = Path(__file__).resolve().parents[2]

# Pages at the root of the repository, and their place in the site. `README.md` would become an index page there.
ROOT_PAGES = {
    "README.md": "project/overview.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}

# Pages in the navigation that need not exist.
OPTIONAL_PAGES = ("deploy.md",)

# A code block or span, which has no links, or the target of a link or an image.
LINK = re.compile(r"^```.*?^```|`[^`\n]+`|(?<=\]\()(?P<target>[^)\s]+)(?=\))", re.MULTILINE | re.DOTALL)


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = lambda text, separator: slug(text)
    missing = [page for page in OPTIONAL_PAGES if not (ROOT / "docs" / page).exists()]
    for section in config.nav:
        for pages in section.values():
            pages[:] = [page for page in pages if not set(names(page)) & set(missing)]
    return config


def names(page):
    """Returns the file of a navigation entry, with or without a title."""
    return page.values() if isinstance(page, dict) else [page]


def on_files(files, config):
    for name, uri in ROOT_PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Rewrites links: source files are found relative to their place in the repository."""
    uri = page.file.src_uri
    source = next((name for name, place in ROOT_PAGES.items() if place == uri), f"docs/{uri}")

    def replace(match):
        target = match["target"]
        if not target or target.startswith(("#", "http://", "https://", "mailto:")):
            return match[0]
        return site_link(source, uri, target, config.extra["repository"])

    return separate_lists(LINK.sub(replace, markdown))


def site_link(source, uri, target, repository):
    """Returns a link as the page `uri` of the site has it, for one that the file `source` has."""
    path, hash_sign, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if path in ROOT_PAGES:
        path = ROOT_PAGES[path]
    elif path.startswith("docs/"):
        path = path.removeprefix("docs/")
    elif (ROOT / path).exists():
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{repository}/{kind}/main/{path}{hash_sign}{anchor}"
    return posixpath.relpath(path, posixpath.dirname(uri) or ".") + hash_sign + anchor


def separate_lists(markdown):
    """Adds the blank line before a list that Python-Markdown requires and CommonMark does not."""
    lines = []
    in_code = False
    for line in markdown.split("\n"):
        in_code ^= line.lstrip().startswith("```")
        begins_item = re.match(r"(- |\d+\. )", line)
        previous = lines[-1] if lines else ""
        follows_text = previous and not re.match(r"(- |\d+\. |\s)", previous)
        if begins_item and follows_text and not in_code:
            lines.append("")
        lines.append(line)
    return "\n".join(lines)
