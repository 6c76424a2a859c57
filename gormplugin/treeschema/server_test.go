package treeschema

import (
	"slices"
	"testing"
)

// The tests cannot run every server, but can judge the settings that it would show.
func TestSettings(t *testing.T) {
	type settings = map[string]string
	for _, c := range []struct {
		what     string
		findings []Finding
		want     []Check
	}{
		{"a MySQL server alone", mysqlWriters(settings{"read_only": "OFF", "super_read_only": "OFF", "innodb_read_only": "OFF"}), nil},
		{"MariaDB with a Galera provider that is not loaded", mysqlWriters(settings{"wsrep_on": "OFF", "wsrep_provider": "none"}), nil},
		{"MariaDB that could be a node but is none", mysqlWriters(settings{"wsrep_on": "ON", "wsrep_provider": "none"}), nil},
		{"a node of a Galera cluster", mysqlWriters(settings{"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera/libgalera_smm.so"}), []Check{Writers}},
		{"group replication with one primary", mysqlWriters(settings{"group_replication_single_primary_mode": "ON"}), nil},
		{"group replication with several primaries", mysqlWriters(settings{"group_replication_single_primary_mode": "OFF"}), []Check{Writers}},
		{"a replica", mysqlWriters(settings{"read_only": "ON", "super_read_only": "ON"}), []Check{ReadOnly}},
		{"a replica of MariaDB 12", mysqlWriters(settings{"read_only": "NO_LOCK"}), []Check{ReadOnly}},
		{"a session as it should be", mysqlSession(settings{"completion_type": "NO_CHAIN", "autocommit": "ON", "unique_checks": "ON"}), nil},
		{"a session that chains transactions", mysqlSession(settings{"completion_type": "CHAIN"}), []Check{TransactionEnd}},
		{"a session that commits nothing", mysqlSession(settings{"autocommit": "OFF"}), []Check{TransactionEnd}},
		{"a session without unique checks", mysqlSession(settings{"unique_checks": "OFF"}), []Check{UniqueChecks}},
		{"empty texts that are NULL", mysqlMode(record{"sql_mode": "STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL"}), []Check{StrictMode}},

		{"a PostgreSQL server alone", postgresWriters(record{"full_version": "PostgreSQL 15.8 on x86_64", "in_recovery": "false", "read_only": "off", "extensions": "plpgsql"}), nil},
		{"a standby", postgresWriters(record{"in_recovery": "true"}), []Check{ReadOnly}},
		{"transactions that only read", postgresWriters(record{"read_only": "on"}), []Check{ReadOnly}},
		{"replication in both directions", postgresWriters(record{"extensions": "plpgsql,bdr"}), []Check{Writers}},
		{"something that is only like PostgreSQL", postgresWriters(record{"full_version": "CockroachDB CCL v24.1"}), []Check{Version}},
	} {
		t.Run(c.what, func(t *testing.T) {
			var checks []Check
			for _, f := range c.findings {
				checks = append(checks, f.Check)
				if f.Severity != Unsafe || f.Missing == "" || f.Why == "" || f.Advice == "" {
					t.Errorf("the finding %#v says too little", f)
				}
			}
			if !slices.Equal(checks, c.want) {
				t.Errorf("found %v, want %v", c.findings, c.want)
			}
		})
	}
}

func TestConflictClauses(t *testing.T) {
	for made, want := range map[string][]string{
		"CREATE TABLE t (a INT UNIQUE ON CONFLICT REPLACE, b INT)":                                            {"ON CONFLICT REPLACE"},
		"CREATE TABLE t (a INT PRIMARY KEY ON CONFLICT IGNORE, UNIQUE (a, b) ON CONFLICT rollback)":           {"ON CONFLICT IGNORE", "ON CONFLICT ROLLBACK"},
		"CREATE TABLE t (a INT NOT NULL ON CONFLICT REPLACE DEFAULT 0)":                                       nil,
		"CREATE TABLE t (a INT NOT NULL ON CONFLICT ABORT UNIQUE ON CONFLICT REPLACE)":                        {"ON CONFLICT REPLACE"},
		"CREATE TABLE t (a INT CHECK (a <> 'ON CONFLICT REPLACE'), b TEXT DEFAULT 'UNIQUE ON CONFLICT FAIL')": nil,
		"CREATE TABLE t (a INT UNIQUE ON CONFLICT ABORT)":                                                     nil,
	} {
		if got := conflictClauses(made); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", made, got, want)
		}
	}
}
