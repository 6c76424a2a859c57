package pathlock_test

import (
	"testing"

	"github.com/pathlock-go/pathlock"
)

// The tables of Gray et al. 1976, typed in from the paper: rows and columns in the order IS IX S
// SIX X.
var (
	publishedCompatibility = [5]string{
		"yyyy-", // IS
		"yy---", // IX
		"y-y--", // S
		"y----", // SIX
		"-----", // X
	}
	publishedSupremum = [5][5]string{
		{"IS", "IX", "S", "SIX", "X"},
		{"IX", "IX", "SIX", "SIX", "X"},
		{"S", "SIX", "S", "SIX", "X"},
		{"SIX", "SIX", "SIX", "SIX", "X"},
		{"X", "X", "X", "X", "X"},
	}
)

func TestCompatibilityAndSupremumAreThePublishedOnes(t *testing.T) {
	for i, a := range pathlock.Modes() {
		for j, b := range pathlock.Modes() {
			if got, want := pathlock.Compatible(a, b), publishedCompatibility[i][j] == 'y'; got != want {
				t.Errorf("%s beside %s: %v, want %v", a, b, got, want)
			}
			if got, want := pathlock.Supremum(a, b).String(), publishedSupremum[i][j]; got != want {
				t.Errorf("supremum of %s and %s: %s, want %s", a, b, got, want)
			}
		}
	}
}

// A mode covers another exactly if whoever could not run beside the other could not run beside it
// either: that is what "at least as strong" means.
func TestCoversFollowsFromCompatibility(t *testing.T) {
	for _, a := range pathlock.Modes() {
		for _, b := range pathlock.Modes() {
			excludesAll := true
			for _, c := range pathlock.Modes() {
				if pathlock.Compatible(a, c) && !pathlock.Compatible(b, c) {
					excludesAll = false
				}
			}
			if got := a.Covers(b); got != excludesAll {
				t.Errorf("%s covers %s: %v, want %v", a, b, got, excludesAll)
			}
		}
		if !a.Covers(0) || pathlock.Mode(0).Covers(a) {
			t.Errorf("%s against no mode", a)
		}
	}
}

func TestCoversBelow(t *testing.T) {
	below := map[pathlock.Mode]string{
		pathlock.ModeIS: "", pathlock.ModeIX: "", pathlock.ModeS: "IS S", pathlock.ModeSIX: "IS S", pathlock.ModeX: "IS IX S SIX X",
	}
	for _, held := range pathlock.Modes() {
		var got string
		for _, wanted := range pathlock.Modes() {
			if held.CoversBelow(wanted) {
				if got != "" {
					got += " "
				}
				got += wanted.String()
			}
		}
		if got != below[held] {
			t.Errorf("%s on a node gives %q below it, want %q", held, got, below[held])
		}
	}
}

func TestIntentions(t *testing.T) {
	for mode, want := range map[pathlock.Mode]pathlock.Mode{
		pathlock.ModeIS: pathlock.ModeIS, pathlock.ModeS: pathlock.ModeIS,
		pathlock.ModeIX: pathlock.ModeIX, pathlock.ModeSIX: pathlock.ModeIX, pathlock.ModeX: pathlock.ModeIX, 0: 0,
	} {
		if got := mode.Intention(); got != want {
			t.Errorf("intention of %s: %s, want %s", mode, got, want)
		}
	}
}

func TestModeText(t *testing.T) {
	for _, m := range pathlock.Modes() {
		text, _ := m.MarshalText()
		var back pathlock.Mode
		if err := back.UnmarshalText(text); err != nil || back != m {
			t.Errorf("%s became %s: %v", m, back, err)
		}
		if !m.IsValid() {
			t.Errorf("%s is not valid", m)
		}
	}
	for _, bad := range []string{"", "x", "none", "XS", "IXX"} {
		if _, err := pathlock.ParseMode(bad); err == nil {
			t.Errorf("ParseMode(%q) gives no error", bad)
		}
	}
	if pathlock.Mode(0).IsValid() || pathlock.Mode(6).IsValid() {
		t.Error("0 or 6 is a valid mode")
	}
	if got := pathlock.Mode(9).String(); got != "Mode(9)" {
		t.Errorf("an unknown mode prints as %q", got)
	}
}
