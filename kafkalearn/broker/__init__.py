"""A broker as plain objects: (request, now_ms) in, replies and timers out. See interfaces.py."""
