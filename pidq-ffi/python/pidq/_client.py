"""A client for the HTTP service of pidq: graphs that somebody else keeps."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Callable, NoReturn, Optional
from urllib.parse import quote

from ._error import Error

#: A token is renewed so many seconds before it ends.
_EARLY = 30.0

Login = Mapping[str, str]


class HttpError(Error):
    """The service refused: its problem in ``details``, the status in ``status``."""

    #: The status of the answer, such as 404.
    status: int
    #: The code of the query's error, such as ``"PQ1001"``, where it is one.
    pq_code: Optional[str]

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        # The token endpoint speaks OAuth: `error` and `error_description`.
        code = problem.get("code") or problem.get("error") or f"http-{status}"
        message = (
            problem.get("detail") or problem.get("error_description") or problem.get("title") or f"status {status}"
        )
        facts = {
            **problem,
            "code": code,
            "stage": "http",
            "message": message,
            "span": problem.get("span"),
        }
        super().__init__(facts, f"{status} {code}: {message}")
        self.status = status
        self.pq_code = problem.get("pq_code")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.details)


class Answer(dict[str, Any]):
    """What the service answered to a query: ``query``, ``schema_version``, ``change_version`` and ``result``."""

    #: ``"array"``, ``"value"`` or ``"none"``: what the query gave, before the service put it into a list.
    kind: str

    def __init__(self, body: Mapping[str, Any], kind: str) -> None:
        super().__init__(body)
        self.kind = kind

    @property
    def value(self) -> Any:
        """What the query gave: the list, the one value, or ``None``."""
        result = self["result"]
        if self.kind == "array":
            return result
        return result[0] if result else None


class _Session:
    """What both clients share: tokens, and what requests and answers look like."""

    def __init__(self, base_url: str, token: Optional[str], login: Optional[Login]) -> None:
        self.base_url = base_url.rstrip("/")
        self._access = token
        self._refresh: Optional[str] = None
        self._ends = float("inf")
        self._login: Optional[dict[str, str]] = None if login is None else dict(login)

    def _needs_token(self) -> bool:
        return self._login is not None and (self._access is None or time.monotonic() > self._ends - _EARLY)

    def _renewals(self) -> list[dict[str, str]]:
        """The forms that get a token, the cheaper first."""
        login: dict[str, str] = {} if self._login is None else self._login
        client: dict[str, str] = {name: login[name] for name in ("client_id", "client_secret") if name in login}
        grant = "password" if "username" in login else "client_credentials"
        anew = {"grant_type": grant, **login}
        if self._refresh is None:
            return [anew]
        return [{"grant_type": "refresh_token", "refresh_token": self._refresh, **client}, anew]

    def _accept(self, tokens: Mapping[str, Any]) -> None:
        self._access = tokens["access_token"]
        self._refresh = tokens.get("refresh_token")
        self._ends = time.monotonic() + float(tokens.get("expires_in", 3600))

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        headers = dict(more)
        if self._access:
            headers["Authorization"] = f"Bearer {self._access}"
        return headers

    def _url(self, job_id: str) -> str:
        return f"{self.base_url}/graph/{quote(job_id, safe='')}"


def _login(
    username: Optional[str],
    password: Optional[str],
    client_id: Optional[str],
    client_secret: Optional[str],
    scope: Optional[str],
) -> Optional[Login]:
    given = {
        "username": username,
        "password": password,
        "client_id": client_id,
        "client_secret": client_secret,
        "scope": scope,
    }
    login = {name: value for name, value in given.items() if value is not None}
    return login or None


def _question(query: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"query": query, "params": dict(params)} if params else {"query": query}


def _refuse(response: Any) -> NoReturn:
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    raise HttpError(response.status_code, problem if isinstance(problem, dict) else {})


def _checked(response: Any) -> Any:
    if response.status_code >= 400:
        _refuse(response)
    return response


def _answer(response: Any) -> Answer:
    return Answer(_checked(response).json(), response.headers.get("X-Result-Kind", "array"))


class Client(_Session):
    """Asks a service. Gets and renews its tokens; one client may be used by several threads.

    Give a ``token``, or what gets one: ``username`` and ``password`` with ``client_id`` and ``client_secret``, or the
    latter two alone. ``options`` go to ``httpx.Client``.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Optional[str] = None,
        username: Optional[str] = None,
        password: Optional[str] = None,
        client_id: Optional[str] = None,
        client_secret: Optional[str] = None,
        scope: Optional[str] = None,
        **options: Any,
    ) -> None:
        import httpx

        super().__init__(base_url, token, _login(username, password, client_id, client_secret, scope))
        self._http = httpx.Client(**options)
        self._lock = threading.Lock()

    def query(self, job_id: str, query: str, /, **params: Any) -> Any:
        """Asks the graph of a job, and gives what the query gave."""
        return self.answer(job_id, query, **params).value

    def answer(self, job_id: str, query: str, /, **params: Any) -> Answer:
        """Asks the graph of a job, and gives the whole answer with its versions."""
        return _answer(self._send("POST", self._url(job_id), json=_question(query, params)))

    def graph(self, job_id: str) -> Any:
        """The whole graph of a job, as a ``pidq.Graph`` to be asked here."""
        from ._graph import Graph

        return Graph.from_json(_checked(self._send("GET", self._url(job_id))).content)

    def put(self, job_id: str, graph: Any, *, if_match: Optional[str] = None) -> dict[str, Any]:
        """Stores the graph of a job: JSON as bytes, or Python data. ``if_match`` is the ETag it must still have."""
        headers = {"Content-Type": "application/json", **({"If-Match": if_match} if if_match else {})}
        told: dict[str, Any] = _checked(
            self._send("PUT", self._url(job_id), content=_body(graph), headers=headers)
        ).json()
        return told

    def delete(self, job_id: str) -> None:
        """Deletes the graph of a job."""
        _checked(self._send("DELETE", self._url(job_id)))

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, method: str, url: str, **request: Any) -> Any:
        headers = request.pop("headers", {})
        with self._lock:
            if self._needs_token():
                self._renew()
        used = self._access
        response = self._http.request(method, url, headers=self._headers(headers), **request)
        if response.status_code == 401 and self._login is not None:
            # Revoked, or the service was started anew: once more with a fresh token, which one thread gets for all.
            with self._lock:
                if self._access == used:
                    self._renew()
            response = self._http.request(method, url, headers=self._headers(headers), **request)
        return response

    def _renew(self) -> None:
        forms = self._renewals()
        for form in forms:
            response = self._http.post(f"{self.base_url}/o/token/", data=form)
            if response.status_code == 200:
                return self._accept(response.json())
        _refuse(response)


