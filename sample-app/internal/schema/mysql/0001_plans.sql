-- Plans. ${binary} is the server's collation that tells all names apart, trailing spaces included.
CREATE TABLE IF NOT EXISTS plans (
  id      BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  project VARCHAR(255) NOT NULL,
  name    VARCHAR(255) NOT NULL,
  root_id BIGINT       NOT NULL,
  UNIQUE KEY plans_name (project, name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE ${binary};
