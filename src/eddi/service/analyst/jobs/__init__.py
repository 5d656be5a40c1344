"""Background jobs: the queue, the supervisor thread of the server, and the worker process of one job."""
