"""Care of a store: copies, retention, upgrades, keys, inspection."""
