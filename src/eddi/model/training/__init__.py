"""Training: preparation, batches, objectives, the loop, validation, calibration, checkpoints."""
