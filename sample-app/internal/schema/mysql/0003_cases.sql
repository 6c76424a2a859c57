-- Cases: the leaves. Their paths are computed from their suites'.
CREATE TABLE IF NOT EXISTS cases (
  id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  suite_id   BIGINT       NOT NULL,
  name       VARCHAR(255) NOT NULL,
  body       MEDIUMTEXT   NOT NULL,
  deleted_at DATETIME(6)  NULL,
  live       TINYINT      AS (IF(deleted_at IS NULL, 1, NULL)) VIRTUAL,
  UNIQUE KEY cases_sibling (suite_id, name, live)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE ${binary};
