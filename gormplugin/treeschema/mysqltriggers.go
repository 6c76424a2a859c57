package treeschema

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// readTriggers reads the triggers and the routines, and whether there may be triggers of the table that cannot be seen.
func (m mysql) readTriggers(ctx context.Context, conn Conn, p *physical, table string) error {
	records, err := askFile(ctx, conn, "mysql_triggers.sql", p.schema)
	if err != nil {
		return err
	}
	for _, r := range records {
		p.triggers = append(p.triggers, trigger{
			schema: r["trigger_schema"], name: r["name"], table: r["tbl"], before: r.is("before_row"),
			updates: r.is("updates"), deletes: r.is("deletes"), text: r["text"],
		})
	}
	if records, err = askFile(ctx, conn, "mysql_routines.sql"); err != nil {
		return err
	}
	for _, r := range records {
		p.routines[r["name"]] = append(p.routines[r["name"]], routine{r["text"], r["routine_language"]})
	}
	records, err = ask(ctx, conn, "SHOW GRANTS")
	if err != nil {
		return fmt.Errorf("treeschema: %w", err)
	}
	for _, r := range records {
		for _, grant := range r {
			if seesTriggers(grant, p.schema, table) {
				return nil
			}
		}
	}
	p.blind = "the user may not see triggers"
	return nil
}

// grant matches a line of SHOW GRANTS: the privileges, and what they are on.
var grant = regexp.MustCompile("^GRANT (.+) ON (?:(?:TABLE )?(\\*|`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\")\\.(\\*|`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\")) TO ")

// seesTriggers reports whether a line of SHOW GRANTS lets a user see a table's triggers.
func seesTriggers(line, schema, table string) bool {
	match := grant.FindStringSubmatch(line)
	if match == nil || !strings.HasPrefix(match[1], "ALL PRIVILEGES") && !regexp.MustCompile(`(?:^|, )TRIGGER(?:,|$)`).MatchString(match[1]) {
		return false
	}
	of, on := mysqlName(match[2]), mysqlName(match[3])
	return (of == "*" || like(of, schema)) && (on == "*" || strings.EqualFold(on, table))
}

// like reports whether a text is one that a pattern of a grant means: % is any text, _ any character, unless there is a backslash before it.
func like(pattern, text string) bool {
	var b strings.Builder
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\\' && i+1 < len(runes):
			i++
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	matched, err := regexp.MatchString("(?is)^"+b.String()+"$", text)
	return err == nil && matched
}
