package treeschema

import "context"

// readTriggers reads the triggers that the user may see.
func (mysql) readTriggers(ctx context.Context, conn Conn, p *physical) error {
	records, err := askFile(ctx, conn, "mysql_triggers.sql", p.schema, p.schema)
	readTriggers(p, records)
	return err
}
