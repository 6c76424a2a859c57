package treeschema

import (
	"fmt"
	"strings"
)

// Severity says what a [Finding] endangers.
type Severity uint8

const (
	// Advice means that nothing is wrong or slow, and that the database could also notice what the
	// plugin prevents.
	Advice Severity = iota
	// Warning means that the tree stays right, but statements are slow, wait for each other without
	// need, or are refused although they could be done.
	Warning
	// Unsafe means that a tree can be broken, or nothing can be written at all.
	Unsafe
)

// String returns "advice", "warning" or "unsafe".
func (s Severity) String() string {
	switch s {
	case Unsafe:
		return "unsafe"
	case Warning:
		return "warning"
	default:
		return "advice"
	}
}

// Check names what was checked.
type Check string

// The checks.
const (
	// TableExists: the table and its columns are there.
	TableExists Check = "table"
	// PrimaryKey: the model's primary key is the table's.
	PrimaryKey Check = "primary key"
	// Siblings: a unique index keeps live siblings apart.
	Siblings Check = "siblings"
	// TopRows: a unique index keeps live rows without a parent apart, for which NULL is no value.
	TopRows Check = "top rows"
	// DeletedNames: softly deleted rows keep no name from the living.
	DeletedNames Check = "deleted names"
	// PathIndex: an index leads to the rows below a path.
	PathIndex Check = "path index"
	// Collation: names and paths are compared byte by byte.
	Collation Check = "collation"
	// Length: the columns hold what the model says.
	Length Check = "length"
	// Engine: the table has transactions and row locks.
	Engine Check = "engine"
	// ForeignKeys: no foreign key changes rows by itself.
	ForeignKeys Check = "foreign keys"
	// Triggers: no trigger writes to the tree.
	Triggers Check = "triggers"
	// Rules: no rule makes other writes of the plugin's.
	Rules Check = "rules"
	// RowSecurity: no policy hides a part of a tree.
	RowSecurity Check = "row security"
	// Inheritance: no other table has the same rows.
	Inheritance Check = "inheritance"
	// Conflicts: a write that meets another row fails, and fails as a whole.
	Conflicts Check = "conflicts"
	// Generated: the columns of the tree can be written.
	Generated Check = "generated columns"
	// Paths: a unique index keeps live rows with one path apart.
	Paths Check = "paths"
	// Version: the server is one that the plugin is made for.
	Version Check = "version"
	// Encoding: the database counts characters as the plugin does.
	Encoding Check = "encoding"
	// StrictMode: what does not fit into a column is refused, and not cut off.
	StrictMode Check = "strict mode"
	// Isolation: transactions see what the assertion needs to see.
	Isolation Check = "isolation"
	// Writers: the tree is written on one server only.
	Writers Check = "writers"
	// ReadOnly: the server takes writes.
	ReadOnly Check = "read only"
	// TransactionEnd: a transaction ends where the program ends it, and nowhere else.
	TransactionEnd Check = "end of transaction"
	// UniqueChecks: unique indexes are looked at on every write.
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
	// Table is the table's name, "" where the finding is about the server or the session.
	Table string
	// Missing says what is wrong or missing.
	Missing string
	// Why says in a line why it matters.
	Why string
	// Statements mend it, run in this order. There are none where SQL cannot mend it; Advice then
	// says what to do.
	Statements []string
	// Advice says what to do beside the statements, or in their place.
	Advice string

	// automatic is set where the statements only add to a table or make a column stricter, so that
	// they may be run unasked.
	automatic bool
}

// Automatic reports whether the statements are such as a migration may run unasked: they take
// nothing away.
func (f Finding) Automatic() bool { return f.automatic }

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
