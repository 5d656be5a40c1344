"""The dashboard of a questionnaire: how interviews went, and whether the model is right about people."""
