"""Plain rows in Python: the time to get a list of objects from pidq, jsonquerylang, orjson and json.

    pip install jsonquerylang orjson; python python_rows.py [ROUNDS]

`PIDQ_LIBRARY` selects a library, such as one built with `--profile quick`. The rows are made here, and all libraries are
measured in turn in one process. Times are CPU time of one call, the shortest and the median of all rounds.
"""

import json
import random
import statistics
import sys
import time
import warnings

import jsonquerylang
import orjson
import pidq

ROWS = 8_700
QUERY = ".nodes | filter(.level < 7)"


def rows():
    """Returns objects of 12 fields, one of them an object of three."""
    number = random.Random(7).random
    classes = ["pump", "vessel", "valve", "instrument", "line"]
    return [
        {
            "id": f"N-{row:05}",
            "tag": f"P-{row % 997}{'AB'[row % 2]}",
            "node_type": "pid_component",
            "class": classes[row % 5],
            "kw": round(number() * 100, 2),
            "level": row % 7,
            "x": number() * 1000,
            "y": number() * 1000,
            "area": f"A{row % 12:02}",
            "in_service": row % 3 == 0,
            "note": None if row % 4 else "checked",
            "attributes": {"material": "1.4571", "pressure": row % 40, "unit": "barg"},
        }
        for row in range(ROWS)
    ]


def main():
    warnings.simplefilter("ignore")
    data = rows()
    document = {"nodes": data}
    text = json.dumps(data).encode()
    graph, query = pidq.Graph.from_json(document), pidq.Query(QUERY)
    peer = jsonquerylang.compile(jsonquerylang.parse(QUERY))
    assert peer(document) == query(graph) == data
    cases = {
        "pidq, new objects": lambda: query(graph),
        "pidq, shared=True": lambda: query(graph, shared=True),
        "pidq, loop over a Result": lambda: [row for row in query.run(graph)],
        "jsonquerylang, shared objects": lambda: peer(document),
        "jsonquerylang, copies of the rows": lambda: [dict(row) for row in peer(document)],
        "orjson.loads of the result": lambda: orjson.loads(text),
        "json.loads of the result": lambda: json.loads(text),
    }
    times = {name: [] for name in cases}
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        # In another order each time, since the memory that a case leaves behind costs the next one time.
        for name, call in random.sample(list(cases.items()), len(cases)):
            start = time.process_time()
            value = call()
            times[name].append(time.process_time() - start)
            del value
    for name, found in times.items():
        print(f"{name:36} {min(found) * 1e3:7.2f} ms  median {statistics.median(found) * 1e3:7.2f} ms")


if __name__ == "__main__":
    main()
