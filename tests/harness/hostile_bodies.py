"""Hostile request bodies: hand-written seeds of random size, with random mutations."""

import json

OPENING = ["(", "[", "{a: ", "not ", "map(", "filter(", "-", ".a[", "[[", "get() | ("]
CLOSING = [")", "]", "}", "", ")", ")", "", "]", "]]", ")"]


def seeds(rng):
    n = rng.choice([10, 130, 1_000, 20_000])
    i = rng.randrange(len(OPENING))
    yield OPENING[i] * n + "1" + CLOSING[i] * n
    yield OPENING[i] * n
    yield "+".join(["1"] * n)
    yield " | ".join(["get()"] * n)
    yield " | ".join(["[get(), get()] | flatten()"] * min(n, 40))
    yield '"x" | ' + " | ".join(["[get(), get()] | join()"] * min(n, 40))
    yield ".pid_graph.nodes | " + " | ".join(["map([get(), get()]) | flatten()"] * min(n, 30))
    yield "1"
    inner = "1"
    for _ in range(rng.choice([5, 12])):
        inner = f"([{','.join(['get()'] * 10)}] | map({inner}) | size())"
    yield inner
    a = rng.choice(["(a+)+$", "(a|a)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?=(a+))a*b", "(.*)*x", "a{1000}{1000}", "(a?){50}a{50}", "\\1(a)", "(?<=(a+))b"])
    yield f'["{"a" * min(n, 5_000)}!"] | filter(regex(get(), "^{a}"))'
    yield f'.pid_graph.nodes | filter(regex(.id, "{a}"))'
    yield '.pid_graph.nodes | groupBy(.id) | keyBy(get()) | values()'
    yield '{"__proto__": {"a": 1}} | .__proto__.a.constructor.prototype'
    yield ".pid_graph.nodes | sort(.id) | map(.class | split(\"\")) | flatten() | uniq() | sort()"
    yield '.pid_graph.nodes | map(walk(.id, {depth: 1000}))'
    yield 'allPaths("N-0", "N-999")'
    yield '.pid_graph.nodes | map(shortestPath("N-0", .id)) | size()'
    yield '.pid_graph.nodes | map(downstream(.id)) | flatten() | size()'
    yield "9" * n
    yield "1e" + "9" * min(n, 400)
    yield f"substring(\"{'é' * n}\", 0, 1)"
    yield "\u0000" * min(n, 1_000)
    yield "range(0, 1000000000)"
    yield '"%s" | split("")' % ("ab" * min(n, 20_000))
    yield "." + "a." * n
    yield '."' + "\\u0000" * min(n, 5_000) + '"'
    yield "validate() | flatten()"
    yield "cycles()"


def mutate(rng, text):
    if rng.random() < 0.5 or not text:
        return text
    at = rng.randrange(len(text))
    other = rng.choice(["(", ")", "|", "\"", ".", "[", "]", "{", "}", "\\", "\u2028", "$x", ",", " and ", "#"])
    return text[:at] + other + text[at + rng.randrange(3):]


def bodies(rng):
    """Generates bodies forever."""
    while True:
        for text in seeds(rng):
            text = mutate(rng, text)
            body = {"query": text}
            if rng.random() < 0.1:
                body |= {"explain": True}
            if rng.random() < 0.1:
                body |= {"params": {"x": [text] * 3}}
            yield json.dumps(body)
        yield '{"query": ' + "[" * rng.choice([10, 10_000, 500_000])
        yield '{"query": "get()", "params": ' + '{"a":' * 5_000 + "1" + "}" * 5_000 + "}"
