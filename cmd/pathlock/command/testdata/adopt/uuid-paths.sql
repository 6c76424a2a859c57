-- databases: postgres
-- fsck: --table nodes --single-tree nodes --parent + --name title --deleted=
CREATE TABLE nodes (id UUID PRIMARY KEY, title VARCHAR(100) NOT NULL, path VARCHAR(300) NOT NULL);
INSERT INTO nodes VALUES
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000001', 'a', '/a'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000002', 'b', '/a/b'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000003', 'c', '/a/b/c'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000004', 'd', '/a/b/d'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000005', 'e', '/a/e'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000006', 'f', '/f'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000007', 'g', '/f/g'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000008', 'h', '/f/g/h'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000009', 'i', '/f/i'),
  ('0b7e5b1c-52d1-4f0e-9d1b-000000000010', 'j', '/j');
