package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// server checks the server's version and the session's settings.
func (m mysql) server(ctx context.Context, conn Conn) ([]Finding, error) {
	records, err := askFile(ctx, conn, "mysql_settings.sql")
	if err != nil {
		return nil, err
	}
	settings := records[0]
	var findings []Finding
	if f, ok := m.version(settings["version"]); !ok {
		findings = append(findings, f)
	}
	findings = append(findings, mysqlMode(settings)...)
	variables, err := m.variables(ctx, conn)
	if err != nil {
		return nil, err
	}
	findings = append(findings, mysqlIsolation(variables)...)
	findings = append(findings, mysqlWriters(variables)...)
	return append(findings, mysqlSession(variables)...), nil
}

// variables returns the settings that matter, by name, as far as the server knows them.
func (mysql) variables(ctx context.Context, conn Conn) (map[string]string, error) {
	records, err := askFile(ctx, conn, "mysql_variables.sql")
	if err != nil {
		return nil, err
	}
	variables := make(map[string]string)
	for _, r := range records {
		variables[strings.ToLower(r["variable_name"])] = r["value"]
	}
	return variables, nil
}

// isStrict reports whether an SQL mode refuses what does not fit into a column.
func isStrict(mode string) bool {
	return slices.ContainsFunc(strings.Split(mode, ","), func(m string) bool {
		return m == "STRICT_TRANS_TABLES" || m == "STRICT_ALL_TABLES"
	})
}

// mysqlMode checks the SQL mode.
func mysqlMode(settings record) []Finding {
	var findings []Finding
	if !isStrict(settings["sql_mode"]) {
		f := Finding{
			Severity: Unsafe, Check: StrictMode, Missing: fmt.Sprintf("sql_mode is %q, which is not strict", settings["sql_mode"]),
			Why:    "the server silently truncates a name or path that does not fit into its column",
			Advice: "add sql_mode=%27STRICT_TRANS_TABLES%2CNO_ENGINE_SUBSTITUTION%27 to the DSN",
		}
		if !isStrict(settings["server_mode"]) {
			f.Advice += "; or, for all programs that use the server, SET GLOBAL sql_mode = CONCAT_WS(',', 'STRICT_TRANS_TABLES', NULLIF(@@GLOBAL.sql_mode, '')), and reconnect"
		}
		findings = append(findings, f)
	}
	if slices.Contains(strings.Split(settings["sql_mode"], ","), "EMPTY_STRING_IS_NULL") {
		findings = append(findings, Finding{
			Severity: Unsafe, Check: StrictMode, Missing: "sql_mode has EMPTY_STRING_IS_NULL", Why: "the path of a root row, which is empty, becomes NULL",
			Advice: "take it out of sql_mode in the DSN, or of the server's",
		})
	}
	return findings
}

// mysqlIsolation checks the default isolation level.
func mysqlIsolation(variables map[string]string) []Finding {
	// MariaDB before 11.1 calls it tx_isolation.
	for _, variable := range []string{"transaction_isolation", "tx_isolation"} {
		if variables[variable] != "READ-UNCOMMITTED" {
			continue
		}
		return []Finding{{
			Severity: Warning, Check: Isolation, Missing: "the isolation level is READ UNCOMMITTED",
			Why:    "statements are planned on rows that may never be committed, and then fail",
			Advice: "add " + variable + "=%27READ-COMMITTED%27 to the DSN; or, for all programs that use the server, SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED, and reconnect",
		}}
	}
	return nil
}

// mysqlWriters looks for other servers that write the same tables: a row lock holds on one server
// only.
func mysqlWriters(variables map[string]string) []Finding {
	var findings []Finding
	// A provider that is not loaded replicates nothing.
	if isOn(variables["wsrep_on"]) && variables["wsrep_provider"] != "none" && variables["wsrep_provider"] != "" {
		findings = append(findings, severalWriters("the server is a node of the Galera cluster "+variables["wsrep_cluster_name"],
			"send all writes to one node, by a proxy that has one writer, and SET GLOBAL read_only = ON on the others; wsrep_sync_wait is not enough"))
	}
	if mode, ok := variables["group_replication_single_primary_mode"]; ok && !isOn(mode) {
		findings = append(findings, severalWriters("group replication is in multi-primary mode",
			"run SELECT group_replication_switch_to_single_primary_mode(), and send all writes to the primary"))
	}
	readOnly := func(name string) bool {
		// MariaDB 12 has more values than ON.
		return variables[name] != "" && variables[name] != "0" && !strings.EqualFold(variables[name], "OFF")
	}
	if readOnly("read_only") || readOnly("super_read_only") || readOnly("innodb_read_only") {
		findings = append(findings, Finding{
			Severity: Unsafe, Check: ReadOnly, Missing: "the server is read only", Why: "it is a replica: writes fail here, or another server writes, too",
			Advice: "connect to the primary",
		})
	}
	return findings
}

// severalWriters is the finding that other servers may write the tree.
func severalWriters(missing, advice string) Finding {
	return Finding{
		Severity: Unsafe, Check: Writers, Missing: missing, Why: "row locks hold on one server only, so two servers can each commit half of a cycle",
		Advice: advice + "; then say so by gormplugin.OneWriter()",
	}
}

// mysqlSession looks for settings that keep a transaction from ending where the program ends it, or
// a unique index from being checked.
func mysqlSession(variables map[string]string) []Finding {
	var findings []Finding
	for _, s := range []struct {
		name, state, why string
		check            Check
		sound            func(string) bool
	}{
		{
			"completion_type", variables["completion_type"], "a COMMIT begins another transaction, which nobody commits", TransactionEnd,
			func(value string) bool { return value == "NO_CHAIN" || value == "0" },
		},
		{"autocommit", "off", "writes outside of a transaction are never committed, and keep their row locks", TransactionEnd, isOn},
		{"unique_checks", "off", "InnoDB may skip the check whether a name is taken", UniqueChecks, isOn},
	} {
		if value, ok := variables[s.name]; ok && !s.sound(value) {
			findings = append(findings, Finding{
				Severity: Unsafe, Check: s.check, Missing: s.name + " is " + s.state, Why: s.why,
				Advice: "take " + s.name + " out of the DSN, or of the server's options",
			})
		}
	}
	return findings
}

// isOn reports whether a setting is switched on.
func isOn(value string) bool {
	return strings.EqualFold(value, "ON") || value == "1" || strings.EqualFold(value, "YES")
}

// version checks the server's version.
func (mysql) version(text string) (Finding, bool) {
	// 8.0.17 brought utf8mb4_0900_bin.
	product, least := "MySQL", []int{8, 0, 17}
	if strings.Contains(text, "MariaDB") {
		product, least = "MariaDB", []int{10, 6}
	}
	return tooOld(product, text, least)
}
