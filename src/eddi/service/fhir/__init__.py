"""Adaptive forms for FHIR R4 (SDC 4.0.0): `$next-question`, discovery and the capability statement."""
