-- fsck: --table drive_files --tree-column + --deleted=
CREATE TABLE drive_files (id INTEGER PRIMARY KEY, user_id BIGINT NOT NULL, bucket VARCHAR(40) NOT NULL, parent_id BIGINT, name VARCHAR(191) NOT NULL, path VARCHAR(500) NOT NULL, size BIGINT NOT NULL);
INSERT INTO drive_files VALUES
  (1, 3, 'main', NULL, 'docs', '/docs', 0), (2, 3, 'main', 1, 'plans', '/docs/plans', 0), (3, 3, 'main', 2, 'a.odt', '/docs/plans/a.odt', 14), (4, 3, 'main', 1, 'b.odt', '/docs/b.odt', 15),
  (5, 3, 'cold', NULL, 'docs', '/docs', 0), (6, 3, 'cold', 5, 'plans', '/docs/plans', 0), (7, 3, 'cold', 6, 'a.odt', '/docs/plans/a.odt', 14), (8, 3, 'cold', 5, 'c.odt', '/docs/c.odt', 16),
  (9, 8, 'main', NULL, 'docs', '/docs', 0), (10, 8, 'main', 9, 'plans', '/docs/plans', 0), (11, 8, 'main', 10, 'd.odt', '/docs/plans/d.odt', 17), (12, 8, 'main', NULL, 'pics', '/pics', 0);
