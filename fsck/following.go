package fsck

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// following is a column whose value follows from where a row is.
type following struct {
	kind         Kind
	what, column string
	// is returns the field of a row that has the column's value, nil for NULL.
	is func(*row) **string
	// want is what the column should hold, by the table of the trees; ok is false if that is not
	// known.
	want func(trees *catalogue, r *row) (value string, ok bool)
}

// held has the values of the columns that follow from where a row is, nil for NULL. The depth is a
// text, too.
type held struct{ path, idPath, level *string }

// setFollowing fills following.
func (c *catalogue) setFollowing() {
	add := func(kind Kind, what, column string, is func(*row) **string, want func(*catalogue, *row) (string, bool)) {
		if column != "" {
			c.following = append(c.following, following{kind, what, column, is, want})
		}
	}
	add(WrongPath, "path", c.table.Path, func(r *row) **string { return &r.path }, func(_ *catalogue, r *row) (string, bool) { return c.pathForm.Column(r.wantPath), !r.unnamed })
	add(WrongIDPath, "id path", c.table.IDPath, func(r *row) **string { return &r.idPath }, func(_ *catalogue, r *row) (string, bool) { return c.idForm.Column(r.wantIDPath), true })
	add(WrongDepth, "depth", c.table.Depth, func(r *row) **string { return &r.level }, func(trees *catalogue, r *row) (string, bool) {
		return strconv.Itoa(trees.table.DepthOf(trees.names(r))), true
	})
}

// names returns how many names a row's right path has. Of a leaf, that of the row above counts.
func (c *catalogue) names(r *row) int {
	switch {
	case r.leaf != nil:
		return c.names(r.up) + 1
	case c.table.Path != "":
		return strings.Count(r.wantPath, "/")
	default:
		return strings.Count(r.wantIDPath, "/")
	}
}

// scan reads the columns of [columns], and then what further receives.
func (c *catalogue) scan(rows *sql.Rows, r *row, further ...any) error {
	var key, tree, parent any
	var name *string
	into := []any{&key, &tree, &parent, &name}
	for _, f := range c.following {
		into = append(into, f.is(r))
	}
	if err := rows.Scan(append(into, further...)...); err != nil {
		return err
	}
	t := c.table
	var failed [3]error
	r.key, failed[0] = c.readKey(t.Key, key)
	if r.tree = TextKey(t.SingleTree); t.Tree != "" {
		r.tree, failed[1] = c.readKey(t.Tree, tree)
	}
	if r.parent, failed[2] = c.readKey(t.Parent, parent); t.ParentTop != "" && r.parent.String() == t.ParentTop {
		r.parent = Key{topKey{r.parent.v}}
	}
	c.unpad(t.Name, name)
	for _, f := range c.following {
		c.unpad(f.column, *f.is(r))
	}
	if t.Name == "" {
		r.name = r.key.String()
	} else if r.nullName = name == nil; name != nil {
		r.name = *name
	}
	return errors.Join(failed[:]...)
}

// wrongs returns what to write into the columns of a row whose values, in is, do not follow from
// where the row is.
func (c *catalogue) wrongs(r, is *row) (set []assignment) {
	of := c.of(r)
	for i := range of.following {
		at := &of.following[i]
		value := *at.is(is)
		want, known := at.want(c, r)
		if r.state != placed || !known || value != nil && *value == want {
			continue
		}
		a := assignment{column: at.column, new: want, at: at}
		if value != nil {
			a.old = *value
		}
		set = append(set, a)
	}
	return set
}

// fits reports whether the column of a row can hold a new text.
func (c *catalogue) fits(r *row, a assignment) bool {
	return c.of(r).limit(a.column).holds(fmt.Sprint(a.new))
}

// wrong reports the columns of a row whose values do not follow from where the row is.
func (f *forest) wrong(r *row, tell func(*Problem)) {
	for _, a := range f.wrongs(r, r) {
		p := r.problem(a.at.kind, nil, "its %s is wrong", a.at.what)
		if !f.fits(r, a) {
			p = r.problem(PathTooLong, nil, "its %s does not fit into the column %s", a.at.what, a.column)
		}
		p.Is, p.Want = *a.at.is(r), new(fmt.Sprint(a.new))
		tell(p)
	}
}

// wrongPaths returns those of wrongs that fit into their columns.
func (f *forest) wrongPaths(r, is *row) []assignment {
	return slices.DeleteFunc(f.wrongs(r, is), func(a assignment) bool { return !f.fits(r, a) })
}
