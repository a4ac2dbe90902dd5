"""A workflow that runs in seconds."""

import pytest
from tiny_workflow import TinyWorkflow


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A tiny workflow that has run to its end on two cores."""
    workflow = TinyWorkflow(tmp_path_factory.mktemp("finished"))
    done = workflow.run()
    assert done.returncode == 0, done.stdout + done.stderr
    workflow.done = done
    return workflow
