"""Logs of real clients and brokers become events of the trace's schema.

`lines` reads files, `reading` sorts lines by the tables of wordings and takes their fields,
`states` adds what other lines tell, `events` and `groups` make events of that.
"""
