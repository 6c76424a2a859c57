package main

import "time"

// plant is a bug that is put into a copy of one file.
type plant struct {
	name     string
	file     string
	old, new string
	checks   []check // the first of them that fails has caught it
}

// check is tests that may catch a bug: a package, which of its tests, and how long they look.
type check struct {
	dir, tests string
	time       time.Duration
}

var (
	queueWorld   = check{"./proof/smallworld", "TestQueue", 30 * time.Second}
	scriptsWorld = check{"./proof/smallworld", "TestScripts_smallWorld", 30 * time.Second}
	simulated    = check{"./proof/simulation", "TestSimulation$", 2 * time.Minute}
	memory       = check{"./store/memstore", ".", 30 * time.Second}
	tickets      = check{"./store/ticketstore", ".", 30 * time.Second}
	routes       = check{"./middleware", ".", 30 * time.Second}
	specs        = check{"./lockspec", ".", 30 * time.Second}
	plans        = check{"./gormplugin/internal/plan", ".", 30 * time.Second}
	writes       = check{"./integration", "TestSQLiteRaces", 30 * time.Second}
	keys         = check{"./integration", "TestIdempotencyOnSQLite", 30 * time.Second}
	whole        = check{"./proof/histories", "TestHistories", 30 * time.Second} // on what servers there are

	ofQueue   = []check{queueWorld, memory}
	ofScripts = []check{scriptsWorld, simulated}
	ofLocker  = []check{simulated}
	ofTables  = []check{memory, tickets}
)

