"""What consumer and producer share: the cluster as they know it, and their way to the brokers."""
