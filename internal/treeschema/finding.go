package treeschema

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says what a [Finding] endangers.
type Severity uint8

const (
	// Warning means that statements are slow, wait for each other needlessly, or fail needlessly,
	// or that somebody has to look, as at a trigger.
	Warning Severity = iota
	// Unsafe means that a tree can break, or that nothing can be written.
	Unsafe
)

// String returns "warning" or "unsafe".
func (s Severity) String() string {
	if s == Unsafe {
		return "unsafe"
	}
	return "warning"
}

// Check names what was checked.
type Check string

// The checks.
const (
	// TableExists: the table and its columns are there.
	TableExists Check = "table"
	// PrimaryKey: the database keeps the model's keys apart.
	PrimaryKey Check = "primary key"
	// Siblings: a unique index keeps live siblings apart.
	Siblings Check = "siblings"
	// TopRows: a unique index keeps live rows without a parent apart, though NULL equals no NULL.
	TopRows Check = "top rows"
	// PathIndex: an index leads to the rows below a path.
	PathIndex Check = "path index"
	// Lookup: an index leads to the one live row that a request means.
	Lookup Check = "lookup"
	// Filled: the rows have values in the columns of the tree.
	Filled Check = "filled"
	// Type: what a column returns is what was written.
	Type Check = "type"
	// Collation: names, paths and keys are compared byte by byte.
	Collation Check = "collation"
	// Length: the columns hold what the model says.
	Length Check = "length"
	// Engine: the table has transactions and row locks.
	Engine Check = "engine"
	// ForeignKeys: no foreign key changes rows by itself.
	ForeignKeys Check = "foreign keys"
	// Triggers: there is none. Nobody knows what a trigger writes.
	Triggers Check = "triggers"
	// Rules: there is none that rewrites the plugin's writes.
	Rules Check = "rules"
	// Partitions: there is none that can be written by its own name.
	Partitions Check = "partitions"
	// RowSecurity: no row-level policy hides part of a tree.
	RowSecurity Check = "row security"
	// Inheritance: no other table shares the rows.
	Inheritance Check = "inheritance"
	// Conflicts: a write that meets another row fails, and fails as a whole.
	Conflicts Check = "conflicts"
	// Version: the plugin supports the server.
	Version Check = "version"
	// Encoding: the database counts characters as the plugin does.
	Encoding Check = "encoding"
	// StrictMode: the server refuses what does not fit into a column, and does not truncate it.
	StrictMode Check = "strict mode"
	// Isolation: transactions see the rows that the assertion reads.
	Isolation Check = "isolation"
	// Writers: the tree is written on one server only.
	Writers Check = "writers"
	// ReadOnly: the server takes writes.
	ReadOnly Check = "read only"
	// TransactionEnd: a transaction ends where the program ends it, and nowhere else.
	TransactionEnd Check = "end of transaction"
	// UniqueChecks: every write checks the unique indexes.
	UniqueChecks Check = "unique checks"
	// BusyTimeout: writers of an SQLite file wait for each other.
	BusyTimeout Check = "busy timeout"
	// Journal: readers and the writer of an SQLite file do not exclude each other.
	Journal Check = "journal"
)

// Finding is one thing that is wrong with a table or with the server.
type Finding struct {
	Severity Severity
	Check    Check
	// Table is the table's name, "" if the finding is about the server or the session.
	Table string
	// Missing says what is wrong or missing.
	Missing string
	// Why says in one line why it matters.
	Why string
	// Statements mend it, in this order. There are none if no plain statement can.
	Statements []string
	// Advice says what to do besides the statements, or instead of them.
	Advice string
}

// Adds reports whether the statements add an index that is needed, and change nothing that is
// there.
func (f Finding) Adds() bool {
	return len(f.Statements) > 0 && slices.Contains([]Check{Siblings, TopRows, PathIndex, Lookup}, f.Check)
}

// String is the finding on one line, the statements included.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", f.Severity)
	if f.Table != "" {
		fmt.Fprintf(&b, "%s: ", f.Table)
	}
	fmt.Fprintf(&b, "%s: %s", f.Missing, f.Why)
	if len(f.Statements) > 0 {
		fmt.Fprintf(&b, ": run %s;", strings.Join(f.Statements, "; "))
	}
	if f.Advice != "" {
		fmt.Fprintf(&b, ": %s", f.Advice)
	}
	return b.String()
}
