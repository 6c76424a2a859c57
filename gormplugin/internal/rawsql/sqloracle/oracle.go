package sqloracle

import (
	"embed"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// Guarded is the table that no statement may write unseen.
const Guarded = "suites"

//go:embed testdata/*.sql
var testdata embed.FS

// Verdict is what an oracle says of a piece of SQL.
type Verdict struct {
	// Valid is set where it is SQL at all.
	Valid bool
	// Writes is set where it writes the guarded table, and Reads where it writes nothing.
	Writes, Reads bool
}

// Oracle knows what SQL means.
type Oracle interface {
	Ask(sql string) Verdict
	Names() *rawsql.Names
}

// overlooked reports whether SQL writes the guarded table and is not refused, by the way that the
// plugin takes.
func overlooked(o Oracle, sql string) bool { return o.Ask(sql).Writes && !Refused(o.Names(), sql) }

// Refused reports whether the tripwire refuses SQL.
func Refused(names *rawsql.Names, sql string) bool {
	_, found := names.FindWrite(sql)
	return found
}

// Corpus returns the statements that all dialects have, and those of one.
func Corpus(tb testing.TB, dialect string) []string {
	tb.Helper()
	return append(CorpusOf(tb, "everywhere"), CorpusOf(tb, dialect)...)
}

// CorpusOf returns the statements of a file of testdata, each on a line, those that need it as a Go
// string.
func CorpusOf(tb testing.TB, name string) []string {
	tb.Helper()
	content, err := testdata.ReadFile("testdata/" + name + ".sql")
	if err != nil {
		tb.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if text, err := strconv.Unquote(line); err == nil && strings.HasPrefix(line, `"`) {
			line = text
		}
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}

// Check compares the rules with the oracle on every statement of the corpus, and on every pair of
// them in one text.
func Check(t *testing.T, o Oracle, dialect string) {
	t.Helper()
	statements := Corpus(t, dialect)
	writes, reads := 0, 0
	for _, sql := range statements {
		v := o.Ask(sql)
		switch no := Refused(o.Names(), sql); {
		case v.Writes && !no:
			t.Errorf("%s: %q writes the table, and passes", dialect, sql)
		case v.Valid && v.Reads && no && !falseAlarms[dialect][sql]:
			t.Errorf("%s: %q only reads, and is refused", dialect, sql)
		case v.Writes:
			writes++
		case v.Valid && v.Reads:
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

// SearchVariable is the environment variable that says how many changed statements [Search] tries.
const SearchVariable = "PATHLOCK_TEST_EDITS"

// Search is [Fuzz] without a fuzzer: it tries statements that are changed at random, the same ones
// at every run.
func Search(t *testing.T, o Oracle, dialect string) {
	t.Helper()
	tries := 3000
	if text := os.Getenv(SearchVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", SearchVariable, err)
		}
		tries = n
	}
	statements := Corpus(t, dialect)
	random := rand.New(rand.NewPCG(1, uint64(tries)))
	valid, writes := 0, 0
	for range tries {
		edits := make([]byte, 3*(1+random.IntN(4)))
		for i := range edits {
			edits[i] = byte(random.Uint32())
		}
		sql := edited(statements, random.IntN(len(statements)), edits)
		v := o.Ask(sql)
		if v.Valid {
			valid++
		}
		if v.Writes {
			writes++
			if !Refused(o.Names(), sql) {
				t.Errorf("%q writes the table, and passes", sql)
			}
		}
	}
	t.Logf("of %d texts, %d are SQL, and %d write the table", tries, valid, writes)
	if tries >= 1000 && writes < tries/100 {
		t.Errorf("only %d of %d texts write the table", writes, tries)
	}
}

// Fuzz looks for SQL that the oracle says writes the guarded table, and that passes. A text is one
// of the corpus, changed by edits.
func Fuzz(f *testing.F, newOracle func(testing.TB) Oracle, dialect string) {
	statements := Corpus(f, dialect)
	for i := range statements {
		f.Add(uint16(i), []byte(nil))
		f.Add(uint16(i), []byte{3, byte(i), byte(i >> 2), 4, byte(i), 7})
	}
	o := newOracle(f)
	o.Ask("SELECT 1") // a parser may take long to start, and an input may not
	f.Fuzz(func(t *testing.T, seed uint16, edits []byte) {
		sql := edited(statements, int(seed), edits)
		if overlooked(o, sql) {
			t.Errorf("%q writes the table, and passes", sql)
		}
		if no, v := Refused(o.Names(), sql), o.Ask(sql); no && v.Valid && v.Reads && len(edits) == 0 && !falseAlarms[dialect][sql] {
			t.Errorf("%q only reads, and is refused", sql)
		}
	})
}
