package redisstore

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// The Lua scripts' text; scripts/lib/keys.lua says how they are put together.
var (
	//go:embed scripts/lib/keys.lua
	keysLua string
	//go:embed scripts/lib/clock.lua
	clockLua string
	//go:embed scripts/lib/record.lua
	recordLua string
	//go:embed scripts/lib/modes.lua
	modesLua string
	//go:embed scripts/lib/apart.lua
	apartLua string
	//go:embed scripts/lib/state.lua
	stateLua string
	//go:embed scripts/lib/nodes.lua
	nodesLua string
	//go:embed scripts/lib/holdings.lua
	holdingsLua string
	//go:embed scripts/lib/thin.lua
	thinLua string
	//go:embed scripts/lib/gate.lua
	gateLua string
	//go:embed scripts/lib/queue.lua
	queueLua string
	//go:embed scripts/lib/waits.lua
	waitsLua string
	//go:embed scripts/lib/grant.lua
	grantLua string
	//go:embed scripts/lib/handover.lua
	handoverLua string
	//go:embed scripts/lib/repair.lua
	repairLua string
	//go:embed scripts/lib/open.lua
	openLua string

	//go:embed scripts/thin/acquire.lua
	thinAcquireLua string
	//go:embed scripts/thin/release.lua
	thinReleaseLua string
	//go:embed scripts/short/acquire.lua
	shortAcquireLua string
	//go:embed scripts/short/release.lua
	shortReleaseLua string
	//go:embed scripts/short/successor.lua
	successorLua string

	//go:embed scripts/acquire.lua
	acquireLua string
	//go:embed scripts/release.lua
	releaseLua string
	//go:embed scripts/withdraw.lua
	withdrawLua string
	//go:embed scripts/renew.lua
	renewLua string
	//go:embed scripts/transfer.lua
	transferLua string
	//go:embed scripts/force.lua
	forceLua string
	//go:embed scripts/proceed.lua
	proceedLua string
	//go:embed scripts/blocker.lua
	blockerLua string
	//go:embed scripts/snapshot.lua
	snapshotLua string
)

// The parts of the library, in their order, as functions inside each other (see assemble): those
// for scripts that read, and those for scripts that change. Lua lets a function use sixty names
// from outside of it, so that some share one.
var (
	readParts   = []string{stateLua, nodesLua, holdingsLua, gateLua, queueLua, waitsLua}
	changeParts = []string{
		stateLua, nodesLua, holdingsLua, gateLua,
		queueLua + thinLua + repairLua + openLua, waitsLua, grantLua, handoverLua,
	}
)

// assemble puts a script's text together: what comes at once, the parts of the library for where
// that has not answered, and the script's own text.
//
// The library's parts, and what follows each of them, are functions inside each other. A function
// takes what it uses from the one around it at once, but has to search for what belongs to the same
// one, which is where most of the time goes that the library takes.
func assemble(own string, quick, library []string) string {
	parts := slices.Concat([]string{keysLua, recordLua}, quick)
	for _, part := range []string{clockLua, modesLua, apartLua} {
		if !slices.Contains(quick, part) {
			parts = append(parts, part)
		}
	}
	library = append(slices.Clone(library), own)
	for _, part := range library {
		parts = append(parts, "return (function()", part)
	}
	parts = append(parts, strings.Repeat("end)()\n", len(library)))
	return strings.Join(parts, "\n")
}

// scripts are all that a store calls.
type scripts struct {
	acquire, release, withdraw, renew, transfer, force, proceed, blocker, snapshot lua.Script
}

// The ways in front of the library in acquire and release.
var (
	acquireQuick = []string{clockLua, thinAcquireLua, modesLua, shortAcquireLua}
	releaseQuick = []string{thinReleaseLua, clockLua, successorLua, modesLua, apartLua, shortReleaseLua}
)

func newScripts() scripts {
	changing := func(own string) lua.Script { return lua.NewScript(assemble(own, nil, changeParts), "", lua.Keeping) }
	return scripts{
		acquire:  newAcquire(acquireQuick),
		release:  newRelease(releaseQuick),
		withdraw: changing(withdrawLua),
		renew:    changing(renewLua),
		transfer: changing(transferLua),
		force:    changing(forceLua),
		proceed:  changing(proceedLua),
		blocker:  lua.NewScript(assemble(blockerLua, nil, readParts), "", lua.Keeping),
		snapshot: lua.NewScript(assemble(snapshotLua, nil, []string{gateLua}), "", lua.Keeping),
	}
}

func newAcquire(quick []string) lua.Script {
	return lua.NewScript(assemble(acquireLua, quick, changeParts), statusGranted, lua.Asking)
}

func newRelease(quick []string) lua.Script {
	return lua.NewScript(assemble(releaseLua, quick, changeParts), statusReleased, lua.Keeping)
}
