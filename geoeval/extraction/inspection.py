"""Being written."""

from geoeval.types import Extraction


def extract_inspection(reply: str) -> Extraction:
    """Read a reply."""
    return Extraction(None, "none", "no_verdict")
