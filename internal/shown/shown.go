// Package shown puts what strangers have written, such as ids, names and paths, into messages: in
// one line, at a bounded length, and never cut within a character.
package shown

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// most is how many bytes of a text are shown at most.
const most = 80

// Cut returns a text without its end, where it is long: for messages that quote it.
func Cut(s string) string {
	s, cut := split(s)
	return s + cut
}

// split cuts a text before the first character that ends behind most bytes, and returns what marks
// the cut.
func split(s string) (begin, mark string) {
	if len(s) <= most {
		return s, ""
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], "…"
}

// Text returns a text as [Cut] does, in which characters that would not be seen, or would end the
// line, are escaped as Go does it.
func Text(s string) string {
	s, cut := split(s)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(s)
		s = quoted[1 : len(quoted)-1]
	}
	return s + cut
}

// ID returns a key: a number as it is, and anything else quoted.
func ID(id any) string {
	v := reflect.ValueOf(id)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return "NULL"
	case v.CanInt(), v.CanUint():
		return fmt.Sprint(v.Interface())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return fmt.Sprintf("%.*x", most/2, v.Bytes())
	default:
		return `"` + Text(fmt.Sprint(v.Interface())) + `"`
	}
}
