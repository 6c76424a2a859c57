package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// shape is a kind of table that the state machine writes.
type shape struct {
	name  string
	model any
	// key makes keys that nobody has, and tree ids of trees.
	key, tree func() any
	// sole is the only tree of a table without a tree column.
	sole string
	// nameless is set if the model's name column is not part of the tree.
	nameless bool
	// given is set where the database gives rows their keys, too.
	given bool
	// room and depth are the limits of a path.
	room, depth int
	// live is the condition on rows that are not deleted, empty where they are deleted for good,
	// and mark the column that it is about, which restored brings back.
	live, mark string
	restored   any
	// gone is what marks a row as deleted. shown is set where GORM does not hide such rows.
	gone  any
	shown bool
	// leaf is the model of the leaves, if there are any, and leafPaths are their path columns.
	leaf      any
	leafPaths gormplugin.Columns
	// full is set for the table that gets the most steps, and the longest names.
	full bool
	// copies is set where copies get keys, and keys gives the option that makes them.
	copies bool
	keys   func(number int) []gormplugin.CopyOption
	// scarce and brief are set for tables that few steps will do for, scarce also for those in
	// which keys and trees are of special types.
	scarce, brief bool
	// stormy is set for the tables of the storms, which [NewPlugin] guards.
	stormy bool
}

// someTime is one at which rows were deleted.
var someTime = time.Date(2026, 11, 26, 18, 0, 0, 0, time.UTC)

// none is the option of a copy whose keys the database gives.
func none(int) []gormplugin.CopyOption { return nil }

// shapes are all of them. What they have in common, the first one shows in the most steps.
func shapes() []shape {
	integer := func() any { return rand.Int64N(1<<50) + 1 }
	text := func() any { return fmt.Sprintf("k%x", rand.Int64N(1<<40)) }
	textKeys := func(number int) []gormplugin.CopyOption {
		fresh := []any{gorm.Expr("REPLACE(id, 'k', ?)", fmt.Sprintf("k%dz", number)), text}[number%2]
		return []gormplugin.CopyOption{gormplugin.CopyValues(map[string]any{"id": fresh})}
	}
	drive := func() any { return fmt.Sprint(integer()) }
	binary := func() any { return Binary(someBytes()) }
	return []shape{
		{name: "suites", model: Suite{}, stormy: true, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, live: "deleted IS NULL", mark: "deleted", gone: someTime, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{Path: "path_column", Depth: "level"}, full: true},
		{name: "paths of ids", model: Entry{}, stormy: true, key: integer, tree: drive, given: true, room: 500, depth: suiteDepth, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{IDPath: "ids"}},
		{name: "both kinds of path", model: Shelf{}, stormy: true, key: integer, tree: drive, given: true, room: 500, depth: suiteDepth, live: "deleted IS NULL", mark: "deleted", gone: someTime, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{Path: "path_column", PathForm: "parent:/*/*", IDPath: "ids", Depth: "level"}},
		{name: "one tree", model: Department{}, key: integer, tree: func() any { return "all" }, sole: "all", given: true, room: 500, depth: suiteDepth, live: "deleted IS NULL", mark: "deleted", gone: someTime, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{Path: "path_column", PathForm: "/*/*/"}},
		{name: "ids alone, without names", model: Menu{}, key: integer, tree: func() any { return "menus" }, sole: "menus", nameless: true, room: 500, depth: suiteDepth, live: "deleted IS NULL", mark: "deleted", gone: someTime, leaf: Case{}, leafPaths: gormplugin.Columns{IDPath: "ids", IDPathForm: "parent:/0/*/*/"}},
		{name: "no unique index, keys of texts", model: Folder{}, key: text, tree: drive, room: 500, depth: 256, copies: true, keys: textKeys},
		{name: "a foreign key", model: Twig{}, key: integer, tree: integer, given: true, room: 500, depth: 256, copies: true, keys: none},
		{name: "keys of texts, and parents that cannot be NULL", model: Stem{}, key: text, tree: integer, room: 500, depth: 256, copies: true, keys: textKeys, scarce: true},
		{name: "a type of its own, 0 at the top", model: zeroKeyed{}, key: func() any { return number(rand.Uint32N(1 << 30)) }, tree: func() any { return number(rand.Uint32N(1 << 30)) }, given: true, room: 500, depth: 256, copies: true, keys: none, scarce: true},
		{name: "bytes", model: binaryKeyed{}, key: binary, tree: binary, room: 500, depth: 256, scarce: true},
		{name: "UUIDs in several spellings", model: uuidKeyed{}, key: someUUID, tree: someUUID, room: 500, depth: 8},
		{name: "a plain flag", model: flagged{}, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, live: "gone = 0 OR gone IS NULL", mark: "gone", restored: 0, gone: 1, shown: true, copies: true, keys: none},
		{name: "a plain time", model: stamped{}, brief: true, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, live: "removed IS NULL", mark: "removed", gone: someTime, shown: true, copies: true, keys: none},
		{name: "a status", model: filed{}, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, live: "status IS NULL OR status <> 'archived'", mark: "status", restored: "active", gone: "archived", shown: true, copies: true, keys: none},
		{name: "paths of ids, /0/*/*/", model: Dept{}, stormy: true, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, copies: true, keys: none},
		{name: "*.* and *,*,", model: Topic{}, stormy: true, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, live: "deleted IS NULL", mark: "deleted", gone: someTime, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{Path: "path_column", PathForm: "*.*", IDPath: "ids", IDPathForm: "*,*,"}},
		{name: "# at the top, */*/ and /0/*/*", model: code{}, brief: true, key: text, tree: integer, room: 500, depth: suiteDepth, copies: true, keys: textKeys},
		{name: "parent:/*/* and parent:*.*", model: file{}, stormy: true, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, live: "gone IS NULL", mark: "gone", gone: someTime, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{Path: "path_column", PathForm: "/*/*", IDPath: "ids", IDPathForm: "*.*"}},
		{name: "parent:0,*,* of ids", model: volume{}, brief: true, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{IDPath: "ids", IDPathForm: "0,*,*", Depth: "level"}},
		{name: "-1 at the top, all:*:*:", model: region{}, brief: true, key: integer, tree: integer, given: true, room: 500, depth: suiteDepth, copies: true, keys: none, leaf: Case{}, leafPaths: gormplugin.Columns{Path: "path_column", PathForm: "parent:all:*:*:"}},
	}
}
