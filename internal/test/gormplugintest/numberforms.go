package gormplugintest

import (
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
)

// numberForms are forms whose maps have numbers as decoders and forms of pages give them: what is
// exact counts, however it is spelled, and anything else is refused.
func numberForms() []form {
	var forms []form
	for name, spelled := range map[string]func(id int64) any{
		"a float":        func(id int64) any { return float64(id) },
		"a json.Number":  func(id int64) any { return json.Number(fmt.Sprint(id)) },
		"a text":         func(id int64) any { return fmt.Sprint(id) },
		"a smaller type": func(id int64) any { return uint32(id) },
	} {
		forms = append(forms,
			form{name: "Updates with a parent as " + name, tree: "/d /d/a /d/a/b /d/a/b/c /d/e", write: func(w *world, tx *gorm.DB) error {
				return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"parent_id": spelled(w.ids["/d"])}).Error
			}},
			form{name: "Create with a parent as " + name, tree: suiteTree + " /d/65", write: func(w *world, tx *gorm.DB) error {
				return tx.Model(&Suite{}).Create(map[string]any{"parent_id": spelled(w.ids["/d"]), "name": 65}).Error
			}},
		)
	}
	return append(forms,
		form{name: "Updates with a fraction for the parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"parent_id": float64(w.ids["/d"]) + 0.9}).Error
		}},
		form{name: "Create with a fraction for the parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Create(map[string]any{"parent_id": float64(w.ids["/d"]) + 0.9, "name": "x"}).Error
		}},
		form{name: "Updates with a fraction for the name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"name": 4.6}).Error
		}},
	)
}
