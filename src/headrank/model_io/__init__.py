"""How do models outlive the process? Files without pickle that are checked before anything is built from them."""

from headrank.model_io.loading import load
from headrank.model_io.saving import save
from headrank.model_io.to_json import export_json
from headrank.model_io.to_onnx import export_onnx

__all__ = ["export_json", "export_onnx", "load", "save"]
