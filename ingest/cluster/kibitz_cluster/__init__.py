"""Months of Lichess dumps into one Kibitz dataset, on a Ray cluster.

`cli` is the command line, `plan` the tree of parts and merges, `tasks` the Ray tasks that run
the program `ingest`, `work` the shared folder for their outputs, `run` the driver, and
`progress` its display.
"""