// plants are the bugs that the proof has to catch.
var plants = []plant{
	{"a holder passes everybody", "internal/queue/fairness.go", "	return r.passes[v]", "	return true", ofQueue},
	{"who waits through others is forgotten", "internal/queue/deadlock.go", "			s.behindHolder(r.Owner)", "", ofQueue},
	{"IX is let in beside S", "internal/queue/node.go", "S:   1<<IX | 1<<SIX | 1<<X,", "S:   1<<SIX | 1<<X,", ofQueue},
	{"a release frees no conversion", "internal/queue/queue.go", "	if len(o.Waits) > 0 {\n		q.version++", "	if false {\n		q.version++", ofQueue},
	{"a deadlock that a grant makes waits", "internal/queue/queue.go", "if c := q.Deadlock(r); c.By != nil {", "if c := (Conflict{}); c.By != nil {", ofQueue},
	{"the gate is shared", "internal/queue/request.go", "r.claims[0].mode = X", "r.claims[0].mode = S", ofQueue},
	{"whoever comes is let in", "internal/queue/fairness.go", "for l := range c.node.waiting.against(c) {\n			for by := l.before", "for l := range c.node.granted.against(c) {\n			for by := l.before", ofQueue},

	{"IX is let in beside S", "store/redisstore/scripts/lib/modes.lua", "16, 28, 26,", "16, 24, 26,", ofScripts},
	{"a holder passes everybody", "store/redisstore/scripts/lib/grant.lua", "if earlier and not may_pass(r, earlier) then return i end", "", ofScripts},
	{"a waiter that leaves lets nobody in", "store/redisstore/scripts/lib/reclaim.lua", "  for i = 1, #r.names do free(r.names[i], CONFLICTS[r.modes[i]]) end\n", "", ofScripts},
	{"the fast path sees no waiters", "store/redisstore/scripts/fastpath/acquire.lua", "taken = bit.bor(taken, floor(value / ONE_WAITING),", "taken = bit.bor(taken,", ofScripts},
	{"the fast path hands over to nobody", "store/redisstore/scripts/fastpath/release.lua", "if value >= ONE_WAITING and band", "if false and band", ofScripts},
	{"a release gives everything back", "store/redisstore/scripts/release.lua", "give_back(ARGV[1], ARGV[2])", "give_back(ARGV[1])", ofScripts},
	{"a transfer leaves the gate behind", "store/redisstore/scripts/transfer.lua", "if has_gate then take_gate", "if false then take_gate", ofScripts},
	{"a deadlock waits", "store/redisstore/scripts/acquire.lua", "local claim, blocker = deadlock(r)", "local claim, blocker", ofScripts},
	{"force leaves the places in the queue", "store/redisstore/scripts/lib/reclaim.lua", "    if r then\n      leave(r)\n      tell(r, 'removed", "    if false then\n      leave(r)\n      tell(r, 'removed", ofScripts},
	{"a hand-over to the dead begins a lease", "store/redisstore/scripts/lib/grant.lua", "local till = (r.seen or NOW) + r.lease", "local till = NOW + r.lease", ofScripts},
	{"a renewal prolongs nothing", "store/redisstore/scripts/renew.lua", "    prolong(owner, id, till)\n", "", ofScripts},
	{"two grants have one fence", "store/redisstore/scripts/lib/fence.lua", "if last and tonumber(last) >= NOW_MICROS then", "if false then", ofScripts},
	{"a withdrawal is not remembered", "store/redisstore/scripts/withdraw.lua", "if remember > 0 then call", "if false then call", ofScripts},

	{"a lease begins when the grant arrives", "acquire.go", "		sent = grant.Asked\n", "		sent = time.Now()\n", ofLocker},
	{"a renewal counts from its answer", "internal/lease/renewer.go", "		l.believe(c.Sent, left)", "		l.believe(time.Now(), left)", ofLocker},
	{"a renewal that failed counts", "renewal.go", "		case err != nil:\n			if l.renewer.Failed", "		case false:\n			if l.renewer.Failed", ofLocker},
	{"nothing is renewed", "internal/lease/lease.go", "return !l.renew.After(now.Add(l.pause() / 30))", "return false", ofLocker},
	{"a lost lock's context goes on", "renewal.go", "	all.cancel()\n	all.report()", "	all.report()", ofLocker},
	{"a lease that has ended goes on", "internal/lease/renewer.go", "if l := r.leases[i]; l.deadline.passed(at) {", "if l := r.leases[i]; l.deadline.passed(at) && i < 0 {", ofLocker},
	{"what was not answered is not taken back", "store/redisstore/calls.go", "		c.takeBack(r, func() error { return err })\n", "", ofLocker},
	{"a wake-up is lost", "store/redisstore/listener.go", "		w.hear(m)\n	}\n}", "	}\n}", ofLocker},
	{"a cancelled wait stays in the queue", "store/redisstore/wait.go", "		s.calls.undo(over, r)\n		return pathlock.Grant{}, interrupted", "		return pathlock.Grant{}, interrupted", ofLocker},
	{"a call waits for as long as the network", "store/redisstore/calls.go", "context.WithTimeout(ctx, within)", "context.WithCancel(ctx)", ofLocker},

	{"no lease ends", "store/internal/locktable/lease.go", "if o.Holds() && !t.now.Before(o.until) {", "if false {", ofTables},
	{"a hand-over to the dead begins a lease", "store/internal/locktable/lease.go", "		until = r.until // of the mortal waiter that it was\n", "", ofTables},
	{"force leaves the places in the queue", "store/internal/locktable/table.go", "	for _, q := range slices.Backward(slices.Clone(o.Waits)) {", "	for _, q := range slices.Backward(o.Waits[:0]) {", ofTables},
	{"two grants have one fence", "store/ticketstore/transaction.go", "	tx.fence++\n", "", []check{simulated, tickets}},

	{"a handler outlives its locks", "middleware/visit.go", "m.serveLocked(locks.context(ctx), c)", "m.serveLocked(ctx, c)", []check{simulated}},
	{"a request keeps its locks", "middleware/visit.go", "	defer locks.release(outer)\n", "", []check{routes, simulated}},
	{"nobody looks a second time", "middleware/acquire.go", "if !v.mustLookAgain(planned, locks) {", "if true {", []check{routes}},
	{"locks stay after a failure", "middleware/acquire.go", "	done := false\n", "	done := true\n", []check{routes}},
	{"a rename leaves its new name open", "internal/operation/operation.go", "		parent = o.Node.Parent()", "		return nil", []check{specs, plans}},
	{"a node moves into itself", "lockspec/plan.go", "case from == to && op.MovesIntoItself():", "case false:", []check{specs}},
	{"rows below keep their paths", "gormplugin/internal/plan/update.go", "return !m.Restored && (m.Node.Path", "return m.Restored && (m.Node.Path", []check{plans, writes}},
	{"nothing is asserted", "gormplugin/internal/write/assertion.go", "			actual, err = r.Assert(planned)\n", "", []check{writes}},
	{"another body gets the first one's answer", "idempotency/claim.go", "case found.Fingerprint != fingerprint:", "case false:", []check{keys}},
	{"two repetitions take a key over", "idempotency/claim.go", "taken = done.RowsAffected == 1", "taken = true", []check{keys}},

	{"a lost commit is answered as done", "gormplugin/internal/txn/end.go", "	err := t.Tx.Commit()\n", "	var err error\n	_ = t.Tx.Commit()\n", []check{whole}},
	{"a lost commit is done again", "sample-app/internal/plans/service.go", "		if !errors.Is(err, pathlock.ErrPathChanged) || again == replans {", "		if !errors.Is(err, pathlock.ErrPathChanged) && !errors.Is(err, gormplugin.ErrOutcomeUnknown) || again == replans {", []check{whole}},
	{"the new place is not locked", "internal/operation/operation.go", "			return []pathlock.Claim{pathlock.X(slot)}", "			return []pathlock.Claim{pathlock.X(slot)}[:0]", []check{whole}},
}
