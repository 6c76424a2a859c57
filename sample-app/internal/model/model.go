// Package model holds the rows of a test-plan backend: plans, the suites that form each plan's
// tree, the cases in them, and the recycle bin.
//
// The JSON tags are those of the HTTP interface, which answers with rows as they are.
package model

import (
	"time"

	"gorm.io/gorm"
)

// Plan is one tree of suites, with a name of its own within its project.
type Plan struct {
	ID      int64  `json:"id" gorm:"primaryKey"`
	Project string `json:"project" gorm:"size:255;not null;uniqueIndex:plans_name"`
	Name    string `json:"name" gorm:"size:255;not null;uniqueIndex:plans_name"`
	// RootID is the plan's root suite. It never changes.
	RootID int64 `json:"root_id"`
}

// PlanChange counts changes of a plan's tree. A plan has several counters, so that its writers do
// not wait for each other's commits.
type PlanChange struct {
	PlanID int64 `gorm:"primaryKey;autoIncrement:false"`
	Shard  int   `gorm:"primaryKey;autoIncrement:false"`
	Number int64
}

// Suite is one node of a plan's tree. Its tags tell gormplugin what the columns mean, and
// gormplugin keeps Path and Version right.
type Suite struct {
	ID     int64 `json:"id" gorm:"primaryKey"`
	PlanID int64 `json:"plan_id" pathlock:"tree" gorm:"not null"`
	// ParentID is nil for the root suite of a plan and for no other.
	ParentID *int64 `json:"parent_id" pathlock:"parent"`
	Name     string `json:"name" pathlock:"name" gorm:"size:255;not null"`
	// Path is the parent's path + "/" + Name, and "" for the root suite.
	Path string `json:"path" pathlock:"path" gorm:"size:65536;not null"`
	// Version rises with every change of the row.
	Version int64 `json:"version" pathlock:"version" gorm:"not null;default:1"`
	// DeletedAt is set while the suite is in the recycle bin.
	DeletedAt gorm.DeletedAt `json:"-"`
}

// IsRoot reports whether s is the root suite of its plan.
func (s Suite) IsRoot() bool { return s.ParentID == nil }

// Case is a test case: a leaf of the tree, in one suite.
type Case struct {
	ID      int64  `json:"id" gorm:"primaryKey"`
	SuiteID int64  `json:"suite_id" pathlock:"parent" gorm:"not null"`
	Name    string `json:"name" pathlock:"name" gorm:"size:255;not null"`
	Body    string `json:"body" gorm:"not null"`
	// Path is the suite's path + "/" + Name. It is not stored. The code that loads a case fills it
	// in; so does gormplugin when it creates, moves or copies one.
	Path string `json:"path" pathlock:"path" gorm:"-"`
	// DeletedAt is set while the case is in the recycle bin.
	DeletedAt gorm.DeletedAt `json:"-"`
}

// Kind says what a node is.
type Kind string

// The kinds of node.
const (
	KindSuite Kind = "suite"
	KindCase  Kind = "case"
)

// RecycledItem is one entry of a plan's recycle bin: all that one request deleted.
type RecycledItem struct {
	ID     int64 `json:"id" gorm:"primaryKey"`
	PlanID int64 `json:"plan_id" gorm:"index"`
	Kind   Kind  `json:"kind" gorm:"size:8"`
	// NodeID is the deleted suite or case. A restored one has the same id.
	NodeID int64 `json:"node_id"`
	// ParentID is the suite from which it was deleted.
	ParentID int64  `json:"parent_id"`
	Name     string `json:"name"`
	// Path is its path at the time of the deletion.
	Path string `json:"path"`
	// Suites and Cases count everything that was deleted with it, itself included.
	Suites    int64     `json:"suites"`
	Cases     int64     `json:"cases"`
	DeletedAt time.Time `json:"deleted_at" gorm:"precision:6"`
}

// RecycledNode says that a row is part of an item of the recycle bin.
type RecycledNode struct {
	ItemID int64 `gorm:"primaryKey;autoIncrement:false"`
	Kind   Kind  `gorm:"primaryKey;size:8;uniqueIndex:recycled_nodes_node"`
	NodeID int64 `gorm:"primaryKey;autoIncrement:false;uniqueIndex:recycled_nodes_node"`
}
