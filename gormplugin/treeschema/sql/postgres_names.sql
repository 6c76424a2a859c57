-- All names that a new index cannot have. Argument: the schema's oid.
SELECT relname AS name FROM pg_class WHERE relnamespace = $1::oid
