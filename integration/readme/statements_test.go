package readme

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

var (
	sqlBlock   = regexp.MustCompile("(?s)```sql\n(.*?)```")
	sqlComment = regexp.MustCompile(`(?m)^--.*$`)
	// shortened matches what docs/how-it-works.md leaves out of a statement.
	shortened = regexp.MustCompile("(?s)\\s+WHERE .*|`suites`\\.| FORCE INDEX \\(PRIMARY\\)|[`(\\s]")
)

// docs/how-it-works.md has the statements of a rename in the order in which the server gets them.
// GORM's log has another order, because a statement is logged when its callbacks end.
func TestTheStatementsOfARename(t *testing.T) {
	for _, server := range testserver.MySQLServers(t) {
		dsn := emptyDatabase(t, server.DSN) + "?interpolateParams=true"
		db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := db.DB()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = pool.Close() }()
		pool.SetMaxOpenConns(1) // the log is read by connection
		if err := errors.Join(db.Use(gormplugin.New(pathlock.New(memstore.New()), options()...)), gormplugin.AutoMigrate(db)); err != nil {
			t.Fatal(err)
		}
		var parent *int64
		for _, name := range []string{"", "dir1", "dir2", "below"} {
			row := Suite{PlanID: 1, ParentID: parent, Name: name}
			if err := db.Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			parent = &row.ID
		}
		// Where the server writes what it gets, whoever else uses it meanwhile.
		var kind string
		var on int
		if err := db.Raw("SELECT @@GLOBAL.log_output, @@GLOBAL.general_log").Row().Scan(&kind, &on); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Exec("SET GLOBAL log_output = 'TABLE'").Error, db.Exec("SET GLOBAL general_log = 1").Error); err != nil {
			t.Fatal(err)
		}
		// The first rename asks for the name of the index, too.
		for _, name := range []string{"d2", "dir2", "new"} {
			if err := gormplugin.Rename(db, &Suite{}, 3, name); err != nil {
				t.Fatal(err)
			}
		}
		var sent []string
		log := "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE thread_id = CONNECTION_ID() AND command_type = 'Query'"
		err = errors.Join(db.Exec("SET GLOBAL general_log = ?", on).Error, db.Exec("SET GLOBAL log_output = ?", kind).Error, db.Raw(log).Scan(&sent).Error)
		if err != nil {
			t.Fatal(err)
		}
		for len(sent) > 0 && sent[len(sent)-1] != "COMMIT" {
			sent = sent[:len(sent)-1] // what ends the log
		}
		page := sqlBlock.FindStringSubmatch(readPage(t, filepath.Join("..", "..", "docs", "how-it-works.md")))
		if page == nil {
			t.Fatal("the page has no statements")
		}
		brief := func(statements []string) (all []string) {
			for _, s := range statements {
				if s = shortened.ReplaceAllString(s, ""); s != "" {
					all = append(all, s)
				}
			}
			return all
		}
		want := brief(strings.Split(sqlComment.ReplaceAllString(page[1], ""), ";"))
		if got := brief(sent); len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
			t.Errorf("the server got\n%s\nthe page has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
