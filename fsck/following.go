package fsck

import (
	"database/sql"
	"errors"
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

// followingIn returns which of following a column is, -1 for any other.
func (c *catalogue) followingIn(column string) int {
	return slices.IndexFunc(c.following, func(f following) bool { return f.column == column })
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

// wrongs calls f for each column of a row whose value, in is, does not follow from where the row
// is.
func (c *catalogue) wrongs(r, is *row, f func(at following, is *string, want string)) {
	for _, at := range c.of(r).following {
		value := *at.is(is)
		if want, known := at.want(c, r); r.state == placed && known && (value == nil || *value != want) {
			f(at, value, want)
		}
	}
}

// wrong reports the columns of a row whose values do not follow from where the row is.
func (f *forest) wrong(r *row, tell func(*Problem)) {
	c := f.of(r)
	f.wrongs(r, r, func(at following, is *string, want string) {
		p := r.problem(at.kind, nil, "its %s is wrong", at.what)
		if !c.limit(at.column).holds(want) {
			p = r.problem(PathTooLong, nil, "its %s does not fit into the column %s", at.what, at.column)
		}
		p.Is, p.Want = is, &want
		tell(p)
	})
}

// wrongPaths returns the values to write into the columns that follow from where a row is, given
// their present values in is.
func (f *forest) wrongPaths(r, is *row) (set []assignment) {
	c := f.of(r)
	f.wrongs(r, is, func(at following, is *string, want string) {
		if !c.limit(at.column).holds(want) {
			return
		}
		a := assignment{column: at.column, new: want}
		if is != nil {
			a.old = *is
		}
		set = append(set, a)
	})
	return set
}

// setPath notes the present value of a column that follows from where a row is.
func (f *forest) setPath(r *row, column, value string) {
	if c := f.of(r); c.followingIn(column) >= 0 {
		*c.following[c.followingIn(column)].is(r) = &value
	}
}
