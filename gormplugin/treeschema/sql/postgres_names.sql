-- The names that are taken in the schema. Argument: the schema's oid.
SELECT relname AS name FROM pg_class WHERE relnamespace = $1::oid
