"""Model files: the archive, migrations of old formats, the model card, ONNX export."""
