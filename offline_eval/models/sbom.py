"""A bill of materials of this environment in CycloneDX JSON: every installed package and model, hashes and licences.

An auditor inside the air gap can hold it against a list of known faults without asking anything of a network.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from offline_eval import __version__
from offline_eval.core.errors import UsageError
from offline_eval.core.hashing import digest
from offline_eval.models.installed import InstalledModel

if TYPE_CHECKING:
    from cyclonedx.model.component import Component
    from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression

_LONGEST_LICENCE = 100  # longer ones are whole licence texts in the wrong field
_CLASSIFIER = "License :: "


def sbom(models: Sequence[InstalledModel], *, now: datetime) -> str:
    """The bill of materials, one field a line.

    The same environment gives the same document but for the time, serial number included.

    Args:
        models: Installed models.

    Raises:
        UsageError: The library that writes CycloneDX is not installed.
    """
    try:
        from cyclonedx.model.bom import Bom, BomMetaData
        from cyclonedx.model.component import Component, ComponentType
        from cyclonedx.output.json import JsonV1Dot6
    except ImportError as error:
        raise UsageError("a bill of materials needs one more package: pip install 'offline-eval[sbom]'") from error
    components = [*_packages(), *(_model(model) for model in models)]
    identity = digest("sbom", [[part.name, part.version] for part in components])
    program = Component(
        name="offline-eval", version=__version__, type=ComponentType.APPLICATION, bom_ref="offline-eval"
    )
    bom = Bom(
        components=components,
        serial_number=uuid5(NAMESPACE_URL, identity),
        metadata=BomMetaData(timestamp=now.astimezone(UTC), component=program),
    )
    bom.register_dependency(program, components)  # the environment as a whole is what it runs in
    return json.dumps(json.loads(JsonV1Dot6(bom).output_as_string()), ensure_ascii=False, indent=1)


def _packages() -> list["Component"]:
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL

    found = {(distribution.name, distribution.version): distribution for distribution in distributions()}
    return [
        Component(
            name=name,
            version=version,
            type=ComponentType.LIBRARY,
            purl=PackageURL("pypi", name=name.lower().replace("_", "-"), version=version),
            bom_ref=f"pypi:{name}@{version}",
            licenses=_licences(distribution),
        )
        for (name, version), distribution in sorted(found.items(), key=lambda entry: entry[0])
    ]


def _model(model: InstalledModel) -> "Component":
    from cyclonedx.model import Property
    from cyclonedx.model.component import Component, ComponentType

    identities = {"weights": model.weights_hash, "tokenizer": model.tokenizer_hash, "template": model.template_hash}
    return Component(
        name=model.config.name,
        version=model.weights_hash[:12],
        type=ComponentType.MACHINE_LEARNING_MODEL,
        bom_ref=f"model:{model.config.name}",
        licenses=[_named(model.config.license)],
        properties=[
            *(Property(name=f"offline-eval:{part}", value=value) for part, value in identities.items()),
            *(Property(name=f"sha256:{path}", value=sha) for path, sha in sorted(model.files.items())),
        ],
    )


def _licences(distribution: Distribution) -> Iterable["DisjunctiveLicense | LicenseExpression"]:
    """What the package says of its licence: an expression, else its classifiers, else a short name."""
    from cyclonedx.model.license import LicenseExpression

    def stated_in(field: str) -> list[str]:
        return [str(value).strip() for value in distribution.metadata.get_all(field) or ()]

    for expression in stated_in("License-Expression"):
        return [LicenseExpression(expression)]
    classifiers = [line for line in stated_in("Classifier") if line.startswith(_CLASSIFIER)]
    names = [line.rsplit(" :: ", 1)[1] for line in classifiers if not line.endswith("OSI Approved")]
    if not names:
        names = [text for text in stated_in("License") if text and len(text) <= _LONGEST_LICENCE and "\n" not in text]
    return [_named(name) for name in dict.fromkeys(names)]


def _named(name: str) -> "DisjunctiveLicense":
    from cyclonedx.model.license import DisjunctiveLicense
    from cyclonedx.spdx import is_supported_id

    return DisjunctiveLicense(id=name) if is_supported_id(name) else DisjunctiveLicense(name=name)
