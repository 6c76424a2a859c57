-- The tree. Rows in the recycle bin stay here with deleted_at set.
--
-- path can be longer than an index entry may be (64 names of 255 characters), so that the
-- index holds its beginning: the range over a subtree uses it, and the rest is compared in the row.
--
-- live is NULL for rows in the recycle bin, and a unique index lets any number of NULLs be:
-- it holds the names of living siblings apart and lets the dead keep theirs.
--
-- No foreign key on parent_id: InnoDB checks it row by row, which a subtree that is deleted at once
-- does not survive, and locks the parent for every insert. The assertion keeps orphans out.
CREATE TABLE IF NOT EXISTS suites (
  id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  plan_id    BIGINT       NOT NULL,
  parent_id  BIGINT       NULL,
  name       VARCHAR(255) NOT NULL,
  path       MEDIUMTEXT   NOT NULL,
  version    BIGINT       NOT NULL DEFAULT 1,
  deleted_at DATETIME(6)  NULL,
  live       TINYINT      AS (IF(deleted_at IS NULL, 1, NULL)) VIRTUAL,
  UNIQUE KEY suites_sibling (parent_id, name, live),
  KEY suites_path (plan_id, path(700))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE ${binary};
