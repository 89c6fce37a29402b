"""kafkalearn."""
