import pytest

from mtmkl_suite.run import provenance
from mtmkl_suite.run.provenance import arithmetic_of, machine

ZEN_3 = {"blas": "Haswell", "compiled_for": "znver3"}
SERVER = ["+avx2", "+avx512f", "-sse4a", "-clzero"]


@pytest.fixture
def on(monkeypatch):
    for name in (
        "OPENBLAS_CORETYPE", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES",
        "NPY_DISABLE_CPU_FEATURES",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)

    def on(name, has):
        monkeypatch.setattr(provenance, "_compiled_for", lambda: (name, has))

    return on


def test_another_processor_is_kept_to_the_instructions_of_both(on):
    on("sapphirerapids", SERVER)
    assert arithmetic_of(ZEN_3) == {
        "OPENBLAS_CORETYPE": "Haswell",
        "NUMBA_CPU_NAME": "znver3",
        "NUMBA_CPU_FEATURES": "-sse4a,-clzero",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",
    }
    on("skylake", ["+avx2", "-avx512f"])
    assert "NPY_DISABLE_CPU_FEATURES" not in arithmetic_of(ZEN_3)


def test_what_is_set_stays(on, monkeypatch):
    on("sapphirerapids", SERVER)
    monkeypatch.setenv("NUMBA_CPU_NAME", "skylake")
    assert "NUMBA_CPU_NAME" not in arithmetic_of(ZEN_3)


@pytest.mark.parametrize(
    ("name", "has"),
    [("znver3", SERVER), ("westmere", ["-avx2"]), ("apple-m1", [""])],
)
def test_nothing_is_set_where_that_is_not_needed_or_not_possible(on, name, has):
    on(name, has)
    assert arithmetic_of(ZEN_3) == {}


def test_a_record_may_not_say_what_its_code_was_compiled_for(on):
    on("sapphirerapids", SERVER)
    assert arithmetic_of({"blas": "Haswell"}) == {}


def test_a_machine_repeats_its_own_arithmetic():
    assert arithmetic_of(machine()) == {}
