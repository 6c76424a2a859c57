-- Writes tickets. The list of values is appended between the two lines. Arguments of each: tree,
-- place, version, state, looks, home, end in µs, text.
INSERT INTO {prefix}tickets (tree, place, version, state, looks, home, ends, ticket) VALUES
{values}
ON DUPLICATE KEY UPDATE version = VALUES(version), state = VALUES(state), looks = VALUES(looks), home = VALUES(home), ends = VALUES(ends), ticket = VALUES(ticket)
