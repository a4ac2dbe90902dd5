import ast

import mutants

CODE = """
def f(x: int = 3):
    if x < 2 and not x == 7:
        raise ValueError(f"{x + 1}")
    return x * 4
"""


def test_each_change_is_one_and_gives_other_code():
    n = len(mutants.places(ast.parse(CODE)))
    # 3, <, 2, and, ==, 7, return, *, 4; nothing of the message.
    assert n == 9
    found = set()
    for k in range(n):
        tree = ast.parse(CODE)
        mutants.change(mutants.places(tree)[k])
        text = ast.unparse(tree)
        compile(text, "changed", "exec")
        assert "{x + 1}" in text
        found.add(text)
    assert len(found - {ast.unparse(ast.parse(CODE))}) == n


def test_modules_have_tests_at_the_same_path():
    module = mutants.ROOT / "src/mtmkl_suite/files.py"
    assert mutants.test_of(module).is_file()
