package storetest

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// lasting is a lease so long that no wait of a test is ended by what clients do from time to time,
// such as a sign of life at a third of it.
const lasting = 10 * time.Minute

// clients is about two processes on one server: who waits in one is woken by what happens in the
// other.
func (r *suite) betweenClients() topic {
	if r.clients == nil {
		return topic{name: "between two clients"}
	}
	with := func(name string, check func(here, there *fixture)) promise {
		return promise{name, func(f *fixture) {
			one, other, _ := r.clients(f.T)
			here := r.newFixture(f.T, one)
			there := &fixture{T: f.T, ctx: f.ctx, store: other, tree: here.tree, short: r.short}
			check(here, there)
		}}
	}
	return topic{"between two clients", []promise{
		with("a release lets in the next one, wherever it waits", func(here, there *fixture) {
			holder := here.actor("holder").takes(x("/a"))
			var waits []*pending
			for range 4 {
				waits = append(waits, there.actor("waiter there").lastingly(x("/a")), here.actor("waiter here").lastingly(x("/a")))
			}
			holder.release()
			for _, p := range waits {
				p.isGranted().release()
			}
		}),
		with("one who gives up lets in those behind it in the other", func(here, there *fixture) {
			here.actor("reader").takes(s("/a"))
			writer := here.actor("writer").lastingly(x("/a"))
			late := there.actor("late reader").lastingly(s("/a"))
			writer.isCancelled()
			late.isGranted()
		}),
		with("the end of a lease lets in the other's waiter", func(here, there *fixture) {
			here.actor("holder").leases(here.short, x("/a"))
			there.actor("waiter").lastingly(x("/a")).isGranted()
		}),
		with("a lease that is set to end earlier lets in the other's waiter then", func(here, there *fixture) {
			holder := here.actor("holder")
			holder.takes(x("/a"))
			waiter := there.actor("waiter").lastingly(x("/a"))
			holder.transfers(holder, here.short)
			waiter.isGranted()
		}),
		with("force release lets in the other's waiter, and takes its place away", func(here, there *fixture) {
			holder := there.actor("holder")
			holder.takes(x("/a"))
			waiter := there.actor("waiter").lastingly(x("/a"))
			next := there.actor("next").lastingly(x("/a"))
			(&actor{fixture: here, tree: here.tree, owner: waiter.owner, name: waiter.name}).forced()
			here.requireIs(waiter.fails(), pathlock.ErrLost)
			(&actor{fixture: here, tree: here.tree, owner: holder.owner, name: holder.name}).forced()
			next.isGranted()
		}),
	}}
}

// lastingly requires that a request with a lasting lease begins to wait.
func (a *actor) lastingly(claims ...pathlock.Claim) *pending {
	a.Helper()
	req := a.ask(claims...)
	req.Lease = lasting
	return a.queue(a.ctx, req)
}
