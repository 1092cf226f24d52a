"""Client of the graph service."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Callable, NoReturn, Optional, Union
from urllib.parse import quote

from ._error import Error
from ._json import dumps
from ._query import Query

#: Seconds before its expiry at which a token is renewed.
_RENEWAL_MARGIN = 30.0

#: Default timeout in seconds: longer than the query timeout of the service.
_TIMEOUT = 60.0

#: Credentials are only sent to the configured service, even if other requests follow redirects.
_NO_REDIRECTS: dict[str, Any] = {"follow_redirects": False}

Login = Mapping[str, str]


class HttpError(Error):
    """An error response of the service. ``status`` is the HTTP status, ``details`` the problem."""

    #: The HTTP status, such as 404.
    status: int
    #: The code of a query error, such as ``"PQ1001"``.
    pq_code: Optional[str]

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        # The token endpoint speaks OAuth: `error` and `error_description`.
        code = str(problem.get("code") or problem.get("error") or f"http-{status}")
        message = (
            problem.get("detail") or problem.get("error_description") or problem.get("title") or f"status {status}"
        )
        details = {
            **problem,
            "code": code,
            "stage": "http",
            "message": message,
            "span": span if isinstance(span := problem.get("span"), dict) and {"start", "end"} <= set(span) else None,
        }
        super().__init__(details, f"{status} {code}: {message}")
        self.status = status
        self.pq_code = problem.get("pq_code")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.details)


@dataclass(frozen=True)
class StoredGraph:
    """A graph of the service, or a version of one, as a query parameter: the query reads ``$name`` as the whole graph.

    ``client.query("plant-100", "rankDiff($old, get())", old=StoredGraph(version="3"))`` compares with version 3.
    """

    #: The id of the graph; ``None`` is the queried graph.
    graph_id: Optional[str] = None
    #: The version; ``None`` is the latest.
    version: Optional[str] = None

    def _request(self) -> dict[str, str]:
        fields = {"job_id": self.graph_id, "change_version": self.version}
        return {name: value for name, value in fields.items() if value is not None}


class QueryResponse(dict[str, Any]):
    """The response to a query: ``query``, ``schema_version``, ``change_version``, ``result``, and ``graph_params``."""

    #: ``"array"``, ``"value"`` or ``"none"``: the kind of the result, before the service wrapped it in an array.
    kind: str

    def __init__(self, body: Mapping[str, Any], kind: str) -> None:
        super().__init__(body)
        self.kind = kind

    @property
    def value(self) -> Any:
        """The result of the query: the list, the single value, or ``None``."""
        result = self["result"]
        if self.kind == "array":
            return result
        return result[0] if result else None


class PutResult(dict[str, Any]):
    """The result of storing a graph: ``job_id``, ``change_version``, ``nodes``, ``warnings``."""

    #: The entity tag of the stored version, for ``put(..., if_match=...)``.
    etag: Optional[str]

    def __init__(self, body: Mapping[str, Any], etag: Optional[str]) -> None:
        super().__init__(body)
        self.etag = etag


class _Session:
    """Base of both clients: tokens, requests and responses."""

    def __init__(self, base_url: str, token: Optional[str], login: Optional[Login]) -> None:
        self.base_url: str = base_url.rstrip("/")
        self._access = token
        self._refresh: Optional[str] = None
        self._expires_at = float("inf")
        self._login: Optional[dict[str, str]] = None if login is None else dict(login)

    def _needs_token(self) -> bool:
        is_due = self._access is None or time.monotonic() > self._expires_at - _RENEWAL_MARGIN
        return self._login is not None and is_due

    def _token_requests(self) -> list[dict[str, str]]:
        """Returns the token request forms to try, the cheapest first."""
        login: dict[str, str] = {} if self._login is None else self._login
        client: dict[str, str] = {name: login[name] for name in ("client_id", "client_secret") if name in login}
        grant = "password" if "username" in login else "client_credentials"
        login_request = {"grant_type": grant, **login}
        if self._refresh is None:
            return [login_request]
        return [{"grant_type": "refresh_token", "refresh_token": self._refresh, **client}, login_request]

    def _store_tokens(self, tokens: Mapping[str, Any]) -> None:
        self._access = tokens["access_token"]
        self._refresh = tokens.get("refresh_token")
        self._expires_at = time.monotonic() + float(tokens.get("expires_in", 3600))

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        headers = dict(more)
        if self._access:
            headers["Authorization"] = f"Bearer {self._access}"
        return headers

    def _url(self, graph_id: str) -> str:
        if not isinstance(graph_id, str):
            raise TypeError(f"a graph id must be a str, not {type(graph_id).__name__}")
        return f"{self.base_url}/graph/{quote(graph_id, safe='')}"

    def _page(self, prefix: str, cursor: Optional[str]) -> dict[str, Any]:
        """Returns the request for a page of the list of graphs."""
        request = {"prefix": prefix or None, "cursor": cursor}
        given = {name: value for name, value in request.items() if value is not None}
        return {"method": "GET", "url": f"{self.base_url}/graph", "params": given}

    def _put(self, graph_id: str, graph: Any, if_match: Optional[str], content_type: str) -> dict[str, Any]:
        headers = {"Content-Type": content_type, **({"If-Match": if_match} if if_match else {})}
        return {"method": "PUT", "url": self._url(graph_id), "content": _body(graph), "headers": headers}

    def _export(
        self, graph_id: str, format: str, query: Union[str, Query, None], params: Mapping[str, Any]
    ) -> dict[str, Any]:
        request = {"url": self._url(graph_id), "params": {"format": format}}
        if query is None:
            return {"method": "GET", **request}
        return {"method": "POST", **request, "json": _query_body(query, params)}

    def _batch_query(
        self, query: Union[str, Query], ids: Optional[Iterable[str]], prefix: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        selection = {"prefix": prefix} if ids is None else {"ids": list(ids)}
        body = {**_query_body(query, params), "graphs": selection}
        return {"method": "POST", "url": f"{self.base_url}/graph", "json": body}


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


def _query_body(query: Union[str, Query], params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the request body of a query; a compiled query includes its own parameters."""
    given = {**json.loads(query._identity()[1] or "{}"), **params} if isinstance(query, Query) else dict(params)
    graphs = {name: value._request() for name, value in given.items() if isinstance(value, StoredGraph)}
    values = {name: value for name, value in given.items() if name not in graphs}
    return {
        "query": str(query),
        **({"params": values} if values else {}),
        **({"graph_params": graphs} if graphs else {}),
    }


