-- Writes a ticket. Arguments: tree, place, version, state, looks, home, end in µs, text.
INSERT INTO {prefix}tickets (tree, place, version, state, looks, home, ends, ticket) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tree, place) DO UPDATE SET
	version = excluded.version, state = excluded.state, looks = excluded.looks, home = excluded.home, ends = excluded.ends,
	ticket = excluded.ticket
