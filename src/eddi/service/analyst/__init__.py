"""The analyst's area: upload a table, correct its schema, train and evaluate a model, publish it.

- `workshop`: everything an analyst can do, over one store and one folder.
- `data`: uploaded tables, column profiles, warnings, schema drafts, and the blob store.
- `jobs`: training and evaluation as background jobs, each in its own process.
- `models`: trained models, their evaluation, and what is published of them.
- `api` and `schemas`: the HTTP API; `pages`: the pages; `sign_in`: who may see them.
"""
