package treeschema

import (
	"regexp"
	"slices"
	"strings"
)

// An index over some rows has a condition, or else a part that is NULL for the others. The forms
// that [AutoMigrate] and most programs write are known by their text, in which databases differ by
// quotes, casts and parentheses.

// lexemes are the parts of SQL that say nothing, and the literals, in which they do.
var lexemes = regexp.MustCompile(`(?s)'(?:''|[^'])*'|(?:\s|--[^\n]*|/\*.*?\*/)+|::(?:character varying|timestamp with(?:out)? time zone|\w+)(?:\(\d+\))?(?:\[\])?|["\x60\[\]]`)

// normal returns SQL in lower case, without comments, casts and the quotes of names.
func normal(text string) string {
	text = lexemes.ReplaceAllStringFunc(strings.ReplaceAll(text, `\'`, "'"), func(s string) string {
		switch {
		case s[0] == '\'':
			return s
		case strings.ContainsAny(s[:1], ":\"`[]"):
			return ""
		default:
			return " "
		}
	})
	return strings.ToLower(text)
}

// group returns the inside of the first parentheses of a text, and the text behind them.
func group(text string) (inside, rest string) {
	start, depth, quoted := -1, 0, false
	for i, c := range text {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			if depth++; start < 0 {
				start = i + 1
			}
		case c == ')':
			if depth--; depth == 0 {
				return text[start:i], text[i+1:]
			}
		}
	}
	return "", ""
}

// split splits a normal text where a separator stands outside of parentheses and quotes.
func split(text, separator string) []string {
	var parts []string
	depth, quoted, start := 0, false, 0
	for i, c := range text {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		if depth == 0 && !quoted && i >= start && strings.HasPrefix(text[i:], separator) {
			parts, start = append(parts, strings.TrimSpace(text[start:i])), i+len(separator)
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

// bare removes the parentheses around a text.
func bare(text string) string {
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, "(") {
		inside, rest := group(text)
		if rest != "" || inside == "" {
			break
		}
		text = strings.TrimSpace(inside)
	}
	return text
}

// conjuncts returns the conditions that AND connects, without parentheses.
func conjuncts(condition string) []string {
	condition = bare(condition)
	parts := split(condition, " and ")
	if len(parts) == 1 || len(split(condition, " or ")) > 1 {
		return []string{strings.Join(strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(condition)), " ")}
	}
	var all []string
	for _, part := range parts {
		all = append(all, conjuncts(part)...)
	}
	return all
}

// rows says which rows an index covers, as far as its conditions are known.
type rows struct {
	// live: no deleted ones. below: none without a parent. top: none with a parent.
	live, below, top bool
}

// restrict adds a condition, and reports whether it is known.
func (c *checker) restrict(r *rows, condition string) bool {
	parent := strings.ToLower(c.table.Parent)
	for _, term := range conjuncts(condition) {
		switch {
		case term == parent+" is null", strings.HasPrefix(term, parent+" is null or ") && !c.mentionsOther(term, c.table.Parent):
			r.top = true
		case term == parent+" is not null":
			r.below = true
		case slices.ContainsFunc(c.table.Marks, func(m Mark) bool { return m.is(term, bool(c.columns[m.Column].Nullable)) }):
			r.live = true
		default:
			return false
		}
	}
	return true
}

// is reports whether a condition says that the mark is that of a live row. nullable is set where
// the column can be NULL.
func (m Mark) is(term string, nullable bool) bool {
	column := strings.ToLower(m.Column)
	term = strings.NewReplacer("_utf8mb4'", "'", " != ", " <> ").Replace(term)
	if m.When == "" && m.Live == "NULL" {
		return term == column+" is null"
	}
	values := []string{" = " + strings.ToLower(m.Live), " = false", " = 0", " is false"}
	if m.When != "" {
		values = []string{" <> " + strings.ToLower(m.When)}
	} else if term == column+" is not true" || term == "not "+column && (!m.OrNull || !nullable) {
		return true
	}
	if m.isText() {
		values = []string{" = '' or " + column + " = '0'"}
	}
	whole, orNull := strings.CutPrefix(term, column+" is null or ")
	return (orNull || !nullable || m.When == "" && !m.OrNull) && slices.ContainsFunc(values, func(v string) bool { return whole == column+v })
}

// mentionsOther reports whether an expression mentions a column other than those allowed.
func (c *checker) mentionsOther(text string, allowed ...string) bool {
	for name := range c.columns {
		if !slices.Contains(allowed, name) && mentions(text, name) {
			return true
		}
	}
	return false
}

// mentions reports whether an expression contains a name as a whole word.
func mentions(text, name string) bool {
	return name != "" && regexp.MustCompile(`(?i)(?:^|\W)`+regexp.QuoteMeta(name)+`(?:$|\W)`).MatchString(text)
}

// whenThen matches CASE WHEN a THEN b [ELSE NULL] END.
var whenThen = regexp.MustCompile(`^case when (.*) then (.*?)(?: else null)? end$`)

// guarded splits an expression that has a value where a condition holds, and is NULL elsewhere.
func guarded(expression string) (condition, value string, ok bool) {
	expression = bare(normal(expression))
	if m := whenThen.FindStringSubmatch(expression); m != nil {
		return m[1], m[2], true
	}
	if inside, rest := group(expression); strings.HasPrefix(expression, "if(") && rest == "" {
		if list := split(inside, ","); len(list) == 3 && list[2] == "null" {
			return list[0], list[1], true
		}
	}
	return "", "", false
}
