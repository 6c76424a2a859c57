-- fsck: --table catalog_category_entity --key entity_id --single-tree categories --name= --path=
--   --id-path path --id-path-form */* --deleted=
--   --depth level --depth-top 0
CREATE TABLE catalog_category_entity (entity_id INTEGER PRIMARY KEY, attribute_set_id INTEGER NOT NULL DEFAULT 0, parent_id INTEGER NOT NULL DEFAULT 0, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, path VARCHAR(255) NOT NULL, position INTEGER NOT NULL, level INTEGER NOT NULL DEFAULT 0, children_count INTEGER NOT NULL);
INSERT INTO catalog_category_entity VALUES
  (1, 3, 0, '2024-01-01 10:00:00', '2024-01-01 10:00:00', '1', 0, 0, 9), (2, 3, 1, '2024-01-01 10:00:00', '2024-01-01 10:00:00', '1/2', 1, 1, 6), (3, 3, 2, '2024-01-01 10:01:00', '2024-01-01 10:01:00', '1/2/3', 1, 2, 3), (4, 3, 3, '2024-01-01 10:02:00', '2024-01-01 10:02:00', '1/2/3/4', 1, 3, 1), (5, 3, 4, '2024-01-01 10:03:00', '2024-01-01 10:03:00', '1/2/3/4/5', 1, 4, 0),
  (6, 3, 3, '2024-01-01 10:04:00', '2024-01-01 10:04:00', '1/2/3/6', 2, 3, 0), (7, 3, 2, '2024-01-01 10:05:00', '2024-01-01 10:05:00', '1/2/7', 2, 2, 1), (8, 3, 7, '2024-01-01 10:06:00', '2024-01-01 10:06:00', '1/2/7/8', 1, 3, 0), (9, 3, 1, '2024-01-01 10:07:00', '2024-01-01 10:07:00', '1/9', 2, 1, 1), (10, 3, 9, '2024-01-01 10:08:00', '2024-01-01 10:08:00', '1/9/10', 1, 2, 0);
