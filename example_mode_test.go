package pathlock_test

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
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
