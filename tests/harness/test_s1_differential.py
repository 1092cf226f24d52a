"""S1: the same requests to django-oauth-toolkit and to the service: equal status and error, except for listed deviations."""

import base64
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
from urllib.parse import quote, urlencode

import pytest
import requests
from service import LONG, PASSWORD, Service, goal, run_pidq

COUNT = 1_000 if LONG else 200
USERS = [f"lib{n}" for n in range(8)]

# Intended deviations from the toolkit, with reasons.
DEVIATIONS = {
    "empty scope": "an empty scope is the same as no scope; the toolkit rejects it as unknown",
    "missing grant_type": "a missing parameter is `invalid_request`, RFC 6749 5.2; the toolkit returns `unsupported_grant_type`",
    "duplicate parameter": "a parameter must not be repeated, RFC 6749 3.2; the toolkit uses one of them",
    "multipart": "only URL-encoded forms are accepted, RFC 6749 4.3.2; the toolkit accepts multipart too",
    "basic and body": "different credentials in header and body are `invalid_request`; the toolkit uses the header",
    "introspection": "a caller without permission gets 401, RFC 7662 2.3; the toolkit returns 403",
}


class Server:
    """One of the two servers and its issued tokens."""

    def __init__(self, url, secrets):
        self.url, self.secrets, self.tokens = url, secrets, {}

    def send(self, case):
        form = [(name, self.fill(value)) for name, value in case["form"]]
        headers = {"X-Forwarded-For": case["address"]}
        if case["basic"]:
            user, secret = (self.fill(part) for part in case["basic"])
            headers["Authorization"] = "Basic " + base64.b64encode(f"{quote(user)}:{quote(secret)}".encode()).decode()
        if case["type"] == "multipart":
            response = requests.post(self.url + case["path"], files=[(name, (None, value)) for name, value in form], headers=headers, timeout=60)
        else:
            headers["Content-Type"] = case["type"]
            body = json.dumps(dict(form)) if case["type"].endswith("json") else urlencode(form)
            response = requests.post(self.url + case["path"], data=body, headers=headers, timeout=60)
        body = response.json() if response.headers.get("Content-Type", "").startswith("application/json") and response.content else {}
        self.store_tokens(case, body)
        scope = sorted(body.get("scope", "").split()) if response.status_code == 200 and "access_token" in body else None
        return response.status_code, body.get("error"), scope, body.get("active")

    def fill(self, value):
        """Replaces placeholders with the secrets and tokens of this server."""
        kind, _, name = value.partition(":")
        if kind == "$secret":
            return self.secrets[name]
        return self.tokens.get(name, "none") if kind == "$token" else value

    def store_tokens(self, case, body):
        for kind in ("access_token", "refresh_token"):
            if kind in body:
                self.tokens[f"{kind} {case['number']}"] = body[kind]


def cases(rng):
    """Generates requests, each with the names of its permitted deviations, and the lists of valid and used tokens."""
    valid_tokens, used_tokens, failed_logins = [], [], 0
    for number in range(COUNT):
        case = {"number": number, "path": "/o/token/", "basic": None, "type": "application/x-www-form-urlencoded", "deviations": set(), "address": f"10.1.{number // 250}.{number % 250}"}
        client = rng.choice(["desk", "desk", "machine"])
        kind = rng.choices(["token", "refresh", "revoke", "introspect"], [6, 3, 1, 1])[0]
        form = []
        if kind == "token":
            grant = rng.choices(["password" if client == "desk" else "client_credentials", "password", "client_credentials", "nothing", "", None], [10, 2, 2, 1, 1, 1])[0]
            if grant is not None:
                form.append(("grant_type", grant))
            if not grant:
                case["deviations"].add("missing grant_type")
            if grant == "password":
                failed_logins += 1
                # One error at a time: the order of checks is not specified.
                may_log_in = client == "desk"
                is_correct = rng.random() < 0.6 or not may_log_in
                form += [("username", rng.choice(USERS) if is_correct else f"unknown{failed_logins}"), ("password", PASSWORD if is_correct else "a wrong password")]
                case["is_complete"] = rng.random() > 0.15 or not may_log_in
                if not case["is_complete"]:
                    del form[-rng.randrange(1, 3)]
            if rng.random() < 0.6:
                scope = rng.choice(["read", "write", "read write", "write read", "nothing", "read nothing", ""])
                form.append(("scope", scope))
                if not scope:
                    case["deviations"].add("empty scope")
        elif kind == "refresh":
            client = rng.choice(["desk", "desk", "desk", "machine"])
            token = rng.choice(valid_tokens) if valid_tokens and rng.random() < 0.7 else rng.choice(used_tokens) if used_tokens and rng.random() < 0.5 else None
            if client == "machine":
                # The toolkit ends the login for a token of another client; this service only rejects it.
                token = None
            form += [("grant_type", "refresh_token"), ("refresh_token", f"$token:refresh_token {token}" if token is not None else "made up")]
            case["refreshes"] = token
        else:
            case["path"] = f"/o/{'revoke_token' if kind == 'revoke' else 'introspect'}/"
            token = rng.choice(valid_tokens) if valid_tokens and rng.random() < 0.7 else None
            form.append(("token", f"$token:access_token {token}" if token is not None else "made up"))
            if kind == "introspect":
                case["deviations"].add("introspection")
            elif token is not None:
                valid_tokens.remove(token)
        add_credentials(rng, case, client, form)
        if rng.random() < 0.03 and form:
            form.append(rng.choice(form))
            case["deviations"].add("duplicate parameter")
        if rng.random() < 0.03:
            case["type"] = rng.choice(["multipart", "application/json"])
            case["deviations"].add("multipart")
        case["form"] = form
        yield case, valid_tokens, used_tokens


