import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), *(str(HERE / harness) for harness in ("inspect_ai", "lm_eval", "vlmevalkit"))]
