"""The default reward on a GPU: a fused kernel for candidate answers, inside a captured graph."""
