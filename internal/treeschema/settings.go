package treeschema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// setting is a setting of the server or the session, and what is found where its value is wrong.
// Missing takes the value in the place of %s.
type setting struct {
	name  string
	wrong func(value string) bool
	Finding
}

// judge returns what is wrong with the settings, a record for each. A server without a setting has
// nothing wrong with it.
func judge(d *dialect.Dialect, records []record) []Finding {
	values := make(map[string]string)
	for _, r := range records {
		name := r["name"] + r["variable_name"]
		values[strings.ToLower(name)] = r["value"]
	}
	var findings []Finding
	for _, s := range settingsOf(d) {
		if value, ok := values[s.name]; ok && s.wrong(value) {
			if strings.Contains(s.Missing, "%s") {
				s.Missing = fmt.Sprintf(s.Missing, value)
			}
			findings = append(findings, s.Finding)
		}
	}
	return findings
}

// settingsOf are the settings of a dialect that matter.
func settingsOf(d *dialect.Dialect) []setting {
	readOnly := Finding{
		Severity: Unsafe, Check: ReadOnly, Missing: "the server is read only", Why: "it is a replica: writes fail here, or another server writes, too", Advice: "connect to the primary",
	}
	switch d {
	case dialect.MySQL:
		return append(mysqlSettings(),
			setting{"read_only", isOn, readOnly}, setting{"innodb_read_only", isOn, readOnly})
	case dialect.PostgreSQL:
		return append(postgresSettings(),
			setting{"in_recovery", func(v string) bool { return v == "true" }, readOnly})
	default:
		return sqliteSettings()
	}
}

// isOn reports whether a switch is on. MariaDB 12 has more values of read_only than ON.
func isOn(value string) bool { return value != "0" && !strings.EqualFold(value, "OFF") }

// below reports whether a version is older than another.
func below(least ...int) func(string) bool {
	return func(version string) bool {
		var have []int
		for digits := range strings.SplitSeq(regexp.MustCompile(`\d+(?:\.\d+)*`).FindString(version), ".") {
			n, _ := strconv.Atoi(digits)
			have = append(have, n)
		}
		return slices.Compare(have, least) < 0
	}
}

// several is the finding that other servers may write the tree.
func several(missing, advice string) Finding {
	return Finding{
		Severity: Unsafe, Check: Writers, Missing: missing, Why: "row locks hold on one server only, so two servers can each commit half of a cycle",
		Advice: advice + "; then say so by gormplugin.OneWriter()",
	}
}

// version is the finding that a server is too old.
func version(product, least string) Finding {
	return Finding{
		Severity: Unsafe, Check: Version, Missing: "the server is " + product + " %s",
		Why: "the plugin's statements are neither written for it nor tested on it", Advice: "use " + product + " " + least + " or later",
	}
}

