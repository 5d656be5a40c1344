"""The probabilistic model: `fitted.FittedModel` behind the `base.Model` protocol.

`network` has the torch modules, `training` fits them, `inference` uses them, `files` stores them.
"""
