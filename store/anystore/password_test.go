package anystore_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// A server gets the password to the letter.
func TestAPasswordBesideTheURLReachesTheServer(t *testing.T) {
	const password = `s/e#c?r@e%t:,;|+ $()'"\é`
	for name, url := range map[string]func(t *testing.T) string{
		"Redis": func(t *testing.T) string {
			// In its configuration, quotes and backslashes have a meaning.
			server := testredis.Start(t, testredis.Redis)
			server.Do("CONFIG", "SET", "requirepass", password)
			return "redis://" + server.Addr + "/0"
		},
		"MySQL":   func(t *testing.T) string { return mysqlUser(t, testserver.Oracle, password) },
		"MariaDB": func(t *testing.T) string { return mysqlUser(t, testserver.MariaDB, password) },
	} {
		t.Run(name, func(t *testing.T) {
			url := url(t)
			with := func(password string) *anystore.Store {
				store, err := anystore.Open(t.Context(), url, anystore.WithPassword(password))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close(t.Context()) })
				return store
			}
			if err := with(password).Ping(t.Context()); err != nil {
				t.Error(err)
			}
			err := with("not" + password).Ping(t.Context())
			if err == nil || anystore.Trouble(err) != "refuses the user or the password" || strings.Contains(err.Error(), "e#c?r") {
				t.Errorf("another password: %v", err)
			}
		})
	}
}

// mysqlUser returns the URL of an empty database for a user with a password, without the password.
func mysqlUser(t *testing.T, product, password string) string {
	t.Helper()
	url := mysql(t, product)
	name := url[strings.LastIndexByte(url, '/')+1:]
	admin := administer(t, "mysql", strings.TrimPrefix(url, "mysql://"))
	quoted := "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(password) + "'"
	admin("CREATE USER '" + name + "'@'%' IDENTIFIED BY " + quoted)
	t.Cleanup(func() { admin("DROP USER '" + name + "'@'%'") })
	admin("GRANT ALL ON " + name + ".* TO '" + name + "'@'%'")
	at := strings.LastIndexByte(url, '@')
	return "mysql://" + name + url[at:]
}
