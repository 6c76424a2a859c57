UPDATE `suites` SET name = 'x'
UPDATE OR IGNORE suites SET name = 'x'
UPDATE [suites] SET name = 'x'
UPDATE 'suites' SET name = 'x'
REPLACE INTO suites VALUES (1)
INSERT OR REPLACE INTO suites VALUES (1)
INSERT INTO others (id) SELECT id FROM suites WHERE true ON CONFLICT DO UPDATE SET name = 'x'
CREATE TABLE suites AS SELECT * FROM x
CREATE TABLE `suites__temp` (id integer); INSERT INTO `suites__temp` SELECT id FROM `suites`; DROP TABLE `suites`; ALTER TABLE `suites__temp` RENAME TO `suites`
"\ufeffDELETE FROM suites"
"DELETE\ufeffFROM suites"
DELETE FROM temp.suites
DELETE FROM "main" . 'suites' INDEXED BY i
CREATE TEMP TRIGGER t AFTER INSERT ON others BEGIN SELECT 1; DELETE FROM suites; END
CREATE TRIGGER t AFTER UPDATE OF name ON suites BEGIN INSERT INTO others VALUES (1); END
VACUUM INTO 'suites'
PRAGMA table_info(suites)
UPDATE SuItEs SET name = 'x'
UPDATE "SUITES" SET name = 'x'
SELECT 1 /*!50000 ; DELETE FROM suites */
SELECT 5 --1; DELETE FROM suites
SELECT 1 /* a /* b */ ; DELETE FROM suites
SELECT 'a\'; DELETE FROM suites
PRAGMA user_version
EXPLAIN DELETE FROM suites
EXPLAIN QUERY PLAN UPDATE suites SET name = 1
SELECT * FROM suites INDEXED BY i WHERE path = 1
SELECT * FROM main.suites
SELECT "update" FROM suites
SELECT * FROM pragma_table_info('suites')
INSERT INTO suites DEFAULT VALUES
INSERT INTO suites (id) VALUES (1) ON CONFLICT DO NOTHING
INSERT INTO others (id) SELECT id FROM suites WHERE true ON CONFLICT (id) DO UPDATE SET suites = 1
INSERT OR IGNORE INTO main.suites (id) VALUES (1)
REPLACE INTO "suites" (id) VALUES (1)
UPDATE OR ABORT suites INDEXED BY i SET name = 1 WHERE path = 2
UPDATE suites AS s SET name = others.name FROM others WHERE others.id = s.id
DELETE FROM suites NOT INDEXED
DELETE FROM suites WHERE id IN (SELECT id FROM suites) RETURNING id
WITH a AS (SELECT 1) INSERT INTO suites (id) SELECT * FROM a
WITH a AS (SELECT 1) DELETE FROM [suites]
DROP TABLE suites
ALTER TABLE suites RENAME TO y
ALTER TABLE suites ADD COLUMN y INT
ALTER TABLE suites DROP COLUMN parent_id
CREATE TABLE y AS SELECT * FROM suites
CREATE INDEX y ON suites (name)
REINDEX suites
ANALYZE suites
BEGIN; DELETE FROM suites; COMMIT
CREATE TRIGGER t AFTER INSERT ON others BEGIN DELETE FROM x; END
CREATE VIEW y AS SELECT * FROM suites
VALUES (1), (2)
SELECT glob(1, 2), like(1, 2) FROM suites
SELECT iif(1, name, path) FROM suites
SELECT :a, @b, $c, ?1 FROM suites
