package adopt

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Names that hint at deletion marks, words in columns of states that are one, and columns that may
// be one to those who know the program.
var (
	markHint   = regexp.MustCompile(`(?i)^(is_?)?(deleted?|del|removed|trashed|discarded|recycled)(_?(at|on|time|date|flag|mark|ts))?$|^in_?(trash|recycle_?bin)$`)
	wordMark   = regexp.MustCompile(`(?i)^(deleted|archived|trashed|removed)$`)
	stateHint  = regexp.MustCompile(`(?i)(^|_)(status|state)$|^(is_?)?archived$`)
	binHint    = regexp.MustCompile(`(?i)\b(recycle|recycled|trash|bin)\b`)
	activeHint = regexp.MustCompile(`(?i)^(is_?)?(active|valid)(_?flag)?$`)
)

// mostStates is the most values that a column of states may have.
const mostStates = 8

// answers pairs each text that denies a mark with the one that affirms it.
var answers = map[string]string{"n": "y", "N": "Y", "no": "yes", "No": "Yes", "NO": "YES", "f": "t", "F": "T", "false": "true", "False": "True", "FALSE": "TRUE"}

// mark returns the column that marks rows as deleted, and its value in these if it is no plain
// mark: what somebody has stated, or what names and rows say. A time beside a flag only says when
// that was set.
func (t *table) mark() (column, when string) {
	if t.stated.Deleted != nil {
		return *t.stated.Deleted, t.stated.DeletedWhen
	}
	for _, kinds := range [][]dialect.ColumnKind{{dialect.Number, dialect.Bool, dialect.Bits, dialect.Text}, {dialect.Time}} {
		for _, name := range t.order {
			if !slices.Contains(kinds, t.kind(name)) || !markHint.MatchString(name) {
				continue
			}
			if when, is := t.markedBy(name); is {
				return name, when
			}
		}
	}
	for _, name := range t.texts() {
		if i := slices.IndexFunc(t.cells[name], func(c cell) bool { return wordMark.MatchString(c.String) }); i >= 0 && strings.Contains(strings.ToLower(name), "stat") {
			return name, t.cells[name][i].String
		}
	}
	return "", ""
}

// markedBy returns the value by which a column with the name of a mark marks rows as deleted, ""
// for any but zero. It is no mark if no row is live by it.
func (t *table) markedBy(name string) (when string, is bool) {
	if t.rows > 0 && t.cells[name] == nil {
		return "", false // it cannot be read
	}
	for _, c := range t.cells[name] {
		switch yes := answers[c.String]; {
		case t.kind(name) != dialect.Text:
		case wordMark.MatchString(c.String):
			return c.String, true
		case yes != "":
			return yes, true
		}
	}
	return "", t.hasLive(name)
}

// hasLive reports whether a row is live by a plain mark. All times may mark deleted rows.
func (t *table) hasLive(name string) bool {
	plain := shape{Table: treetable.Table{Deleted: name}, of: t}
	for range plain.live() {
		return true
	}
	return t.rows == 0 || plain.isTimestamp() && (t.kind(name) != dialect.Time || bool(t.columns[name].Nullable))
}

// checkRowsBelow drops a mark if more live rows than marked ones are below marked rows, as in a
// thread that shows the answers to a deleted comment, or if marked rows are below a live one that
// one of its texts calls a bin: a move has put them there. These are part of the tree. A time stays
// a mark with live rows below, as the plugin takes a gorm.DeletedAt for one: old code has left
// them.
func (s *shape) checkRowsBelow() {
	if s.Deleted == "" || s.of.stated.Deleted != nil {
		return
	}
	all := shape{Table: s.Table, of: s.of}
	all.Deleted = ""
	alive, marked, moved := 0, 0, 0
	for below, above := range all.links(all.liveRows()) {
		inBin := func(text string) bool { return binHint.MatchString(s.of.cells[text][above].String) }
		switch {
		case s.isLive(above) && !s.isLive(below) && slices.ContainsFunc(s.of.texts(), inBin):
			moved++
		case s.isLive(above):
		case s.isLive(below):
			alive++
		default:
			marked++
		}
	}
	var why string
	switch {
	case alive > 1 && alive > marked && s.of.kind(s.Deleted) == dialect.Time:
		s.noMark = fmt.Sprintf("below the rows that %s marks, %d rows are live: the repair moves these away. If they are to stay, as answers to a deleted comment do, its field cannot be a gorm.DeletedAt: give --deleted= to this command", s.Deleted, alive)
		return
	case alive > 1 && alive > marked:
		why = fmt.Sprintf("below the rows that %s marks, %d rows are live, and pathlock would delete them", s.Deleted, alive)
	case moved > 0:
		why = fmt.Sprintf("the rows that %s marks are in a bin, and so in the tree", s.Deleted)
	default:
		return
	}
	s.noMark = fmt.Sprintf("%s: so it does not count as a deletion mark. If it is one, give --deleted %s", why, s.Deleted)
	if s.DeletedWhen != "" {
		s.noMark += " --deleted-when " + quoted(s.DeletedWhen, true)
	}
	s.noMark += " to this command"
	s.Deleted, s.DeletedWhen = "", ""
}

// statedMark is the column that the user has stated, "" for none.
func (t *table) statedMark() string { return *cmp.Or(t.stated.Deleted, new(string)) }

// checkMark refuses a stated mark that no tag can state, or by which no row is live.
func (t *table) checkMark() (err error) {
	name, when, literal := t.statedMark(), t.stated.DeletedWhen, ""
	kind := t.kind(name)
	switch {
	case name == "":
		return nil
	case when == "" && !t.hasLive(name):
		return fmt.Errorf("no row has NULL, 0 or an empty %s: give the value that deleted rows have, --deleted-when", name)
	case when != "":
		literal, err = dialect.MarkLiteral(when, kind == dialect.Number)
	}
	if err != nil || when != "" && kind != dialect.Text && (kind != dialect.Number || literal == "0" || literal != when) {
		return fmt.Errorf("%q cannot be the value of %s in deleted rows: only a text without quotes, or a number other than 0, can", when, name)
	}
	return nil
}

// possibleMarks says which columns may mark rows as deleted, if none is known to.
func (s *shape) possibleMarks() (notes remarks) {
	switch {
	case s.noMark != "":
		return remarks{s.noMark}
	case s.Deleted != "", s.of.stated.Deleted != nil:
		return nil
	}
	for _, name := range s.of.order {
		isActive := activeHint.MatchString(name)
		if s.of.cells[name] == nil || s.Has(name) || !isActive && !stateHint.MatchString(name) && !markHint.MatchString(name) {
			continue
		}
		values := make(map[string]bool)
		for _, c := range s.of.cells[name] {
			values[cmp.Or(c.String, "empty")] = true
		}
		kind, is := s.of.kind(name), fmt.Sprintf("%s (%s)", name, strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		switch {
		case len(values) > mostStates:
		case kind == dialect.Time:
			notes.say(true, "if %s marks deleted rows by a time: this is not supported where live rows have another; let them have NULL", name)
		case isActive && kind != dialect.Text:
			notes.say(true, "if %s marks deleted rows by 0: this is not supported; add a column that is 0 in live rows", is)
		case kind == dialect.Text, !s.of.hasLive(name), !markHint.MatchString(name) && len(values) > 2:
			notes.say(true, "if %s marks deleted rows, give --deleted %s --deleted-when VALUE to this command", is, name)
		default:
			notes.say(true, "if %s marks deleted rows, give --deleted %s to this command", is, name)
		}
	}
	return notes
}
