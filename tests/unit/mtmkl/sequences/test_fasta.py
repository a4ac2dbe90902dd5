import gzip
import re

import pytest

from mtmkl.sequences import FastaRecord, read_fasta

TEXT = """\
; a comment before all

>one  first organism
ACGT
acgtN

; a comment within
AC-*.
> two
 ACGT\x20
>one  first organism
ACGT
"""
RECORDS = [
    FastaRecord("one  first organism", "ACGTacgtNAC-*.", 3),
    FastaRecord("two", "ACGT", 9),
    FastaRecord("one  first organism", "ACGT", 11),
]


def written(tmp_path, content, name="some.fa"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_records_in_their_order(tmp_path, newline, end):
    text = (TEXT.rstrip("\n") + end).replace("\n", newline)
    assert read_fasta(written(tmp_path, text)) == RECORDS


def test_gzip_is_known_by_its_content(tmp_path):
    path = written(tmp_path, gzip.compress(TEXT.encode()), "plain.txt")
    assert read_fasta(path) == RECORDS


def test_byte_order_mark_and_text_in_headers(tmp_path):
    path = written(tmp_path, "\ufeff>Bacillus é\nACGT\n>\nAC\n")
    assert read_fasta(path) == [
        FastaRecord("Bacillus é", "ACGT", 1),
        FastaRecord("", "AC", 3),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " has no records: it is empty, or has comments alone"),
        ("ACGT\n>one\nACGT\n", ", line 1: a FASTA file starts with a header, .* 'ACGT"),
        (">one\n>two\nACGT\n", ", line 1: the record 'one' has no sequence"),
        (">one\nAC\nA1GT\n", ", line 3: '1' is no letter of a sequence"),
        (">one\nAC GT\n", ", line 2: ' ' is no letter of a sequence"),
        (b">one\nAC\n>\xff\nAC\n", ", line 3: not text in UTF-8"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path, content, message):
    path = written(tmp_path, content)
    with pytest.raises(ValueError, match=re.escape(str(path)) + message):
        read_fasta(path)


def test_a_cut_gzip_file_is_an_error(tmp_path):
    path = written(tmp_path, gzip.compress(TEXT.encode())[:-9], "cut.gz")
    with pytest.raises(ValueError, match=r"cut\.gz cannot be unpacked: "):
        read_fasta(path)
