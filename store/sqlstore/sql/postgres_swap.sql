-- The next version of a tree with all its changes, if nobody was faster: one statement, so that no
-- transaction stays open while a process is stopped. It returns one row, or none if somebody was
-- faster. Lists are arrays in text form, which every driver can send.
-- Arguments:
--   $1 tree  $2 the version that was read  $3 the next version  $4 fence  $5 time in µs
--   $6 places of tickets to remove
--   $7 to $12 tickets to write: places, states, looks, homes, ends in µs, texts
--   $13 and $14 messages: channels and payloads
WITH t AS (
	UPDATE {prefix}trees SET version = $3::bigint, fence = $4::bigint, changed = $5::bigint
	WHERE tree = $1::bytea AND version = $2::bigint
	RETURNING tree
), gone AS (
	DELETE FROM {prefix}tickets AS k USING t WHERE k.tree = t.tree AND k.place = ANY ($6::text::bigint[])
), put AS (
	INSERT INTO {prefix}tickets AS k (tree, place, version, state, looks, home, ends, ticket)
	SELECT t.tree, p.place, $3::bigint, p.state, p.looks, p.home, p.ends, p.ticket
	FROM t, unnest($7::text::bigint[], $8::text::smallint[], $9::text::bigint[], $10::text::text[],
		$11::text::bigint[], $12::text::bytea[]) AS p (place, state, looks, home, ends, ticket)
	ON CONFLICT (tree, place) DO UPDATE SET
		version = excluded.version, state = excluded.state, looks = excluded.looks, home = excluded.home,
		ends = excluded.ends, ticket = excluded.ticket
)
SELECT (SELECT count(pg_notify(m.channel, m.payload)) FROM unnest($13::text::text[], $14::text::text[]) AS m (channel, payload))
FROM t
