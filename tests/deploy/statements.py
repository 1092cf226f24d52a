"""Statements of the services, read from their source: constants, the macros that compose them, and one that is built at run time.

    python tests/deploy/statements.py platform      prints the statements of a component, one per line
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Sources of the components whose tables are in the database.
SOURCES = {
    "identity": ["pidq-http/src/auth", "pidq-http/src/auth.rs"],
    "platform": ["pidq-pipeline/store/src/store", "pidq-pipeline/store/src/store.rs"],
    "graphs": ["pidq-server/src/store/sql.rs"],
}

STRING = r'r#".*?"#|"(?:[^"\\]|\\.)*"'
COMMENT = re.compile(rf"({STRING})|//[^\n]*", re.S)
MACRO = re.compile(r"macro_rules!\s*(\w+)\s*\{\s*\((.*?)\)\s*=>\s*\{", re.S)
CONSTANT = re.compile(rf"const (\w+): &str =\s*({STRING})|({STRING})", re.S)
CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Statement:
    """SQL statement, and where it is: file and constant."""

    file: str
    name: str
    sql: str

    @property
    def database(self) -> str:
        """Name of the only database for which it is written, or an empty text."""
        if found := re.search(r"SQLITE|POSTGRES", self.name):
            return found[0].lower()
        return "postgres" if re.search(r" for (share|update|no key update)\b", self.sql) else ""

    def __str__(self) -> str:
        return f"{self.file} {self.name or '-'} {self.sql}"


def statements(component: str) -> list[Statement]:
    """Returns the statements of a component, in the order of the source."""
    files = []
    for source in SOURCES[component]:
        path = ROOT / source
        files += sorted(path.rglob("*.rs")) if path.is_dir() else [path]
    return [statement for path in files for statement in read(path)]


def read_list(path: Path) -> list[Statement]:
    """Reads statements as this program prints them."""
    return [Statement(*line.split(" ", 2)) for line in path.read_text().splitlines()]


def read(path: Path) -> list[Statement]:
    text = path.read_text().split("\n#[cfg(test)]\nmod ")[0]
    text = COMMENT.sub(lambda found: found[1] or "", text)
    text = join_literals(expand(text))
    found_statements = []
    for found in CONSTANT.finditer(text):
        sql = " ".join(value(found[2] or found[3]).split())
        # Built for several rows: one row is as good.
        if sql.endswith(" values {}"):
            columns = sql[sql.index("(") + 1 : sql.index(")")].count(",") + 1
            sql = sql.replace("{}", "(" + ", ".join(f"${n}" for n in range(1, columns + 1)) + ")")
        if re.match(r"(select|insert|update|delete|with) ", sql):
            found_statements.append(Statement(path.stem, found[1] or "", sql))
        elif re.search(r"\b(from|where|values) .*\$\d", sql):
            raise ValueError(f"{path}: a part of a statement that was not understood: {sql}")
    return found_statements


def value(literal: str) -> str:
    if literal.startswith("r#"):
        return literal[3:-2]
    return re.sub(r"\\\n\s*", "", literal[1:-1]).replace('\\"', '"').replace("\\\\", "\\")


def end(text: str, start: int) -> int:
    """Returns the position of the bracket that closes the one at `start`."""
    depth, position = 0, start
    while True:
        string = re.compile(STRING, re.S).match(text, position)
        if string:
            position = string.end()
            continue
        depth += (text[position] in CLOSING) - (text[position] in CLOSING.values())
        if depth == 0:
            return position
        position += 1


def split(text: str, separator: str) -> list[str]:
    """Splits at a separator outside of strings and brackets."""
    parts, start, position = [], 0, 0
    while position < len(text):
        string = re.compile(STRING, re.S).match(text, position)
        if string:
            position = string.end()
        elif text[position] in CLOSING:
            position = end(text, position) + 1
        else:
            if text[position] == separator:
                parts.append(text[start:position])
                start = position + 1
            position += 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def expand(text: str) -> str:
    """Expands the macros that the file defines."""
    macros = {}
    while found := MACRO.search(text):
        close = end(text, found.end() - 1)
        macros[found[1]] = (found[2], text[found.end() : close])
        text = text[: found.start()] + text[end(text, text.index("{", found.start())) + 1 :]
    while macros and (found := re.search(rf"\b({'|'.join(macros)})!\s*[(\[{{]", text)):
        close = end(text, found.end() - 1)
        pattern, body = macros[found[1]]
        text = text[: found.start()] + apply(pattern, body, text[found.end() : close]) + text[close + 1 :]
    return text


def apply(pattern: str, body: str, arguments: str) -> str:
    repeated = re.fullmatch(r"\$\((.*)(.)\)\*", pattern.strip(), re.S)
    if repeated:
        row = re.search(r"\$\((.*)\),\*", body, re.S)
        rows = [apply(repeated[1], row[1], part) for part in split(arguments, repeated[2])]
        return body[: row.start()] + ", ".join(rows) + body[row.end() :]
    names, values = re.findall(r"\$(\w+):\w+", pattern), split(arguments, ",")
    if len(names) != len(values):
        raise ValueError(f"macro with {names} called with {values}")
    for name, argument in zip(names, values):
        body = re.sub(rf"\${name}\b", lambda _, argument=argument: argument, body)
    return body


def join_literals(text: str) -> str:
    """Replaces `concat!` of literals by one literal."""
    found = None
    while found := re.search(r"\bconcat!\s*\(", text):
        close = end(text, found.end() - 1)
        inner = join_literals(text[found.end() : close])
        parts = split(inner, ",")
        joined = "".join(re.sub(r"\\\n\s*", "", part[1:-1]) for part in parts)
        text = f'{text[: found.start()]}"{joined}"{text[close + 1 :]}'
    return text


if __name__ == "__main__":
    for statement in statements(sys.argv[1]):
        print(statement)
