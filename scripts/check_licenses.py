#!/usr/bin/env python3
"""Check the licenses of a Cargo workspace against its deny.toml, where cargo-deny is not installed.

    scripts/check_licenses.py integrations/datafusion
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Evaluate an SPDX expression: AND binds more tightly than OR; `/` is an old spelling of OR."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    # `Apache-2.0 WITH LLVM-exception` is one license.
    while "WITH" in tokens:
        at = tokens.index("WITH")
        tokens[at - 1 : at + 2] = [" ".join(tokens[at - 1 : at + 2])]

    def either() -> bool:
        value = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            value = both() or value
        return value

    def both() -> bool:
        value = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = one() and value
        return value

    def one() -> bool:
        token = tokens.pop(0)
        if token != "(":
            return token in allowed
        value = either()
        tokens.pop(0)
        return value

    return either()


def main() -> int:
    workspace = Path(sys.argv[1])
    rules = tomllib.loads((workspace / "deny.toml").read_text())
    allowed = set(rules["licenses"]["allow"])
    exceptions = {entry["crate"]: set(entry["allow"]) for entry in rules["licenses"].get("exceptions", [])}
    denied = {entry["crate"] for entry in rules["bans"]["deny"]}
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", workspace / "Cargo.toml"]
    packages = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    # Packages come from where those of the main workspace come from.
    lock = tomllib.loads((Path(__file__).parents[1] / "Cargo.lock").read_text())
    sources = {package.get("source") for package in lock["package"]}
    problems = []
    for package in packages:
        name, license_text = package["name"], package["license"] or ""
        own = allowed | exceptions.get(name, set())
        if not license_text or not is_allowed(license_text, own):
            problems.append(f"{name}: license {license_text or 'unknown'}")
        if package["source"] not in sources:
            problems.append(f"{name}: from {package['source']}")
        if name in denied:
            problems.append(f"{name}: banned")
    print("\n".join(problems) or f"{len(packages)} packages: licenses and sources are allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
