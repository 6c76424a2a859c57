-- A plan has one root suite: to a unique index over parent_id, no NULL is equal to another. root_of
-- is the plan for a root that lives, and NULL for all other rows.
--
-- MySQL knows no ADD COLUMN IF NOT EXISTS, and this may run again where the server went away before
-- the migration was recorded.
SET @missing = NOT EXISTS (
  SELECT 1 FROM information_schema.STATISTICS
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'suites' AND INDEX_NAME = 'suites_root'
);

SET @statement = IF(@missing,
  'ALTER TABLE suites
     ADD COLUMN root_of BIGINT AS (IF(parent_id IS NULL AND deleted_at IS NULL, plan_id, NULL)) VIRTUAL,
     ADD UNIQUE KEY suites_root (root_of, name)',
  'DO 0');

PREPARE one_root FROM @statement;

EXECUTE one_root;

DEALLOCATE PREPARE one_root;
