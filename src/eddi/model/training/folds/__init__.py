"""Cross-validation of small tables: training with folds, and what the folds select."""
