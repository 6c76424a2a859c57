package pathlock_test

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// What one owner has on a node decides what another may have there.
func ExampleCompatible() {
	for _, held := range pathlock.Modes() {
		fmt.Printf("%-4s with", held)
		for _, wanted := range pathlock.Modes() {
			if pathlock.Compatible(held, wanted) {
				fmt.Print(" ", wanted)
			}
		}
		fmt.Println()
	}
	// Output:
	// IS   with IS IX S SIX
	// IX   with IS IX
	// S    with IS S
	// SIX  with IS
	// X    with
}

// An owner who asks for a node twice has the supremum of both modes.
func ExampleSupremum() {
	fmt.Println(pathlock.Supremum(pathlock.ModeS, pathlock.ModeIX))
	fmt.Println(pathlock.Supremum(pathlock.ModeIS, pathlock.ModeX))
	// Output:
	// SIX
	// X
}

// S on a node serves for S below it as well, and needs IS on each node above.
func ExampleMode() {
	mode := pathlock.ModeS
	fmt.Println(mode.Intention(), mode.Covers(pathlock.ModeIS), mode.Covers(pathlock.ModeX))
	fmt.Println(mode.CoversBelow(pathlock.ModeS), pathlock.ModeIS.CoversBelow(pathlock.ModeS))
	// Output:
	// IS true false
	// true false
}

func ExampleParseMode() {
	mode, err := pathlock.ParseMode("SIX")
	fmt.Println(mode == pathlock.ModeSIX, err)
	_, err = pathlock.ParseMode("exclusive")
	fmt.Println(err)
	// Output:
	// true <nil>
	// pathlock: "exclusive" is not a lock mode: IS, IX, S, SIX or X
}

// A claim is a path with a mode. A request states what it needs, and the intentions above follow
// from that.
func ExampleClaim() {
	plan, suite := pathlock.Root(), pathlock.MustParsePath("/api/login")
	for _, claim := range []pathlock.Claim{
		pathlock.S(suite),  // read the subtree
		pathlock.X(suite),  // change the subtree
		pathlock.SIX(plan), // read all, and change something below
		pathlock.IS(plan),  // read something below
		pathlock.IX(plan),  // change something below
	} {
		fmt.Println(claim, "is", pathlock.Normalize(claim))
	}
	// Output:
	// S /api/login is [IS / IS /api S /api/login]
	// X /api/login is [IX / IX /api X /api/login]
	// SIX / is [SIX /]
	// IS / is [IS /]
	// IX / is [IX /]
}

// Names that a database may hold equal meet in one lock.
func ExampleFold() {
	fmt.Println(pathlock.Fold("Straße ") == pathlock.Fold("STRASSE"))
	fmt.Println(pathlock.FoldNothing("Straße ") == pathlock.FoldNothing("STRASSE"))
	// Output:
	// true
	// false
}

// A database that tells all names apart needs no folding.
func ExampleWithFold() {
	login := pathlock.MustParsePath("/API/Login")
	store := memstore.New()
	for _, locker := range []*pathlock.Locker{
		pathlock.New(store),
		pathlock.New(store, pathlock.WithFold(pathlock.FoldNothing)),
	} {
		folded, err := locker.Folded(login)
		fmt.Println(folded, err)
	}
	// Output:
	// /api/login <nil>
	// /API/Login <nil>
}
