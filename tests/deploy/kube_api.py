"""A server with as much of the Kubernetes API as Helm needs to install, upgrade and delete a release: objects are only stored."""

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import yaml

# Kinds by group and version, with the names of their collections.
RESOURCES = {
    "v1": {
        "secrets": "Secret",
        "configmaps": "ConfigMap",
        "services": "Service",
        "serviceaccounts": "ServiceAccount",
        "persistentvolumeclaims": "PersistentVolumeClaim",
        "pods": "Pod",
        "namespaces": "Namespace",
    },
    "apps/v1": {"deployments": "Deployment"},
    "batch/v1": {"jobs": "Job"},
    "policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"},
    "autoscaling/v2": {"horizontalpodautoscalers": "HorizontalPodAutoscaler"},
    "networking.k8s.io/v1": {"ingresses": "Ingress", "networkpolicies": "NetworkPolicy"},
}
OBJECT = re.compile(r"^/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+/[^/]+))/namespaces/(?P<space>[^/]+)/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?$")


def merge(base: object, patch: object) -> object:
    """Applies a JSON merge patch."""
    if not isinstance(base, dict) or not isinstance(patch, dict):
        return patch
    merged = {key: value for key, value in base.items() if patch.get(key, value) is not None}
    return merged | {key: merge(base.get(key), value) for key, value in patch.items() if value is not None}


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields number and value of the length-delimited fields of a protobuf message."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte, at, value = data[at], at + 1, value | (data[at] & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        length = varint()
        if key & 7 == 2:
            yield key >> 3, data[at : at + length]
            at += length


def entries(values: list[bytes]) -> dict[str, bytes]:
    """Returns the map of its encoded entries."""
    pairs = [dict(fields(value)) for value in values]
    return {pair[1].decode(): pair.get(2, b"") for pair in pairs}


def secret_of_protobuf(body: bytes) -> dict:
    """Converts a Secret, the form in which Helm keeps its records; everything else arrives as JSON."""
    raw = dict(fields(body.removeprefix(b"k8s\0")))[2]
    parts = list(fields(raw))
    metadata = list(fields(dict(parts)[1]))
    labels = entries([value for number, value in metadata if number == 11])
    data = entries([value for number, value in parts if number == 2])
    return {
        "metadata": {"name": dict(metadata)[1].decode(), "labels": {name: value.decode() for name, value in labels.items()}},
        "data": {name: base64.b64encode(value).decode() for name, value in data.items()},
        "type": dict(parts)[3].decode(),
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, code: int, body: dict) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def fail(self, code: int, reason: str) -> None:
        self.reply(code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": reason})

    def body(self) -> dict:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if body.startswith(b"k8s\0"):
            # The options of a deletion are not used.
            return secret_of_protobuf(body) if self.command in ("POST", "PUT") else {}
        # Objects of server-side apply may be YAML, which includes JSON.
        return yaml.safe_load(body) or {}

    def place(self) -> tuple[str, str, str, str | None] | None:
        found = OBJECT.match(urlparse(self.path).path)
        return found and (found["core"] or found["group"], found["space"], found["plural"], found["name"])

    def store(self, code: int, place: tuple, item: dict) -> None:
        version, space, plural, name = place
        item = {"apiVersion": version, "kind": RESOURCES[version][plural]} | item
        self.server.number += 1
        item["metadata"] = item["metadata"] | {"namespace": space, "uid": f"uid-{name}", "resourceVersion": str(self.server.number)}
        self.server.objects[place] = item
        self.reply(code, item)

    def do_GET(self) -> None:
        place = self.place()
        if not place:
            self.discover(urlparse(self.path).path)
        elif place[3]:
            item = self.server.objects.get(place)
            self.reply(200, item) if item else self.fail(404, "NotFound")
        else:
            self.list(place)

    def list(self, place: tuple) -> None:
        version, space, plural, _ = place
        selector = parse_qs(urlparse(self.path).query).get("labelSelector", [""])[0]
        wanted = dict(pair.split("=", 1) for pair in selector.split(",") if "=" in pair)
        items = [
            item
            for (*where, _), item in self.server.objects.items()
            if tuple(where) == (version, space, plural) and wanted.items() <= item["metadata"].get("labels", {}).items()
        ]
        self.reply(200, {"kind": f"{RESOURCES[version][plural]}List", "apiVersion": version, "metadata": {}, "items": items})

    def discover(self, path: str) -> None:
        version = path.removeprefix("/apis/").removeprefix("/api/")
        groups = [version.split("/") for version in RESOURCES if "/" in version]
        if path == "/version":
            self.reply(200, {"major": "1", "minor": "35", "gitVersion": "v1.35.0"})
        elif path == "/api":
            self.reply(200, {"kind": "APIVersions", "versions": ["v1"]})
        elif path == "/apis":
            versions = [(group, {"groupVersion": f"{group}/{version}", "version": version}) for group, version in groups]
            all_groups = [{"name": group, "versions": [version], "preferredVersion": version} for group, version in versions]
            self.reply(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": all_groups})
        elif version in RESOURCES:
            verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
            resources = [
                {"name": name, "singularName": kind.lower(), "namespaced": kind != "Namespace", "kind": kind, "verbs": verbs}
                for name, kind in RESOURCES[version].items()
            ]
            self.reply(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources})
        else:
            self.fail(404, "NotFound")

    def do_POST(self) -> None:
        version, space, plural, _ = self.place()
        item = self.body()
        place = (version, space, plural, item["metadata"]["name"])
        if place in self.server.objects:
            self.fail(409, "AlreadyExists")
        else:
            self.store(201, place, item)

    def do_PUT(self) -> None:
        self.store(200, self.place(), self.body())

    def do_PATCH(self) -> None:
        place, patch = self.place(), self.body()
        if "apply-patch" in self.headers["Content-Type"]:
            self.store(200, place, patch)
        elif place in self.server.objects:
            self.store(200, place, merge(self.server.objects[place], patch))
        else:
            self.fail(404, "NotFound")

    def do_DELETE(self) -> None:
        self.body()
        if self.server.objects.pop(self.place(), None):
            self.reply(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})
        else:
            self.fail(404, "NotFound")

    def log_message(self, *arguments: object) -> None:
        pass


class KubeApi:
    """The running server."""

    def __init__(self, server: ThreadingHTTPServer):
        self.server = server
        self.url = f"http://127.0.0.1:{server.server_port}"

    def objects(self) -> dict[str, dict]:
        """Returns the objects by kind and name, without Helm's records."""
        items = {f"{item['kind']}/{item['metadata']['name']}": item for item in list(self.server.objects.values())}
        return {name: item for name, item in items.items() if "sh.helm.release" not in name}


@contextmanager
def kube_api() -> Iterator[KubeApi]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.objects, server.number = {}, 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield KubeApi(server)
    finally:
        server.shutdown()
        server.server_close()
