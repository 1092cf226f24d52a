"""MkDocs hooks: syntax of queries, pages outside `docs/`, links to files of the repository, and anchors as on GitHub."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File
from pygments.lexers._mapping import LEXERS

from jsonquery_lexer import JsonQueryLexer
from slugs import slug

ROOT = Path(__file__).resolve().parents[2]

# Pages at the root of the repository, and their place in the site. `README.md` would become an index page there.
ROOT_PAGES = {
    "README.md": "project/overview.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}

# A code block or span, which has no links, or the target of a link or an image.
LINK = re.compile(r"^```.*?^```|`[^`\n]+`|(?<=\]\()(?P<target>[^)\s]+)(?=\))", re.MULTILINE | re.DOTALL)

# A link whose text is the file name, as on GitHub.
NAMED_BY_FILE = re.compile(r"\[(?:\.\./|docs/)*[\w-]+\.md\]\((?P<path>[^)#\s]+\.md)(?P<anchor>#[^)\s]*)?\)")

# Registers the lexer as those of Pygments are: module, name, aliases, file names, MIME types.
LEXERS[JsonQueryLexer.__name__] = (JsonQueryLexer.__module__, JsonQueryLexer.name, JsonQueryLexer.aliases, (), ())


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = lambda text, separator: slug(text)
    return config


def on_files(files, config):
    for name, uri in ROOT_PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Rewrites links: files are found relative to the place of the page in the repository, and pages have their title."""
    uri = page.file.src_uri
    source = next((name for name, place in ROOT_PAGES.items() if place == uri), f"docs/{uri}")

    def replace(match):
        target = match["target"]
        if not target or target.startswith(("#", "http://", "https://", "mailto:")):
            return match[0]
        return site_link(source, uri, target, config.extra["repository"])

    def with_title(match):
        heading = (ROOT / posixpath.dirname(source) / match["path"]).read_text(encoding="utf-8").partition("\n")[0]
        return f"[{heading.removeprefix('# ')}]({match['path']}{match['anchor'] or ''})"

    return separate_lists(LINK.sub(replace, NAMED_BY_FILE.sub(with_title, markdown)))


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
