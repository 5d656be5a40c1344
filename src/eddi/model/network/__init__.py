"""The network: set encoder, tail, posterior, decoder, and likelihood heads."""
