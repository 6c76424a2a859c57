-- databases: mysql postgres
-- fsck: --table orgs --single-tree orgs --deleted=
--   --leaves docs?parent=org_id&name=title&path=path&path-form=parent:/*/*
-- fsck: --table teams --single-tree teams --key unit_id --parent parent_id --name= --path=
--   --id-path + --deleted=
CREATE TABLE orgs (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, FOREIGN KEY (parent_id) REFERENCES orgs (id));
INSERT INTO orgs VALUES (1, NULL, 'a', '/a'), (2, 1, 'b', '/a/b'), (3, 2, 'c', '/a/b/c'), (4, 1, 'd', '/a/d'), (5, 4, 'e', '/a/d/e'), (6, NULL, 'f', '/f'), (7, 6, 'g', '/f/g'), (8, 7, 'h', '/f/g/h');
CREATE TABLE people (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50) NOT NULL, FOREIGN KEY (parent_id) REFERENCES orgs (id));
INSERT INTO people VALUES (1, NULL, 'p'), (2, 1, 'q'), (3, 2, 'r'), (4, 1, 's'), (5, 4, 't');
CREATE TABLE docs (id INTEGER PRIMARY KEY, org_id INTEGER NOT NULL, title VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, FOREIGN KEY (org_id) REFERENCES orgs (id));
INSERT INTO docs VALUES (1, 1, 't', '/a'), (2, 2, 'u', '/a/b'), (3, 3, 'v', '/a/b/c'), (4, 5, 'w', '/a/d/e'), (5, 8, 'x', '/f/g/h'), (6, 7, 'y', '/f/g'), (7, 4, 'z', '/a/d');
CREATE TABLE units (id INTEGER PRIMARY KEY, kind VARCHAR(10) NOT NULL);
INSERT INTO units VALUES (1, 'x'), (2, 'x'), (3, 'x'), (4, 'x'), (5, 'x'), (6, 'x'), (7, 'x'), (8, 'x');
CREATE TABLE teams (unit_id INTEGER PRIMARY KEY, parent_id INTEGER, FOREIGN KEY (unit_id) REFERENCES units (id), FOREIGN KEY (parent_id) REFERENCES units (id));
INSERT INTO teams VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, 1), (6, 5), (7, 6), (8, NULL);
