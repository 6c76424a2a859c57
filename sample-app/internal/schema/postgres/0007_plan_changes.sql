-- changes counts the changes of a plan's tree, for those who watch it.
ALTER TABLE plans ADD COLUMN IF NOT EXISTS changes BIGINT NOT NULL DEFAULT 0;