def add_credentials(rng, case, client, form):
    """Adds client credentials, in one of the supported forms."""
    method_count = 2 if not case.get("is_complete", True) or dict(form).get("grant_type") == "nothing" else 9
    method = rng.choices(["body", "basic", "wrong", "basic wrong", "unknown", "none", "no secret", "both", "both differ"][:method_count], [10, 8, 1, 1, 1, 1, 1, 1, 1][:method_count])[0]
    credentials = [("client_id", client), ("client_secret", f"$secret:{client}")]
    if method in ("body", "both", "both differ"):
        form += credentials
    if method in ("basic", "both", "both differ"):
        case["basic"] = (client, f"$secret:{client}") if method != "both differ" else ("machine" if client == "desk" else "desk", "wrong")
    if method == "both differ":
        case["deviations"].add("basic and body")
    if method == "wrong":
        form += [("client_id", client), ("client_secret", "wrong")]
    if method == "basic wrong":
        case["basic"] = (client, "wrong")
    if method == "unknown":
        form += [("client_id", "unknown"), ("client_secret", "wrong")]
    if method == "no secret":
        form.append(("client_id", client))


def test_differential(tmp_path):
    if not importlib.util.find_spec("oauth2_provider"):
        pytest.skip("django-oauth-toolkit is not installed")
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8", PIDQ_REFRESH_GRACE="0s") as service:
        secrets = {}
        for client, grants in (("desk", ["password", "refresh_token"]), ("machine", ["client_credentials", "refresh_token"])):
            output = run_pidq(service.settings["PIDQ_DATA_DIR"], "clients", "add", client, *(f"--grant={grant}" for grant in grants))
            secrets[client] = output.split("client_secret:")[1].strip()
        accounts = {"users": USERS, "password": PASSWORD, "clients": [["desk", secrets["desk"], "password"], ["machine", secrets["machine"], "client-credentials"]]}
        command = [sys.executable, str(pathlib.Path(__file__).with_name("django_oauth_server.py")), str(tmp_path), json.dumps(accounts)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as toolkit:
            try:
                peer = Server(f"http://127.0.0.1:{toolkit.stdout.readline().strip()}", secrets)
                compare(Server(service.url, secrets), peer)
            finally:
                toolkit.kill()


def compare(pidq, toolkit):
    same, listed, wrong = 0, {}, []
    for case, valid_tokens, used_tokens in cases(random.Random(7)):
        actual, expected = pidq.send(case), toolkit.send(case)
        if actual == expected:
            same += 1
        elif case["deviations"]:
            for name in case["deviations"]:
                listed[name] = listed.get(name, 0) + 1
        else:
            wrong.append((case, actual, expected))
        track_tokens(case, actual, actual == expected, valid_tokens, used_tokens)
    for row in wrong[:20]:
        print("WRONG", row)
    assert set(listed) <= set(DEVIATIONS)
    goal("S1-differential", {"requests": COUNT, "same": same, "listed": sum(listed.values()), "other": len(wrong)}, "0", not wrong)


def track_tokens(case, actual, is_same, valid_tokens, used_tokens):
    """Tracks the valid tokens of both servers."""
    token = case.get("refreshes")
    if token in valid_tokens and (actual[0] == 200 or not is_same):
        valid_tokens.remove(token)
        if is_same:
            used_tokens.append(token)
    if is_same and actual[0] == 200 and case["path"] == "/o/token/" and dict(case["form"]).get("grant_type") in ("password", "refresh_token"):
        valid_tokens.append(case["number"])
