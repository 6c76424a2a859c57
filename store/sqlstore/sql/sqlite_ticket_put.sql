-- Writes a ticket. Arguments: tree, place, version, state, home, end in µs, text.
INSERT INTO {prefix}tickets (tree, place, version, state, home, ends, ticket) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tree, place) DO UPDATE SET
	version = excluded.version, state = excluded.state, home = excluded.home, ends = excluded.ends, ticket = excluded.ticket
