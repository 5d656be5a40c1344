"""The analyst's pages of a questionnaire: versions, sharing, settings, preview and collected answers."""
