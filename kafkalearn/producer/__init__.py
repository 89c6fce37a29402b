"""The producer: records are gathered into batches, which one process sends to the leaders."""
