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
	//go:embed scripts/lib/state.lua
	stateLua string
	//go:embed scripts/lib/nodes.lua
	nodesLua string
	//go:embed scripts/lib/holdings.lua
	holdingsLua string
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
	//go:embed scripts/lib/open.lua
	openLua string

	//go:embed scripts/early/acquire.lua
	earlyAcquireLua string
	//go:embed scripts/early/release.lua
	earlyReleaseLua string

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
	//go:embed scripts/snapshot.lua
	snapshotLua string
)

// library is the parts of the library, in their order, as functions inside each other (see
// assemble). Lua lets a function use sixty names from outside of it, so that some share one.
var library = []string{
	stateLua, nodesLua, holdingsLua, gateLua,
	queueLua + openLua, waitsLua, grantLua, handoverLua,
}

// assemble puts a script's text together: what all scripts begin with, what may end it early, the
// parts of the library, and the script's own text.
//
// The library's parts, and what follows each of them, are functions inside each other. A function
// takes what it uses from the one around it at once, but has to search for what belongs to the same
// one, which is where most of the time goes that the library takes.
func assemble(early, own string, parts []string) string {
	texts := []string{keysLua, recordLua, clockLua, modesLua, early}
	for _, part := range append(slices.Clone(parts), own) {
		texts = append(texts, "return (function()", part)
	}
	texts = append(texts, strings.Repeat("end)()\n", len(parts)+1))
	return strings.Join(texts, "\n")
}

// scripts are all that a store calls.
type scripts struct {
	acquire, release, withdraw, renew, transfer, force, snapshot lua.Script
}

func newScripts() scripts {
	changing := func(early, own string) lua.Script { return lua.NewScript(assemble(early, own, library)) }
	return scripts{
		acquire:  changing(earlyAcquireLua, acquireLua),
		release:  changing(earlyReleaseLua, releaseLua),
		withdraw: changing("", withdrawLua),
		renew:    changing("", renewLua),
		transfer: changing("", transferLua),
		force:    changing("", forceLua),
		snapshot: lua.NewScript(assemble("", snapshotLua, []string{stateLua, nodesLua, gateLua})),
	}
}
