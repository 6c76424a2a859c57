package gormplugintest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// Spelled has keys that are texts to Go, whatever they are to the database.
type Spelled struct {
	ID     string  `gorm:"primaryKey"`
	Tree   string  `pathlock:"tree"`
	Parent *string `pathlock:"parent"`
	Name   string  `pathlock:"name"`
	Path   string  `pathlock:"path"`
	IDs    string  `pathlock:"idpath"`
}

// keySpelling is a type of keys in which the database takes different texts for one key.
type keySpelling struct {
	name, typ string
	// key makes a key as the database spells it, and other spells a key in another way.
	key   func(number int) string
	other func(key string) string
	// refused is set where nobody but the database knows which texts are one key.
	refused bool
}

// keySpellings are those of a database.
func keySpellings(w *schemaWorld) []keySpelling {
	uuid := func(number int) string { return fmt.Sprintf("a0eebc99-9c0b-4ef8-bb6d-%012x", 0xabc000+number) }
	loose := func(typ string) keySpelling {
		return keySpelling{name: typ, typ: typ, key: uuid, other: strings.ToUpper, refused: true}
	}
	padded := func(typ string) keySpelling {
		return keySpelling{name: typ, typ: typ, key: func(number int) string { return fmt.Sprintf("k%d", number) }, other: func(key string) string { return key + "  " }}
	}
	uuids := []keySpelling{
		{name: "UUID, in capitals", typ: "UUID", key: uuid, other: strings.ToUpper},
		{name: "UUID, without hyphens", typ: "UUID", key: uuid, other: func(key string) string { return strings.ReplaceAll(key, "-", "") }},
	}
	switch {
	case w.db.Name() == "postgres":
		w.exec("CREATE COLLATION IF NOT EXISTS caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
		w.exec("DROP DOMAIN IF EXISTS mark")
		w.exec("CREATE DOMAIN mark AS uuid")
		braces := keySpelling{name: "a domain, in braces", typ: "mark", key: uuid, other: func(key string) string { return "{" + key + "}" }}
		return append(uuids, braces, padded("CHAR(40)"), loose("VARCHAR(40) COLLATE caseless"))
	case w.db.Name() == "sqlite":
		return []keySpelling{loose("TEXT COLLATE NOCASE")}
	case w.binary() == "utf8mb4_nopad_bin":
		return append(uuids, padded("CHAR(40) COLLATE utf8mb4_bin"), loose("VARCHAR(40) COLLATE utf8mb4_general_ci"))
	default:
		return []keySpelling{padded("CHAR(40) COLLATE utf8mb4_bin"), loose("VARCHAR(40) COLLATE utf8mb4_0900_ai_ci"), loose("VARCHAR(40) COLLATE utf8mb4_general_ci")}
	}
}

// checkKeySpellings writes a tree whose keys come in other spellings than the database's.
func checkKeySpellings(t *testing.T, d Database) {
	for _, c := range keySpellings(newSchemaWorld(t, d, gormplugin.Model(&Spelled{}))) {
		t.Run(c.name, func(t *testing.T) {
			k := newSpelled(t, d, c.typ)
			top, below, deep, tree := c.key(1), c.key(2), c.key(3), c.key(9)
			if c.refused {
				k.refusesSpellings(c)
				return
			}
			k.must(k.db.Create(&Spelled{ID: c.other(top), Tree: c.other(tree), Name: "a"}).Error)
			k.must(k.db.Create([]*Spelled{
				{ID: c.other(deep), Parent: new(below), Name: "c"}, {ID: below, Tree: tree, Parent: new(c.other(top)), Name: "b"},
				{ID: c.key(4), Parent: new(deep), Name: "d"},
			}).Error)
			k.has("/a /a/b /a/b/c /a/b/c/d")
			renamed := &Spelled{ID: c.other(below)}
			k.must(k.db.Model(renamed).Update("name", "x").Error)
			if renamed.Path != "/a/x" {
				t.Errorf("the struct has the path %q", renamed.Path)
			}
			k.has("/a /a/x /a/x/c /a/x/c/d")
			k.must(k.db.Model(&Spelled{}).Where("id = ?", deep).Update("parent", c.other(top)).Error)
			k.has("/a /a/c /a/c/d /a/x")
			k.must(k.db.Save(&Spelled{ID: c.other(deep), Tree: c.other(tree), Parent: new(c.other(below)), Name: "y"}).Error)
			k.has("/a /a/x /a/x/y /a/x/y/d")
			moved := &Spelled{}
			k.must(gormplugin.Move(k.db, moved, c.other(deep), gormplugin.Below(c.other(top))))
			if moved.Path != "/a/y" {
				t.Errorf("the moved struct has the path %q", moved.Path)
			}
			if err := gormplugin.Move(k.db, &Spelled{}, c.other(top), gormplugin.Below(c.other(deep))); !errors.Is(err, gormplugin.ErrWouldCycle) {
				t.Errorf("a cycle: got %v", err)
			}
			k.has("/a /a/x /a/y /a/y/d")
			k.oneTree(c.other(tree), tree)
			for _, id := range []string{deep, c.other(deep)} {
				at, err := k.plugin.Resolver(&Spelled{}).Resolve(t.Context(), id)
				if want, _ := pathlock.NewTree("spelleds", tree); err != nil || at.Path.String() != "/a/y" || at.Tree != want {
					t.Errorf("%q is resolved to %v, %v", id, at, err)
				}
			}
			k.must(k.db.Transaction(func(tx *gorm.DB) error {
				_, err := gormplugin.LockSubtrees(tx, &Spelled{}, c.other(deep))
				return err
			}))
			var copied Spelled
			_, err := gormplugin.Copy(k.db, &copied, c.other(below), gormplugin.Below(c.other(deep)), gormplugin.CopyValues(map[string]any{"id": c.key(5)}))
			k.must(err)
			k.has("/a /a/x /a/y /a/y/d /a/y/x")
			rows, err := gormplugin.Delete(k.db, &Spelled{}, c.other(deep))
			if err != nil || rows != 3 {
				t.Errorf("deleted %d rows, %v", rows, err)
			}
			k.has("/a /a/x")
		})
	}
}

// spelledTable is the table of [Spelled].
type spelledTable struct {
	*keyed
	plugin *gormplugin.Plugin
}

// newSpelled makes the table, with keys of a type.
func newSpelled(t *testing.T, d Database, typ string) spelledTable {
	t.Helper()
	k := spelledTable{keyed: &keyed{T: t, db: open(t, d, settings{}, new(trace))}}
	k.must(k.db.Exec("CREATE TABLE spelleds (id " + typ + " PRIMARY KEY, tree " + typ + " NOT NULL, parent " + typ + ", name VARCHAR(100) NOT NULL, path VARCHAR(500) NOT NULL, ids VARCHAR(500) NOT NULL, " +
		"UNIQUE (tree, parent, name)) " + d.TableOptions).Error)
	t.Cleanup(func() { k.must(k.db.Migrator().DropTable(&Spelled{})) })
	k.plugin = gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Spelled{}), gormplugin.TransactionWait(pathlock.NoWait))
	k.must(k.db.Use(k.plugin))
	stmt := &gorm.Statement{DB: k.db}
	k.must(stmt.Parse(&Spelled{}))
	k.schema = stmt.Schema
	return k
}

