"""Files as they are: encodings, BOMs, line endings, and what is no Python at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphward.source.text import NotText, SourceText

PATH = Path("net.py")
CHINESE = "x = '图' + '😀'  # 编译\n"


@pytest.mark.parametrize(
    "data",
    [
        CHINESE.encode(),
        b"\xef\xbb\xbf" + CHINESE.encode(),
        "# -*- coding: gbk -*-\nx = '图'\n".encode("gbk"),
        "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
        b"a = 1\r\nb = 2\r\n",
        b"a = 1\rb = 2\r",
        b"no newline at the end",
        b"",
    ],
)
def test_bytes_come_back_as_they_were(data):
    assert SourceText.from_bytes(PATH, data).to_bytes() == data


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"a = 1\nb = '\x00'\n", 2, "null bytes"),
        (b"a = 1\n\nb = '\xff'\n", 3, "not valid UTF-8"),
        (b"# coding: no-such-codec\n", 1, "unknown encoding"),
    ],
)
def test_what_is_no_text_says_why_and_where(data, line, reason):
    with pytest.raises(NotText, match=reason) as caught:
        SourceText.from_bytes(PATH, data)
    assert caught.value.line == line


def test_positions_count_characters():
    source = SourceText.from_bytes(PATH, CHINESE.encode())
    offset = source.utf8.index(b"#")
    assert source.position(offset) == (1, CHINESE.index("#") + 1)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_end_where_python_says(newline):
    source = SourceText.from_str(PATH, newline.join(["a = 1", "\x0cb = '\u2028'", "c = 3", ""]))
    assert source.newline == newline
    assert len(source.line_starts) == 4
    assert source.utf8[source.offset(3, 0) :].startswith(b"c = 3")
