package readme

import (
	"context"
	"fmt"
	"io"
	"strings"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
)

// What docs/how-it-works.md shows: of lookAround the output, of publishPrice the code.

func lookAround(ctx context.Context, locker *pathlock.Locker, plan pathlock.Tree, to io.Writer) error {
	snapshot, err := locker.Snapshot(ctx, plan)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, hold := range snapshot.Holders {
		fmt.Fprintln(&lines, hold.Note, "holds", hold.Claims)
	}
	for i, blockers := range snapshot.Blockers() {
		for _, b := range blockers {
			fmt.Fprintln(&lines, snapshot.Waiters[i].Note, "waits for", b.Entry.Note, "because of", b.Mode, b.Path)
		}
	}
	_, err = io.WriteString(to, lines.String())
	return err
}

func publishPrice(ctx context.Context, db *gorm.DB, lock *pathlock.Lock, price int) error {
	written := db.WithContext(ctx).Table("prices").Where("id = 1 AND fence <= ?", lock.Fence()).
		Updates(map[string]any{"price": price, "fence": lock.Fence()})
	if written.Error == nil && written.RowsAffected == 0 {
		return pathlock.ErrLost // somebody with a later lock has written already
	}
	return written.Error
}
