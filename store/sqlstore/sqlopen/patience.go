package sqlopen

import (
	"context"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// patient opens connections to a SQLite file while others switch its write-ahead log on. Of two
// that do so at once, SQLite refuses one at once, whatever its busy_timeout.
type patient struct{ driver.Connector }

// Connect implements [driver.Connector].
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for {
		conn, err := p.Connector.Connect(ctx)
		if !errors.Is(err, sqlite3.BUSY) && !errors.Is(err, sqlite3.LOCKED) {
			return conn, err
		}
		pause := time.NewTimer(time.Millisecond + rand.N(4*time.Millisecond))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, err
		}
	}
}
