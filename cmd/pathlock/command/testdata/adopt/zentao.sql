-- fsck: --table zt_module --tree-column root --parent parent --name= --path= --id-path path
--   --id-path-form ,*,*, --deleted deleted
--   --depth grade
-- fsck: --table zt_dept --single-tree departments --parent parent --name= --path= --id-path path
--   --id-path-form ,*,*, --deleted=
--   --depth grade
-- later: --table zt_module --tree-column type
CREATE TABLE zt_module (id INTEGER PRIMARY KEY, root INTEGER NOT NULL DEFAULT 0, branch INTEGER NOT NULL DEFAULT 0, name VARCHAR(60) NOT NULL DEFAULT '', parent INTEGER NOT NULL DEFAULT 0, path VARCHAR(255) NOT NULL DEFAULT '', grade SMALLINT NOT NULL DEFAULT 0, "order" INTEGER NOT NULL DEFAULT 0, type VARCHAR(30) NOT NULL, "from" INTEGER NOT NULL DEFAULT 0, owner VARCHAR(30) NOT NULL DEFAULT '', collector TEXT, short VARCHAR(30) NOT NULL DEFAULT '', extra VARCHAR(30) NOT NULL DEFAULT '', deleted VARCHAR(1) NOT NULL DEFAULT '0');
INSERT INTO zt_module VALUES
  (1, 1, 0, 'Login', 0, ',1,', 1, 10, 'story', 0, 'sam', NULL, '', '', '0'),
  (2, 1, 0, 'Errors', 1, ',1,2,', 2, 10, 'story', 0, '', NULL, 'err', '', '0'),
  (3, 1, 0, 'Timeouts', 2, ',1,2,3,', 3, 10, 'story', 0, 'tia', NULL, '', '', '0'),
  (4, 1, 0, 'Search', 0, ',4,', 1, 20, 'story', 0, 'sam', NULL, '', '', '0'),
  (5, 1, 0, 'Facets', 4, ',4,5,', 2, 10, 'story', 1, '', NULL, '', '', '0'),
  (6, 2, 0, 'Wishes', 0, ',6,', 1, 10, 'story', 0, 'uma', NULL, '', '', '0'),
  (7, 2, 0, 'Icons', 6, ',6,7,', 2, 10, 'story', 0, '', NULL, 'ico', '', '0'),
  (8, 2, 0, 'Wishes', 0, ',8,', 1, 30, 'case', 0, '', NULL, '', '', '0'),
  (9, 2, 0, 'Export', 8, ',8,9,', 2, 20, 'case', 2, 'uma', NULL, '', 'x', '0'),
  (10, 2, 0, 'Import', 8, ',8,10,', 2, 10, 'case', 0, '', NULL, '', '', '1'),
  (11, 2, 0, 'Errors', 9, ',8,9,11,', 3, 10, 'case', 0, 'vic', NULL, '', '', '0');
CREATE TABLE zt_dept (id INTEGER PRIMARY KEY, name VARCHAR(60) NOT NULL, parent INTEGER NOT NULL DEFAULT 0, path VARCHAR(255) NOT NULL DEFAULT '', grade SMALLINT NOT NULL DEFAULT 0, "order" SMALLINT NOT NULL DEFAULT 0, position VARCHAR(30) NOT NULL DEFAULT '', "function" VARCHAR(255) NOT NULL DEFAULT '', manager VARCHAR(30) NOT NULL DEFAULT '');
INSERT INTO zt_dept VALUES
  (1, 'Products', 0, ',1,', 1, 10, '', '', 'sam'), (2, 'Web', 1, ',1,2,', 2, 10, '', '', 'tia'), (3, 'Apps', 1, ',1,3,', 2, 20, '', '', ''), (4, 'Tablets', 3, ',1,3,4,', 3, 10, '', '', 'uma'), (5, 'Phones', 3, ',1,3,5,', 3, 20, '', '', ''),
  (6, 'Support', 0, ',6,', 1, 20, '', '', 'vic'), (7, 'First line', 6, ',6,7,', 2, 10, '', '', ''), (8, 'Second line', 6, ',6,8,', 2, 30, '', '', 'vic'), (9, 'Night', 7, ',6,7,9,', 3, 10, '', '', ''), (10, 'Sales', 0, ',10,', 1, 30, '', '', 'wes');
