"""Real servers in processes of their own, and simulated people who use them over HTTP."""
