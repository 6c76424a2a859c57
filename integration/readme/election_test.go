package readme

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// The job of docs/beyond-requests.md runs on two instances and works on one. When that one goes,
// the other takes over, and a late write of the first is refused.
func TestTheNightlyJobRunsOnOneInstance(t *testing.T) {
	db, locker := open(t), pathlock.New(memstore.New())
	if err := db.AutoMigrate(&Report{}); err != nil {
		t.Fatal(err)
	}
	type instance struct {
		nights chan time.Time
		stop   context.CancelFunc
		ended  chan error
	}
	worked := make(chan string, 2)
	start := func(host string, visits int64) instance {
		ctx, stop := context.WithCancel(t.Context())
		i := instance{make(chan time.Time), stop, make(chan error, 1)}
		go func() {
			i.ended <- nightly(ctx, locker, host, i.nights, func(ctx context.Context, night time.Time, term uint64) error {
				defer func() { worked <- host }()
				return save(db.WithContext(ctx), Report{night.Format(time.DateOnly), visits, term})
			})
		}()
		return i
	}
	night := time.Date(2026, 7, 1, 2, 0, 0, 0, time.UTC)

	first := start("host-1", 1)
	first.nights <- night
	if host := <-worked; host != "host-1" {
		t.Errorf("%s has worked", host)
	}
	early, err := election.New(locker, "nightly-report").Leader(t.Context())
	if err != nil || early.Value != "host-1" {
		t.Errorf("%v leads, %v", early, err)
	}
	second := start("host-2", 2)
	select {
	case second.nights <- night:
		t.Error("the second instance works beside the first")
	case <-time.After(50 * time.Millisecond):
	}
	first.stop()
	if err := <-first.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the first instance has ended with %v", err)
	}
	second.nights <- night
	if host := <-worked; host != "host-2" {
		t.Errorf("%s has worked", host)
	}

	if err := save(db, Report{night.Format(time.DateOnly), 1, early.Term}); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("a late write: %v, want ErrLost", err)
	}
	var report Report
	if err := db.Take(&report, "day = ?", "2026-07-01").Error; err != nil || report.Visits != 2 || report.Term <= early.Term {
		t.Errorf("the report is %v, %v", report, err)
	}
	second.stop()
	if err := <-second.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the second instance has ended with %v", err)
	}
}
