-- fsck: --table system_dept --tree-column tenant_id --name= --path= --id-path + --deleted deleted
CREATE TABLE system_dept (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(30) NOT NULL DEFAULT '', parent_id BIGINT NOT NULL DEFAULT 0, sort INTEGER NOT NULL DEFAULT 0, leader_user_id BIGINT, phone VARCHAR(11), email VARCHAR(50), status SMALLINT NOT NULL, creator VARCHAR(64) DEFAULT '', create_time TIMESTAMP NULL, updater VARCHAR(64) DEFAULT '', update_time TIMESTAMP NULL, deleted SMALLINT NOT NULL DEFAULT 0, tenant_id BIGINT NOT NULL DEFAULT 0);
INSERT INTO system_dept VALUES
  (100, 'Orchard', 0, 0, 1, '5550300', 'a@orchard.example', 0, '1', '2021-01-05 17:03:47', '1', '2023-11-14 23:30:36', 0, 1),
  (101, 'Apples', 100, 1, 104, '5550301', '', 0, '1', '2021-01-05 17:03:47', '1', '2023-12-02 09:53:35', 0, 1),
  (102, 'Pears', 100, 2, NULL, '', '', 0, '1', '2021-01-05 17:03:47', '', '2021-12-15 05:01:40', 0, 1),
  (103, 'Pressing', 101, 1, 1, '', '', 0, '103', '2021-01-05 17:03:47', '103', '2022-01-14 01:04:14', 0, 1),
  (104, 'Bottling', 101, 2, NULL, '', '', 1, '1', '2021-01-05 17:03:47', '1', '2021-12-15 05:01:38', 0, 1),
  (105, 'Bottling', 102, 3, NULL, '', '', 0, '1', '2021-01-05 17:03:47', '1', '2022-05-16 20:25:15', 0, 1),
  (106, 'Corks', 104, 4, 103, '', '', 0, '1', '2021-01-05 17:03:47', '103', '2022-01-15 21:32:22', 0, 1),
  (107, 'Plums', 100, 5, NULL, '', '', 0, '1', '2021-01-05 17:03:47', '1', '2022-02-15 21:32:22', 1, 1),
  (110, 'Dairy', 0, 1, NULL, '5550302', '', 0, '110', '2022-02-23 20:46:30', '110', '2022-02-23 20:46:30', 0, 121),
  (111, 'Cheese', 110, 1, NULL, '', '', 0, '110', '2022-03-07 21:44:50', '110', '2022-03-07 21:44:50', 0, 121),
  (112, 'Cellar', 111, 1, 112, '', '', 1, '1', '2022-03-07 21:44:50', '110', '2022-03-07 21:44:50', 0, 121),
  (113, 'Butter', 110, 2, NULL, '', '', 0, '110', '2022-03-07 21:44:50', '110', '2022-03-07 21:44:50', 0, 121);
CREATE TABLE system_users (id BIGINT NOT NULL PRIMARY KEY, username VARCHAR(30) NOT NULL, dept_id BIGINT, status SMALLINT NOT NULL, deleted SMALLINT NOT NULL DEFAULT 0, tenant_id BIGINT NOT NULL DEFAULT 0);
INSERT INTO system_users VALUES (1, 'admin', 103, 0, 0, 1), (103, 'yuan', 106, 0, 0, 1), (110, 'admin110', 110, 0, 0, 121);
