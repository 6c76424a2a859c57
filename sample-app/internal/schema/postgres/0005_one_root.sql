-- A plan has one root suite: to a unique index over parent_id, no NULL is equal to another.
CREATE UNIQUE INDEX suites_root ON suites (plan_id, name) WHERE parent_id IS NULL AND deleted_at IS NULL;
