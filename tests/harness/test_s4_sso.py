"""S4: single sign-on with a real provider, from a login with code and PKCE to a response."""

import base64
import json
import shutil
import subprocess
import time

import pytest
from service import WORK, Service, drawing, goal


def bad_tokens(tokens):
    """Generates tokens that look valid but are not."""
    valid = tokens["RS256"]["access_token"]
    head, claims, signature = valid.split(".")
    pack = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()  # noqa: E731
    unpack = lambda text: json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))  # noqa: E731
    header, body = unpack(head), unpack(claims)
    yield from (issued["id_token"] for issued in tokens.values())
    for change in ({"alg": "none"}, {"alg": "HS256"}, {"alg": "RS512"}, {"kid": "other"}, {"typ": "JWT"}, {"crit": ["x"], "x": 1}, {"jku": "http://127.0.0.1/"}, {"jwk": {}}):
        yield f"{pack({**header, **change})}.{claims}.{signature}"
        yield f"{pack({**header, **change})}.{claims}."
    for change in ({"aud": "other"}, {"iss": "http://other"}, {"exp": 1}, {"exp": int(time.time()) + 10**9}, {"scope": "read write admin"}, {"sub": "root"}, {"cnf": {"jkt": "x"}}):
        yield f"{head}.{pack({**body, **change})}.{signature}"
    other_parts = tokens["ES256"]["access_token"].split(".")
    yield f"{head}.{claims}.{other_parts[2]}"
    yield f"{other_parts[0]}.{claims}.{signature}"
    yield f"{head}.{claims}.{signature[:-4]}AAAA"
    yield f"{head}.{claims}"
    yield f"{head}.{claims}.{signature}.{signature}"
    yield f"{head}.{claims}.{signature}=="
    yield "..."
    yield "eyJhbGciOiJub25lIn0.e30."
    yield "x" * 12_000
    yield f"{head}.{pack([])}.{signature}"
    yield f"{pack('RS256')}.{claims}.{signature}"
    yield f"{head}.e30.{signature}"
    yield f".{claims}.{signature}"
    yield f"{head}.{claims}.{'A' * 342}"
    yield valid.upper()


def test_single_sign_on():
    if not shutil.which("node") or not (WORK / "oidc/node_modules/oidc-provider").is_dir():
        pytest.skip("node or its package oidc-provider is not installed")
    with subprocess.Popen(["node", str(WORK / "oidc/provider.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as provider:
        provider_data = json.loads(provider.stdout.readline())
        settings = {"PIDQ_SSO_ISSUER": provider_data["issuer"], "PIDQ_SSO_AUDIENCE": "https://pidq.example"}
        with Service(**settings) as service:
            wrong = []
            for name, issued in provider_data["issued"].items():
                session = service.session(issued["access_token"])
                graph_id = f"sso-{name}"
                statuses = [service.put(session, graph_id, drawing(2)).status_code, service.run_query(session, graph_id, "1").status_code]
                if statuses not in ([201, 200], [200, 200]):
                    wrong.append((name, statuses))
            bad = list(bad_tokens(provider_data["issued"]))
            for number, token in enumerate(bad):
                response = service.session(token).get(service.url + "/graph", timeout=30)
                if response.status_code != 401 or "invalid_token" not in response.headers["WWW-Authenticate"]:
                    wrong.append((number, token[:80], response.status_code, response.text[:200]))
            provider.stdin.close()
            provider.wait()
            # The provider is stopped, and its keys are still cached.
            after = service.session(provider_data["issued"]["ES256"]["access_token"]).get(service.url + "/graph", timeout=30)
            if after.status_code != 200:
                wrong.append(("provider stopped", after.status_code))
        for row in wrong:
            print("WRONG", row)
        goal("S4", {"algorithms": len(provider_data["issued"]), "bad_tokens": len(bad), "wrong": len(wrong)}, "0", not wrong and len(bad) >= 40)
