"""How is a model written as a graph of ONNX operators? Trees, linear models, and the encoding of tables."""
