"""Request smuggling: requests that two servers may frame differently, each with its name, bytes, and number of responses.

A number of 0 means that a correct server rejects the request. Each request carries a hidden one at the place where another server
might see the next request; a response to it is an error.
"""

SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: x\r\nX-Request-Id: smuggled\r\n\r\n"


def post(*headers, body="", version="1.1"):
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"POST /o/token/ HTTP/{version}\r\nHost: x\r\nX-Request-Id: outer\r\n{lines}\r\n{body}"


def get(*headers, line="GET /livez HTTP/1.1", host="Host: x\r\n"):
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"{line}\r\n{host}X-Request-Id: outer\r\n{lines}\r\n"


CHUNKS = f"0\r\n\r\n{SMUGGLED}"
LENGTH = f"Content-Length: {len(SMUGGLED)}"
SHORT = "Content-Length: 5"
CHUNKED = "Transfer-Encoding: chunked"

# Contradictory or ambiguous body lengths.
INVALID_LENGTHS = [
    ("length and chunked", post("Content-Length: 5", CHUNKED, body=CHUNKS)),
    ("chunked and length", post(CHUNKED, "Content-Length: 5", body=CHUNKS)),
    ("chunked and length 0", post(CHUNKED, "Content-Length: 0", body=CHUNKS)),
    ("two lengths", post("Content-Length: 0", LENGTH, body=SMUGGLED)),
    ("two equal lengths", post("Content-Length: 0", "Content-Length: 0", body=SMUGGLED)),
    ("a list of lengths", post(f"Content-Length: 0, {len(SMUGGLED)}", body=SMUGGLED)),
    ("a list of equal lengths", post("Content-Length: 0, 0", body=SMUGGLED)),
    ("a signed length", post("Content-Length: +0", body=SMUGGLED)),
    ("a negative length", post("Content-Length: -1", body=SMUGGLED)),
    ("a hexadecimal length", post("Content-Length: 0x0", body=SMUGGLED)),
    ("a length in two words", post("Content-Length: 0 0", body=SMUGGLED)),
    ("a length with a parameter", post("Content-Length: 0;a=b", body=SMUGGLED)),
    ("an empty length", post("Content-Length:", body=SMUGGLED)),
    ("a length with a point", post("Content-Length: 0.0", body=SMUGGLED)),
    ("an enormous length", post("Content-Length: 99999999999999999999", body=SMUGGLED)),
    ("a length that wraps around", post("Content-Length: 18446744073709551616", body=SMUGGLED)),
    ("a length in other digits", post("Content-Length: ٠", body=SMUGGLED)),
    ("a length before a space and a colon", post("Content-Length : 0", body=SMUGGLED)),
    ("a folded length", post("Content-Length:\r\n 0", body=SMUGGLED)),
    ("chunked twice", post(CHUNKED, CHUNKED, body=CHUNKS)),
    ("chunked twice in a list", post("Transfer-Encoding: chunked, chunked", body=CHUNKS)),
    ("chunked and then identity", post("Transfer-Encoding: chunked, identity", body=CHUNKS)),
    ("chunked in quotes", post('Transfer-Encoding: "chunked"', body=CHUNKS)),
    ("chunked with a parameter", post("Transfer-Encoding: chunked;a=b", body=CHUNKS)),
    ("something like chunked", post("Transfer-Encoding: xchunked", body=CHUNKS)),
    ("part of chunked", post("Transfer-Encoding: chunk", body=CHUNKS)),
    ("identity", post("Transfer-Encoding: identity", body=SMUGGLED)),
    ("no encoding", post("Transfer-Encoding:", body=SMUGGLED)),
    ("gzip and chunked", post("Transfer-Encoding: gzip, chunked", body=CHUNKS)),
    ("a vertical tab before chunked", post("Transfer-Encoding: \x0bchunked", body=CHUNKS)),
    ("a NUL behind chunked", post("Transfer-Encoding: chunked\0", body=CHUNKS)),
    ("an encoding before a space and a colon", post("Transfer-Encoding : chunked", SHORT, body=CHUNKS)),
    ("an encoding before a tab and a colon", post("Transfer-Encoding\t: chunked", SHORT, body=CHUNKS)),
    ("an encoding behind a NUL", post("\0Transfer-Encoding: chunked", SHORT, body=CHUNKS)),
    ("an encoding in a folded line", post("X: y\r\n Transfer-Encoding: chunked", SHORT, body=CHUNKS)),
    ("an encoding behind a bare line feed", post("X: y\nTransfer-Encoding: chunked", SHORT, body=CHUNKS)),
    ("an encoding behind a bare carriage return", post("X: y\rTransfer-Encoding: chunked", SHORT, body=CHUNKS)),
    ("chunked in HTTP/1.0", post(CHUNKED, body=CHUNKS, version="1.0")),
]

