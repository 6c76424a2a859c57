-- fsck: --table zp_matter --tree-column uid --parent + --path parent --path-form parent:*/*/
-- later: --table zp_matter --tree-column sid
-- fsck: --table zp_folder --tree-column uid --parent + --path parent
--   --path-form parent:*/*/ --deleted=
CREATE TABLE zp_matter (id INTEGER PRIMARY KEY, uid BIGINT NOT NULL, sid BIGINT NOT NULL, alias VARCHAR(16) NOT NULL, name VARCHAR(191) NOT NULL, type VARCHAR(191) NOT NULL, size BIGINT NOT NULL, dirtype SMALLINT NOT NULL, parent VARCHAR(191) NOT NULL, object VARCHAR(191) NOT NULL, created_at TIMESTAMP NULL, updated_at TIMESTAMP NULL, uploaded_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL, trashed_by VARCHAR(16) NOT NULL);
INSERT INTO zp_matter VALUES
  (1, 4, 1, 'qTz81bLmWcKd02xv', 'docs', '', 0, 2, '', '', '2023-03-01 10:00:00', '2023-03-01 10:00:00', NULL, NULL, ''),
  (2, 4, 1, 'a9GhYt5RmPq3Zx7c', 'plans', '', 0, 2, 'docs/', '', '2023-03-01 10:01:00', '2023-03-01 10:01:00', NULL, NULL, ''),
  (3, 4, 1, 'Lk20fVb6NwSe81Ya', 'plan.odt', 'application/vnd.oasis', 2081, 0, 'docs/plans/', '4/20230301/plan.odt', '2023-03-01 10:02:00', '2023-03-01 10:02:00', '2023-03-01 10:02:09', NULL, ''),
  (4, 4, 1, 'Uj7xCq93TgMd5Ba1', '2022', '', 0, 2, 'docs/plans/', '', '2023-03-01 10:03:00', '2023-03-01 10:03:00', NULL, NULL, ''),
  (5, 4, 1, 'oP4nHs68VeRy2Kz0', 'budget.csv', 'text/csv', 417, 0, 'docs/plans/2022/', '4/20230301/budget.csv', '2023-03-01 10:04:00', '2023-03-01 10:04:00', '2023-03-01 10:04:02', NULL, ''),
  (6, 4, 1, 'Wd3mXa71QbLf9Tc5', 'photos', '', 0, 2, '', '', '2023-03-02 09:00:00', '2023-03-02 09:00:00', NULL, NULL, ''),
  (7, 4, 1, 'Ri6yKe08ZnUo4Hp2', 'sea.jpg', 'image/jpeg', 884120, 0, 'photos/', '4/20230302/sea.jpg', '2023-03-02 09:01:00', '2023-03-02 09:01:00', '2023-03-02 09:01:30', NULL, ''),
  (8, 4, 1, 'Bt1sNj57DwGv3Cq8', 'notes.txt', 'text/plain', 96, 0, '', '4/20230302/notes.txt', '2023-03-02 09:05:00', '2023-03-02 09:05:00', '2023-03-02 09:05:01', NULL, ''),
  (9, 7, 1, 'Ey5uMo42PxRa6Ld9', 'docs', '', 0, 2, '', '', '2023-03-03 12:00:00', '2023-03-03 12:00:00', NULL, NULL, ''),
  (10, 7, 1, 'Hc8kTq19IsFz7Wb3', 'plans', '', 0, 2, 'docs/', '', '2023-03-03 12:01:00', '2023-03-03 12:01:00', NULL, NULL, ''),
  (11, 7, 1, 'Vg2aXn60YlEm5Jr4', 'plan.odt', 'application/vnd.oasis', 2081, 0, 'docs/', '7/20230303/plan.odt', '2023-03-03 12:02:00', '2023-03-03 12:02:00', '2023-03-03 12:02:04', NULL, ''),
  (12, 7, 1, 'Kf9dQw35BhTo1Nx6', 'old.txt', 'text/plain', 12, 0, 'docs/plans/', '7/20230303/old.txt', '2023-03-03 12:03:00', '2023-03-04 12:03:00', '2023-03-03 12:03:01', '2023-03-04 12:03:00', 'Kf9dQw35BhTo1Nx6');
CREATE TABLE zp_share (id INTEGER PRIMARY KEY, alias VARCHAR(16) NOT NULL, uid BIGINT NOT NULL, matter VARCHAR(16) NOT NULL, name VARCHAR(191) NOT NULL, type VARCHAR(191) NOT NULL, down_times BIGINT NOT NULL, expire_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL);
INSERT INTO zp_share VALUES (1, 'sGh2', 4, 'qTz81bLmWcKd02xv', 'docs', '', 3, '2030-01-01 00:00:00', NULL), (2, 'sKl8', 7, 'Vg2aXn60YlEm5Jr4', 'plan.odt', 'application/vnd.oasis', 0, '2030-01-01 00:00:00', NULL);
CREATE TABLE zp_folder (id INTEGER PRIMARY KEY, uid BIGINT NOT NULL, name VARCHAR(191) NOT NULL, parent VARCHAR(191) NOT NULL);
INSERT INTO zp_folder VALUES
  (1, 4, 'docs', ''), (2, 4, 'plans', 'docs/'), (3, 4, '2022', 'docs/plans/'), (4, 4, 'photos', ''), (5, 4, 'sea', 'photos/'), (6, 7, 'music', ''), (7, 7, 'jazz', 'music/'), (8, 7, '1959', 'music/jazz/'), (9, 7, 'films', ''), (10, 7, 'old', 'films/');
