package storetest

import (
	"crypto/rand"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// hostileTexts are what breaks keys, patterns and scripts that are put together carelessly.
var hostileTexts = []string{
	"{}", "}{", "{", "}", "{a}", "a}b{c", "{}{}", " ", "  a  ", ":", "a:b", "::", "*", "?", "[a-z]", "%", "_", `%00`, `%2F`, "/", "//",
	`\`, `\n`, `"`, "'", "`", "$", "$(id)", "${a}", "|", "&", ";", "<>", "#", "~", "-", "--", "a b", "0", "-1", "nil", "false", "NaN",
	".", "..", "a/b", "zookeeper", "漢字", "é", "e\u0301", "ß", "İ", "\u200b", "\u202e", "\ufeff", "😀", "\U0010ffff", "A", "a", "a ", "w", "o", "f", "d",
}

func hostile() topic {
	return topic{"hostile text", []promise{
		{"trees of hostile namespaces and ids are trees like others, and no two meet", func(f *fixture) {
			f.manyTrees(func(text string) (string, string) { return text, f.tree.ID() })
			f.manyTrees(func(text string) (string, string) { return f.tree.Namespace(), f.tree.ID() + text })
		}},
		{"namespace and id don't run into each other", func(f *fixture) {
			salt := f.tree.ID()
			for _, pair := range [][2][2]string{
				{{"a", salt + "/b"}, {"a/" + salt, "b"}},
				{{"a", salt + ":b"}, {"a:" + salt, "b"}},
				{{"a", salt + "}b"}, {"a}" + salt, "b"}},
				{{salt, "%2F"}, {salt, "/"}},
			} {
				first, second := f.tryTree(pair[0][0], pair[0][1]), f.tryTree(pair[1][0], pair[1][1])
				f.actorIn(first, "first").takes(x("/"))
				f.actorIn(second, "second").takes(x("/"))
			}
		}},
		{"nodes of hostile names are nodes like others, and no two meet", func(f *fixture) {
			a := f.actor("owner")
			for _, text := range hostileTexts {
				if path, err := pathlock.Root().Child(text); err == nil {
					a.takes(pathlock.X(path))
				}
			}
			for _, text := range hostileTexts {
				path, err := pathlock.Root().Child(text)
				if err != nil {
					continue
				}
				if c := f.actor("other").isRefused(pathlock.S(path)); c.Path != path {
					f.Errorf("%q: the conflict is on %v", text, c.Path)
				}
				below, err := path.Child(text)
				if err != nil {
					f.Fatal(err)
				}
				f.actor("other").isRefused(pathlock.Claim{Path: below, Mode: pathlock.ModeIS})
			}
			f.actor("other").takes(x("/none of them"))
		}},
		{"the longest tree, the longest name and the deepest path that there may be", func(f *fixture) {
			long := rand.Text()
			long += strings.Repeat("x", 255-len(long))
			tree := f.tryTree(long, long)
			name := strings.Repeat("n", pathlock.MaxNameBytes)
			deep := strings.Repeat("/d", pathlock.MaxDepth)
			h := f.actorIn(tree, "owner").takes(x("/"+name), x(deep))
			f.actorIn(tree, "other").isRefused(s(deep))
			f.actorIn(tree, "other").isRefused(s("/" + name))
			h.release()
		}},
	}}
}

// manyTrees holds the root of one tree per hostile text, all at once, and looks at each of them.
func (f *fixture) manyTrees(name func(text string) (namespace, id string)) {
	holders := make(map[pathlock.Tree]*grant)
	for _, text := range hostileTexts {
		tree := f.tryTree(name(text))
		holders[tree] = f.actorIn(tree, text).takes(x("/"))
	}
	listed := make(map[pathlock.Tree]bool)
	for _, tree := range f.trees() {
		listed[tree] = true
	}
	for tree, h := range holders {
		if !listed[tree] {
			f.Errorf("Trees() does not list %q %q", tree.Namespace(), tree.ID())
		}
		snap := f.snapshot(tree)
		if len(snap.Holders) != 1 || snap.Holders[0].Owner != h.owner {
			f.Errorf("%q %q: holders %v, want one", tree.Namespace(), tree.ID(), snap.Holders)
		}
		f.actorIn(tree, "other").isRefused(x("/a"))
	}
}
