package middleware

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/pathlock-go/pathlock/lockspec"
)

// jsonField finds a field of a JSON body.
func (v *values) jsonField(name string) (value string, ok bool, err error) {
	if v.json == nil {
		if err := v.parseJSON(); err != nil {
			return "", false, err
		}
	}
	field := v.json[name]
	if field.Null {
		return "", false, lockspec.ErrNull
	}
	return field.Text, field.OK, nil
}

// parseJSON finds all the fields of the body that the spec has sources for. A body that is not
// there has none.
func (v *values) parseJSON() error {
	if err := v.wantJSON(); err != nil {
		return err
	}
	if err := v.readBody(); err != nil {
		return err
	}
	fields := map[string]lockspec.JSONValue{}
	if len(v.body) > 0 {
		var names []string
		for _, src := range v.spec.Sources() {
			if src.From() == lockspec.FromJSON {
				names = append(names, src.Name())
			}
		}
		values, err := lockspec.JSONFields(v.body, names...)
		if err != nil {
			return err
		}
		for i, name := range names {
			fields[name] = values[i]
		}
	}
	v.json = fields
	return nil
}

// formField finds a field of a form. What is in the query too is refused: of gin's and net/http's
// ways to read a form, some look there first, some last and some not at all.
func (v *values) formField(name string) (value string, ok bool, err error) {
	if v.form == nil {
		if err := v.parseForm(); err != nil {
			return "", false, err
		}
	}
	if v.c.Request.URL.Query().Has(name) {
		return "", false, &lockspec.InvalidError{Field: name, Reason: "is in the query, and should be in the body alone"}
	}
	if files := v.form.MultipartForm; files != nil && len(files.File[name]) > 0 {
		return "", false, &lockspec.InvalidError{Field: name, Reason: "is a file, and should be text"}
	}
	values := v.form.PostForm[name]
	if len(values) == 0 {
		return "", false, nil
	}
	return values[0], true, nil
}

// parseForm reads the body as a form, in a request of its own: the handler's keeps its body. A body
// that is not there is a form without fields.
func (v *values) parseForm() error {
	if err := v.wantForm(); err != nil {
		return err
	}
	if err := v.readBody(); err != nil {
		return err
	}
	form := v.c.Request.Clone(v.c.Request.Context())
	form.Body = io.NopCloser(bytes.NewReader(v.body))
	err := form.ParseForm()
	if err == nil {
		// The whole body is in memory already, so its files may stay there too.
		err = form.ParseMultipartForm(v.maxBody)
	}
	switch {
	case errors.Is(err, http.ErrMissingBoundary):
		return &lockspec.InvalidError{Reason: "the form is malformed: its content type has no boundary", Err: err}
	case err != nil && !errors.Is(err, http.ErrNotMultipart):
		return &lockspec.InvalidError{Reason: "the form is malformed, or the query is", Err: err}
	}
	v.form = form
	return nil
}
