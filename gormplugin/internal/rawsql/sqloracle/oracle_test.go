package sqloracle

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// guarded is the table that no statement may write unseen.
const guarded = "suites"

// verdict is what an oracle says of a piece of SQL.
type verdict struct {
	// valid is set where it is SQL at all.
	valid bool
	// writes is set where it writes the guarded table, and reads where it writes nothing.
	writes, reads bool
}

// oracle knows what SQL means.
type oracle interface {
	ask(sql string) verdict
	names() *rawsql.Names
}

// overlooked reports whether SQL writes the guarded table and is not refused, by the way that the plugin takes.
func overlooked(o oracle, sql string) bool { return o.ask(sql).writes && !refused(o.names(), sql) }

// refused reports whether the tripwire refuses SQL.
func refused(names *rawsql.Names, sql string) bool {
	if names.Grammar().IsPlainRead(sql) || !names.MayMention(sql) {
		return false
	}
	_, found := names.FindWrite(sql)
	return found
}

// corpus returns the statements of a file of testdata, each on a line, those that need it as a Go string.
func corpus(tb testing.TB, dialect string) []string {
	tb.Helper()
	var all []string
	for _, name := range []string{"everywhere", dialect} {
		file, err := os.Open("testdata/" + name + ".sql")
		if err != nil {
			tb.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			line := lines.Text()
			if text, err := strconv.Unquote(line); err == nil && strings.HasPrefix(line, `"`) {
				line = text
			}
			if line != "" {
				all = append(all, line)
			}
		}
		if err := lines.Err(); err != nil {
			tb.Fatal(err)
		}
		if err := file.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// checkCorpus compares the rules with the oracle on every statement of the corpus, and on every pair of them in one text.
func checkCorpus(t *testing.T, o oracle, dialect string) {
	t.Helper()
	statements := corpus(t, dialect)
	writes, reads := 0, 0
	for _, sql := range statements {
		v := o.ask(sql)
		switch no := refused(o.names(), sql); {
		case v.writes && !no:
			t.Errorf("%s: %q writes the table, and passes", dialect, sql)
		case v.valid && v.reads && no && !falseAlarms[dialect][sql]:
			t.Errorf("%s: %q only reads, and is refused", dialect, sql)
		case v.writes:
			writes++
		case v.valid && v.reads:
			reads++
		}
		for _, before := range []string{"SELECT 1;", "/* ; */;", "-- x\n"} {
			if overlooked(o, before+sql) {
				t.Errorf("%s: %q writes the table, and passes", dialect, before+sql)
			}
		}
	}
	t.Logf("%d statements, of which %d write the table and %d only read", len(statements), writes, reads)
	if writes < 10 || reads < 10 {
		t.Errorf("the oracle knows only %d writes and %d reads", writes, reads)
	}
}

// falseAlarms are statements which only read and are refused nevertheless, by dialect.
var falseAlarms = map[string]map[string]bool{
	"mysql": {
		// Written if sql_mode has NO_BACKSLASH_ESCAPES, or ANSI_QUOTES.
		`SELECT 'a\'; DELETE FROM suites; -- '`:         true,
		`SELECT 'a\'b', "a\"; DELETE FROM suites; -- "`: true,
		// Written on MariaDB.
		"/*M!100100 DELETE FROM suites */": true,
	},
}

// fuzz looks for SQL that the oracle says writes the guarded table, and that passes. A text is one of the corpus, changed by
// edits.
func fuzz(f *testing.F, newOracle func(*testing.T) oracle, dialect string) {
	statements := corpus(f, dialect)
	for i := range statements {
		f.Add(uint16(i), []byte(nil))
		f.Add(uint16(i), []byte{3, byte(i), byte(i >> 2), 4, byte(i), 7})
	}
	var o oracle
	f.Fuzz(func(t *testing.T, seed uint16, edits []byte) {
		if o == nil {
			// It outlives the first call.
			o = newOracle(new(testing.T))
		}
		sql := edited(statements, int(seed), edits)
		if overlooked(o, sql) {
			t.Errorf("%q writes the table, and passes", sql)
		}
		if no, v := refused(o.names(), sql), o.ask(sql); no && v.valid && v.reads && len(edits) == 0 && !falseAlarms[dialect][sql] {
			t.Errorf("%q only reads, and is refused", sql)
		}
	})
}
