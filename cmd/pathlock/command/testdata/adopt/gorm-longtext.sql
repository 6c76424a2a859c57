-- databases: mysql
-- fsck: --table folders --tree-column storage_id --name title --path full_path
-- fsck: --table categories --single-tree categories --name= --path= --id-path ids --id-path-form
--   *,*, --deleted=
CREATE TABLE folders (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, deleted_at DATETIME(3) NULL, storage_id VARCHAR(191) NOT NULL, parent_id BIGINT UNSIGNED, title LONGTEXT NOT NULL COMMENT 'shown', full_path LONGTEXT, alias LONGTEXT, FOREIGN KEY (parent_id) REFERENCES folders (id));
INSERT INTO folders VALUES
  (1, NULL, 'a', NULL, 'docs', '/docs', 'f1'), (2, NULL, 'a', 1, 'plans', '/docs/plans', 'f2'), (3, NULL, 'a', 2, '2024', '/docs/plans/2024', 'f3'), (4, NULL, 'a', 2, '2025', '/docs/plans/2025', 'f4'),
  (5, NULL, 'b', NULL, 'docs', '/docs', 'f5'), (6, NULL, 'b', 5, 'plans', '/docs/plans', 'f6'), (7, NULL, 'b', 6, 'old', '/docs/plans/old', 'f7'), (8, NULL, 'b', 5, 'notes', '/docs/notes', 'f8');
CREATE TABLE categories (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, parent_id BIGINT UNSIGNED NOT NULL, label LONGTEXT, ids LONGTEXT NOT NULL);
INSERT INTO categories VALUES
  (1, 0, 'one', '1,'), (2, 1, 'two', '1,2,'), (3, 1, 'three', '1,3,'), (4, 3, 'four', '1,3,4,'), (5, 4, 'five', '1,3,4,5,'), (6, 0, 'six', '6,'), (7, 6, 'seven', '6,7,'), (8, 7, 'eight', '6,7,8,');
