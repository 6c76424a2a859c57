package redisstore

import (
	"embed"
	"strings"

	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// scriptFiles has the Lua scripts' text; scripts/lib/keys.lua says how they are put together.
//
//go:embed scripts
var scriptFiles embed.FS

// library is the parts of the library, in their order.
var library = []string{"state", "open", "nodes", "holdings", "gate", "queue", "waits", "grant", "deadlock", "reclaim", "handover"}

func scriptText(name string) string {
	text, err := scriptFiles.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// assemble puts a script's text together: what all scripts begin with, its fast path, which may end
// it, the library, and the script's own text.
//
// The library's parts, and what follows each of them, are functions inside each other. A function
// takes what it uses from the one around it at once, but has to search for what belongs to the same
// one, which is where most of the time goes that the library takes.
func assemble(fastPath, own string) lua.Script {
	texts := []string{scriptText("lib/keys"), scriptText("lib/record"), scriptText("lib/clock"), scriptText("lib/fence"), scriptText("lib/modes"), fastPath}
	for _, part := range library {
		texts = append(texts, "return (function()", scriptText("lib/"+part))
	}
	texts = append(texts, "return (function()", own, strings.Repeat("end)()\n", len(library)+1))
	return lua.NewScript(strings.Join(texts, "\n"))
}

// scripts are all that a store calls.
type scripts struct {
	acquire, release, withdraw, renew, transfer, force, snapshot lua.Script
}

func newScripts() scripts {
	whole := func(name string) lua.Script { return assemble("", scriptText(name)) }
	return scripts{
		acquire:  assemble(scriptText("fastpath/acquire"), scriptText("acquire")),
		release:  assemble(scriptText("fastpath/release"), scriptText("release")),
		withdraw: whole("withdraw"),
		renew:    whole("renew"),
		transfer: whole("transfer"),
		force:    whole("force"),
		snapshot: whole("snapshot"),
	}
}