def _raise_problem(response: Any) -> NoReturn:
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if response.is_redirect:
        problem = _redirect_problem(response)
    raise HttpError(response.status_code, problem if isinstance(problem, dict) else {})


def _redirect_problem(response: Any) -> dict[str, Any]:
    """Returns the problem for a redirect that was not followed."""
    location = response.headers.get("Location")
    return {
        "code": "redirected",
        "detail": f"the server redirects to {location}",
        "help": "use the URL of the service itself, or pass `follow_redirects=True`",
    }


def _check_success(response: Any) -> Any:
    if not response.is_success:
        _raise_problem(response)
    return response


def _object(response: Any, *names: str) -> dict[str, Any]:
    """Returns the JSON object of a response with the given fields. A wrong URL may lead to another server."""
    try:
        body = _check_success(response).json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or any(name not in body for name in names):
        _raise_unexpected_response(response)
    return body


def _raise_unexpected_response(response: Any) -> NoReturn:
    message = "the response is not from a pidq service; check the URL"
    raise HttpError(response.status_code, {"code": "unexpected-response", "detail": message})


def _check_deleted(response: Any) -> None:
    if _check_success(response).status_code != 204:
        _raise_unexpected_response(response)


def _put_result(response: Any) -> PutResult:
    return PutResult(_object(response), response.headers.get("ETag"))


def _query_response(response: Any) -> QueryResponse:
    return QueryResponse(_object(response, "result"), response.headers.get("X-Result-Kind", "array"))


