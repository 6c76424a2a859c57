// Package gormplugin keeps trees with materialised paths right in the tables of a
// [gorm.DB], whoever writes them and however many write at once.
//
//	type Suite struct {
//		ID       int64
//		PlanID   int64  `pathlock:"tree"`
//		ParentID *int64 `pathlock:"parent"`
//		Name     string `pathlock:"name"`
//		Path     string `pathlock:"path"`
//	}
//
//	err := db.Use(gormplugin.New(locker, gormplugin.Model(&Suite{})))
package gormplugin
