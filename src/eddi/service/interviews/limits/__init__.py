"""Who may begin an interview."""
