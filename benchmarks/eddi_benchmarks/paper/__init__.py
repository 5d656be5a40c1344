"""The experiments of the EDDI paper (Ma et al., ICML 2019)."""
