package sqlstore

import (
	"embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// texts are the SQL statements. Each says what its arguments are.
//
//go:embed sql/*.sql
var texts embed.FS

// prefix is what the names of the tables begin with.
type prefix string

// text returns a statement without its comments.
func (p prefix) text(name string) string {
	file, err := texts.ReadFile("sql/" + name + ".sql")
	if err != nil {
		// Only a statement that is not part of the package can be missing. The database refuses
		// what is no SQL.
		return "no statement " + name
	}
	var b strings.Builder
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			b.WriteString(line)
		}
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "{prefix}", string(p))
}

// numbered returns a statement with PostgreSQL's placeholders, $1 for the first question mark.
func numbered(text string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		head, rest, found := strings.Cut(text, "?")
		b.WriteString(head)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		text = rest
	}
}

// filled returns a statement with literals in the place of its question marks. A server of MySQL
// then answers in one round trip, whether or not the driver may fill in the arguments. Texts are
// hexadecimal, which no SQL mode and no character set reads otherwise.
func filled(text string, args ...any) string {
	var b strings.Builder
	for _, arg := range args {
		head, rest, _ := strings.Cut(text, "?")
		b.WriteString(head)
		b.WriteString(literal(arg))
		text = rest
	}
	b.WriteString(text)
	return b.String()
}

func literal(arg any) string {
	switch v := arg.(type) {
	case nil:
		return "NULL"
	case []byte:
		return "x'" + hex.EncodeToString(v) + "'"
	case string:
		return literal([]byte(v))
	default:
		return fmt.Sprintf("%d", v)
	}
}

// array returns the text of an array of PostgreSQL.
func array[T any](values []T, write func(*strings.Builder, T)) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		write(&b, v)
	}
	b.WriteByte('}')
	return b.String()
}

func writeNumber[T ~int | ~int64](b *strings.Builder, n T) {
	b.WriteString(strconv.FormatInt(int64(n), 10))
}

// writeName writes the name of a process or a message, which has no character that would have to be
// escaped, NULL if it is empty.
func writeName(b *strings.Builder, name string) {
	if name == "" {
		b.WriteString("NULL")
		return
	}
	b.WriteString(`"` + name + `"`)
}

func writeBytes(b *strings.Builder, v []byte) { b.WriteString(`"\\x` + hex.EncodeToString(v) + `"`) }
