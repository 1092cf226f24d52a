"""The command `pidq-catalog`, also `python -m pidq_spark`: writes the catalog of a fleet on one machine."""

from __future__ import annotations

import argparse
import sys
from typing import Optional

from .item_catalog import build


def main(arguments: Optional[list[str]] = None) -> int:
    """Runs the command; returns its exit code: 1 if a drawing failed."""
    parser = argparse.ArgumentParser(prog="pidq-catalog", description="Catalog of the items of a fleet of drawings.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="write the catalog of some drawings")
    command.add_argument("sources", nargs="+", help="drawings in JSON, or Parquet files with one drawing a row")
    command.add_argument("-o", "--output", required=True, help="the Parquet file to write")
    command.add_argument("--id", default="drawing", help="column of Parquet files with the id (default: %(default)s)")
    command.add_argument("--graph", default="graph", help="column with the drawing (default: %(default)s)")
    command.add_argument("--processes", type=int, help="number of processes (default: one for each processor)")
    given = parser.parse_args(arguments)
    count, failed = build(given.sources, given.output, id=given.id, graph=given.graph, processes=given.processes)
    for drawing in failed:
        print(f"{drawing[given.id]}: {drawing['error']['code']}: {drawing['error']['message']}", file=sys.stderr)
    print(f"{given.output}: {count} items, {len(failed)} drawings failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
