package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
)

// treeName has the argument and the flag that name a tree.
type treeName struct {
	Tree      string `arg:"" optional:"" help:"Tree: its namespace and id, such as testplan/plan-001, as ls shows it." placeholder:"TREE"`
	Namespace string `help:"Namespace of the tree as programs have it. Then TREE is the id alone, as programs have it." placeholder:"NAME"`
}

// parse returns the tree, zero if none was named.
func (n treeName) parse() (pathlock.Tree, error) {
	if n.Tree == "" {
		if n.Namespace != "" {
			return pathlock.Tree{}, fmt.Errorf("%w: --namespace without a tree", errUsage)
		}
		return pathlock.Tree{}, nil
	}
	return parseTree(n.Namespace, n.Tree)
}

// parseTree reads a tree: namespace/id as [nameOf] writes it, or the id alone if a namespace is
// given. With a namespace, both are taken literally.
func parseTree(namespace, name string) (pathlock.Tree, error) {
	id := name
	if namespace == "" {
		var ok bool
		if namespace, id, ok = strings.Cut(name, "/"); !ok {
			return pathlock.Tree{}, fmt.Errorf("%w: the tree %q has no namespace: give namespace/id, such as testplan/plan-001", errUsage, name)
		}
		namespace, id = decoded(namespace), decoded(id)
	}
	tree, err := pathlock.NewTree(namespace, id)
	if err != nil {
		return tree, fmt.Errorf("%w: %w", errUsage, err)
	}
	return tree, nil
}

// nameOf writes a tree as the commands show and take it: namespace/id. What would end the
// namespace, what a shell would interpret, and what cannot be seen is written as in a URL: % and
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

// decoded reads what [encoded] writes. A % that no two digits follow is itself.
func decoded(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// sayConfusion warns if other trees in use are those that programs and logs write as the text that
// named a tree: a/b/c is the tree b/c of a, and the tree c of a/b. It says nothing where the store
// does not answer, because looking at the tree itself does.
func (n treeName) sayConfusion(ctx context.Context, streams streams, locker *pathlock.Locker, named pathlock.Tree) {
	if n.Namespace != "" || strings.Count(n.Tree, "/") < 2 && !strings.Contains(n.Tree, "%") {
		return // it can be read in one way only
	}
	trees, err := locker.Trees(ctx)
	if err != nil {
		return
	}
	for _, tree := range trees {
		if tree != named && tree.String() == n.Tree {
			_, _ = fmt.Fprintf(streams.errs, "pathlock: this is %s, of the namespace %q; %s, of the namespace %q, is in use, too\n",
				nameOf(named), named.Namespace(), nameOf(tree), tree.Namespace())
		}
	}
}
