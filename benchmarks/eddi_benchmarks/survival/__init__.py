"""The suite on survival targets: predictions and whole interviews."""
