package treeschema

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// readTriggers reads the triggers and the routines, and whether the user sees all triggers of the
// table.
func (m mysql) readTriggers(ctx context.Context, conn Conn, p *physical, table string) error {
	records, err := askFile(ctx, conn, "mysql_triggers.sql", p.schema, p.schema)
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
	if !seesTriggers(records, p.schema, table) {
		p.blind = "the user may not see triggers"
	}
	return nil
}

// grant matches a line of SHOW GRANTS: the privileges, the database and the table.
var grant = regexp.MustCompile("^GRANT (.+) ON (?:(?:TABLE )?(\\*|`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\")\\.(\\*|`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\")) TO ")

// seesTriggers reports whether the grants let a user see a table's triggers. If several grants
// match the database, the server uses only the most exact one. So all that match have to include
// TRIGGER.
func seesTriggers(records []record, schema, table string) bool {
	databases, without := 0, 0
	for _, r := range records {
		for _, line := range r {
			match := grant.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			has := strings.HasPrefix(match[1], "ALL PRIVILEGES") || regexp.MustCompile(`(?:^|, )TRIGGER(?:,|$)`).MatchString(match[1])
			of, on := mysqlName(match[2]), mysqlName(match[3])
			switch {
			case of == "*" && has, on != "*" && strings.EqualFold(of, schema) && strings.EqualFold(on, table) && has:
				return true
			case of != "*" && on == "*" && like(of, schema):
				databases++
				if !has {
					without++
				}
			}
		}
	}
	return databases > 0 && without == 0
}

// like reports whether a text matches the pattern of a grant: % stands for any text, _ for any
// character, unless a backslash precedes it.
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
