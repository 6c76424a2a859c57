-- fsck: --table namespaces --single-tree namespaces --name= --path= --id-path + --deleted=
-- also: routes
CREATE TABLE namespaces (id INTEGER PRIMARY KEY, name VARCHAR(255) NOT NULL, path VARCHAR(255) NOT NULL, owner_id INTEGER, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, type VARCHAR(32) NOT NULL DEFAULT 'User', description VARCHAR(255) NOT NULL DEFAULT '', visibility_level INTEGER NOT NULL DEFAULT 20, parent_id INTEGER, traversal_ids VARCHAR(255) NOT NULL DEFAULT '{}');
INSERT INTO namespaces VALUES
  (1, 'Ann', 'ann', 1, '2024-01-01 10:00:00', '2024-01-01 10:00:00', 'User', '', 20, NULL, '{1}'),
  (22, 'Tool Makers', 'toolmakers', NULL, '2024-01-01 10:01:00', '2024-01-01 10:01:00', 'Group', '', 20, NULL, '{22}'),
  (23, 'Hammers', 'hammers', NULL, '2024-01-01 10:02:00', '2024-01-01 10:02:00', 'Group', 'all of them', 10, 22, '{22,23}'),
  (24, 'Claw', 'claw', NULL, '2024-01-01 10:03:00', '2024-01-01 10:03:00', 'Group', '', 10, 23, '{22,23,24}'),
  (25, 'Handle', 'handle', NULL, '2024-01-01 10:04:00', '2024-01-01 10:04:00', 'Project', '', 20, 24, '{22,23,24,25}'),
  (26, 'Saws', 'saws', NULL, '2024-01-01 10:05:00', '2024-01-01 10:05:00', 'Group', '', 0, 22, '{22,26}'),
  (27, 'Blade', 'blade', NULL, '2024-01-01 10:06:00', '2024-01-01 10:06:00', 'Project', '', 0, 26, '{22,26,27}'),
  (28, 'Dotfiles', 'dotfiles', 1, '2024-01-01 10:07:00', '2024-01-01 10:07:00', 'Project', '', 0, 1, '{1,28}'),
  (29, 'Bo', 'bo', 2, '2024-01-01 10:08:00', '2024-01-01 10:08:00', 'User', '', 20, NULL, '{29}'),
  (30, 'Handle', 'handle', 2, '2024-01-01 10:09:00', '2024-01-01 10:09:00', 'Project', '', 20, 29, '{29,30}');
CREATE TABLE routes (id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, source_type VARCHAR(32) NOT NULL, path VARCHAR(255) NOT NULL, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, name VARCHAR(255), namespace_id INTEGER);
INSERT INTO routes VALUES
  (1, 1, 'Namespace', 'ann', NULL, NULL, 'Ann', 1), (2, 22, 'Namespace', 'toolmakers', NULL, NULL, 'Tool Makers', 22), (3, 23, 'Namespace', 'toolmakers/hammers', NULL, NULL, 'Tool Makers / Hammers', 23), (4, 24, 'Namespace', 'toolmakers/hammers/claw', NULL, NULL, 'Tool Makers / Hammers / Claw', 24), (5, 1, 'Project', 'toolmakers/hammers/claw/handle', NULL, NULL, 'Tool Makers / Hammers / Claw / Handle', 25),
  (6, 26, 'Namespace', 'toolmakers/saws', NULL, NULL, 'Tool Makers / Saws', 26), (7, 2, 'Project', 'toolmakers/saws/blade', NULL, NULL, 'Tool Makers / Saws / Blade', 27), (8, 3, 'Project', 'ann/dotfiles', NULL, NULL, 'Ann / Dotfiles', 28), (9, 29, 'Namespace', 'bo', NULL, NULL, 'Bo', 29), (10, 4, 'Project', 'bo/handle', NULL, NULL, 'Bo / Handle', 30);
