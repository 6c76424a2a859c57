package fsck

import (
	"database/sql"
)

// rowScan reads the columns key, tree, name and path, and what a query has besides.
type rowScan struct {
	*catalogue
	key, tree any
	name      sql.NullString
	path      sql.NullString
}

func newScan(c *catalogue) *rowScan { return &rowScan{catalogue: c} }

func (s *rowScan) dest(further ...any) []any {
	return append([]any{&s.key, &s.tree, &s.name, &s.path}, further...)
}

func (s *rowScan) row() (*row, error) {
	key, err := s.readKey(s.table.Key, s.key)
	if err != nil {
		return nil, err
	}
	tree, err := s.readKey(s.table.Tree, s.tree)
	return &row{key: key, tree: tree, name: s.unpadded(s.table.Name, s.name).String, nameless: !s.name.Valid, path: s.unpadded(s.table.Path, s.path)}, err
}
