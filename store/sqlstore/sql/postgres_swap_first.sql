-- As postgres_swap, for a tree that has no row. Arguments: as there, but $2 is the namespace and
-- $14 the id.
WITH t AS (
	INSERT INTO {prefix}trees (tree, namespace, id, version, fence, changed)
	VALUES ($1::bytea, $2::bytea, $14::bytea, $3::bigint, $4::bigint, $5::bigint)
	ON CONFLICT (tree) DO NOTHING
	RETURNING tree
), gone AS (
	DELETE FROM {prefix}tickets AS k USING t WHERE k.tree = t.tree AND k.place = ANY ($6::text::bigint[])
), put AS (
	INSERT INTO {prefix}tickets AS k (tree, place, version, state, home, ends, ticket)
	SELECT t.tree, p.place, $3::bigint, p.state, p.home, p.ends, p.ticket
	FROM t, unnest($7::text::bigint[], $8::text::smallint[], $9::text::text[], $10::text::bigint[], $11::text::bytea[])
		AS p (place, state, home, ends, ticket)
	ON CONFLICT (tree, place) DO UPDATE SET
		version = excluded.version, state = excluded.state, home = excluded.home, ends = excluded.ends, ticket = excluded.ticket
)
SELECT (SELECT count(pg_notify(m.channel, m.payload)) FROM unnest($12::text::text[], $13::text::text[]) AS m (channel, payload))
FROM t
