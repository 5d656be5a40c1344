"""Answers in the formats of other programs: REDCap, XLSForm and FHIR."""
