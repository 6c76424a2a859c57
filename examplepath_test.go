package pathlock_test

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func ExamplePath() {
	p, err := pathlock.ParsePath("/dir1/dir2")
	if err != nil {
		fmt.Println(err)
		return
	}
	q, _ := p.Child("dir3")
	fmt.Println(q, q.Depth(), q.Base(), q.Parent())
	fmt.Println(p.Contains(q), q.Contains(p))
	_, err = pathlock.ParsePath("/dir1//dir2")
	fmt.Println(err)
	// Output:
	// /dir1/dir2/dir3 3 dir3 /dir1/dir2
	// true false
	// pathlock: invalid path: "/dir1//dir2": empty name
}

// Every node comes before its subtree, and the subtree is one run.
func ExamplePath_Compare() {
	paths := []pathlock.Path{
		pathlock.MustParsePath("/a-b"), pathlock.MustParsePath("/a/b"), pathlock.Root(), pathlock.MustParsePath("/a"),
	}
	slices.SortFunc(paths, pathlock.Path.Compare)
	fmt.Println(paths)
	for name := range paths[2].Names() {
		fmt.Println(name)
	}
	// Output:
	// [/ /a /a/b /a-b]
	// a
	// b
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

func ExampleNormalize() {
	rename := pathlock.Normalize(
		pathlock.X(pathlock.MustParsePath("/dir1/dir2")),
		pathlock.X(pathlock.MustParsePath("/dir1/new")),
	)
	for _, c := range rename {
		fmt.Println(c)
	}
	// Output:
	// IX /
	// IX /dir1
	// X /dir1/dir2
	// X /dir1/new
}
