"""Between a request and the store: the check of its shape, and the queue of the one writer."""
