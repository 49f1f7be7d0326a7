"""For tests beside a CPU torch only: lets the torchvision of PyPI, which is built for CUDA, be imported.

Its compiled part does not load there, which torchvision tolerates; but two of its Python modules describe the operators
``nms`` and ``qnms`` of that part, and fail when nobody has declared them. So they are declared just before.
"""

import importlib.abc
import sys


class _BeforeTorchvision(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            if torch.version.cuda is None:
                library = torch.library.Library("torchvision", "DEF")
                library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
                library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
                torch.geoeval_keeps = library  # what is declared goes when the object does


sys.meta_path.insert(0, _BeforeTorchvision())
