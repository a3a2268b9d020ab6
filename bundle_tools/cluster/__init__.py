"""One evaluation on many cores or machines: plan, shards, merge."""
