package integration

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// Instances that migrate one file at once all start, also where their transactions begin as those
// of readers, and whether or not readers see the file while it is written.
func TestAutoMigrate_sqliteAtOnce(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{"", "&_txlock=immediate", "&_pragma=journal_mode(delete)"} {
		t.Run(parameters, func(t *testing.T) {
			gormplugintest.CheckAtOnce(t, databases.SQLiteWith(t, parameters))
		})
	}
}

// In every collation of MySQL and MariaDB, the paths of whole numbers below one are a range,
// whatever stands between the numbers: the plugin relies on that where a column has no binary
// collation.
func TestBelow_everyCollationOrdersNumbers(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		t.Parallel()
		db := databases.Pool(t, gormplugintest.OnMySQL(t, server, nil).Connector)
		rows, err := db.QueryContext(t.Context(), "SELECT CONCAT(CHARACTER_SET_NAME, ' ', COLLATION_NAME) FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY WHERE CHARACTER_SET_NAME IN ('utf8mb4', 'utf8mb3', 'latin1', 'ascii', 'gbk')")
		testerr.Must(t, err)
		defer func() { _ = rows.Close() }()
		var collations []string
		for rows.Next() {
			var name string
			testerr.Must(t, rows.Scan(&name))
			collations = append(collations, name)
		}
		testerr.Must(t, rows.Err())
		if len(collations) < 100 {
			t.Errorf("there are only %d collations", len(collations))
		}
		for _, collation := range collations {
			set, name, _ := strings.Cut(collation, " ")
			var rules strings.Builder
			for separator := range strings.SplitSeq(treetable.NameSeparators, "") {
				path := func(path string) string {
					return fmt.Sprintf("CONVERT('%s' USING %s) COLLATE %s", strings.ReplaceAll(path, "/", separator), set, name)
				}
				within := func(stored string) string {
					return path(stored) + " >= " + path("1/") + " AND " + path(stored) + " < " + path("1/a")
				}
				rules.WriteString("IF(" + within("1/") + " AND NOT (" + within("1") + ") AND NOT (" + within("2/1") + ")")
				for digit := range 10 {
					rules.WriteString(" AND " + within(fmt.Sprintf("1/%d99/9", digit)) + " AND NOT (" + within(fmt.Sprintf("1%d/5", digit)) + ")")
				}
				rules.WriteString(", '', '" + separator + "'), ")
			}
			var found string
			testerr.Must(t, db.QueryRowContext(t.Context(), "SELECT CONCAT("+rules.String()+"'')").Scan(&found))
			if found != "" {
				t.Errorf("%s has no range between %q", collation, found)
			}
		}
	})
}

// openMigrated returns a DB with the plugin and a tree in which nothing is wrong.
func openMigrated(t *testing.T, d gormplugintest.Database, options ...gormplugin.Option) *gorm.DB {
	t.Helper()
	options = append(options, gormplugin.Model(&gormplugintest.Branch{}))
	db := databases.Use(t, d.Dialector(sql.OpenDB(d.Connector)), gormplugin.New(pathlock.New(memstore.New()), options...))
	for range 2 {
		if err := gormplugin.AutoMigrate(db); err != nil && !errors.Is(err, gormplugin.ErrUnsafeSchema) {
			t.Fatal(err)
		}
	}
	return db
}

// finds checks what Verify finds.
func finds(t *testing.T, db *gorm.DB, want ...treeschema.Check) []gormplugin.Finding {
	t.Helper()
	err := gormplugin.Verify(db)
	found, ok := errors.AsType[*gormplugin.SchemaError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	if !ok {
		found = new(gormplugin.SchemaError)
	}
	var checks []treeschema.Check
	for _, f := range found.Findings {
		checks = append(checks, f.Check)
	}
	if !slices.Equal(checks, want) {
		t.Errorf("found %v, want %v", err, want)
	}
	return found.Findings
}

// Sessions that would be REPEATABLE READ are found, wherever that is set. In a database or a
// session whose encoding is not UTF-8, lengths are not what the plugin takes them for.
func TestVerify_sessions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		locale, setting, value string
		want                   []treeschema.Check
	}{
		{databases.ByteOrder, "default_transaction_isolation", "repeatable read", []treeschema.Check{treeschema.Isolation}},
		{databases.ByteOrder, "default_transaction_isolation", "serializable", nil},
		{"ENCODING 'SQL_ASCII' LOCALE 'C'", "client_encoding", "UTF8", []treeschema.Check{treeschema.Encoding}},
	} {
		finds(t, openMigrated(t, databases.Postgres(t, c.locale, map[string]string{c.setting: c.value})), c.want...)
	}
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for set, want := range map[string][]treeschema.Check{"utf8mb4": nil, "utf8": nil, "latin1": {treeschema.Encoding}, "binary": {treeschema.Encoding}} {
			finds(t, openMigrated(t, gormplugintest.OnMySQL(t, server, map[string]string{"character_set_client": set})), want...)
		}
	})
}

