package command

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
)

// namedTree is a tree that the command line names; the zero value if it names none.
type namedTree struct{ pathlock.Tree }

// UnmarshalText implements [encoding.TextUnmarshaler]: it reads a tree as [nameOf] writes it,
// namespace/id.
func (t *namedTree) UnmarshalText(text []byte) error {
	namespace, id, ok := strings.Cut(string(text), "/")
	if !ok {
		return fmt.Errorf("the tree %q has no namespace: give namespace/id, such as testplan/plan-001", text)
	}
	namespace, err := url.PathUnescape(namespace)
	if err == nil {
		id, err = url.PathUnescape(id)
	}
	if err != nil {
		return fmt.Errorf("the tree %q: write %% as %%25: %w", text, err)
	}
	t.Tree, err = pathlock.NewTree(namespace, id)
	return err
}

// nameOf writes a tree as the commands show and take it: namespace/id. Characters that would end
// the namespace, that a shell would interpret, or that are invisible are written as in a URL: % and
// two digits for each byte. So a name is one plain word, and no two trees have the same.
func nameOf(tree pathlock.Tree) string { return name(tree.Namespace(), tree.ID()) }

func name(namespace, id string) string { return encoded(namespace, "/") + "/" + encoded(id, "") }

// encoded writes a namespace or an id. A namespace must not look like a flag, nor end early.
func encoded(text, beyond string) string {
	var b strings.Builder
	for i, r := range text {
		if isPlain(r) && !strings.ContainsRune(beyond, r) && (r != '-' || i > 0) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// isPlain reports whether a rune can be seen, and is nothing but itself to bash, zsh and fish,
// wherever in a word it is.
func isPlain(r rune) bool {
	switch {
	case r >= utf8.RuneSelf:
		return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		return true
	default:
		return strings.ContainsRune("-._/+:@,", r)
	}
}
