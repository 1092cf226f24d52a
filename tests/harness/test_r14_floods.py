"""R14: floods of one client hardly slow down another one."""

from floods import measure
from service import LONG, Service, goal, within_limit

SECONDS = 20 if LONG else 2
MAX_RATIO = 2


def test_floods():
    with Service() as service:
        at_rest, rows = measure(service, SECONDS)
    measurements = {name.replace(" ", "_"): round(latency / at_rest, 2) for name, latency, _ in rows}
    failed = sum(row[2] for row in rows)
    slowest = max(measurements.values())
    passed = not failed and within_limit(slowest, MAX_RATIO)
    goal("R14", {"p99_at_rest_ms": round(at_rest * 1_000, 1), **measurements, "failed": failed}, f"{MAX_RATIO},0", passed)
