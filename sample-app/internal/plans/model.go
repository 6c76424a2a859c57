package plans

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/store/sqlstore"
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

// Limits of names and trees.
const (
	// MaxNameLength is the longest name, in characters.
	MaxNameLength = 255
	// MaxDepth is the largest depth of a suite. The root suite has depth 0.
	MaxDepth = 64
)

// CheckName says why a string cannot be the name of a plan, suite or case. It returns nil if it
// can.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("must not be empty")
	case !utf8.ValidString(name):
		return errors.New("must be valid UTF-8")
	case utf8.RuneCountInString(name) > MaxNameLength:
		return fmt.Errorf("must have at most %d characters", MaxNameLength)
	case name == "." || name == "..":
		return fmt.Errorf("must not be %q", name)
	case strings.Contains(name, "/"):
		return errors.New("must not contain a slash")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("must not contain control characters")
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return errors.New("must not begin or end with a space")
	}
	return nil
}

// Migrate makes the tables, or adds what they lack. Any number of instances may call it at once:
// one does the work, and the others wait for it. The plugin must be registered in db.Write.
//
// What is not protected gets tables by GORM alone, which have no unique index over siblings: that
// index is a protection, too.
func Migrate(ctx context.Context, db *DB, protected bool) error {
	write := db.Write.WithContext(ctx)
	if db.Dialect == sqlstore.MySQL {
		var version string
		if err := write.Raw(`SELECT VERSION()`).Scan(&version).Error; err != nil {
			return err
		}
		write = write.Set("gorm:table_options", "DEFAULT CHARACTER SET utf8mb4 COLLATE "+dialect.MySQL.Collation(version)).Session(&gorm.Session{})
	}
	all := []any{&Plan{}, &PlanChange{}, &RecycledItem{}, &RecycledNode{}}
	if protected {
		return gormplugin.AutoMigrate(write, all...)
	}
	if write.Migrator().HasTable(&Suite{}) {
		return nil
	}
	return write.AutoMigrate(append(all, &Suite{}, &Case{})...)
}
