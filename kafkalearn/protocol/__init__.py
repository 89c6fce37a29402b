"""Requests and responses: one module a family, see message.py for what they share."""
