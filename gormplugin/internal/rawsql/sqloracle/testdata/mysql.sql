UPDATE `suites` SET name = 'x'
UPDATE LOW_PRIORITY IGNORE suites SET name = 'x'
UPDATE others o JOIN suites s ON s.id = o.id SET s.name = 'x'
UPDATE others, suites SET suites.name = 'x'
UPDATE others o JOIN (SELECT 1 AS x) AS d SET o.name = 'x' WHERE o.id IN (SELECT id FROM suites)
INSERT suites VALUES (1)
INSERT DELAYED IGNORE INTO suites SET id = 1
INSERT INTO others (id) SELECT id FROM suites ON DUPLICATE KEY UPDATE name = 'x'
INSERT INTO suites (id) VALUES (1) ON DUPLICATE KEY UPDATE name = 'x'
UPDATE others SET name = INSERT(name, 1, 1, 'suites')
UPDATE others SET name = REPLACE(name, suites, 'x')
REPLACE INTO suites VALUES (1)
DELETE suites FROM suites JOIN others ON true
DELETE s FROM others AS o, suites AS s WHERE s.id = o.id
DELETE FROM others, suites USING others JOIN suites
DELETE FROM s USING suites AS s
DELETE QUICK FROM suites
TRUNCATE suites
TRUNCATE TABLE suites
SELECT TRUNCATE(suites, 1) FROM others
LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE suites (id)
LOAD DATA INFILE 'suites' INTO TABLE others
DO GET_LOCK('suites', 1)
PREPARE s FROM 'DELETE FROM suites'
EXECUTE IMMEDIATE 'DELETE FROM suites'
SET STATEMENT max_statement_time = 1 FOR UPDATE suites SET name = 'x'
ANALYZE UPDATE suites SET name = 'x'
BEGIN NOT ATOMIC DELETE FROM suites; END
SELECT * FROM suites FOR UPDATE
SELECT * FROM suites FOR UPDATE OF suites SKIP LOCKED
GRANT UPDATE, DELETE ON suites TO x
LOCK TABLES suites WRITE
FOR r IN (SELECT 1) DO UPDATE suites SET name = 'x'; END FOR
FOR i IN 1 .. 2 DO DELETE FROM suites; END FOR
BEGIN NOT ATOMIC IF true THEN SELECT 1; ELSE UPDATE suites SET name = 'x'; END IF; END
WHILE (SELECT COUNT(*) FROM suites WHERE name <> 'x') > 0 DO UPDATE suites SET name = 'x'; END WHILE
BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION UPDATE suites SET name = 'x'; END
PREPARE s FROM "DELETE FROM suites"
PREPARE s FROM 'DELETE FROM s\uites'
SET STATEMENT max_statement_time = 1 FOR EXECUTE IMMEDIATE 'DELETE FROM suites'
DELETE FROM .suites
UPDATE {oj others LEFT JOIN suites ON true} SET suites.name = 'x'
UPDATE others o JOIN (SELECT id FROM suites) AS s ON s.id = o.id SET o.name = 'x'
UPDATE (others, (suites)) SET suites.name = 'x'
CREATE TRIGGER t AFTER INSERT ON others FOR EACH ROW UPDATE suites SET name = 'x'
CREATE TRIGGER t BEFORE DELETE ON suites FOR EACH ROW INSERT INTO others VALUES (1)
CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM suites
CREATE PROCEDURE p() UPDATE suites SET name = 'x'
CREATE TABLE x (id INT, suites INT, t TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, FOREIGN KEY (suites) REFERENCES suites (id) ON DELETE CASCADE ON UPDATE CASCADE)
CREATE TABLE suites SELECT * FROM x
CREATE TABLE IF NOT EXISTS suites (id INT) IGNORE SELECT * FROM x
CREATE OR REPLACE TABLE suites (id INT)
ALTER TABLE suites TRUNCATE PARTITION p
ALTER TABLE suites DROP PARTITION p
ALTER TABLE others EXCHANGE PARTITION p WITH TABLE suites
ALTER IGNORE TABLE suites ADD UNIQUE (name)
RENAME TABLE suites TO x
SELECT * FROM suites INTO OUTFILE 'x'
HANDLER suites OPEN
TABLE suites
LOAD XML INFILE 'x' INTO TABLE suites
/*!99999 ' */ /*!50000 DELETE FROM suites */ -- '
/*!50000 INSERT */ INTO /*!99999 others */ suites VALUES (1)
/*!1*/ /*!2*/ /*!3*/ /*!4*/ /*!5*/ SELECT * FROM suites
/*!1*/ /*!2*/ /*!3*/ /*!4*/ /*!5*/ SELECT * FROM others
"SELECT 1 --\u007f'\n; DELETE FROM suites -- '"
SELECT 'a\'b', "a\"; DELETE FROM suites; -- "
REPLACE suites TABLE x
WITH c AS (SELECT 1) DELETE s FROM suites AS s JOIN c
/*!50000 DELETE FROM suites */
/*M!100100 DELETE FROM suites */
/*!99999 SELECT */ DELETE FROM suites
DELETE /*! FROM suites */
"# DELETE FROM suites\nSELECT 1"
SELECT 5 --1; DELETE FROM suites
SELECT 1 /* a /* b */ ; DELETE FROM suites
SELECT 'a\'; DELETE FROM suites; -- '
SELECT 'a\\'; DELETE FROM suites; -- '
SELECT INSERT(name, 1, 1, path) FROM suites
SELECT TRUNCATE(id, 1) FROM suites
SHOW CREATE TABLE suites
SHOW COLUMNS FROM suites
EXPLAIN UPDATE suites SET name = 1
EXPLAIN FORMAT = JSON DELETE FROM suites
SELECT `update`, `delete` FROM suites
DESC suites
INSERT INTO suites SET id = 1
REPLACE INTO suites (id) VALUES (1)
UPDATE suites AS s, others AS o SET s.name = o.name WHERE s.id = o.id
DELETE suites, others FROM suites JOIN others
DELETE s.* FROM suites s
UPDATE IGNORE suites SET name = 1 ORDER BY id LIMIT 1
LOAD DATA INFILE 'x' IGNORE INTO TABLE suites FIELDS TERMINATED BY ','
WITH c AS (SELECT 1) UPDATE suites JOIN c SET name = 1
WITH c AS (SELECT id FROM suites) SELECT * FROM c FOR UPDATE
EXPLAIN ANALYZE DELETE FROM suites
EXPLAIN ANALYZE SELECT * FROM suites
SELECT 'x' AS 'update', suites.id FROM suites
SELECT /*+ MAX_EXECUTION_TIME(1) */ * FROM suites
TABLE suites ORDER BY id
(TABLE suites) UNION (SELECT 1)
SELECT @a := 1 FROM suites
EXPLAIN ANALYZE ALTER TABLE suites DROP PARTITION p
PREPARE s FROM 'DELETE FROM /*!50000s\uites'
ALTER TABLE suites COMMENT 'x', ENGINE 'blackhole'
"PREPARE s FROM 'DELETE FROM su'\n'it' 'es'"
PREPARE s FROM 'DELETE FROM\nsuites\nWHERE true'
SELECT 'sui' 'tes'
