-- fsck: --table dept --single-tree departments --name= --path= --id-path ids
--   --id-path-form 0,*,* --deleted= --leaves
--   users?key=uid&parent=dept_id&name=nick&id-path=dept_ids&id-path-form=parent:0,*,*&deleted=deleted_at
CREATE TABLE dept (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL, title VARCHAR(60) NOT NULL, ids VARCHAR(300) NOT NULL);
INSERT INTO dept VALUES
  (1, 0, 'same', '0,1'), (2, 1, 'same', '0,1,2'), (3, 2, 'same', '0,1,2,3'), (4, 1, 'same', '0,1,4'), (5, 4, 'same', '0,1,4,5'), (6, 0, 'same', '0,6'), (7, 6, 'same', '0,6,7'), (8, 7, 'same', '0,6,7,8'), (9, 6, 'same', '0,6,9'), (10, 3, 'same', '0,1,2,3,10');
CREATE TABLE users (uid INTEGER PRIMARY KEY, dept_id INTEGER, nick VARCHAR(60), dept_ids VARCHAR(300), deleted_at TIMESTAMP NULL);
INSERT INTO users VALUES
  (101, 1, 't1', '0,1', NULL), (102, 2, 't2', '0,1,2', NULL), (103, 3, 't3', '0,1,2,3', NULL), (104, 4, 't4', '0,1,4', NULL), (105, 5, 't5', '0,1,4,5', NULL), (106, 6, 't6', '0,6', NULL), (107, 7, 't7', '0,6,7', NULL), (108, 8, 't8', '0,6,7,8', NULL), (109, 9, 't9', '0,6,9', NULL), (110, 10, 't10', '0,1,2,3,10', NULL);