# Invalid chunks. The head is valid, so there may be one response, but it is the last one.
INVALID_CHUNKS = [
    ("a hexadecimal prefix", "0x0\r\n\r\n"),
    ("a signed size", "+0\r\n\r\n"),
    ("a negative size", "-1\r\n\r\n"),
    ("no size", "\r\n\r\n"),
    ("only an extension", ";a=b\r\n\r\n"),
    ("a size that is no number", "g\r\n\r\n"),
    ("a size that wraps around", "10000000000000000\r\n\r\n"),
    ("a size with a bare line feed", "0\n\n"),
    ("a size with a bare carriage return", "0\r\r"),
    ("a chunk that is longer", "1\r\nab\r\n0\r\n\r\n"),
    ("a chunk without its end", "1\r\na0\r\n\r\n"),
    ("an end with a bare line feed", "1\r\na\n0\r\n\r\n"),
    ("a size in other digits", "٠\r\n\r\n"),
    ("an extension without an end", "0;" + "a" * 70_000),
]

# Invalid heads.
INVALID_HEADS = [
    ("no host", get(host="")),
    ("two hosts", get("Host: y")),
    ("a host with a user", get(host="Host: a@b\r\n")),
    ("a host of two words", get(host="Host: a b\r\n")),
    ("two spaces", get(line="GET  /livez HTTP/1.1")),
    ("a tab", get(line="GET\t/livez HTTP/1.1")),
    ("a path of two words", get(line="GET /livez x HTTP/1.1")),
    ("a version that is none", get(line="GET /livez HTTP/1.1x")),
    ("a version to come", get(line="GET /livez HTTP/1.2")),
    ("a version in lower case", get(line="GET /livez http/1.1")),
    ("a bare line feed behind the line", get(line="GET /livez HTTP/1.1\nX: y")),
    ("bare line feeds", "GET /livez HTTP/1.1\nHost: x\n\n"),
    ("a header without a colon", get("X")),
    ("a header without a name", get(": x")),
    ("a name of two words", get("X Y: z")),
    ("a NUL in a value", get("X: \0")),
    ("a folded value", get("X: y\r\n z")),
    ("a space before the first name", get(host=" Host: x\r\n")),
]

# Unusual but valid and unambiguous: the number of responses, including that to the second request if there is one.
VALID = [
    ("a body that looks like a request", post(LENGTH, body=SMUGGLED), 1),
    ("a chunk that looks like a request", post(CHUNKED, body=f"{len(SMUGGLED):x}\r\n{SMUGGLED}\r\n0\r\n\r\n"), 1),
    ("a GET with a body", get(LENGTH) + SMUGGLED, 1),
    ("a length with zeros before it", post(f"Content-Length: 000{len(SMUGGLED)}", body=SMUGGLED), 1),
    ("chunked in capitals", post("Transfer-Encoding: CHUNKED", body="0\r\n\r\n"), 1),
    ("chunked behind a tab", post("Transfer-Encoding:\tchunked", body="0\r\n\r\n"), 1),
    ("a size with zeros before it", post(CHUNKED, body="0000\r\n\r\n"), 1),
    ("an extension and a trailer", post(CHUNKED, body="0;a=b\r\nContent-Length: 5\r\n\r\n"), 1),
    ("an underline for a hyphen", post("Transfer_Encoding: chunked", LENGTH, body=SMUGGLED), 1),
    ("an encoding that is not to be passed on", post("Connection: Transfer-Encoding", LENGTH, body=SMUGGLED), 1),
    ("another protocol", get("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), 1),
    ("empty lines before", "\r\n\r\n" + get(), 1),
]


def all_requests():
    """Returns name, bytes and number of responses of all requests."""
    for name, data in INVALID_LENGTHS + INVALID_HEADS:
        yield name, data if "smuggled" in data else data + SMUGGLED, 0
    for name, chunks in INVALID_CHUNKS:
        yield f"chunks: {name}", post(CHUNKED, "Content-Type: application/x-www-form-urlencoded", body=chunks + SMUGGLED), 0
    yield from VALID
