"""S1: stock OAuth client libraries work with the service without special cases."""

import asyncio
import os
import shutil
import subprocess

import httpx
import pytest
import requests
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from httpx_oauth.oauth2 import BaseOAuth2, RefreshTokenError, RevokeTokenError
from oauthlib.oauth2 import BackendApplicationClient, LegacyApplicationClient
from oauthlib.oauth2.rfc6749 import errors
from requests_oauthlib import OAuth2Session
from service import PASSWORD, SECRET, WORK, goal, json_lines

CHECKS = []
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"


def check(name, passed, remark=""):
    CHECKS.append((name, bool(passed), remark))


def check_raises(name, kinds, action, matches=lambda error: True):
    try:
        action()
        check(name, False, "it succeeded")
    except kinds as error:
        check(name, matches(error), repr(error))
    except Exception as error:  # noqa: BLE001
        check(name, False, repr(error))


def test_requests_oauthlib(service):
    token_url = refresh_url = service.url + "/o/token/"
    session = OAuth2Session(client=LegacyApplicationClient("pidq", scope=["read", "write"]))
    login = {"token_url": token_url, "username": "lib0", "password": PASSWORD, "client_id": "pidq", "client_secret": SECRET}
    token = session.fetch_token(**login, include_client_id=True)
    check("requests-oauthlib: bearer", token["token_type"] == "Bearer")
    check("requests-oauthlib: expires_in", isinstance(token["expires_in"], int))
    check("requests-oauthlib: requested scope", token.scope_changed is False and token["scope"] == ["read", "write"])
    check("requests-oauthlib: resource", session.get(service.url + "/graph").status_code == 200)
    credentials = {"client_id": "pidq", "client_secret": SECRET}
    renewed = session.refresh_token(refresh_url, **credentials)
    check("requests-oauthlib: refresh rotates", renewed["refresh_token"] != token["refresh_token"])
    saved_tokens = []
    expired = {**renewed, "expires_in": -1, "expires_at": 1}
    refreshing = OAuth2Session("pidq", token=expired, auto_refresh_url=refresh_url, auto_refresh_kwargs=credentials, token_updater=saved_tokens.append)
    check("requests-oauthlib: automatic refresh", refreshing.get(service.url + "/graph").status_code == 200 and len(saved_tokens) == 1)
    basic = OAuth2Session(client=LegacyApplicationClient("pidq"))
    token = basic.fetch_token(token_url, username="lib0", password=PASSWORD, auth=requests.auth.HTTPBasicAuth("pidq", SECRET))
    check("requests-oauthlib: basic", token["access_token"].startswith("pidq_at_"))
    machine = OAuth2Session(client=BackendApplicationClient("robot", scope=["read"]))
    token = machine.fetch_token(token_url, **service.credentials("robot"), include_client_id=True)
    check("requests-oauthlib: client credentials", token["scope"] == ["read"] and "refresh_token" not in token)

    def fetch(**more):
        new_session = OAuth2Session(client=LegacyApplicationClient("pidq", scope=more.pop("scope", None)))
        return lambda: new_session.fetch_token(**{**login, **more}, include_client_id=True)

    check_raises("requests-oauthlib: wrong password", errors.InvalidGrantError, fetch(username="unknown0"), lambda e: e.status_code == 400)
    check_raises("requests-oauthlib: wrong scope", errors.InvalidScopeError, fetch(scope=["all"]))
    check_raises("requests-oauthlib: wrong secret", errors.InvalidClientError, fetch(client_secret="wrong"), lambda e: e.status_code == 401)
    check_raises("requests-oauthlib: wrong refresh token", errors.InvalidGrantError,
                 lambda: session.refresh_token(refresh_url, refresh_token="pidq_rt_x", **credentials))


def check_authlib(client_type, name, service, login):
    token_url = service.url + "/o/token/"

    def open_with(method, secret=SECRET, client="pidq", **more):
        return client_type(client, secret, token_endpoint_auth_method=method, **more)

    for method in ("client_secret_post", "client_secret_basic"):
        client = open_with(method, scope="read write")
        token = client.fetch_token(token_url, username=login, password=PASSWORD)
        check(f"{name} {method}: bearer", token["token_type"] == "Bearer" and token["scope"] == "read write")
        check(f"{name} {method}: resource", client.get(service.url + "/graph").status_code == 200)
        renewed = client.refresh_token(token_url, refresh_token=token["refresh_token"])
        check(f"{name} {method}: refresh", renewed["refresh_token"] != token["refresh_token"])
        introspection = client.introspect_token(service.url + "/o/introspect/", token=renewed["access_token"])
        check(f"{name} {method}: introspection", introspection.json()["active"] is True)
        revoked = client.revoke_token(service.url + "/o/revoke_token/", token=renewed["access_token"])
        check(f"{name} {method}: revocation", revoked.status_code == 200 and revoked.json() == {})
        unauthorized = client.get(service.url + "/graph")
        check(f"{name} {method}: revoked immediately", unauthorized.status_code == 401 and "invalid_token" in unauthorized.headers["WWW-Authenticate"])
        wrong = open_with(method, "wrong")
        check_raises(f"{name} {method}: wrong secret", OAuthError,
                     lambda wrong=wrong: wrong.fetch_token(token_url, grant_type="client_credentials"), lambda e: e.error == "invalid_client")
    client = open_with("client_secret_post")
    check_raises(f"{name}: wrong password", OAuthError, lambda: client.fetch_token(token_url, username=f"no-{login}", password="wrong"),
                 lambda e: e.error == "invalid_grant" and e.description)
    machine = open_with("client_secret_basic", service.secrets["robot"], "robot", scope="write")
    check(f"{name}: client credentials", machine.fetch_token(token_url, grant_type="client_credentials")["scope"] == "write")


