"""Makes our datasets known to VLMEvalKit, which has no entry point for any: its lists are added to, in place."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType


def register() -> None:
    """Add our datasets to VLMEvalKit and put the guards in place. Calling it again changes nothing.

    For scripts that run VLMEvalKit in their own process, such as evalscope's; ``geoeval vlmevalkit`` calls it. The
    format of prediction files becomes tsv unless PRED_FORMAT says otherwise: an xlsx cell ends after 32,767 characters.

    Raises:
        ImportError: VLMEvalKit, or something it needs, is missing.
        RuntimeError: Somebody else has one of our names.
    """
    os.environ.setdefault("PRED_FORMAT", "tsv")
    folder = os.environ.get("LMUData")  # noqa: SIM112 - its name
    if folder:  # the harness goes elsewhere without a word where it does not exist
        Path(folder).mkdir(parents=True, exist_ok=True)
    import vlmeval.dataset as harness

    from geoeval.harness.vlmevalkit import hooks, redact
    from geoeval.harness.vlmevalkit.dataset import GeoEvalDataset

    redact.keep_out_environment()
    redact.redact_logs()

    names = GeoEvalDataset.supported_datasets()
    if GeoEvalDataset not in harness.DATASET_CLASSES:
        taken = sorted(set(names) & set(harness.SUPPORTED_DATASETS))
        if taken or hasattr(harness, GeoEvalDataset.__name__):
            raise RuntimeError(
                f"VLMEvalKit has {taken or GeoEvalDataset.__name__} already; which would run is not clear"
            )
        setattr(harness, GeoEvalDataset.__name__, GeoEvalDataset)  # where --config looks for classes
        harness.DATASET_CLASSES.append(GeoEvalDataset)
        harness.SUPPORTED_DATASETS.extend(names)
    hooks.install()


def load_runner(root: Path | None = None) -> ModuleType:
    """VLMEvalKit's ``run.py``, not run yet.

    Args:
        root: A checkout; the installed ms-vlmeval when None.

    Raises:
        ImportError: It, or something it needs, is missing.
        FileNotFoundError: There is no ``run.py`` in the checkout.
    """
    if root is None:
        import vlmeval.run as runner

        return runner  # type: ignore[no-any-return]
    file = root / "run.py"
    if not file.is_file() or not (root / "vlmeval").is_dir():
        raise FileNotFoundError(f"{root}: no checkout of VLMEvalKit (run.py and the folder vlmeval are looked for)")
    sys.path.insert(0, str(root))
    spec = importlib.util.spec_from_file_location("vlmevalkit_run", file)
    assert spec is not None
    assert spec.loader is not None
    runner = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = runner
    spec.loader.exec_module(runner)
    return runner
