-- Flaws of a schema that gormplugin.AutoMigrate made: the name of each, what Verify finds, in its
-- order, and the statements that make it, by database. "in words" are findings without statements.

-- # no unique index over what a resolver looks rows up by: warning lookup
-- mysql postgres sqlite
DROP INDEX fruits_code ON fruits

-- # one over more than that: warning lookup
-- mysql postgres sqlite
DROP INDEX fruits_code ON fruits
CREATE UNIQUE INDEX codes ON fruits (code, name)

-- # no unique index over parent and name: unsafe siblings
-- mysql postgres sqlite
DROP INDEX branches_sibling ON branches

-- # indexes over beginnings: warning siblings in words, unsafe siblings, warning path index
-- mysql
DROP INDEX branches_path ON branches
CREATE INDEX brief ON branches (tree_id, path(10))
ALTER TABLE branches DROP INDEX branches_sibling
CREATE UNIQUE INDEX short ON branches (parent_id, name(10))

-- # a unique index with a column that is NULL in live rows: unsafe siblings
-- mysql postgres sqlite
DROP INDEX branches_sibling ON branches
CREATE UNIQUE INDEX hollow ON branches (tree_id, parent_id, name, deleted)

-- # a unique index whose condition is another: unsafe siblings
-- postgres sqlite
DROP INDEX branches_sibling
CREATE UNIQUE INDEX odd ON branches (tree_id, parent_id, name)WHERE(deleted IS NULL AND note <> 'x')

-- # a unique index over an expression: unsafe siblings
-- mysql
ALTER TABLE branches DROP INDEX branches_sibling
ALTER TABLE branches ADD COLUMN odd VARCHAR(100) AS (IF(note IS NULL, name, NULL)) VIRTUAL, ADD UNIQUE KEY odd (tree_id, parent_id, odd)
-- postgres sqlite
DROP INDEX branches_sibling
CREATE UNIQUE INDEX odd ON branches (tree_id, parent_id, name, COALESCE(note, ''))

-- # no unique index over rows at the top: unsafe top rows
-- mysql postgres sqlite
DROP INDEX branches_top ON branches

-- # no index over tree and path: warning path index
-- mysql postgres sqlite
DROP INDEX branches_path ON branches

-- # no index that finds the leaves below a row: warning path index
-- mysql postgres sqlite
DROP INDEX fruits_sibling ON fruits
CREATE UNIQUE INDEX backwards ON fruits (name, branch_id)

-- # a leaf's path in the order of a language: warning collation
-- mysql
ALTER TABLE fruits MODIFY route VARCHAR(700) COLLATE utf8mb4_unicode_ci

-- # a path in the order of a language, with more to its definition: unsafe collation
-- mysql
ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT '/it''s' COMMENT 'a, b'

-- # a path without regard to trailing spaces: warning collation
-- mysql
ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE utf8mb4_bin

-- # names without regard to case: warning collation
-- mysql
ALTER TABLE branches MODIFY name VARCHAR(100) COLLATE utf8mb4_general_ci
-- postgres
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
ALTER TABLE branches ALTER COLUMN name TYPE varchar(100) COLLATE nocase

-- # a table with other collations: warning collation in words, unsafe type in words
-- sqlite
DROP TABLE branches
CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT, parent_id INT, name TEXT DEFAULT ('COLLATE, x') COLLATE NOCASE, `path` NUMERIC, note TEXT, deleted DATETIME)
CREATE UNIQUE INDEX branches_sibling ON branches (tree_id, parent_id, name COLLATE BINARY) WHERE deleted IS NULL
CREATE UNIQUE INDEX branches_top ON branches (tree_id, name COLLATE BINARY) WHERE parent_id IS NULL AND deleted IS NULL
CREATE INDEX branches_path ON branches (tree_id, path COLLATE BINARY)

-- # names in a column that changes their spaces: unsafe type
-- mysql
ALTER TABLE branches MODIFY name CHAR(100) COLLATE ${binary}
-- postgres
ALTER TABLE branches ALTER COLUMN name TYPE char(100)

-- # names in a column of bytes: unsafe type in words
-- mysql
ALTER TABLE branches MODIFY name VARBINARY(100)
-- postgres
ALTER TABLE branches ALTER COLUMN name TYPE bytea USING ''

-- # keys that are numbers in columns that round them: unsafe type in words
-- mysql
ALTER TABLE branches MODIFY tree_id DOUBLE
-- postgres
ALTER TABLE branches ALTER COLUMN tree_id TYPE real

