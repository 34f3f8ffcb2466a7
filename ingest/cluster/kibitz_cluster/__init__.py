"""Months of Lichess dumps into one Kibitz dataset, on a Ray cluster.

`cli` is the command, `plan` says what is to be made of which sources, `tasks` are the Ray
tasks that run the program `ingest`, `work` is the shared folder through which their outputs
travel, `run` drives them, and `progress` shows how far they are.
"""
