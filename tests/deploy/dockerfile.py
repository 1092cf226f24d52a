"""Parser of the Dockerfile: its stages, and the properties of the image that the last stage describes."""

import json
import re
import shlex
from pathlib import Path


def instructions(path: Path) -> list[tuple[str, str]]:
    """Returns the instructions with their arguments, without comments and line breaks."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    parts = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return [(name.upper(), " ".join(rest[0].split()) if rest else "") for name, *rest in parts]


def stages(path: Path) -> list[list[tuple[str, str]]]:
    """Returns the instructions of each stage; the first list has those before the first stage."""
    result: list[list[tuple[str, str]]] = [[]]
    for name, argument in instructions(path):
        if name == "FROM":
            result.append([])
        result[-1].append((name, argument))
    return result


def last_stage(path: Path) -> str:
    """Returns the text of the last stage, whose image is the one that is published."""
    text = path.read_text()
    return text[text.rindex("\nFROM ") + 1 :]


class Image:
    """Properties of the image."""

    def __init__(self, path: Path):
        self.stage = stages(path)[-1]
        self.environment = dict(pair.split("=", 1) for pair in shlex.split(self.one("ENV")))
        self.labels = dict(pair.split("=", 1) for pair in shlex.split(self.one("LABEL")))
        self.user = self.one("USER")
        self.entrypoint: list[str] = json.loads(self.one("ENTRYPOINT"))
        self.command: list[str] = json.loads(self.one("CMD"))
        self.volumes: list[str] = json.loads(self.one("VOLUME"))
        self.ports = self.one("EXPOSE").split()
        health = re.search(r"CMD (\[.*\])$", self.one("HEALTHCHECK"))
        self.health: list[str] = json.loads(health[1]) if health else []

    def one(self, instruction: str) -> str:
        """Returns the argument of an instruction that occurs once."""
        found = [argument for name, argument in self.stage if name == instruction]
        assert len(found) == 1, f"{instruction}: {found}"
        return found[0]
