"""Logs of real clients and brokers become events of the trace's schema.

`importing` goes from files to a folder of events. In its order: `lines` reads files and `times`
their times, `reading` sorts lines by the tables of `wording` and takes their fields, `partitions`
among them; `states` adds what other lines tell; `events` makes events of that, and `groups`, with
`lives`, those that no coordinator's log tells. `story` tells a group's generations from them.
"""
