"""Anchors of headings, as GitHub forms them."""

import re


def slug(heading):
    """Returns the anchor of a heading: lowercase words and hyphens."""
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return text.replace(" ", "-")