class Client(_Session):
    """Client of the graph service. It requests and renews tokens; several threads may use one client.

    Pass a ``token``, or the credentials to get one: ``username`` and ``password`` with ``client_id`` and
    ``client_secret``, or ``client_id`` and ``client_secret`` alone. ``options`` are passed to ``httpx.Client``.
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
        self._http = httpx.Client(**{"timeout": _TIMEOUT, **options})
        self._lock = threading.Lock()

    def query(self, graph_id: str, query: Union[str, Query], /, **params: Any) -> Any:
        """Queries a stored graph and returns the result."""
        return self.query_raw(graph_id, query, **params).value

    def query_raw(self, graph_id: str, query: Union[str, Query], /, **params: Any) -> QueryResponse:
        """Queries a stored graph and returns the whole response, with the versions of graph and schema."""
        return _query_response(self._send("POST", self._url(graph_id), json=_query_body(query, params)))

    def graph(self, graph_id: str) -> Any:
        """Downloads a stored graph as a ``pidq.Graph``."""
        from ._graph import Graph

        return Graph.from_json(_check_success(self._send("GET", self._url(graph_id))).content)

    def put(
        self, graph_id: str, graph: Any, *, if_match: Optional[str] = None, content_type: str = "application/json"
    ) -> PutResult:
        """Stores a graph: JSON as bytes or str, Python data, or a ``pidq.Graph``.

        ``if_match`` is the ETag that the current version must have. The service converts a drawing in another format,
        as bytes or str; ``content_type`` is then its media type, such as ``application/xml`` for Proteus and DEXPI.
        """
        return _put_result(self._send(**self._put(graph_id, graph, if_match, content_type)))

    def export(self, graph_id: str, format: str, query: Union[str, Query, None] = None, /, **params: Any) -> bytes:
        """Exports a stored graph, or a query result, in a format such as ``graphml``, ``csv`` or ``svg``."""
        response = _check_success(self._send(**self._export(graph_id, format, query, params)))
        return bytes(response.content)

    def list_graphs(self, prefix: str = "") -> Iterator[dict[str, Any]]:
        """Lists the stored graphs: ``job_id``, ``change_version``, ``nodes``, ``etag`` and more."""
        cursor = None
        while True:
            page = _object(self._send(**self._page(prefix, cursor)), "graphs", "next")
            yield from page["graphs"]
            cursor = page["next"]
            if cursor is None:
                return

    def versions(self, graph_id: str) -> list[dict[str, Any]]:
        """Returns the retained versions of a graph, newest first."""
        body = _object(self._send("GET", self._url(graph_id) + "/versions"), "versions")
        found: list[dict[str, Any]] = body["versions"]
        return found

    def query_all(
        self, query: Union[str, Query], /, *, ids: Optional[Iterable[str]] = None, prefix: str = "", **params: Any
    ) -> Iterator[dict[str, Any]]:
        """Queries many graphs: those of ``ids``, or all whose id begins with ``prefix``.

        Yields a row per graph as it arrives: ``job_id``, ``change_version`` and ``result``, or ``error`` instead.
        """
        response = self._send(**self._batch_query(query, ids, prefix, params), stream=True)
        try:
            if not response.is_success:
                response.read()
                _raise_problem(response)
            for line in response.iter_lines():
                if line.strip():
                    yield json.loads(line)
        finally:
            response.close()

    def delete(self, graph_id: str) -> None:
        """Deletes a stored graph."""
        _check_deleted(self._send("DELETE", self._url(graph_id)))

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
            http_request = self._http.build_request(method, url, headers=self._headers(headers), **request)
            return self._http.send(http_request, stream=stream)

        with self._lock:
            if self._needs_token():
                self._renew()
        used = self._access
        response = send()
        if response.status_code == 401 and self._login is not None:
            response.close()
            # Revoked, or the service was restarted: retry with a new token, which one thread gets for all.
            with self._lock:
                if self._access == used:
                    self._renew()
            response = send()
        return response

    def _renew(self) -> None:
        forms = self._token_requests()
        for form in forms:
            response = self._http.post(f"{self.base_url}/o/token/", data=form, **_NO_REDIRECTS)
            if response.status_code == 200:
                return self._store_tokens(_object(response, "access_token"))
        _raise_problem(response)


class AsyncClient(_Session):
    """Asynchronous variant of ``Client``."""

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
        self._http = httpx.AsyncClient(**{"timeout": _TIMEOUT, **options})
        self._renewal_lock: Any = None

    async def query(self, graph_id: str, query: Union[str, Query], /, **params: Any) -> Any:
        """Queries a stored graph and returns the result."""
        return (await self.query_raw(graph_id, query, **params)).value

    async def query_raw(self, graph_id: str, query: Union[str, Query], /, **params: Any) -> QueryResponse:
        """Queries a stored graph and returns the whole response, with the versions of graph and schema."""
        return _query_response(await self._send("POST", self._url(graph_id), json=_query_body(query, params)))

    async def graph(self, graph_id: str) -> Any:
        """Downloads a stored graph as a ``pidq.Graph``."""
        from ._graph import Graph

        return Graph.from_json(_check_success(await self._send("GET", self._url(graph_id))).content)

    async def put(
        self, graph_id: str, graph: Any, *, if_match: Optional[str] = None, content_type: str = "application/json"
    ) -> PutResult:
        """Stores a graph: JSON as bytes or str, Python data, or a ``pidq.Graph``.

        ``if_match`` is the ETag that the current version must have. The service converts a drawing in another format,
        as bytes or str; ``content_type`` is then its media type, such as ``application/xml`` for Proteus and DEXPI.
        """
        return _put_result(await self._send(**self._put(graph_id, graph, if_match, content_type)))

    async def export(
        self, graph_id: str, format: str, query: Union[str, Query, None] = None, /, **params: Any
    ) -> bytes:
        """Exports a stored graph, or a query result, in a format such as ``graphml``, ``csv`` or ``svg``."""
        response = _check_success(await self._send(**self._export(graph_id, format, query, params)))
        return bytes(response.content)

    async def list_graphs(self, prefix: str = "") -> AsyncIterator[dict[str, Any]]:
        """Lists the stored graphs: ``job_id``, ``change_version``, ``nodes``, ``etag`` and more."""
        cursor = None
        while True:
            page = _object(await self._send(**self._page(prefix, cursor)), "graphs", "next")
            for entry in page["graphs"]:
                yield entry
            cursor = page["next"]
            if cursor is None:
                return

    async def versions(self, graph_id: str) -> list[dict[str, Any]]:
        """Returns the retained versions of a graph, newest first."""
        body = _object(await self._send("GET", self._url(graph_id) + "/versions"), "versions")
        found: list[dict[str, Any]] = body["versions"]
        return found

    async def query_all(
        self, query: Union[str, Query], /, *, ids: Optional[Iterable[str]] = None, prefix: str = "", **params: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """Queries many graphs: those of ``ids``, or all whose id begins with ``prefix``.

        Yields a row per graph as it arrives: ``job_id``, ``change_version`` and ``result``, or ``error`` instead.
        """
        response = await self._send(**self._batch_query(query, ids, prefix, params), stream=True)
        try:
            if not response.is_success:
                await response.aread()
                _raise_problem(response)
            async for line in response.aiter_lines():
                if line.strip():
                    yield json.loads(line)
        finally:
            await response.aclose()

    async def delete(self, graph_id: str) -> None:
        """Deletes a stored graph."""
        _check_deleted(await self._send("DELETE", self._url(graph_id)))

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
            http_request = self._http.build_request(method, url, headers=self._headers(headers), **request)
            return await self._http.send(http_request, stream=stream)

        await self._with_token(self._needs_token)
        used = self._access
        response = await send()
        if response.status_code == 401 and self._login is not None:
            await response.aclose()
            await self._with_token(lambda: self._access == used)
            response = await send()
        return response

    async def _with_token(self, is_needed: Callable[[], bool]) -> None:
        """Gets a token if one is needed; concurrent tasks get it once."""
        import asyncio

        if self._renewal_lock is None:
            self._renewal_lock = asyncio.Lock()
        async with self._renewal_lock:
            if is_needed():
                await self._renew()

    async def _renew(self) -> None:
        for form in self._token_requests():
            response = await self._http.post(f"{self.base_url}/o/token/", data=form, **_NO_REDIRECTS)
            if response.status_code == 200:
                return self._store_tokens(_object(response, "access_token"))
        _raise_problem(response)


def _body(graph: Any) -> bytes:
    from ._graph import Graph

    if isinstance(graph, Graph):
        return graph.json_bytes()
    if isinstance(graph, str):
        return graph.encode()
    return bytes(graph) if isinstance(graph, (bytes, bytearray, memoryview)) else dumps(graph).encode()
