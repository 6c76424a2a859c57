package database_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A pgbouncer refuses the setting of lock_timeout. The error says what it needs, and with that,
// transactions take place whatever connection of the server they get.
func TestBehindPgBouncer(t *testing.T) {
	before := testdb.Postgres(t)
	open := func(lines ...string) *database.DB {
		lines = append(lines, "pool_mode = transaction", "default_pool_size = 4")
		url := testserver.PgBouncer(t, before, lines...)
		separator := "?"
		if strings.Contains(url, "?") {
			separator = "&"
		}
		return testdb.Open(t, url+separator+"default_query_exec_mode=cache_describe")
	}
	err := open().Ping(t.Context())
	if err == nil || !strings.Contains(err.Error(), "ignore_startup_parameters = lock_timeout") || !strings.Contains(err.Error(), "cache_describe") {
		t.Errorf("%v, want an error that says what pgbouncer needs", err)
	}
	db := open("ignore_startup_parameters = lock_timeout")
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for j := range 50 {
				var n int
				if err := db.Write.Raw(fmt.Sprintf("SELECT ?::int + %d", j%5), i).Scan(&n).Error; err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
}
