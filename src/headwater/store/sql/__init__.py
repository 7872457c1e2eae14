"""The databases that hold a store: connections, statements for many rows, and what differs between them."""
