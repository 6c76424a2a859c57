-- fsck: --table mdl_course_categories --single-tree categories --parent parent --name= --path=
--   --id-path path --deleted=
--   --depth depth
-- fsck: --table mdl_context --single-tree contexts --parent + --name= --path= --id-path path
--   --deleted=
--   --depth depth
CREATE TABLE mdl_course_categories (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(255) NOT NULL DEFAULT '', idnumber VARCHAR(100), description TEXT, descriptionformat SMALLINT NOT NULL DEFAULT 0, parent BIGINT NOT NULL DEFAULT 0, sortorder BIGINT NOT NULL DEFAULT 0, coursecount BIGINT NOT NULL DEFAULT 0, visible SMALLINT NOT NULL DEFAULT 1, visibleold SMALLINT NOT NULL DEFAULT 1, timemodified BIGINT NOT NULL DEFAULT 0, depth BIGINT NOT NULL DEFAULT 0, path VARCHAR(255) NOT NULL DEFAULT '', theme VARCHAR(50));
INSERT INTO mdl_course_categories VALUES
  (1, 'Sailing', 'SAIL', '', 0, 0, 10000, 2, 1, 1, 1700000000, 1, '/1', NULL),
  (3, 'Knots', NULL, '', 0, 1, 20000, 4, 1, 1, 1700000001, 2, '/1/3', NULL),
  (4, 'Splices', NULL, '<p>of ropes</p>', 1, 3, 30000, 1, 0, 1, 1700000002, 3, '/1/3/4', NULL),
  (5, 'Bends', 'BENDS', '', 0, 3, 40000, 0, 1, 1, 1700000003, 3, '/1/3/5', 'boost'),
  (6, 'Weather', NULL, '', 0, 1, 50000, 3, 1, 1, 1700000004, 2, '/1/6', NULL),
  (7, 'Rowing', 'ROW', '', 0, 0, 60000, 1, 1, 1, 1700000005, 1, '/7', NULL),
  (8, 'Strokes', NULL, '', 0, 7, 70000, 2, 0, 0, 1700000006, 2, '/7/8', NULL),
  (9, 'Bends', NULL, '', 0, 8, 80000, 0, 0, 0, 1700000007, 3, '/7/8/9', NULL),
  (12, 'Archive', NULL, '', 0, 0, 90000, 9, 0, 0, 1700000008, 1, '/12', NULL),
  (13, '2019', NULL, '', 0, 12, 100000, 0, 0, 0, 1700000009, 2, '/12/13', NULL);
CREATE TABLE mdl_course (id BIGINT NOT NULL PRIMARY KEY, category BIGINT NOT NULL DEFAULT 0, sortorder BIGINT NOT NULL DEFAULT 0, fullname VARCHAR(254) NOT NULL DEFAULT '', shortname VARCHAR(255) NOT NULL DEFAULT '', visible SMALLINT NOT NULL DEFAULT 1);
INSERT INTO mdl_course VALUES (2, 4, 30001, 'Eye splice', 'eye', 1), (3, 6, 50001, 'Clouds', 'clouds', 1), (4, 8, 70001, 'Catch and drive', 'catch', 0);
CREATE TABLE mdl_context (id BIGINT NOT NULL PRIMARY KEY, contextlevel BIGINT NOT NULL DEFAULT 0, instanceid BIGINT NOT NULL DEFAULT 0, path VARCHAR(255), depth SMALLINT NOT NULL DEFAULT 0, locked SMALLINT NOT NULL DEFAULT 0);
INSERT INTO mdl_context VALUES (1, 10, 0, '/1', 1, 0), (21, 40, 7, '/1/21', 2, 0), (22, 40, 8, '/1/21/22', 3, 0), (23, 40, 9, '/1/21/22/23', 4, 1), (24, 50, 2, '/1/21/22/23/24', 5, 0), (25, 70, 9, '/1/21/22/23/24/25', 6, 0), (26, 40, 1, '/1/26', 2, 0), (27, 50, 4, '/1/26/27', 3, 0), (28, 70, 5, '/1/26/27/28', 4, 0), (29, 30, 2, '/1/29', 2, 0), (30, 80, 3, '/1/29/30', 3, 0);
