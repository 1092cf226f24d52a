"""R12: mixed load for two hours: memory does not grow, descriptors are released, every response is expected."""

import os
import time

from service import LONG, Service, goal
from soak import CACHES, RATES, Soak

SECONDS = 7_200 if LONG else 40
# In a short run the caches still fill, so the slope is not judged.
MAX_SLOPE = 1 if LONG else float("inf")
MIB = 1 << 20


def descriptors(service):
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def test_soak():
    with Service(**CACHES) as service:
        soak = Soak(service, list(RATES), speed=1 if LONG else 4)
        before = descriptors(service)
        soak.run(SECONDS)
        time.sleep(2)
        after = descriptors(service)
        for row in soak.wrong[:5]:
            print("WRONG", row)
        growth = soak.slope(1 / 2)
        measurements = {
            "requests": sum(soak.counts.values()), "unexpected": len(soak.wrong), "mib_an_hour": round(growth, 2),
            "rss_mib": soak.samples[-1][1] // MIB, "descriptors": f"{before}->{after}",
        }
        # A database connection pool opens connections on demand and keeps them.
        goal("R12", measurements, f"0,{MAX_SLOPE},+8", not soak.wrong and growth <= MAX_SLOPE and after <= before + 8)
