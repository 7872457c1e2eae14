"""Who calls: keys, tokens, trusted proxies, and what each caller may see and write."""