-- # columns of numbers for names and keys: unsafe type in words, unsafe type in words
-- sqlite
DROP TABLE fruits
CREATE TABLE fruits (id INTEGER PRIMARY KEY, branch_id REAL, name STRING, route TEXT, code TEXT UNIQUE)
CREATE UNIQUE INDEX fruits_sibling ON fruits (branch_id, name)

-- # trees whose ids are held equal: unsafe collation in words
-- mysql
ALTER TABLE plains MODIFY tree_id VARCHAR(191) COLLATE utf8mb4_general_ci
-- postgres
CREATE COLLATION lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
ALTER TABLE plains ALTER COLUMN tree_id TYPE text COLLATE lax

-- # a column shorter than the model says: warning length
-- mysql
ALTER TABLE branches MODIFY path VARCHAR(300) COLLATE utf8mb4_bin
ALTER TABLE branches MODIFY path VARCHAR(300) COLLATE ${binary}
-- postgres
ALTER TABLE branches ALTER COLUMN path TYPE varchar(300) COLLATE "C"

-- # no primary key: unsafe primary key in words
-- mysql
ALTER TABLE branches MODIFY id BIGINT NOT NULL, DROP PRIMARY KEY
-- postgres
ALTER TABLE branches DROP CONSTRAINT branches_pkey

-- # an engine without transactions: unsafe engine
-- mysql
ALTER TABLE fruits ENGINE = MyISAM

-- # a foreign key that empties the parent, and one that does nothing: unsafe foreign keys in words
-- mysql postgres
ALTER TABLE branches ADD CONSTRAINT idle FOREIGN KEY (parent_id) REFERENCES branches (id)
ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE SET NULL

-- # conflicts that replace rows: unsafe conflicts in words, unsafe conflicts in words
-- sqlite
DROP TABLE fruits
CREATE TABLE fruits (id INTEGER PRIMARY KEY, branch_id INT, name TEXT NOT NULL ON CONFLICT IGNORE DEFAULT ('ON CONFLICT FAIL'), route TEXT, code TEXT UNIQUE, UNIQUE (branch_id, name) ON CONFLICT REPLACE)

-- # a table that inherits: unsafe inheritance in words
-- postgres
CREATE TABLE heirs () INHERITS (branches)

-- # a rule: warning rules in words
-- postgres
CREATE RULE note AS ON UPDATE TO branches DO ALSO INSERT INTO others (name) VALUES (old.name)

-- # a trigger: warning triggers in words
-- mysql
CREATE TRIGGER log AFTER UPDATE ON branches FOR EACH ROW INSERT INTO others (name) VALUES (NEW.path)
-- postgres
CREATE OR REPLACE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO others (name) VALUES (new.path); RETURN new; END $$
CREATE TRIGGER log AFTER UPDATE ON branches FOR EACH ROW EXECUTE FUNCTION log()
-- sqlite
CREATE TRIGGER log AFTER UPDATE ON branches BEGIN INSERT INTO others (name) VALUES (new.path); END

-- # partitions by the tree: unsafe primary key in words, unsafe siblings in words
-- and unsafe top rows in words, warning path index, warning partitions in words
-- mysql
DROP TABLE branches
CREATE TABLE branches (id BIGINT NOT NULL AUTO_INCREMENT, tree_id BIGINT NOT NULL, parent_id BIGINT, name VARCHAR(100) NOT NULL, path VARCHAR(500) NOT NULL, note TEXT, deleted DATETIME(3), PRIMARY KEY (id, tree_id)) COLLATE ${binary} PARTITION BY HASH (tree_id) PARTITIONS 4
-- postgres
DROP TABLE branches
CREATE TABLE branches (id bigserial, tree_id bigint NOT NULL, parent_id bigint, name varchar(100) NOT NULL, path varchar(500) COLLATE "C" NOT NULL, note text, deleted timestamptz, PRIMARY KEY (tree_id, id)) PARTITION BY HASH (tree_id)
CREATE TABLE branches0 PARTITION OF branches FOR VALUES WITH (MODULUS 1, REMAINDER 0)

-- # a leaf without a parent: unsafe filled in words
-- mysql postgres sqlite
INSERT INTO fruits (id, branch_id, name, route, code) VALUES (1, 0, 'a', '/a', '1'), (2, 0, 'b', '/a/b', '2')
