package carry_test

import (
	"crypto/rand"
	"testing"

	"github.com/pathlock-go/pathlock/internal/carry"
)

// deep calls f some calls further down.
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
}

func TestInsideKnowsWhoseHandlerRuns(t *testing.T) {
	for range 200 {
		outer, inner, other := rand.Text(), rand.Text(), rand.Text()
		for _, depth := range []int{0, 50, 60, 64, 70, 200} {
			carry.Run(outer, func() {
				deep(depth, func() {
					carry.Run(inner, func() {
						deep(depth, func() {
							if !carry.Inside(outer) || !carry.Inside(inner) {
								t.Fatalf("%d calls down, a handler does not know whose it is", depth)
							}
							if carry.Inside(other) {
								t.Logf("%s is taken for %s or %s", other, outer, inner) // which may happen
							}
						})
					})
					if carry.Inside(inner) {
						t.Fatal("a handler that is over is still running")
					}
				})
				aside := make(chan bool)
				go func() { aside <- carry.Inside(outer) }()
				if <-aside {
					t.Fatal("another goroutine is taken for the handler's")
				}
			})
			if carry.Inside(outer) {
				t.Fatal("a handler that is over is still running")
			}
		}
	}
}

func TestFewOwnersAreTakenForOthers(t *testing.T) {
	const owners = 2000
	mistaken := 0
	carry.Run(rand.Text(), func() {
		for range owners {
			if carry.Inside(rand.Text()) {
				mistaken++
			}
		}
	})
	if mistaken > 3 {
		t.Errorf("%d of %d owners are taken for another", mistaken, owners)
	}
}

func BenchmarkRun(b *testing.B) {
	owner, f := rand.Text(), func() {}
	for b.Loop() {
		carry.Run(owner, f)
	}
}
