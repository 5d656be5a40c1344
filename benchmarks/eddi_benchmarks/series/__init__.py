"""The suite on repeated measurements."""
