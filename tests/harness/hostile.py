"""Hostile request bodies: hand-written seeds, grown and mixed at random."""

import json

DEEP = ["(", "[", "{a: ", "not ", "map(", "filter(", "-", ".a[", "[[", "get() | ("]
ENDS = [")", "]", "}", "", ")", ")", "", "]", "]]", ")"]


def seeds(dice):
    n = dice.choice([10, 130, 1_000, 20_000])
    i = dice.randrange(len(DEEP))
    yield DEEP[i] * n + "1" + ENDS[i] * n
    yield DEEP[i] * n
    yield "+".join(["1"] * n)
    yield " | ".join(["get()"] * n)
    yield " | ".join(["[get(), get()] | flatten()"] * min(n, 40))
    yield '"x" | ' + " | ".join(["[get(), get()] | join()"] * min(n, 40))
    yield ".pid_graph.nodes | " + " | ".join(["map([get(), get()]) | flatten()"] * min(n, 30))
    yield "1"
    inner = "1"
    for _ in range(dice.choice([5, 12])):
        inner = f"([{','.join(['get()'] * 10)}] | map({inner}) | size())"
    yield inner
    a = dice.choice(["(a+)+$", "(a|a)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?=(a+))a*b", "(.*)*x", "a{1000}{1000}", "(a?){50}a{50}", "\\1(a)", "(?<=(a+))b"])
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


def mutated(dice, text):
    if dice.random() < 0.5 or not text:
        return text
    at = dice.randrange(len(text))
    other = dice.choice(["(", ")", "|", "\"", ".", "[", "]", "{", "}", "\\", "\u2028", "$x", ",", " and ", "#"])
    return text[:at] + other + text[at + dice.randrange(3):]


def queries(dice):
    """Generates bodies forever."""
    while True:
        for text in seeds(dice):
            text = mutated(dice, text)
            body = {"query": text}
            if dice.random() < 0.1:
                body |= {"explain": True}
            if dice.random() < 0.1:
                body |= {"params": {"x": [text] * 3}}
            yield json.dumps(body)
        yield '{"query": ' + "[" * dice.choice([10, 10_000, 500_000])
        yield '{"query": "get()", "params": ' + '{"a":' * 5_000 + "1" + "}" * 5_000 + "}"
