"""Plain folds over one trace: what became of records, rebalances, lag. They read events alone."""
