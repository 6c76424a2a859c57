package pathlock_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestFoldMakesEqualNamesMeet(t *testing.T) {
	for _, tt := range []struct{ what, a, b string }{
		{"case", "Login Tests", "LOGIN tests"},
		{"trailing spaces", "a", "a  "},
		{"composition", "caf\u00e9", "cafe\u0301"},
		{"composition and case", "CAF\u00c9", "cafe\u0301"},
		{"sharp s", "straße", "STRASSE"},
		{"final sigma", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"},
		{"Kelvin sign", "\u212a", "k"},
		{"case and trailing space", "A ", "a"},
		{"Cherokee", "\u13a0", "\uab70"},
		{"nothing but spaces", " ", "   "},
		{"a dot and spaces", ". ", ".   "},
	} {
		if a, b := pathlock.Fold(tt.a), pathlock.Fold(tt.b); a != b {
			t.Errorf("%s: %q folds to %q, but %q to %q", tt.what, tt.a, a, tt.b, b)
		}
	}
}

// A locker folds a whole path as it folds each of its names.
func TestPathsFoldNameByName(t *testing.T) {
	for _, tt := range []struct {
		held, asked string
		free        bool
	}{
		{"X /a /b", "X /a/b", false},
		{"X /a/b ", "X /a/b", false},
		{"X /A/b", "X /a/B", false},
		{"X /stra\u00dfe/x", "X /STRASSE/X", false},
		{"X / a/b", "X /a/b", true},
		{"X /a b/c", "X /ab/c", true},
		{"X /[/x", "X /{/x", true},
	} {
		l, _ := newLocker()
		lock := acquire(t.Context(), t, l, tt.held)
		free(t, l, tt.asked, tt.free)
		release(t, lock)
	}
}

func TestFoldKeepsDifferentNamesApart(t *testing.T) {
	for _, tt := range []struct{ what, a, b string }{
		{"leading space", "a", " a"},
		{"inner space", "a b", "ab"},
		{"accent", "e", "é"},
		{"width", "a", "ａ"},
		{"punctuation", "a-b", "a_b"},
	} {
		if a, b := pathlock.Fold(tt.a), pathlock.Fold(tt.b); a == b {
			t.Errorf("%s: %q and %q both fold to %q", tt.what, tt.a, tt.b, a)
		}
	}
}

func TestFoldIsIdempotentAndKeepsNamesNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^/\p{Cc}]{1,12}`).Draw(t, "name")
		folded := pathlock.Fold(name)
		if again := pathlock.Fold(folded); again != folded {
			t.Fatalf("%q folds to %q, and that to %q", name, folded, again)
		}
		if _, err := pathlock.Root().Child(name); err != nil {
			return
		}
		if _, err := pathlock.Root().Child(folded); err != nil {
			t.Fatalf("the name %q folds to %q, which is none: %v", name, folded, err)
		}
	})
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
