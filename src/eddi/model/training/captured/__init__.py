"""Training steps on a GPU as captured graphs."""
