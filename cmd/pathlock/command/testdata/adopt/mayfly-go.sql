-- fsck: --table t_tag_tree --single-tree tags --parent + --name + --path code_path --path-form
--   */*/ --deleted is_deleted
CREATE TABLE t_tag_tree (id INTEGER PRIMARY KEY, type SMALLINT NOT NULL DEFAULT -1, code VARCHAR(100) NOT NULL, code_path VARCHAR(600) NOT NULL, name VARCHAR(50), remark VARCHAR(255), create_time TIMESTAMP NULL, creator_id BIGINT NOT NULL, creator VARCHAR(36) NOT NULL, update_time TIMESTAMP NULL, modifier_id BIGINT NOT NULL, modifier VARCHAR(36) NOT NULL, is_deleted SMALLINT NOT NULL DEFAULT 0, delete_time TIMESTAMP NULL);
INSERT INTO t_tag_tree VALUES
  (1, -1, 'default', 'default/', 'Default', 'the first tag', '2023-06-01 12:00:00', 1, 'admin', '2023-06-01 12:00:00', 1, 'admin', 0, NULL),
  (2, -1, 'east', 'default/east/', 'East', '', '2023-06-01 12:00:01', 1, 'admin', '2023-06-01 12:00:01', 1, 'admin', 0, NULL),
  (3, -1, 'west', 'default/west/', 'West', '', '2023-06-01 12:00:02', 2, 'mia', '2023-06-01 12:00:02', 2, 'mia', 0, NULL),
  (4, 1, 'm7Hq', 'default/east/1|m7Hq/', 'web-1', '', '2023-06-02 12:00:00', 2, 'mia', '2023-06-02 12:00:00', 1, 'admin', 0, NULL),
  (5, 11, 'ac_x2', 'default/east/1|m7Hq/11|ac_x2/', 'root', 'by key', '2023-06-02 12:00:01', 2, 'mia', '2023-06-02 12:00:01', 2, 'mia', 0, NULL),
  (6, 1, 'm9Rt', 'default/west/1|m9Rt/', 'web-2', '', '2023-06-02 12:00:02', 1, 'admin', '2023-06-02 12:00:02', 1, 'admin', 0, NULL),
  (7, 2, 'd3Lp', 'default/east/2|d3Lp/', 'orders', 'read only', '2023-06-03 12:00:00', 1, 'admin', '2023-06-03 12:00:00', 1, 'admin', 0, NULL),
  (8, 21, 'ac_y5', 'default/east/2|d3Lp/21|ac_y5/', 'reader', '', '2023-06-03 12:00:01', 1, 'admin', '2023-06-03 12:00:01', 1, 'admin', 0, NULL),
  (9, 22, 'shop', 'default/east/2|d3Lp/21|ac_y5/22|shop/', 'shop', '', '2023-06-03 12:00:02', 1, 'admin', '2023-06-03 12:00:02', 2, 'mia', 0, NULL),
  (10, -1, 'lab', 'lab/', 'Laboratory', '', '2023-06-04 12:00:00', 2, 'mia', '2023-06-04 12:00:00', 2, 'mia', 0, NULL),
  (11, 3, 'r1Zz', 'lab/3|r1Zz/', 'cache', '', '2023-06-04 12:00:01', 2, 'mia', '2023-06-04 12:00:01', 2, 'mia', 0, NULL),
  (12, -1, 'west', 'lab/west/', 'Wing', '', '2023-06-04 12:00:02', 2, 'mia', '2023-06-05 12:00:02', 2, 'mia', 1, '2023-06-05 12:00:02');
CREATE TABLE t_machine (id INTEGER PRIMARY KEY, code VARCHAR(36), name VARCHAR(36) NOT NULL, ip VARCHAR(50) NOT NULL, port INTEGER NOT NULL, status SMALLINT NOT NULL, create_time TIMESTAMP NULL, is_deleted SMALLINT NOT NULL DEFAULT 0, delete_time TIMESTAMP NULL);
INSERT INTO t_machine VALUES (1, 'm7Hq', 'web-1', '10.0.0.1', 22, 1, '2023-06-02 12:00:00', 0, NULL), (2, 'm9Rt', 'web-2', '10.0.0.2', 22, 1, '2023-06-02 12:00:00', 0, NULL);
