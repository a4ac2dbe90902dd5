"""YAML as configuration files are meant: numbers of YAML 1.2, and no key twice."""

import re
from typing import Any

import yaml

_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_Safe):
    """PyYAML's safe loader, with ``1e-3`` a number and a repeated key an error.

    PyYAML follows YAML 1.1: there ``1e-3`` is text because it has no point, and of two
    equal keys the second silently replaces the first.
    """

    def get_single_node(self) -> yaml.Node | None:
        """Return the document's nodes, all keys distinct.

        Raises
        ------
        yaml.MarkedYAMLError
            If a mapping has a key twice; says on which lines.
        """
        root: yaml.Node | None = super().get_single_node()
        _refuse_repeated_keys(root, set())
        return root


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def _refuse_repeated_keys(node: yaml.Node | None, seen: set[int]) -> None:
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, seen)
    elif isinstance(node, yaml.MappingNode):
        first: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in first:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} is already in line "
                        f"{first[key.value].start_mark.line + 1}; remove or rename one",
                        problem_mark=key.start_mark,
                    )
                first[key.value] = key
            _refuse_repeated_keys(value, seen)
