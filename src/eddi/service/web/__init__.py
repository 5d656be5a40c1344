"""The respondent's HTTP API and pages, and the middleware around all routes."""
