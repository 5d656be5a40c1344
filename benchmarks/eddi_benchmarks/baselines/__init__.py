"""Methods of others to compare with, implemented from their papers."""