class AsyncClient(_Session):
    """As ``Client``, for ``async`` programs."""

    def __init__(
        self,
        base_url: str,
        *,
        token: Optional[str] = None,
        username: Optional[str] = None,
        password: Optional[str] = None,
        client_id: Optional[str] = None,
        client_secret: Optional[str] = None,
        scope: Optional[str] = None,
        **options: Any,
    ) -> None:
        import httpx

        super().__init__(base_url, token, _login(username, password, client_id, client_secret, scope))
        self._http = httpx.AsyncClient(**options)
        self._renewing: Any = None

    async def query(self, job_id: str, query: str, /, **params: Any) -> Any:
        """Asks the graph of a job, and gives what the query gave."""
        return (await self.answer(job_id, query, **params)).value

    async def answer(self, job_id: str, query: str, /, **params: Any) -> Answer:
        """Asks the graph of a job, and gives the whole answer with its versions."""
        return _answer(await self._send("POST", self._url(job_id), json=_question(query, params)))

    async def graph(self, job_id: str) -> Any:
        """The whole graph of a job, as a ``pidq.Graph`` to be asked here."""
        from ._graph import Graph

        return Graph.from_json(_checked(await self._send("GET", self._url(job_id))).content)

    async def put(self, job_id: str, graph: Any, *, if_match: Optional[str] = None) -> dict[str, Any]:
        """Stores the graph of a job: JSON as bytes, or Python data. ``if_match`` is the ETag it must still have."""
        headers = {"Content-Type": "application/json", **({"If-Match": if_match} if if_match else {})}
        response = await self._send("PUT", self._url(job_id), content=_body(graph), headers=headers)
        told: dict[str, Any] = _checked(response).json()
        return told

    async def delete(self, job_id: str) -> None:
        """Deletes the graph of a job."""
        _checked(await self._send("DELETE", self._url(job_id)))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, method: str, url: str, **request: Any) -> Any:
        headers = request.pop("headers", {})
        await self._with_token(self._needs_token)
        used = self._access
        response = await self._http.request(method, url, headers=self._headers(headers), **request)
        if response.status_code == 401 and self._login is not None:
            await self._with_token(lambda: self._access == used)
            response = await self._http.request(method, url, headers=self._headers(headers), **request)
        return response

    async def _with_token(self, is_needed: Callable[[], bool]) -> None:
        """Gets a token where one is needed; several tasks that need one get it once."""
        import asyncio

        if self._renewing is None:
            self._renewing = asyncio.Lock()
        async with self._renewing:
            if is_needed():
                await self._renew()

    async def _renew(self) -> None:
        for form in self._renewals():
            response = await self._http.post(f"{self.base_url}/o/token/", data=form)
            if response.status_code == 200:
                return self._accept(response.json())
        _refuse(response)


def _body(graph: Any) -> bytes:
    import json

    return bytes(graph) if isinstance(graph, (bytes, bytearray, memoryview)) else json.dumps(graph).encode()