// has checks the whole table, the paths of ids, too.
func (k spelledTable) has(want string) {
	k.Helper()
	k.keyed.has(want)
	var rows []Spelled
	k.must(k.db.Find(&rows).Error)
	ids := make(map[string]string)
	for _, row := range rows {
		ids[strings.TrimRight(row.ID, " ")] = row.IDs
	}
	for _, row := range rows {
		above := ""
		if row.Parent != nil {
			above = ids[strings.TrimRight(*row.Parent, " ")]
		}
		if want := above + "/" + strings.TrimRight(row.ID, " "); row.IDs != want {
			k.Errorf("%s has the path of ids %q, want %q", row.Path, row.IDs, want)
		}
	}
}

// oneTree checks that a write to a tree keeps one by its other spelling out.
func (k spelledTable) oneTree(one, other string) {
	k.Helper()
	tx := k.db.Begin()
	defer tx.Rollback()
	k.must(tx.Create(&Spelled{ID: strings.ReplaceAll(one, "9", "7"), Tree: one, Name: "b"}).Error)
	second := k.db.Begin()
	defer second.Rollback()
	if err := second.Create(&Spelled{ID: strings.ReplaceAll(one, "9", "8"), Tree: other, Name: "b"}).Error; !errors.Is(err, pathlock.ErrConflict) {
		k.Errorf("a second tree by another spelling: got %v", err)
	}
}

// refusesSpellings checks that a key in another spelling than the database's is refused.
func (k spelledTable) refusesSpellings(c keySpelling) {
	k.Helper()
	top, below := c.key(1), c.key(2)
	k.must(k.db.Create(&Spelled{ID: top, Tree: "t", Name: "a"}).Error)
	k.must(k.db.Create(&Spelled{ID: below, Tree: "t", Name: "b"}).Error)
	_, resolved := k.plugin.Resolver(&Spelled{}).Resolve(k.Context(), c.other(top))
	for what, err := range map[string]error{
		"Create":  k.db.Create(&Spelled{ID: c.key(3), Parent: new(c.other(top)), Name: "c"}).Error,
		"Update":  k.db.Model(&Spelled{ID: below}).Update("parent", c.other(top)).Error,
		"Move":    gormplugin.Move(k.db, &Spelled{}, below, gormplugin.Below(c.other(top))),
		"Resolve": resolved,
	} {
		if !errors.Is(err, pathlock.ErrInvalidID) || !strings.Contains(err.Error(), top) {
			k.Errorf("%s: got %v, want one that says how the database spells %s", what, err, top)
		}
	}
	k.has("/a /b")
}
