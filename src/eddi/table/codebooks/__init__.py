"""Codebooks of other programs: REDCap, XLSForm, FHIR, and plain tables of variables and codes."""
