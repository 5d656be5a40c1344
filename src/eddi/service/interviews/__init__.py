"""Interviews: the questionnaires, the stored events, the next steps, and the metrics. No HTTP here."""
