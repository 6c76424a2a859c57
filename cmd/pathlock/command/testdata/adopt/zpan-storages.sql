-- fsck: --table zp_matter --tree-column + --parent + --path parent --path-form parent:*/*/
CREATE TABLE zp_matter (id INTEGER PRIMARY KEY, uid BIGINT NOT NULL, sid BIGINT NOT NULL, alias VARCHAR(16) NOT NULL, name VARCHAR(191) NOT NULL, size BIGINT NOT NULL, dirtype SMALLINT NOT NULL, parent VARCHAR(191) NOT NULL, deleted_at TIMESTAMP NULL);
INSERT INTO zp_matter VALUES
  (1, 4, 1, 'c4ca4238a0b9', 'docs', 0, 2, '', NULL),
  (2, 4, 1, 'c81e728d9d4c', 'plans', 0, 2, 'docs/', NULL),
  (3, 4, 1, 'eccbc87e4b5c', 'plan.odt', 21, 0, 'docs/plans/', NULL),
  (4, 4, 1, 'a87ff679a2f3', '2022', 0, 2, 'docs/plans/', NULL),
  (5, 4, 1, 'e4da3b7fbbce', 'budget.csv', 35, 0, 'docs/plans/2022/', NULL),
  (6, 4, 1, '1679091c5a88', 'photos', 0, 2, '', NULL),
  (7, 4, 1, '8f14e45fceea', '1.jpg', 49, 0, 'photos/', NULL),
  (8, 4, 2, 'c9f0f895fb98', 'docs', 0, 2, '', NULL),
  (9, 4, 2, '45c48cce2e2d', 'plans', 0, 2, 'docs/', NULL),
  (10, 4, 2, 'd3d9446802a4', 'plan.odt', 70, 0, 'docs/plans/', NULL),
  (11, 4, 2, '6512bd43d9ca', '2022', 0, 2, 'docs/plans/', NULL),
  (12, 4, 2, 'c20ad4d76fe9', 'budget.csv', 84, 0, 'docs/plans/2022/', NULL),
  (13, 4, 2, 'c51ce410c124', 'photos', 0, 2, '', NULL),
  (14, 4, 2, 'aab3238922bc', '2.jpg', 98, 0, 'photos/', NULL),
  (15, 7, 1, '9bf31c7ff062', 'docs', 0, 2, '', NULL),
  (16, 7, 1, 'c74d97b01eae', 'plans', 0, 2, 'docs/', NULL),
  (17, 7, 1, '70efdf2ec9b0', 'plan.odt', 119, 0, 'docs/plans/', NULL),
  (18, 7, 1, '6f4922f45568', '2022', 0, 2, 'docs/plans/', NULL),
  (19, 7, 1, '1f0e3dad9990', 'budget.csv', 133, 0, 'docs/plans/2022/', NULL),
  (20, 7, 1, '98f137082101', 'photos', 0, 2, '', NULL),
  (21, 7, 1, '3c59dc048e88', '1.jpg', 147, 0, 'photos/', NULL);
