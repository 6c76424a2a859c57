-- fsck: --table oc_filecache --key fileid --tree-column storage --parent parent --path-form */*
--   --deleted= --parent-top=-1
CREATE TABLE oc_filecache (fileid BIGINT NOT NULL PRIMARY KEY, storage BIGINT NOT NULL DEFAULT 0, path VARCHAR(700), path_hash VARCHAR(32) NOT NULL DEFAULT '', parent BIGINT NOT NULL DEFAULT 0, name VARCHAR(250), mimetype BIGINT NOT NULL DEFAULT 0, mimepart BIGINT NOT NULL DEFAULT 0, size BIGINT NOT NULL DEFAULT 0, mtime BIGINT NOT NULL DEFAULT 0, storage_mtime BIGINT NOT NULL DEFAULT 0, encrypted INTEGER NOT NULL DEFAULT 0, unencrypted_size BIGINT NOT NULL DEFAULT 0, etag VARCHAR(40), permissions INTEGER DEFAULT 0, checksum VARCHAR(255));
INSERT INTO oc_filecache VALUES
  (1, 1, '', 'd41d8cd98f00b204e9800998ecf8427e', -1, '', 2, 1, 9120, 1710000000, 1710000000, 0, 0, '65e7a1b2c3d40', 31, ''),
  (2, 1, 'files', '45b963397aa40d4a0063e0d85e4fe7a1', 1, 'files', 2, 1, 9120, 1710000010, 1710000010, 0, 0, '65e7a1b2c3d41', 31, ''),
  (3, 1, 'files/Letters', '0ad78ba05b6961d92f7970b2b3922eca', 2, 'Letters', 2, 1, 4100, 1710000020, 1710000020, 0, 0, '65e7a1b2c3d42', 31, ''),
  (4, 1, 'files/Letters/bank.md', '23e1a1b3c4d5e6f708192a3b4c5d6e7f', 3, 'bank.md', 7, 6, 4100, 1710000030, 1710000030, 0, 0, '65e7a1b2c3d43', 27, 'SHA1:77'),
  (5, 1, 'files/Photos', 'd01bb67e7b71dd49fd06bad922f521c9', 2, 'Photos', 2, 1, 5020, 1710000040, 1710000040, 0, 0, '65e7a1b2c3d44', 31, ''),
  (6, 1, 'files/Photos/sea.jpg', '5c6d7e8f90a1b2c3d4e5f60718293a4b', 5, 'sea.jpg', 11, 10, 5020, 1710000050, 1710000049, 0, 0, '65e7a1b2c3d45', 27, ''),
  (7, 1, 'cache', '0fea6a13c52b4d4725368f24b045ca84', 1, 'cache', 2, 1, 0, 1710000060, 1710000060, 0, 0, '65e7a1b2c3d46', 31, ''),
  (8, 2, '', 'd41d8cd98f00b204e9800998ecf8427e', -1, '', 2, 1, -1, 1710000070, 1710000070, 0, 0, '65e7a1b2c3d47', 23, ''),
  (9, 2, 'appdata_oc1x', '1b2c3d4e5f60718293a4b5c6d7e8f90a', 8, 'appdata_oc1x', 2, 1, 0, 1710000080, 1710000080, 0, 0, '65e7a1b2c3d48', 31, NULL),
  (10, 2, 'appdata_oc1x/preview', '2c3d4e5f60718293a4b5c6d7e8f90a1b', 9, 'preview', 2, 1, -1, 1710000090, 1710000090, 0, 0, '65e7a1b2c3d49', 31, NULL),
  (11, 2, 'appdata_oc1x/preview/6', '3d4e5f60718293a4b5c6d7e8f90a1b2c', 10, '6', 2, 1, -1, 1710000100, 1710000100, 0, 0, '65e7a1b2c3d50', 31, NULL),
  (12, 2, 'files', '45b963397aa40d4a0063e0d85e4fe7a1', 8, 'files', 2, 1, 0, 1710000110, 1710000110, 0, 0, '65e7a1b2c3d51', 31, NULL);
CREATE TABLE oc_storages (numeric_id BIGINT NOT NULL PRIMARY KEY, id VARCHAR(64), available INTEGER NOT NULL DEFAULT 1, last_checked INTEGER);
INSERT INTO oc_storages VALUES (1, 'home::ann', 1, NULL), (2, 'local::/srv/cloud/', 1, NULL);
