-- As postgres_swap, for a tree that has no row. Arguments: as there, but $2 is the namespace and
-- $15 the id.
WITH t AS (
	INSERT INTO {prefix}trees (tree, namespace, id, version, fence, changed)
	VALUES ($1::bytea, $2::bytea, $15::bytea, $3::bigint, $4::bigint, $5::bigint)
	ON CONFLICT (tree) DO NOTHING
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
