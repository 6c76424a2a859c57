package treeschema

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// setting is a setting of the server or the session, and the finding if its value is wrong. The
// value replaces %s in Missing.
type setting struct {
	name  string
	wrong func(value string) bool
	Finding
}

// Settings returns those settings of the server and the session that matter, by name in lower case.
func Settings(ctx context.Context, conn Conn, d *dialect.Dialect) (map[string]string, error) {
	records, err := ask(ctx, conn, string(d.Name)+"_settings.sql")
	values := make(map[string]string)
	for _, r := range records {
		values[strings.ToLower(r["name"]+r["variable_name"])] = r["value"]
	}
	return values, err
}

// judge returns what is wrong with the settings. A server without a setting has nothing wrong with
// it.
func judge(d *dialect.Dialect, values map[string]string) []Finding {
	var findings []Finding
	for _, s := range settings[d] {
		if value, ok := values[s.name]; ok && s.wrong(value) {
			s.Missing = strings.ReplaceAll(s.Missing, "%s", value)
			findings = append(findings, s.Finding)
		}
	}
	return findings
}

// is reports whether a value is a given one, and isOn and isOff whether a switch is on. MariaDB 12
// has more values of read_only than ON.
func is(what string) func(string) bool { return func(value string) bool { return value == what } }
func isOn(value string) bool           { return value != "0" && !strings.EqualFold(value, "OFF") }
func isOff(value string) bool          { return !isOn(value) }

// isNone reports whether a value is not among the given ones.
func isNone(of ...string) func(string) bool {
	return func(value string) bool { return !slices.Contains(of, value) }
}

// below reports whether a version is older than another, and of MariaDB or not.
func below(isMariaDB bool, least ...int) func(string) bool {
	return func(version string) bool {
		var have []int
		for digits := range strings.SplitSeq(regexp.MustCompile(`\d+(?:\.\d+)*`).FindString(version), ".") {
			n, _ := strconv.Atoi(digits)
			have = append(have, n)
		}
		return strings.Contains(version, "MariaDB") == isMariaDB && slices.Compare(have, least) < 0
	}
}

// isLax reports whether an sql_mode is not strict.
func isLax(mode string) bool {
	return !strings.Contains(mode, "STRICT_TRANS_TABLES") && !strings.Contains(mode, "STRICT_ALL_TABLES")
}

// unsafe is a finding about a setting.
func unsafe(check Check, missing, why, advice string) Finding {
	return Finding{Severity: Unsafe, Check: check, Missing: missing, Why: why, Advice: advice}
}

// tooOld is the finding that a server is too old, and several that other servers may write the
// tree.
func tooOld(product, least string) Finding {
	return unsafe(Version, "the server is "+product+" %s", "the plugin's statements are neither written for it nor tested on it", "use "+product+" "+least+" or later")
}

func several(missing, advice string) Finding {
	return unsafe(Writers, missing, "row locks hold on one server only, so two servers can each commit half of a cycle", advice+"; then say so by gormplugin.OneWriter()")
}

// Texts for several settings.
var (
	replica  = unsafe(ReadOnly, "the server is read only", "it is a replica: writes fail here, or another server writes, too", "connect to the primary")
	takeOut  = "take it out of the DSN, or of the server's options"
	noWrites = "nothing can be written"
	wal      = []string{"PRAGMA journal_mode = WAL"}
)

