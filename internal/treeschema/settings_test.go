package treeschema

import (
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// The tests cannot run every server, but can judge the settings that it would show.
func TestSettings(t *testing.T) {
	t.Parallel()
	type settings = map[string]string
	for _, c := range []struct {
		what   string
		of     *dialect.Dialect
		values settings
		want   []Check
	}{
		{"a MySQL server alone", dialect.MySQL, settings{"version": "8.0.17", "read_only": "OFF", "innodb_read_only": "OFF"}, nil},
		{"an old MySQL", dialect.MySQL, settings{"version": "8.0.16"}, []Check{Version}},
		{"an old MariaDB", dialect.MySQL, settings{"version": "10.5.23-MariaDB"}, []Check{Version}},
		{"a node of a Galera cluster", dialect.MySQL, settings{"wsrep_provider": "/usr/lib/galera/libgalera_smm.so"}, []Check{Writers}},
		{"group replication with several primaries", dialect.MySQL, settings{"group_replication_single_primary_mode": "OFF"}, []Check{Writers}},
		{"a replica", dialect.MySQL, settings{"read_only": "ON", "super_read_only": "ON"}, []Check{ReadOnly}},
		{"a session as it should be", dialect.MySQL, settings{"completion_type": "NO_CHAIN", "autocommit": "ON", "unique_checks": "ON", "transaction_isolation": "REPEATABLE-READ"}, nil},
		{"a session without unique checks", dialect.MySQL, settings{"unique_checks": "OFF"}, []Check{UniqueChecks}},
		{"a lax session", dialect.MySQL, settings{"sql_mode": ""}, []Check{StrictMode}},
		{"empty texts that are NULL", dialect.MySQL, settings{"sql_mode": "STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL"}, []Check{StrictMode}},

		{"a PostgreSQL server alone", dialect.PostgreSQL, settings{
			"server_version": "15.8 (Debian 15.8-1)", "server_encoding": "UTF8", "default_transaction_isolation": "read committed", "default_transaction_read_only": "off",
			"in_recovery": "false", "extensions": "",
		}, nil},
		{"a standby", dialect.PostgreSQL, settings{"in_recovery": "true"}, []Check{ReadOnly}},
		{"replication in both directions", dialect.PostgreSQL, settings{"extensions": "bdr"}, []Check{Writers}},

		{"an SQLite file", dialect.SQLite, settings{"version": "3.35.0", "busy_timeout": "1000", "journal_mode": "wal", "query_only": "0"}, nil},
		{"an old SQLite", dialect.SQLite, settings{"version": "3.34.1"}, []Check{Version}},
		{"an SQLite file that is only read", dialect.SQLite, settings{"query_only": "1"}, []Check{ReadOnly}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			var checks []Check
			for _, f := range judge(c.of, c.values) {
				checks = append(checks, f.Check)
				if f.Severity != Unsafe || f.Missing == "" || f.Why == "" || f.Advice == "" {
					t.Errorf("the finding %#v says too little", f)
				}
			}
			if !slices.Equal(checks, c.want) {
				t.Errorf("found %v, want %v", checks, c.want)
			}
		})
	}
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	for made, want := range map[string]int{
		"CREATE TABLE t (a INT UNIQUE ON CONFLICT REPLACE, b INT)":                                            1,
		"CREATE TABLE t (a INT PRIMARY KEY ON CONFLICT IGNORE, UNIQUE (a, b) ON CONFLICT rollback)":           2,
		"CREATE TABLE t (a INT NOT NULL ON CONFLICT REPLACE DEFAULT 0)":                                       0,
		"CREATE TABLE t (a INT NOT NULL ON CONFLICT ABORT UNIQUE ON CONFLICT /* is */ REPLACE)":               1,
		"CREATE TABLE t (a INT CHECK (a <> 'ON CONFLICT REPLACE'), b TEXT DEFAULT 'UNIQUE ON CONFLICT FAIL')": 0,
		"CREATE TABLE t (a INT UNIQUE ON CONFLICT ABORT) -- ON CONFLICT FAIL":                                 0,
	} {
		c := checker{dialect: dialect.SQLite, catalogue: &catalogue{Text: made}}
		if c.checkConflicts(); len(c.findings) != want {
			t.Errorf("%s: %v, want %d", made, c.findings, want)
		}
	}
}
