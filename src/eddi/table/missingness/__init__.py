"""Values that are missing for a reason: indicators of whether a variable has a value."""