// settings are those that matter, by dialect.
var settings = map[*dialect.Dialect][]setting{
	dialect.MySQL: {
		// 8.0.17 brought utf8mb4_0900_bin.
		{"version", below(false, 8, 0, 17), tooOld("MySQL", "8.0.17")},
		{"version", below(true, 10, 6), tooOld("MariaDB", "10.6")},
		{"sql_mode", isLax, unsafe(StrictMode, "sql_mode is %s, which is not strict", "the server silently truncates a name or path that does not fit into its column",
			"add sql_mode=%27STRICT_TRANS_TABLES%2CNO_ENGINE_SUBSTITUTION%27 to the DSN")},
		{"sql_mode", func(v string) bool { return strings.Contains(v, "EMPTY_STRING_IS_NULL") }, unsafe(StrictMode, "sql_mode has EMPTY_STRING_IS_NULL",
			"the path of a root row, which is empty, becomes NULL", "take it out of sql_mode in the DSN, or of the server's")},
		{"character_set_client", isNone("utf8mb4", "utf8mb3", "utf8"), unsafe(Encoding, "the session's character set is %s", "the server mistakes one character for several, so a rename may miss the rows below",
			"set charset=utf8mb4 in the DSN, and convert the texts that were written without it")},
		{"wsrep_provider", isNone("", "none"), several("the server is a node of a Galera cluster",
			"send all writes to one node, by a proxy that has one writer, and SET GLOBAL read_only = ON on the others; wsrep_sync_wait is not enough")},
		{"group_replication_single_primary_mode", isOff, several("group replication is in multi-primary mode",
			"run SELECT group_replication_switch_to_single_primary_mode(), and send all writes to the primary")},
		{"completion_type", isNone("NO_CHAIN", "0"), unsafe(TransactionEnd, "completion_type is %s", "a COMMIT begins another transaction, which nobody commits", takeOut)},
		{"autocommit", isOff, unsafe(TransactionEnd, "autocommit is off", "writes outside of a transaction are never committed, and keep their row locks", takeOut)},
		{"unique_checks", isOff, unsafe(UniqueChecks, "unique_checks is off", "InnoDB may skip the check whether a name is taken", takeOut)},
		{"read_only", isOn, replica},
		{"innodb_read_only", isOn, replica},
	},
	dialect.PostgreSQL: {
		{"server_version", below(false, 13), tooOld("PostgreSQL", "13")},
		{"server_encoding", isNone("UTF8"), unsafe(Encoding, "the database's encoding is %s", "it cannot hold every name, or counts bytes where the plugin counts characters",
			"recreate the database with ENCODING 'UTF8'")},
		{"default_transaction_isolation", is("repeatable read"), unsafe(Isolation, "transactions are REPEATABLE READ",
			"an UPDATE of a subtree would miss the rows that are newer than its snapshot, so the plugin refuses to write",
			"set default_transaction_isolation to read committed or serializable: in the DSN, or where it was set for the role or the database")},
		// Extensions by which several servers write the same tables.
		{"extensions", isNone(""), several("the extension %s replicates between servers that can each write", "send all writes to one server")},
		{"default_transaction_read_only", isOn, unsafe(ReadOnly, "transactions are read only", noWrites, "leave default_transaction_read_only off")},
		{"in_recovery", is("true"), replica},
	},
	dialect.SQLite: {
		// GORM learns the keys of new rows by RETURNING, which came with 3.35.
		{"version", below(false, 3, 35), tooOld("SQLite", "3.35")},
		{"busy_timeout", is("0"), Finding{
			Check: BusyTimeout, Missing: "busy_timeout is 0", Why: "a writer that meets another one fails at once instead of waiting", Advice: "add _pragma=busy_timeout(10000) to the DSN, and _txlock=immediate",
		}},
		{"query_only", is("1"), unsafe(ReadOnly, "query_only is on", noWrites, "take query_only out of the DSN")},
		{"journal_mode", is("off"), Finding{
			Severity: Unsafe, Check: Journal, Missing: "journal_mode is off", Why: "nothing can be rolled back", Statements: wal, Advice: "take journal_mode out of the DSN",
		}},
		// A database in memory cannot have a write-ahead log.
		{"journal_mode", isNone("wal", "memory", "off"), Finding{Check: Journal, Missing: "journal_mode is %s", Why: "readers and the writer keep each other waiting", Statements: wal}},
	},
}