// mysqlSettings are those of MySQL and MariaDB.
func mysqlSettings() []setting {
	isMariaDB := func(v string) bool { return strings.Contains(v, "MariaDB") }
	lax := func(mode string) bool {
		modes := strings.Split(mode, ",")
		return !slices.Contains(modes, "STRICT_TRANS_TABLES") && !slices.Contains(modes, "STRICT_ALL_TABLES")
	}
	session := func(check Check, missing, why, name string) Finding {
		return Finding{Severity: Unsafe, Check: check, Missing: missing, Why: why, Advice: "take " + name + " out of the DSN, or of the server's options"}
	}
	isOff := func(v string) bool { return !isOn(v) }
	return []setting{
		// 8.0.17 brought utf8mb4_0900_bin.
		{"version", func(v string) bool { return !isMariaDB(v) && below(8, 0, 17)(v) }, version("MySQL", "8.0.17")},
		{"version", func(v string) bool { return isMariaDB(v) && below(10, 6)(v) }, version("MariaDB", "10.6")},
		{"sql_mode", lax, Finding{
			Severity: Unsafe, Check: StrictMode, Missing: "sql_mode is %s, which is not strict", Why: "the server silently truncates a name or path that does not fit into its column",
			Advice: "add sql_mode=%27STRICT_TRANS_TABLES%2CNO_ENGINE_SUBSTITUTION%27 to the DSN",
		}},
		{"sql_mode", func(v string) bool { return strings.Contains(v, "EMPTY_STRING_IS_NULL") }, Finding{
			Severity: Unsafe, Check: StrictMode, Missing: "sql_mode has EMPTY_STRING_IS_NULL", Why: "the path of a root row, which is empty, becomes NULL", Advice: "take it out of sql_mode in the DSN, or of the server's",
		}},
		{"wsrep_provider", func(v string) bool { return v != "" && v != "none" }, several("the server is a node of a Galera cluster",
			"send all writes to one node, by a proxy that has one writer, and SET GLOBAL read_only = ON on the others; wsrep_sync_wait is not enough")},
		{"group_replication_single_primary_mode", isOff, several("group replication is in multi-primary mode",
			"run SELECT group_replication_switch_to_single_primary_mode(), and send all writes to the primary")},
		{"completion_type", func(v string) bool { return v != "NO_CHAIN" && v != "0" },
			session(TransactionEnd, "completion_type is %s", "a COMMIT begins another transaction, which nobody commits", "completion_type")},
		{"autocommit", isOff, session(TransactionEnd, "autocommit is off", "writes outside of a transaction are never committed, and keep their row locks", "autocommit")},
		{"unique_checks", isOff, session(UniqueChecks, "unique_checks is off", "InnoDB may skip the check whether a name is taken", "unique_checks")},
	}
}

// postgresSettings are those of PostgreSQL.
func postgresSettings() []setting {
	return []setting{
		{"server_version", below(13), version("PostgreSQL", "13")},
		{"server_encoding", func(v string) bool { return v != "UTF8" }, Finding{
			Severity: Unsafe, Check: Encoding, Missing: "the database's encoding is %s", Why: "it cannot hold every name, or counts bytes where the plugin counts characters",
			Advice: "recreate the database with ENCODING 'UTF8'",
		}},
		{"default_transaction_isolation", func(v string) bool { return v == "repeatable read" }, Finding{
			Severity: Unsafe, Check: Isolation, Missing: "transactions are REPEATABLE READ",
			Why:    "an UPDATE of a subtree would miss the rows that are newer than its snapshot, so the plugin refuses to write",
			Advice: "set default_transaction_isolation to read committed or serializable: in the DSN, or where it was set for the role or the database",
		}},
		// Extensions by which several servers write the same tables.
		{"extensions", func(v string) bool { return v != "" }, several("the extension %s replicates between servers that can each write", "send all writes to one server")},
		{"default_transaction_read_only", isOn, Finding{
			Severity: Unsafe, Check: ReadOnly, Missing: "transactions are read only", Why: "nothing can be written", Advice: "leave default_transaction_read_only off",
		}},
	}
}

// sqliteSettings are those of SQLite.
func sqliteSettings() []setting {
	wal := []string{"PRAGMA journal_mode = WAL"}
	is := func(value string) func(string) bool { return func(v string) bool { return v == value } }
	return []setting{
		// GORM learns the keys of new rows by RETURNING, which came with 3.35.
		{"version", below(3, 35), version("SQLite", "3.35")},
		{"busy_timeout", is("0"), Finding{
			Severity: Warning, Check: BusyTimeout, Missing: "busy_timeout is 0", Why: "a writer that meets another one fails at once instead of waiting",
			Advice: "add _pragma=busy_timeout(10000) to the DSN, and _txlock=immediate",
		}},
		{"query_only", is("1"), Finding{Severity: Unsafe, Check: ReadOnly, Missing: "query_only is on", Why: "nothing can be written", Advice: "take query_only out of the DSN"}},
		{"journal_mode", is("off"), Finding{
			Severity: Unsafe, Check: Journal, Missing: "journal_mode is off", Why: "nothing can be rolled back", Statements: wal, Advice: "take journal_mode out of the DSN",
		}},
		// A database in memory cannot have a write-ahead log.
		{"journal_mode", func(v string) bool { return !slices.Contains([]string{"wal", "memory", "off"}, v) }, Finding{
			Severity: Warning, Check: Journal, Missing: "journal_mode is %s", Why: "readers and the writer keep each other waiting", Statements: wal,
		}},
	}
}
