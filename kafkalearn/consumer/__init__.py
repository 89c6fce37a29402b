"""The consumer: what it subscribes to, how it joins its group, fetches and commits."""
