"""The Helm chart, rendered by Helm itself."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from mnemic.cli import COMMANDS
from tests.architecture.sources import ROOT
from tests.deploy.conftest import helm

DEPLOY = ROOT / "deploy"


@pytest.mark.parametrize("release", ["memory", "mnemic"])
@pytest.mark.parametrize("given", [[], ["--set", 'policy=levels = ["user"]', "--set", "replicas=5"]])
def test_helm_renders_what_kubernetes_would_take(given: list[str], release: str) -> None:
    chart = str(DEPLOY / "helm" / "mnemic")
    lint = subprocess.run([helm(), "lint", "--strict", chart, *given], capture_output=True, text=True, check=False)
    assert lint.returncode == 0, lint.stdout
    shown = subprocess.run([helm(), "template", release, chart, *given], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    made = [one for one in yaml.safe_load_all(shown.stdout) if one]
    assert sorted(one["kind"] for one in made) == [
        "ConfigMap", "Deployment", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service",
    ]  # fmt: skip
    for deployment in (one for one in made if one["kind"] == "Deployment"):
        pod = deployment["spec"]["template"]
        assert deployment["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
        assert pod["spec"]["enableServiceLinks"] is False
        assert len(pod["metadata"]["annotations"]["checksum/settings"]) == 64
        assert pod["spec"]["securityContext"].items() >= {"runAsGroup": 10001, "fsGroup": 10001}.items()
        (container,) = pod["spec"]["containers"]
        assert container["args"][0] in COMMANDS
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["spec"]["volumes"]}