def test_authlib(service):
    check_authlib(AuthlibSession, "authlib requests", service, "lib1")
    check_authlib(OAuth2Client, "authlib httpx", service, "lib2")


def test_httpx_oauth(service):
    token_url, revoke_url = service.url + "/o/token/", service.url + "/o/revoke_token/"
    for method in ("client_secret_post", "client_secret_basic"):
        options = {"refresh_token_endpoint": token_url, "revoke_token_endpoint": revoke_url,
                   "token_endpoint_auth_method": method, "revocation_endpoint_auth_method": method}
        client = BaseOAuth2("pidq", SECRET, service.url, token_url, **options)
        form = {"grant_type": "password", "username": "lib3", "password": PASSWORD, "client_id": "pidq", "client_secret": SECRET}
        first = httpx.post(token_url, data=form).json()
        token = asyncio.run(client.refresh_token(first["refresh_token"]))
        check(f"httpx-oauth {method}: refresh", token["access_token"] != first["access_token"] and not token.is_expired())
        asyncio.run(client.revoke_token(token["access_token"]))
        check(f"httpx-oauth {method}: revoke", True)
        check_raises(f"httpx-oauth {method}: revoked", RefreshTokenError, lambda c=client, t=token: asyncio.run(c.refresh_token(t["refresh_token"])))
        wrong_secret = BaseOAuth2("pidq", "wrong", service.url, token_url, **options)
        check_raises(f"httpx-oauth {method}: wrong secret", RevokeTokenError, lambda s=wrong_secret: asyncio.run(s.revoke_token("x")))


@pytest.mark.parametrize(("script", "login", "package"), [("openid.mjs", "lib4", "openid-client"), ("simple.mjs", "lib5", "simple-oauth2")])
def test_node_clients(service, script, login, package):
    if not shutil.which("node") or not (WORK / "clients/node_modules" / package).is_dir():
        pytest.skip(f"node or its package {package} is not installed")
    rows, error = json_lines(["node", str(WORK / "clients" / script), service.url, "pidq", SECRET, login, PASSWORD])
    for name, passed, remark in rows:
        check(f"{package}: {name}", passed, remark)
    check(f"{package}: completed", not error, error)


def curl(*arguments):
    """Returns the status, headers and body."""
    process = subprocess.run(["curl", "-q", "-sS", "-i", "--noproxy", "*", *arguments], capture_output=True, check=True, timeout=60)
    head, _, body = process.stdout.decode().partition("\r\n\r\n")
    lines = head.split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    return int(lines[0].split()[1]), headers, body


def test_curl(service):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    secret = service.secrets["robot"]
    form = f"grant_type=client_credentials&client_id=robot&client_secret={secret}"
    for path in ("/o/token/", "/o/token"):
        status, headers, body = curl("-d", form, service.url + path)
        check(f"curl {path}: 200", status == 200 and '"access_token":"pidq_at_' in body)
        check(f"curl {path}: not stored", headers["cache-control"] == "no-store" and headers["pragma"] == "no-cache")
    status, _, body = curl("-u", f"robot:{secret}", "-d", "grant_type=client_credentials", service.url + "/o/token/")
    check("curl -u: 200", status == 200)
    token = body.split('"access_token":"')[1].split('"')[0]
    status, _, _ = curl("-H", f"Authorization: Bearer {token}", service.url + "/graph")
    check("curl: resource", status == 200)
    status, _, _ = curl("--oauth2-bearer", token, service.url + "/graph")
    check("curl --oauth2-bearer: resource", status == 200)
    status, headers, _ = curl("-u", "robot:wrong", "-d", "grant_type=client_credentials", service.url + "/o/token/")
    check("curl -u wrong: challenge", status == 401 and headers["www-authenticate"].startswith("Basic"))
    status, headers, _ = curl("-d", "grant_type=client_credentials&client_id=robot&client_secret=x", service.url + "/o/token/")
    check("curl wrong: no challenge", status == 401 and "www-authenticate" not in headers)
    status, headers, _ = curl(service.url + "/graph")
    check("curl without token: challenge", status == 401 and headers["www-authenticate"].startswith("Bearer"))
    status, _, body = curl("-F", "grant_type=client_credentials", service.url + "/o/token/")
    check("curl -F: invalid_request", status == 400 and '"invalid_request"' in body)


def test_s1_goal():
    failed = [row for row in CHECKS if not row[1]]
    for name, _, remark in failed:
        print(f"FAILED {name}: {remark}")
    goal("S1", {"checks": len(CHECKS), "failed": len(failed)}, ">=60,0", len(CHECKS) >= 60 and not failed)
