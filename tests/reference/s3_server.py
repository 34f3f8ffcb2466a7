"""Serves files as objects of the bucket `games` on the loopback, until standard input ends.

    python s3_server.py FILE...

Prints the endpoint, and a key and secret with read and write permission. Signatures are
checked by botocore's own code.
"""

import json
import os
import sys

os.environ.update(
    AWS_ACCESS_KEY_ID="any", AWS_SECRET_ACCESS_KEY="any", AWS_DEFAULT_REGION="us-east-1"
)

import boto3
from moto import settings
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://{host}:{port}"
s3 = boto3.client("s3", endpoint_url=endpoint)
s3.create_bucket(Bucket="games")
for path in sys.argv[1:]:
    s3.upload_file(path, "games", "of june/" + os.path.basename(path))
iam = boto3.client("iam", endpoint_url=endpoint)
iam.create_user(UserName="user")
allow = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
policy = {"Version": "2012-10-17", "Statement": [allow]}
iam.put_user_policy(UserName="user", PolicyName="all", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="user")["AccessKey"]
# From now on, anonymous requests are refused.
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
print(endpoint, key["AccessKeyId"], key["SecretAccessKey"], flush=True)
sys.stdin.read()