// The index that Verify asks for is the one that serves the plugin's ranges; one in the order of
// the database is not, even where that order is the same.
func TestPathIndex_onPostgres(t *testing.T) {
	t.Parallel()
	d := databases.Postgres(t, databases.ByteOrder, nil)
	db := openMigrated(t, d)
	serves := func() bool {
		var plan []string
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Exec("SET LOCAL enable_seqscan = off").Error; err != nil {
				return err
			}
			return tx.Raw(`EXPLAIN SELECT id FROM branches WHERE tree_id = 1 AND path COLLATE "C" >= '/a/' AND path COLLATE "C" < '/a0'`).Scan(&plan).Error
		})
		testerr.Must(t, err)
		return slices.ContainsFunc(plan, func(line string) bool {
			return strings.Contains(line, "Index Cond:") && strings.Contains(line, ">= '/a/'")
		})
	}
	if !serves() {
		t.Error("the index that AutoMigrate made does not serve the range")
	}
	testerr.Must(t, gormplugin.AllowRawWrites(db).Exec(`ALTER TABLE branches ALTER COLUMN path TYPE varchar(500) COLLATE "default"`).Error)
	for _, statement := range []string{"DROP INDEX branches_path", "CREATE INDEX branches_path ON branches (tree_id, path)"} {
		testerr.Must(t, db.Exec(statement).Error)
	}
	if serves() {
		t.Error("an index in the order of the database serves the range")
	}
	for _, f := range finds(t, db, treeschema.Collation, treeschema.PathIndex) {
		testerr.Must(t, gormplugin.AllowRawWrites(db).Exec(f.Statements[0]).Error)
	}
	if finds(t, db); !serves() {
		t.Error("the index does not serve the range after the statements")
	}
}

// Unsized is a tree whose model states no sizes.
type Unsized struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
}

// A path that no entry of the index can hold is refused as too long, on whichever way it would come
// about, and nothing of the statement is left.
func TestPathIndex_pathTooLong(t *testing.T) {
	t.Parallel()
	d := databases.Postgres(t, databases.ByteOrder, nil)
	db := openMigrated(t, d, gormplugin.Model(&Unsized{}))
	// What can be compressed would fit.
	random := func(length int) string {
		name := make([]byte, length)
		for i := range name {
			name[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[rand.IntN(62)]
		}
		return string(name)
	}
	root := &Unsized{TreeID: 1}
	below := func(parent *Unsized, name string) *Unsized {
		t.Helper()
		row := &Unsized{ParentID: &parent.ID, Name: name}
		testerr.Must(t, db.Create(row).Error)
		return row
	}
	testerr.Must(t, db.Create(root).Error)
	a, b := below(root, "a"), below(root, random(2000))
	below(a, random(1500))
	for what, write := range map[string]func() error{
		"insert": func() error { return db.Create(&Unsized{ParentID: &b.ID, Name: random(2000)}).Error },
		"rename": func() error { return db.Model(a).Update("name", random(2000)).Error },
		"move":   func() error { return db.Model(a).Update("parent_id", b.ID).Error },
		"Move":   func() error { return gormplugin.Move(db, &Unsized{}, a.ID, gormplugin.Below(b.ID)) },
		"Copy":   func() error { _, err := gormplugin.Copy(db, new(Unsized), a.ID, gormplugin.Below(b.ID)); return err },
	} {
		if err := write(); !errors.Is(err, gormplugin.ErrPathTooLong) {
			t.Errorf("%s: got the error %.300v, want %v", what, err, gormplugin.ErrPathTooLong)
		}
	}
	var rows []Unsized
	if err := db.Order("id").Find(&rows).Error; err != nil || len(rows) != 4 || rows[1].Path != "/a" || rows[3].Path != "/a/"+rows[3].Name {
		t.Errorf("there are %d rows (%v), want the 4 as they were", len(rows), err)
	}
}

// asset is a row below a root row that older code has written with 0 for no parent.
type asset struct {
	ID       int64
	ParentID *int64 `pathlock:"parent"`
	Name     string `gorm:"size:100" pathlock:"name"`
	Path     string `gorm:"size:200" pathlock:"path,form:parent:/*/*/"`
}

// A root row keeps others from the top, whatever older code has written for its parent.
func TestCreate_besideRootRow(t *testing.T) {
	databases.Each(t, func(t *testing.T, fresh func(*testing.T) gormplugintest.Database) {
		plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&asset{}, gormplugin.SingleTree("assets")))
		db := guardedBy(t, fresh(t), plugin, asset{})
		insert := gormplugin.AllowRawWrites(db).Exec("INSERT INTO assets (id, parent_id, name, path) VALUES (7, 0, '', '/')")
		testerr.Must(t, insert.Error)
		testerr.MustBe(t, "a row beside the root row", db.Create(&asset{Name: "a"}).Error, gormplugin.ErrRootRow)
	})
}
