-- fsck: --table folder --key uid --tree-column org_id --parent parent_uid --name= --path=
--   --id-path + --deleted=
CREATE TABLE folder (id INTEGER PRIMARY KEY, uid VARCHAR(40) NOT NULL, org_id BIGINT NOT NULL, title VARCHAR(189) NOT NULL, description VARCHAR(255), parent_uid VARCHAR(40), created TIMESTAMP NULL, updated TIMESTAMP NULL);
CREATE UNIQUE INDEX uqe_folder_uid_org_id ON folder (uid, org_id);
INSERT INTO folder VALUES
  (1, 'fdk2a9x', 1, 'Production', '', NULL, '2024-01-01 10:00:00', '2024-01-01 10:00:00'), (2, 'fdk2b4q', 1, 'Databases', '', 'fdk2a9x', '2024-01-01 10:01:00', '2024-01-01 10:01:00'), (3, 'fdk2c7z', 1, 'Replicas', 'lag', 'fdk2b4q', '2024-01-01 10:02:00', '2024-01-01 10:02:00'), (4, 'fdk2d1w', 1, 'Backups', '', 'fdk2b4q', '2024-01-01 10:03:00', '2024-01-01 10:03:00'), (5, 'fdk2e8m', 1, 'Hosts', '', 'fdk2a9x', '2024-01-01 10:04:00', '2024-01-01 10:04:00'),
  (6, 'fdk2f3n', 1, 'Staging', '', NULL, '2024-01-01 10:05:00', '2024-01-01 10:05:00'), (7, 'gal9k2p', 2, 'Production', '', NULL, '2024-01-01 10:06:00', '2024-01-01 10:06:00'), (8, 'gal9l5r', 2, 'Databases', '', 'gal9k2p', '2024-01-01 10:07:00', '2024-01-01 10:07:00'), (9, 'gal9m6s', 2, 'Backups', '', 'gal9l5r', '2024-01-01 10:08:00', '2024-01-01 10:08:00'), (10, 'gal9n0t', 2, 'Hosts', '', 'gal9k2p', '2024-01-01 10:09:00', '2024-01-01 10:09:00');
CREATE TABLE dashboard (id INTEGER PRIMARY KEY, uid VARCHAR(40), org_id BIGINT NOT NULL, title VARCHAR(189) NOT NULL, folder_uid VARCHAR(40), version INTEGER NOT NULL);
INSERT INTO dashboard VALUES (1, 'd1', 1, 'Lag', 'fdk2c7z', 3), (2, 'd2', 1, 'Disks', 'fdk2e8m', 8), (3, 'd3', 2, 'Disks', 'gal9n0t', 1);
