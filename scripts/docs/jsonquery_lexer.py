"""Syntax highlighting of queries in `jsonquery` blocks."""

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

# Pygments loads lexers by this list.
__all__ = ["JsonQueryLexer"]


class JsonQueryLexer(RegexLexer):
    """Lexer of the query language: comments, strings, numbers, names, operators."""

    name = "JSON Query"
    aliases = ("jsonquery",)
    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"//.*?$", Comment.Single),
            (r"/\*.*?\*/", Comment.Multiline),
            (r'"(\\.|[^"\\])*"', String.Double),
            (r"-?\d+(\.\d+)?([eE][+-]?\d+)?", Number),
            (r"\$\w+", Name.Variable),
            (r"(true|false|null)\b", Keyword.Constant),
            (r"(and|or|not in|in|not)\b", Operator.Word),
            (r"\w+(?=\()", Name.Function),
            (r"\w+", Name.Attribute),
            (r"==|!=|>=|<=|[|<>+\-*/%^]", Operator),
            (r"[.,:(){}\[\]]", Punctuation),
        ]
    }
