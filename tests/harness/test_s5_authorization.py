"""S5: every route × principal × tenant × header, from the OpenAPI document: the response for a forbidden graph equals that for a missing one."""

import json

import requests
from service import drawing, goal

HEADERS = [
    {}, {"X-Change-Version": "1"}, {"X-Change-Version": "77"}, {"If-None-Match": "*"}, {"If-Match": "*"},
    {"If-Match": '"x"'}, {"X-Schema-Version": "2"}, {"Accept": "image/svg+xml"}, {"Accept": "image/png"},
    {"Accept-Encoding": "zstd"}, {"Content-Type": "text/plain"}, {"Content-Type": "application/xml"}, {"Content-Encoding": "br"}, {"Idempotency-Key": "k"},
]
# Endpoints for administrators, and the users that are some.
ADMINISTRATION = ("/accounts", "/clients")
ADMINISTRATORS = ("ann", "adam")
BODIES = {"POST": b'{"query": "get()"}', "PUT": json.dumps(drawing(1)).encode()}


def principals(service):
    """Returns token, tenant and scopes by name; principals without a tenant are unauthenticated."""
    revoked = service.token("robot")
    requests.post(service.url + "/o/revoke_token/", data={"token": revoked, **service.credentials("robot")}, timeout=30)
    clients = {"reader": ("main", "read"), "writer": ("main", "write"), "robot": ("main", "read write"), "rival": ("other", "read write")}
    users = {"ann": ("main", "read write"), "vic": ("main", "read"), "eve": ("other", "read write"), "adam": ("other", "read write")}
    found = {"anonymous": (None, None, ""), "invalid": ("pidq_at_" + "x" * 43, None, ""), "revoked": (revoked, None, "")}
    found |= {name: (service.token(name), *tenant_and_scopes) for name, tenant_and_scopes in clients.items()}
    return found | {name: (service.user_token(name), *tenant_and_scopes) for name, tenant_and_scopes in users.items()}


def normalize(response, graph_id):
    """Returns a response without the graph id, the date and the request id."""
    headers = {name: value for name, value in response.headers.items() if name.lower() not in ("date", "x-request-id")}
    return response.status_code, headers, response.text.replace(graph_id, "GRAPH")


def test_authorization(service):
    document = requests.get(service.url + "/openapi.json", timeout=30).json()
    owner = service.session()
    # The ids have equal lengths, so that responses have the same Content-Length.
    present, missing = "graph-present", "graph-missing"
    tried, leaks = 0, []
    callers = principals(service)

    def call(token, method, path, graph_id, headers):
        all_headers = {"Content-Type": "application/json", "X-Request-Id": "r"} | headers
        if token:
            all_headers["Authorization"] = f"Bearer {token}"
        return requests.request(method, service.url + path.replace("{job_id}", graph_id), headers=all_headers, data=BODIES.get(method), timeout=30)

    for path, operations in document["paths"].items():
        for method in [method.upper() for method in operations]:
            required = (operations[method.lower()].get("security") or [{}])[0].get("bearer", [])
            for principal, (token, tenant, scopes) in callers.items():
                for headers in HEADERS if "{job_id}" in path else HEADERS[:1]:
                    if "{job_id}" in path and owner.get(f"{service.url}/graph/{present}", timeout=30).status_code == 404:
                        service.put(owner, present, drawing(1))
                    response = call(token, method, path, present, headers)
                    tried += 1
                    missing_scopes = [scope for scope in required if scope not in scopes.split()]
                    is_refused = path.startswith(ADMINISTRATION) and principal not in ADMINISTRATORS
                    expected = 401 if required and not tenant else 403 if missing_scopes or is_refused else None
                    if expected and response.status_code != expected:
                        leaks.append((method, path, principal, headers, response.status_code, expected))
                    elif not expected and response.status_code in ((403, 401) if required else (403,)):
                        leaks.append((method, path, principal, headers, response.status_code, "access granted"))
                    if "{job_id}" not in path or not required:
                        continue
                    if method == "PUT" and tenant == "other":
                        # The other tenant stores its own graph with this id. It is deleted again, and ours must be unchanged.
                        call(callers["adam"][0], "DELETE", path, present, {})
                        if service.run_query(owner, present, ".pid_graph.nodes | map(.id)").json().get("result") != ["N-0"]:
                            leaks.append((method, path, principal, headers, "changed another tenant's graph"))
                        continue
                    is_forbidden = tenant == "other" or (required == ["write"] and principal in ("writer",))
                    if expected or is_forbidden and method != "PUT":
                        other = call(token, method, path, missing, headers)
                        tried += 1
                        if normalize(response, present) != normalize(other, missing):
                            leaks.append((method, path, principal, headers, normalize(response, present), normalize(other, missing)))
                    if is_forbidden and not expected and response.ok:
                        leaks.append((method, path, principal, headers, response.status_code, "forbidden"))
    listed = service.session(callers["rival"][0]).get(service.url + "/graph", timeout=30).json()
    if listed["graphs"]:
        leaks.append(("GET", "/graph", listed))
    for leak in leaks[:20]:
        print("LEAK", leak)
    goal("S5", {"combinations": tried, "leaks": len(leaks)}, "0", not leaks)


def test_graph_parameters(service):
    """A graph that a query names as a parameter needs the same right as one that it is sent to."""
    owner = service.session()
    present, missing, own = "graph-present", "graph-missing", "graph-of-rival"
    version = service.put(owner, present, drawing(1)).json()["change_version"]
    # No graph of these tests has as many versions.
    absent = "1000000"
    tried, leaks = 0, []

    def query(session, graph_id, other, reference):
        body = {"query": "$other", "graph_params": {"other": {"job_id": other, **reference}}}
        return session.post(f"{service.url}/graph/{graph_id}", json=body, headers={"X-Request-Id": "r"}, timeout=30)

    for name, (token, tenant, scopes) in principals(service).items():
        if not tenant or "read" not in scopes.split():
            continue
        session, graph_id = service.session(token), present
        if tenant == "other":
            service.put(service.session(service.user_token("adam")), own, drawing(1, own))
            graph_id = own
        for reference in ({}, {"change_version": version}, {"change_version": absent}):
            response, other = query(session, graph_id, present, reference), query(session, graph_id, missing, reference)
            tried += 2
            if other.status_code != 404:
                leaks.append((name, reference, "missing", other.status_code))
            if tenant == "other" and normalize(response, present) != normalize(other, missing):
                leaks.append((name, reference, normalize(response, present), normalize(other, missing)))
            if tenant == "main" and response.status_code != (404 if absent in reference.values() else 200):
                leaks.append((name, reference, "present", response.status_code))
    for leak in leaks[:20]:
        print("LEAK", leak)
    goal("S5-graph-parameters", {"combinations": tried, "leaks": len(leaks)}, "0", not leaks)
