-- fsck: --table remarks --tree-column post_id --parent reply_to --name= --path= --id-path thread
--   --id-path-form *.* --deleted=
-- fsck: --table org_units --key unit_no --tree-column + --parent sup_unit_no --name unit_code
--   --depth lvl --depth-top 0 --deleted=
CREATE TABLE remarks (id INTEGER PRIMARY KEY, post_id INTEGER NOT NULL, reply_to INTEGER NOT NULL, thread VARCHAR(200) NOT NULL, body TEXT, is_deleted CHAR(1) NOT NULL);
INSERT INTO remarks VALUES
  (11, 1, 0, '11', 'Open?', 'N'), (12, 1, 11, '11.12', 'Yes', 'N'), (13, 1, 12, '11.12.13', 'Thanks', 'Y'), (14, 2, 0, '14', 'Cold', 'N'), (15, 1, 11, '11.15', 'No', 'N'),
  (16, 2, 14, '14.16', 'Hot', 'Y'), (17, 2, 16, '14.16.17', 'Mild', 'N'), (18, 2, 16, '14.16.18', 'Wet', 'N'), (19, 1, 13, '11.12.13.19', 'Welcome', 'N');
CREATE TABLE org_units (unit_no INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, chart VARCHAR(12) NOT NULL, sup_unit_no INTEGER, unit_code VARCHAR(20) NOT NULL, path VARCHAR(200) NOT NULL, lvl INTEGER NOT NULL, rec_status VARCHAR(9) NOT NULL);
INSERT INTO org_units VALUES
  (1, 1, 'legal', NULL, 'HQ', '/HQ', 0, 'OPEN'), (2, 1, 'legal', 1, 'FIN', '/HQ/FIN', 1, 'OPEN'), (3, 1, 'legal', 2, 'TAX', '/HQ/FIN/TAX', 2, 'OPEN'), (4, 1, 'legal', 1, 'OPS', '/HQ/OPS', 1, 'OPEN'),
  (5, 1, 'cost', NULL, 'HQ', '/HQ', 0, 'OPEN'), (6, 1, 'cost', 5, 'FIN', '/HQ/FIN', 1, 'OPEN'), (7, 1, 'cost', 6, 'TAX', '/HQ/FIN/TAX', 2, 'OPEN'), (8, 2, 'legal', NULL, 'HQ', '/HQ', 0, 'OPEN'),
  (9, 2, 'legal', 8, 'FIN', '/HQ/FIN', 1, 'SHUT'), (10, 2, 'legal', 9, 'TAX', '/HQ/FIN/TAX', 2, 'OPEN'), (11, 2, 'cost', NULL, 'HQ', '/HQ', 0, 'OPEN'), (12, 2, 'cost', 11, 'OPS', '/HQ/OPS', 1, 'OPEN');
