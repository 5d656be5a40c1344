"""The languages of the pages, and which of them a respondent reads."""
