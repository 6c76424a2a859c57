// Package shown prepares values for messages. It puts untrusted texts, such as ids, names and
// paths, on one line, bounds their length, and never splits a character.
package shown

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// most is how many bytes of a text are shown at most.
const most = 80

// Cut shortens a long text. The caller has to quote it.
func Cut(s string) string {
	s, cut := split(s)
	return s + cut
}

// split returns the start of a text, and "…" if it cut the rest.
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

// Text shortens a text as [Cut] does, and escapes invisible characters and line ends as Go does.
func Text(s string) string {
	s, cut := split(s)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(s)
		s = quoted[1 : len(quoted)-1]
	}
	return s + cut
}

// ID returns a key for a message: a number as it is, bytes in hexadecimal, a text quoted, nil as
// NULL.
func ID(id any) string {
	v := reflect.ValueOf(id)
	for v.Kind() == reflect.Pointer {
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

// Count is a number of things: "1 row has" of one, or else "2 rows have".
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Inside is an error for the part of a message that is for the log, and not for clients: the name
// of a table, the key of a row.
type Inside string

// Error implements error.
func (s Inside) Error() string { return string(s) }

// Without returns a message without the part, which stands behind a colon.
func (s Inside) Without(text string) string {
	if rest, ok := strings.CutSuffix(text, ": "+string(s)); ok {
		return rest
	}
	return strings.Replace(text, ": "+string(s)+": ", ": ", 1)
}

// OnTerminal reports whether what is written to out can be overwritten, as progress is.
func OnTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// hidden stands for a removed text.
const hidden = "(not shown)"

// WithoutSecrets removes from a message about a command line every argument, and every setting of
// the environment, that may have a password in it. The message may quote any of them, such as a URL
// given as the value of the wrong flag, or a piece of one that a shell has split.
func WithoutSecrets(message string, args []string) string {
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "PATHLOCK_") {
			args = append(args[:len(args):len(args)], variable)
		}
	}
	for _, arg := range args {
		_, value, _ := strings.Cut(arg, "=")
		for _, secret := range []string{arg, value} {
			if strings.Contains(secret, "://") || strings.Contains(secret, "@") {
				quoted := strconv.Quote(secret)
				message = strings.NewReplacer(secret, hidden, quoted[1:len(quoted)-1], hidden).Replace(message)
			}
		}
	}
	return message
}
