"""The web service: interviews, the analyst's workshop, the HTTP API and the pages.

- `interviews`: starts and resumes interviews and computes their next steps. No HTTP.
- `analyst`: tables, training jobs, published questionnaires, and the analyst's API and pages.
- `web`: the respondent's API and pages, and the middleware around all routes.
- `settings` reads the environment; `app` puts everything together.

All state is in the store, so several servers can share one store. One thread per server, that of the
batcher, computes next steps for all waiting requests at once. Other uses of the model run on the threads
of their requests: the next step of a respondent who put questions off, explanations, charts and
estimates on the pages, drift, and the workshop's pages. Training and evaluation run in processes of
their own.
"""
