-- fsck: --table nodes_hierarchy --single-tree nodes --name= --path= --id-path + --deleted=
CREATE TABLE node_types (id INTEGER PRIMARY KEY, description VARCHAR(100) NOT NULL);
INSERT INTO node_types VALUES (1, 'testproject'), (2, 'testsuite'), (3, 'testcase'), (4, 'testcase_version'), (5, 'testplan');
CREATE TABLE nodes_hierarchy (id INTEGER PRIMARY KEY, name VARCHAR(100), parent_id INTEGER, node_type_id INTEGER NOT NULL DEFAULT 1, node_order INTEGER);
INSERT INTO nodes_hierarchy VALUES
  (1, 'Ferry', NULL, 1, 1), (2, 'Boarding', 1, 2, 1), (3, 'Cars', 2, 2, 0), (4, 'A car boards', 3, 3, 100), (5, '', 4, 4, 0), (6, 'A lorry boards', 3, 3, 101), (7, '', 6, 4, 0), (8, 'Tickets', 1, 2, 2), (9, 'Refund', 8, 3, 1000), (10, '', 9, 4, 0), (11, '', 9, 4, 0), (12, 'Spring', 1, 5, 0), (13, 'Train', NULL, 1, 1), (14, 'Boarding', 13, 2, 1);
CREATE TABLE testsuites (id INTEGER PRIMARY KEY, details TEXT);
INSERT INTO testsuites VALUES (2, 'who may board'), (3, ''), (8, ''), (14, '');
