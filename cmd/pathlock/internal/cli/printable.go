package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable escapes, as Go does in quotes, what a terminal would interpret, such as an escape
// sequence in a name. It keeps line ends.
func printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == '\n', strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		text = text[size:]
	}
	return b.String()
}

// discreet removes from a message about the command line whatever may contain a password: the URLs
// of databases, and pieces of them, since a shell may have split them.
func discreet(message string, args []string) string {
	for _, arg := range args {
		if flag, given, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(flag, "-") {
			arg = given
		}
		if strings.Contains(arg, "@") || strings.Contains(arg, "://") {
			message = strings.ReplaceAll(message, arg, "…")
			message = strings.ReplaceAll(message, strings.Trim(strconv.Quote(arg), `"`), "…")
		}
	}
	return message
}

// escaped escapes the control characters that JSON allows in a string, but that some terminals
// interpret.
func escaped(json string) string {
	var b strings.Builder
	for _, r := range json {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
