"""Account of an import: counts by kind, with every item that was lost. Used by the scripts of the formats."""


def graphics_of(value, found):
    """Collects the graphic elements by type, with their texts."""
    if isinstance(value, dict):
        if "type" in value:
            found[value["type"]].append(value.get("text"))
        for item in value.values():
            graphics_of(item, found)
    elif isinstance(value, list):
        for item in value:
            graphics_of(item, found)


class Account:
    """Counts of what a graph has kept."""

    # Lowest share of a kind, in percent, that has to be kept.
    LIMIT = 99.5

    def __init__(self):
        self.is_complete = True

    def report(self, kind, total, lost):
        """Prints the count of a kind, and what was lost of it."""
        kept = 100 * (total - len(lost)) / total if total else 100
        print(f"{kind}: {total - len(lost)} of {total} kept ({kept:.2f} %)")
        for item in lost:
            print(f"  lost: {item}")
        self.is_complete &= kept >= self.LIMIT
