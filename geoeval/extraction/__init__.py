"""Reply text -> `Extraction`. Total functions: no reply makes them raise, guess or take more than linear time."""

from geoeval.extraction.inspection import extract_inspection
from geoeval.extraction.letter import extract_letter
from geoeval.extraction.verdict import extract_verdict

__all__ = ["extract_inspection", "extract_letter", "extract_verdict"]
