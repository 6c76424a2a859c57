-- fsck: --table umbracoNode --single-tree nodes --parent parentId --name= --path= --id-path path
--   --id-path-form *,* --deleted=
--   --depth level --depth-top 0
-- first: UPDATE "umbracoNode" SET "parentId" = 0 WHERE id = -1
CREATE TABLE "umbracoNode" (id INTEGER PRIMARY KEY, "uniqueId" VARCHAR(36) NOT NULL, "parentId" INTEGER NOT NULL, level INTEGER NOT NULL, path VARCHAR(150) NOT NULL, "sortOrder" INTEGER NOT NULL, trashed BOOLEAN NOT NULL DEFAULT false, "nodeUser" INTEGER, text VARCHAR(255), "nodeObjectType" VARCHAR(36), "createDate" TIMESTAMP NULL);
INSERT INTO "umbracoNode" VALUES
  (-1, '916724a5-173d-4619-b97e-b9de133dd6f5', -1, 0, '-1', 0, false, -1, 'SYSTEM DATA: umbraco master root', 'ea7d8624-4cfe-4578-a871-24aa946bf34d', '2024-01-01 00:00:00'),
  (-20, '0f582a79-1e41-4cf0-bfa0-76340651891a', -1, 1, '-1,-20', 0, false, -1, 'Recycle Bin', '01bb7ff2-24dc-4c0c-95a2-c24ef72bbac8', '2024-01-01 00:00:00'),
  (1050, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1050', -1, 1, '-1,1050', 1, false, -1, 'Home', 'c66ba18e-eaf3-4cff-8a22-41b16d66a972', '2024-01-02 00:00:00'),
  (1051, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1051', 1050, 2, '-1,1050,1051', 0, false, 2, 'News', 'c66ba18e-eaf3-4cff-8a22-41b16d66a972', '2024-01-02 00:00:01'),
  (1052, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1052', 1051, 3, '-1,1050,1051,1052', 0, false, -1, 'The new pier', 'c66ba18e-eaf3-4cff-8a22-41b16d66a972', '2024-01-02 00:00:02'),
  (1053, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1053', 1051, 3, '-1,1050,1051,1053', 1, false, 2, 'Opening hours', 'c66ba18e-eaf3-4cff-8a22-41b16d66a972', '2024-01-02 00:00:03'),
  (1054, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1054', 1050, 2, '-1,1050,1054', 1, false, -1, 'Contact', 'c66ba18e-eaf3-4cff-8a22-41b16d66a972', '2024-01-02 00:00:04'),
  (1055, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1055', -20, 2, '-1,-20,1055', 0, true, 2, 'Old news', 'c66ba18e-eaf3-4cff-8a22-41b16d66a972', '2024-01-02 00:00:05'),
  (1056, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1056', 1055, 3, '-1,-20,1055,1056', 0, true, -1, 'The old pier', 'c66ba18e-eaf3-4cff-8a22-41b16d66a972', '2024-01-02 00:00:06'),
  (1057, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1057', -1, 1, '-1,1057', 2, false, -1, 'Page', 'a2cb7800-f571-4787-9638-bc48539a0efb', '2024-01-02 00:00:07'),
  (1058, '27bd6c38-9d4f-4b1a-8a52-6b1f8a0a1058', 1057, 2, '-1,1057,1058', 0, false, 2, 'Article', 'a2cb7800-f571-4787-9638-bc48539a0efb', '2024-01-02 00:00:08');
