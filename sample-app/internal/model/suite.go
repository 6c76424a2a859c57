package model

import "gorm.io/gorm"

// Suite is one node of a plan's tree. The tags tell gormplugin what the
// columns mean; it keeps Path and Version right.
type Suite struct {
	ID     int64 `json:"id" gorm:"primaryKey"`
	PlanID int64 `json:"plan_id" pathlock:"tree"`
	// ParentID is nil for the root suite of a plan and for no other.
	ParentID *int64 `json:"parent_id" pathlock:"parent"`
	Name     string `json:"name" pathlock:"name"`
	// Path is the parent's path + "/" + Name, and "" for the root suite.
	Path string `json:"path" pathlock:"path" gorm:"size:16384"`
	// Version rises with every change of the row.
	Version int64 `json:"version" pathlock:"version"`
	// DeletedAt is set while the suite is in the recycle bin.
	DeletedAt gorm.DeletedAt `json:"-"`
}

// IsRoot reports whether s is the root suite of its plan.
func (s Suite) IsRoot() bool { return s.ParentID == nil }
