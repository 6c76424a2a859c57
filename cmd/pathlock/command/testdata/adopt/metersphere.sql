-- fsck: --table test_case_node --tree-column project_id --path + --deleted= --leaves
--   test_case?parent=node_id&path=node_path&path-form=parent:/*/*
--   --depth level
CREATE TABLE test_case_node (id VARCHAR(50) NOT NULL PRIMARY KEY, project_id VARCHAR(50) NOT NULL, name VARCHAR(64) NOT NULL, parent_id VARCHAR(50), level INTEGER DEFAULT 1, create_time BIGINT NOT NULL, update_time BIGINT NOT NULL, pos DOUBLE PRECISION, create_user VARCHAR(100));
INSERT INTO test_case_node VALUES
  ('n-01', 'p-shop', 'Login', NULL, 1, 1700000000001, 1700000000001, 65536, 'admin'),
  ('n-02', 'p-shop', 'Errors', 'n-01', 2, 1700000000002, 1700000100000, 65536, 'xia'),
  ('n-03', 'p-shop', 'Locked out', 'n-02', 3, 1700000000003, 1700000000003, 131072, 'admin'),
  ('n-04', 'p-shop', 'Cart', NULL, 1, 1700000000004, 1700000000004, 131072, 'xia'),
  ('n-05', 'p-shop', 'Errors', 'n-04', 2, 1700000000005, 1700000000005, 65536, 'xia'),
  ('n-06', 'p-bank', 'Login', NULL, 1, 1700000000006, 1700000000006, 65536, 'admin'),
  ('n-07', 'p-bank', 'Tokens', 'n-06', 2, 1700000000007, 1700000200000, 65536, 'yan'),
  ('n-08', 'p-bank', 'Expired', 'n-07', 3, 1700000000008, 1700000000008, 65536, 'admin'),
  ('n-09', 'p-bank', 'Revoked', 'n-07', 3, 1700000000009, 1700000000009, 131072, 'yan'),
  ('n-10', 'p-bank', 'Unplanned', NULL, 1, 1700000000010, 1700000000010, 0, 'admin');
CREATE TABLE test_case (id VARCHAR(50) NOT NULL PRIMARY KEY, node_id VARCHAR(50) NOT NULL, node_path VARCHAR(999) NOT NULL, project_id VARCHAR(50) NOT NULL, name VARCHAR(255) NOT NULL, type VARCHAR(25), maintainer VARCHAR(50), priority VARCHAR(50), method VARCHAR(15), remark TEXT, create_time BIGINT NOT NULL, update_time BIGINT NOT NULL, num INTEGER, status VARCHAR(25));
INSERT INTO test_case VALUES
  ('c-01', 'n-01', '/Login', 'p-shop', 'signs in', 'functional', 'xia', 'P0', 'manual', '', 1700000000021, 1700000000021, 100001, 'Prepare'),
  ('c-02', 'n-02', '/Login/Errors', 'p-shop', 'wrong password', 'functional', 'xia', 'P1', 'manual', '', 1700000000022, 1700000000022, 100002, 'Prepare'),
  ('c-03', 'n-02', '/Login/Errors', 'p-shop', 'no password', 'functional', 'yan', 'P1', 'auto', '', 1700000000023, 1700000000023, 100003, 'Completed'),
  ('c-04', 'n-03', '/Login/Errors/Locked out', 'p-shop', 'after five tries', 'functional', 'xia', 'P2', 'manual', 'slow', 1700000000024, 1700000000024, 100004, 'Prepare'),
  ('c-05', 'n-05', '/Cart/Errors', 'p-shop', 'sold out', 'functional', 'xia', 'P0', 'manual', '', 1700000000025, 1700000000025, 100005, 'Underway'),
  ('c-06', 'n-04', '/Cart', 'p-shop', 'adds an article', 'functional', 'yan', 'P0', 'auto', '', 1700000000026, 1700000000026, 100006, 'Prepare'),
  ('c-07', 'n-06', '/Login', 'p-bank', 'signs in', 'functional', 'yan', 'P0', 'manual', '', 1700000000027, 1700000000027, 100001, 'Prepare'),
  ('c-08', 'n-07', '/Login/Tokens', 'p-bank', 'renews', 'functional', 'yan', 'P3', 'manual', '', 1700000000028, 1700000000028, 100002, 'Prepare'),
  ('c-09', 'n-08', '/Login/Tokens/Expired', 'p-bank', 'asks again', 'functional', 'xia', 'P1', 'manual', '', 1700000000029, 1700000000029, 100003, 'Completed'),
  ('c-10', 'n-10', '/Unplanned', 'p-bank', 'a draft', 'functional', 'yan', 'P3', 'manual', '', 1700000000030, 1700000000030, 100004, 'Prepare');
