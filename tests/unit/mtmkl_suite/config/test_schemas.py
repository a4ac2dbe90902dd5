import json

from mtmkl_suite.config.schemas import FILES, write_schemas


def test_every_file_has_a_schema_that_knows_its_keys(tmp_path):
    write_schemas(tmp_path)
    found = {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert set(found) == {f"{name}.schema.json" for name in FILES}
    experiments = found["experiments.schema.json"]
    assert set(experiments["required"]) == {
        "paper", "protocols", "methods", "experiments"
    }  # fmt: skip
    method = experiments["$defs"]["Method"]
    assert "class" in method["properties"]
    assert method["additionalProperties"] is False
