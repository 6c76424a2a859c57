package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// server checks the server's version and the session's settings.
func (postgres) server(ctx context.Context, conn Conn) ([]Finding, error) {
	records, err := askFile(ctx, conn, "postgres_settings.sql")
	if err != nil {
		return nil, err
	}
	settings := records[0]
	var findings []Finding
	if f, ok := tooOld("PostgreSQL", settings["version"], []int{13}); !ok {
		findings = append(findings, f)
	}
	if settings["encoding"] != "UTF8" {
		findings = append(findings, Finding{
			Severity: Unsafe, Check: Encoding, Missing: fmt.Sprintf("the database's encoding is %s", settings["encoding"]),
			Why: "it cannot hold every name, or counts bytes where the plugin counts characters", Advice: "recreate the database with ENCODING 'UTF8'",
		})
	}
	if settings["isolation"] == "repeatable read" {
		findings = append(findings, postgresIsolation(settings))
	}
	return append(findings, postgresWriters(settings)...), nil
}

// postgresLikes are servers that answer like PostgreSQL, but lock differently.
var postgresLikes = []string{"CockroachDB", "YugabyteDB", "-YB-", "Greenplum", "Redshift", "OpenGauss", "openGauss"}

// postgresMasters are extensions that let several servers write the same tables.
var postgresMasters = []string{"bdr", "spock", "pgactive", "pglogical"}

// postgresWriters looks for servers that lock differently, for several servers that write the same
// tables, and for a server that takes no writes.
func postgresWriters(settings record) []Finding {
	var findings []Finding
	for _, like := range postgresLikes {
		if strings.Contains(settings["full_version"], like) {
			findings = append(findings, Finding{
				Severity: Unsafe, Check: Version, Missing: "the server is " + strings.Trim(like, "-"), Why: "its row locks differ from those that the plugin relies on",
				Advice: "use PostgreSQL 13 or later",
			})
		}
	}
	for extension := range strings.SplitSeq(settings["extensions"], ",") {
		if !slices.Contains(postgresMasters, extension) {
			continue
		}
		findings = append(findings, severalWriters("the extension "+extension+" replicates between servers that can each write", "send all writes to one server"))
	}
	if settings["in_recovery"] == "true" || settings["read_only"] == "on" {
		findings = append(findings, Finding{
			Severity: Unsafe, Check: ReadOnly, Missing: "transactions are read only", Why: "nothing can be written", Advice: "connect to the primary, and leave default_transaction_read_only off",
		})
	}
	return findings
}

// postgresIsolation says where REPEATABLE READ was made the default level.
func postgresIsolation(settings record) Finding {
	f := Finding{
		Severity: Unsafe, Check: Isolation, Missing: "transactions are REPEATABLE READ",
		Why:    "an UPDATE of a subtree would miss the rows that are newer than its snapshot, so the plugin refuses to write",
		Advice: "add default_transaction_isolation=read%20committed to the DSN; or let the statement set it for all programs that connect that way, and reconnect",
	}
	const set = " SET default_transaction_isolation = 'read committed'"
	switch settings["source"] {
	case "client", "session":
		f.Advice = "take default_transaction_isolation out of the DSN, or set it to read committed or serializable"
	case "user":
		f.Statements = []string{"ALTER ROLE " + settings["role_name"] + set}
	case "database user":
		f.Statements = []string{"ALTER ROLE " + settings["role_name"] + " IN DATABASE " + settings["database_name"] + set}
	default:
		f.Statements = []string{"ALTER DATABASE " + settings["database_name"] + set}
	}
	return f
}
