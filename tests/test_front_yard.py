"""Workflows, issue templates and the files of a release: they parse, and agree with the project's own numbers."""
from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.release import notes
from tests.test_house import ROOT, tracked
from tfnb.core.version import __version__

WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
             for path in (ROOT / ".github" / "workflows").glob("*.yml")}


def steps(workflow: str) -> list[dict]:
    return [step for job in WORKFLOWS[workflow]["jobs"].values() for step in job["steps"]]


def test_files_parse():
    names = [name for name in tracked() if name.endswith((".yml", ".yaml", ".cff"))]
    assert len(names) > 8
    for name in names:
        assert yaml.safe_load((ROOT / name).read_text(encoding="utf-8")), name


def test_ci_runs_on_every_system_and_python():
    matrix = WORKFLOWS["ci"]["jobs"]["suite"]["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f">={matrix['python'][0]}" == project["requires-python"]
    supported = re.search(r"\((\d), (\d+)\) <= sys.version_info\[:2\] < \((\d), (\d+)\)",
                          (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert supported and matrix["python"] == [f"3.{minor}" for minor in range(int(supported[2]), int(supported[4]))]


def test_jobs_end_and_have_no_more_rights_than_they_need():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}, name
        for job in workflow["jobs"].values():
            assert "timeout-minutes" in job or "environment" in job
    for step in (step for name in WORKFLOWS for step in steps(name)):
        assert "uses" in step or "${{ github.event" not in step["run"], "text of others in a shell"
        assert "secrets." not in str(step)


def test_targets_of_make_that_workflows_call_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    called = {target for name in WORKFLOWS for step in steps(name)
              for target in re.findall(r"^make (\S+)", step.get("run", ""), re.MULTILINE)}
    targets = re.findall(r"^(\S+):(?!=)", makefile.replace("$(STAMPS)", ".stamps"), re.MULTILINE)
    assert {"site", "test-lowest"} <= called and called <= set(targets)


def test_a_release_has_its_changes_and_its_version_everywhere():
    assert len(notes(f"v{__version__}")) > 200
    with pytest.raises(ValueError, match="expected the version of the tag v0.0.1"):
        notes("v0.0.1")
