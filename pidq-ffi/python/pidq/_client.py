"""A client for the HTTP service of pidq: graphs that somebody else keeps."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Callable, NoReturn, Optional, Union
from urllib.parse import quote

from ._error import Error
from ._json import dumps
from ._query import Query

#: A token is renewed so many seconds before it ends.
_EARLY = 30.0

#: Seconds that an answer may take, where nothing else was asked for: more than the service gives a query.
_PATIENCE = 60.0

#: Passwords and secrets go to the service that was named, also where other requests follow redirects.
_TO_NOBODY_ELSE: dict[str, Any] = {"follow_redirects": False}

Login = Mapping[str, str]


class HttpError(Error):
    """The service refused: its problem in ``details``, the status in ``status``."""

    #: The status of the answer, such as 404.
    status: int
    #: The code of the query's error, such as ``"PQ1001"``, where it is one.
    pq_code: Optional[str]

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        # The token endpoint speaks OAuth: `error` and `error_description`.
        code = str(problem.get("code") or problem.get("error") or f"http-{status}")
        message = (
            problem.get("detail") or problem.get("error_description") or problem.get("title") or f"status {status}"
        )
        facts = {
            **problem,
            "code": code,
            "stage": "http",
            "message": message,
            "span": span if isinstance(span := problem.get("span"), dict) and {"start", "end"} <= set(span) else None,
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


class Stored(dict[str, Any]):
    """What the service says of a graph that it stored: ``job_id``, ``change_version``, ``nodes``, ``warnings``."""

    #: Names these bytes: for ``put(..., if_match=...)``.
    etag: Optional[str]

    def __init__(self, body: Mapping[str, Any], etag: Optional[str]) -> None:
        super().__init__(body)
        self.etag = etag


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
        if not isinstance(job_id, str):
            raise TypeError(f"a job id is a text, and no {type(job_id).__name__}")
        return f"{self.base_url}/graph/{quote(job_id, safe='')}"

    def _page(self, prefix: str, cursor: Optional[str]) -> dict[str, Any]:
        """The request for a page of the list of graphs."""
        asked = {"prefix": prefix or None, "cursor": cursor}
        given = {name: value for name, value in asked.items() if value is not None}
        return {"method": "GET", "url": f"{self.base_url}/graph", "params": given}

    def _put(self, job_id: str, graph: Any, if_match: Optional[str]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", **({"If-Match": if_match} if if_match else {})}
        return {"method": "PUT", "url": self._url(job_id), "content": _body(graph), "headers": headers}

    def _export(
        self, job_id: str, format: str, query: Union[str, Query, None], params: Mapping[str, Any]
    ) -> dict[str, Any]:
        asked = {"url": self._url(job_id), "params": {"format": format}}
        if query is None:
            return {"method": "GET", **asked}
        return {"method": "POST", **asked, "json": _question(query, params)}

    def _fleet(
        self, query: Union[str, Query], ids: Optional[Iterable[str]], prefix: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        jobs = {"prefix": prefix} if ids is None else {"ids": list(ids)}
        return {"method": "POST", "url": f"{self.base_url}/graph", "json": {**_question(query, params), "jobs": jobs}}


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


def _question(query: Union[str, Query], params: Mapping[str, Any]) -> dict[str, Any]:
    """A query as the service takes it; one that was compiled here brings its own parameters."""
    given = {**json.loads(query._params), **params} if isinstance(query, Query) else dict(params)
    text = str(query) if isinstance(query, Query) else query
    return {"query": text, "params": given} if given else {"query": text}


def _refuse(response: Any) -> NoReturn:
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if response.is_redirect:
        problem = _moved(response)
    raise HttpError(response.status_code, problem if isinstance(problem, dict) else {})


def _moved(response: Any) -> dict[str, Any]:
    """What a redirect is that nobody follows: the service is elsewhere, and has done nothing."""
    place = response.headers.get("Location")
    return {
        "code": "redirected",
        "detail": f"there is no service here, but perhaps at {place}",
        "help": "give the address of the service itself, or `follow_redirects=True`",
    }


def _checked(response: Any) -> Any:
    if not response.is_success:
        _refuse(response)
    return response


def _object(response: Any, *names: str) -> dict[str, Any]:
    """The JSON object of an answer, with these members. Another program may answer at a wrong address."""
    try:
        told = _checked(response).json()
    except ValueError:
        told = None
    if not isinstance(told, dict) or any(name not in told for name in names):
        _wonder(response)
    return told


def _wonder(response: Any) -> NoReturn:
    message = "the answer is not that of a pidq service: is the address right?"
    raise HttpError(response.status_code, {"code": "unexpected-answer", "detail": message})


def _deleted(response: Any) -> None:
    if _checked(response).status_code != 204:
        _wonder(response)


def _stored(response: Any) -> Stored:
    return Stored(_object(response), response.headers.get("ETag"))


def _answer(response: Any) -> Answer:
    return Answer(_object(response, "result"), response.headers.get("X-Result-Kind", "array"))


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
        self._http = httpx.Client(**{"timeout": _PATIENCE, **options})
        self._lock = threading.Lock()

    def query(self, job_id: str, query: Union[str, Query], /, **params: Any) -> Any:
        """Asks the graph of a job, and gives what the query gave."""
        return self.answer(job_id, query, **params).value

    def answer(self, job_id: str, query: Union[str, Query], /, **params: Any) -> Answer:
        """Asks the graph of a job, and gives the whole answer with its versions."""
        return _answer(self._send("POST", self._url(job_id), json=_question(query, params)))

    def graph(self, job_id: str) -> Any:
        """The whole graph of a job, as a ``pidq.Graph`` to be asked here."""
        from ._graph import Graph

        return Graph.from_json(_checked(self._send("GET", self._url(job_id))).content)

    def put(self, job_id: str, graph: Any, *, if_match: Optional[str] = None) -> Stored:
        """Stores the graph of a job: JSON as bytes or text, Python data, or a ``pidq.Graph``.

        ``if_match`` is the ETag it must still have.
        """
        return _stored(self._send(**self._put(job_id, graph, if_match)))

    def export(self, job_id: str, format: str, query: Union[str, Query, None] = None, /, **params: Any) -> bytes:
        """The graph of a job, or what a query gives, in a format such as ``graphml``, ``csv`` or ``svg``."""
        response = _checked(self._send(**self._export(job_id, format, query, params)))
        return bytes(response.content)

    def jobs(self, prefix: str = "") -> Iterator[dict[str, Any]]:
        """The graphs that there are, by job: ``job_id``, ``change_version``, ``nodes``, ``etag`` and more."""
        cursor = None
        while True:
            page = _object(self._send(**self._page(prefix, cursor)), "graphs", "next")
            yield from page["graphs"]
            cursor = page["next"]
            if cursor is None:
                return

    def versions(self, job_id: str) -> list[dict[str, Any]]:
        """The versions of a graph that are kept, newest first."""
        told = _object(self._send("GET", self._url(job_id) + "/versions"), "versions")
        found: list[dict[str, Any]] = told["versions"]
        return found

    def query_all(
        self, query: Union[str, Query], /, *, ids: Optional[Iterable[str]] = None, prefix: str = "", **params: Any
    ) -> Iterator[dict[str, Any]]:
        """Asks many graphs: those of ``ids``, or all whose job begins with ``prefix``.

        Gives a row for each as it comes: ``job_id``, ``change_version`` and ``result``, or ``error`` in its place.
        """
        response = self._send(**self._fleet(query, ids, prefix, params), stream=True)
        try:
            if not response.is_success:
                response.read()
                _refuse(response)
            for line in response.iter_lines():
                if line.strip():
                    yield json.loads(line)
        finally:
            response.close()

    def delete(self, job_id: str) -> None:
        """Deletes the graph of a job."""
        _deleted(self._send("DELETE", self._url(job_id)))

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, method: str, url: str, *, stream: bool = False, **request: Any) -> Any:
        headers = request.pop("headers", {})

        def send() -> Any:
            made = self._http.build_request(method, url, headers=self._headers(headers), **request)
            return self._http.send(made, stream=stream)

        with self._lock:
            if self._needs_token():
                self._renew()
        used = self._access
        response = send()
        if response.status_code == 401 and self._login is not None:
            response.close()
            # Revoked, or the service was started anew: once more with a fresh token, which one thread gets for all.
            with self._lock:
                if self._access == used:
                    self._renew()
            response = send()
        return response

    def _renew(self) -> None:
        forms = self._renewals()
        for form in forms:
            response = self._http.post(f"{self.base_url}/o/token/", data=form, **_TO_NOBODY_ELSE)
            if response.status_code == 200:
                return self._accept(_object(response, "access_token"))
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
        self._http = httpx.AsyncClient(**{"timeout": _PATIENCE, **options})
        self._renewing: Any = None

    async def query(self, job_id: str, query: Union[str, Query], /, **params: Any) -> Any:
        """Asks the graph of a job, and gives what the query gave."""
        return (await self.answer(job_id, query, **params)).value

    async def answer(self, job_id: str, query: Union[str, Query], /, **params: Any) -> Answer:
        """Asks the graph of a job, and gives the whole answer with its versions."""
        return _answer(await self._send("POST", self._url(job_id), json=_question(query, params)))

    async def graph(self, job_id: str) -> Any:
        """The whole graph of a job, as a ``pidq.Graph`` to be asked here."""
        from ._graph import Graph

        return Graph.from_json(_checked(await self._send("GET", self._url(job_id))).content)

    async def put(self, job_id: str, graph: Any, *, if_match: Optional[str] = None) -> Stored:
        """Stores the graph of a job: JSON as bytes or text, Python data, or a ``pidq.Graph``.

        ``if_match`` is the ETag it must still have.
        """
        return _stored(await self._send(**self._put(job_id, graph, if_match)))

    async def export(self, job_id: str, format: str, query: Union[str, Query, None] = None, /, **params: Any) -> bytes:
        """The graph of a job, or what a query gives, in a format such as ``graphml``, ``csv`` or ``svg``."""
        response = _checked(await self._send(**self._export(job_id, format, query, params)))
        return bytes(response.content)

    async def jobs(self, prefix: str = "") -> AsyncIterator[dict[str, Any]]:
        """The graphs that there are, by job: ``job_id``, ``change_version``, ``nodes``, ``etag`` and more."""
        cursor = None
        while True:
            page = _object(await self._send(**self._page(prefix, cursor)), "graphs", "next")
            for entry in page["graphs"]:
                yield entry
            cursor = page["next"]
            if cursor is None:
                return

    async def versions(self, job_id: str) -> list[dict[str, Any]]:
        """The versions of a graph that are kept, newest first."""
        told = _object(await self._send("GET", self._url(job_id) + "/versions"), "versions")
        found: list[dict[str, Any]] = told["versions"]
        return found

    async def query_all(
        self, query: Union[str, Query], /, *, ids: Optional[Iterable[str]] = None, prefix: str = "", **params: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """Asks many graphs: those of ``ids``, or all whose job begins with ``prefix``.

        Gives a row for each as it comes: ``job_id``, ``change_version`` and ``result``, or ``error`` in its place.
        """
        response = await self._send(**self._fleet(query, ids, prefix, params), stream=True)
        try:
            if not response.is_success:
                await response.aread()
                _refuse(response)
            async for line in response.aiter_lines():
                if line.strip():
                    yield json.loads(line)
        finally:
            await response.aclose()

    async def delete(self, job_id: str) -> None:
        """Deletes the graph of a job."""
        _deleted(await self._send("DELETE", self._url(job_id)))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, method: str, url: str, *, stream: bool = False, **request: Any) -> Any:
        headers = request.pop("headers", {})

        async def send() -> Any:
            made = self._http.build_request(method, url, headers=self._headers(headers), **request)
            return await self._http.send(made, stream=stream)

        await self._with_token(self._needs_token)
        used = self._access
        response = await send()
        if response.status_code == 401 and self._login is not None:
            await response.aclose()
            await self._with_token(lambda: self._access == used)
            response = await send()
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
            response = await self._http.post(f"{self.base_url}/o/token/", data=form, **_TO_NOBODY_ELSE)
            if response.status_code == 200:
                return self._accept(_object(response, "access_token"))
        _refuse(response)


def _body(graph: Any) -> bytes:
    from ._graph import Graph

    if isinstance(graph, Graph):
        return graph.json_bytes()
    if isinstance(graph, str):
        return graph.encode()
    return bytes(graph) if isinstance(graph, (bytes, bytearray, memoryview)) else dumps(graph).encode()
