"""Configurations for tests: objects of the models from what a test is about."""

from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mtmkl_suite.config.models import (
    Artefact,
    Claim,
    Model,
    Paper,
    model_of_artefact,
)


def paper_of(document):
    """Return a paper's configuration from parts of one; what is left out is blank."""
    published = Path("papers/toy2000/published")
    return of(Paper, {"tier": "quick", "published": published, **document})


def changed(config, parts):
    """Return a paper's configuration with other parts."""
    made = paper_of(parts)
    return config.model_copy(update={key: getattr(made, key) for key in parts})


def artefact_of(document):
    """Return a figure or a table from parts of one."""
    return of(Artefact, document)


def claim_of(name, test, **args):
    """Return a claim with one setting."""
    settings = [{"args": args}]
    about = {"id": name, "quantifier": "all", "test": test, "settings": settings}
    return of(Claim, about)


def of(model, document):
    """Return an object of a model without the checks of a file."""
    if isinstance(document, Model):
        return document
    if model is Artefact:
        document = {"kind": "table", **document}
        model = model_of_artefact(document)
    values = {}
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in document:
            values[name] = _made(field.annotation, document[key])
        elif field.is_required():
            values[name] = _blank(field.annotation, key)
    assert set(document) <= {f.alias or n for n, f in model.model_fields.items()}
    return model.model_construct(**values)


def _made(hint, value):
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _made(arguments[0], value)
    if origin in (Union, UnionType):
        models = [_bare(each) for each in arguments]
        kept = [each for each in models if each is not type(None)]
        return _made(kept[0], value) if len(kept) == 1 else value
    if value is None:
        return None
    if origin is dict:
        return {key: _made(arguments[1], each) for key, each in value.items()}
    if origin is list:
        return [_made(arguments[0], each) for each in value]
    return of(hint, value) if _is_model(hint) else value


def _blank(hint, key):
    hint = _bare(hint)
    if get_origin(hint) is Literal:
        return get_args(hint)[0]
    if _is_model(hint):
        return of(hint, {})
    kind = get_origin(hint) or hint
    return {str: key, int: 1, float: 1.0, list: [], dict: {}}.get(kind)


def _bare(hint: Any) -> Any:
    return _bare(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def _is_model(hint):
    return isinstance(hint, type) and issubclass(hint, Model)


def toy():
    """Return the configuration of a paper with two experiments."""
    return {
        "paper": {"id": "toy2000"},
        "tier": "paper",
        "seconds": {"curve/draw[a=1,b=1]/ridge": 130.0, "real/school/ridge": 0.1},
        "protocols": {"given": {"kind": "given", "repeats": 5, "folds": 3}},
        "methods": {
            "ridge": {
                "label": "Ridge",
                "class": "IndependentRidgeRegressor",
                "selection": "none",
            }
        },
        "experiments": {
            "curve": {
                "datasets": {
                    "name": "draw", "options": {"b": 1}, "vary": {"a": [1, 2]},
                },
                "protocol": "given",
                "methods": [{"method": "ridge"}],
                "metrics": ["mse"],
            },
            "real": {
                "datasets": {"name": "school"}, "protocol": "given",
                "methods": [{"method": "ridge"}], "metrics": ["mse"],
            },
        },
        "artefacts": {
            "table_1": {
                "kind": "table", "experiment": "real", "rows": {},
                "tolerance": {"absolute": 1.0},
            },
            "figure_1": {"kind": "figure", "experiments": ["real"]},
        },
        "claims": [],
    }  # fmt: skip
