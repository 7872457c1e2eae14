"""The event format: how events are written and read, how datasets are named, and how events are delivered.

`writing` and `reading` are the two halves of one codec, and the only place with camelCase beside the APIs' documents.
Nothing of Spark is imported here.
"""
