"""Objects of S3. Server and credentials come from the environment, as for `ingest`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kibitz_cluster.failure import MISSING, REFUSED, USAGE, Failure

CURRENT = "CURRENT"
"""File without which RocksDB opens nothing."""


def is_object(place: str) -> bool:
    """Returns whether a place is on S3."""
    return place.startswith("s3://")


@contextmanager
def access(place: str) -> Iterator[tuple[Any, str, str]]:
    """Yields a client, and a place's bucket and key. Errors of S3 become failures."""
    try:
        import boto3
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        why = "S3 wants boto3: pip install 'kibitz-cluster[s3]'"
        raise Failure(MISSING, f"{place}: {why}") from error
    bucket, _, key = place.removeprefix("s3://").rstrip("/").partition("/")
    if not bucket or not key:
        raise Failure(USAGE, f"{place}: not s3://BUCKET/KEY")
    try:
        yield boto3.client("s3"), bucket, key
    except (Boto3Error, BotoCoreError, ClientError) as error:
        raise Failure(MISSING, f"{place}: {error}") from error


def upload(dataset: Path, place: str) -> None:
    """Copies a dataset to S3, unless one is there. The server checks the SHA-256 of each file.
    Each database's CURRENT comes last, so that part of a copy is no dataset."""
    files = [path for path in dataset.rglob("*") if path.is_file()]
    files.sort(key=lambda path: path.name == CURRENT)
    with access(place) as (client, bucket, prefix):
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
        keys = [found["Key"] for page in pages for found in page.get("Contents", [])]
        if any(key.endswith(f"/{CURRENT}") for key in keys):
            raise Failure(REFUSED, f"{place}: a dataset is there already; give another name")
        for path in files:
            key = f"{prefix}/{path.relative_to(dataset).as_posix()}"
            checked = {"ChecksumAlgorithm": "SHA256"}
            client.upload_file(str(path), bucket, key, ExtraArgs=checked)
