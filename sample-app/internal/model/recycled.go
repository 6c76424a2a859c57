package model

import "time"

// Kind says what a node is.
type Kind string

// The kinds of node.
const (
	KindSuite Kind = "suite"
	KindCase  Kind = "case"
)

// RecycledItem is one entry of a plan's recycle bin: what one request deleted.
type RecycledItem struct {
	ID     int64 `json:"id" gorm:"primaryKey"`
	PlanID int64 `json:"plan_id"`
	Kind   Kind  `json:"kind"`
	// NodeID is the suite or case that was deleted. It keeps its id when it is restored.
	NodeID int64 `json:"node_id"`
	// ParentID is the suite that it was in.
	ParentID int64  `json:"parent_id"`
	Name     string `json:"name"`
	// Path is where it was when it was deleted.
	Path string `json:"path"`
	// Suites and Cases count everything that was deleted with it, itself included.
	Suites    int64     `json:"suites"`
	Cases     int64     `json:"cases"`
	DeletedAt time.Time `json:"deleted_at"`
}

// RecycledNode says that a row lies in the recycle bin as a part of an item.
type RecycledNode struct {
	ItemID int64 `gorm:"primaryKey;autoIncrement:false"`
	Kind   Kind  `gorm:"primaryKey"`
	NodeID int64 `gorm:"primaryKey;autoIncrement:false"`
}
