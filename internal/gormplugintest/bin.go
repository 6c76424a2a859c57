package gormplugintest

import (
	"testing"

	"gorm.io/gorm"
)

// Referring has a foreign key on its parent, which rows in the bin have, too.
type Referring struct {
	ID      int64
	Tree    int64  `pathlock:"tree"`
	Parent  *int64 `pathlock:"parent"`
	Name    string `pathlock:"name" gorm:"size:100"`
	Path    string `pathlock:"path" gorm:"size:500"`
	Deleted gorm.DeletedAt

	Above *Referring `gorm:"foreignKey:Parent"`
}

// checkBin deletes rows for good to which rows in the bin refer.
func checkBin(t *testing.T, d Database) {
	k := newKeyed(t, d, Referring{})
	k.live = "deleted IS NULL"
	var rows []*Referring
	for i, name := range []string{"a", "b", "c", "d"} {
		row := &Referring{ID: int64(i) + 1, Tree: 1, Name: name}
		if i > 0 {
			row.Parent = new(int64(i))
		}
		rows = append(rows, row)
	}
	k.must(k.db.Create(rows).Error)
	k.must(k.db.Delete(&Referring{}, 3).Error)
	k.has("/a /a/b")
	enforced := true
	if k.db.Name() == "sqlite" {
		k.must(k.db.Raw("PRAGMA foreign_keys").Row().Scan(&enforced))
	}
	for _, id := range []int{1, 2} {
		if !enforced {
			break
		}
		if err := k.db.Unscoped().Delete(&Referring{}, id).Error; err == nil {
			t.Errorf("row %d was deleted, though one in the bin refers to it", id)
		}
	}
	k.has("/a /a/b")
	result := k.db.Unscoped().Where("tree = 1").Delete(&Referring{})
	if result.Error != nil || result.RowsAffected != 4 {
		t.Errorf("deleted %d rows of the whole tree, %v", result.RowsAffected, result.Error)
	}
	k.has("")
}
