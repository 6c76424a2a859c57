package middleware

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// ReadJSON returns the body of a request as the middleware reads it for a spec. It is for your own
// handlers and middleware that look into the body. The body is complete, has at most
// [Config.MaxBody] bytes, has come within [Config.BodyTimeout], and its type is application/json or
// one of [Config.JSONTypes]. ReadJSON returns nil if there is no body, whatever the content type.
// Afterwards the body can be read as if it had not been, and ReadJSON returns it again.
//
// ReadJSON does not check the syntax: [lockspec.JSONFields] does. [Locks.Fail] answers its errors
// by 408, 413, 415 or 400. The connection of a body that was not read to its end cannot be used
// again: answer with the header Connection: close.
func (m *Locks) ReadJSON(c *gin.Context) ([]byte, error) {
	r := c.Request
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	v := &values{c: c, config: &m.config}
	if err := v.wantJSONType(); err != nil {
		return nil, err
	}
	if err := m.readAhead(c); err != nil {
		return nil, err
	}
	if err := v.readBody(); err != nil {
		return nil, err
	}
	return v.body, nil
}

// jsonField finds a field of a JSON body.
func (v *values) jsonField(src lockspec.Source) ([]string, error) {
	if v.json == nil {
		if err := v.parseJSON(); err != nil {
			return nil, err
		}
	}
	if src.IsEach() {
		if len(v.body) == 0 {
			return nil, nil
		}
		return lockspec.JSONList(v.body, src.Name())
	}
	field := v.json[src.Name()]
	if field.Null {
		return nil, lockspec.ErrNull
	}
	return single(field.Text, field.OK)
}

// parseJSON finds the fields of all JSON sources of the spec that are no lists. A missing body has
// none.
func (v *values) parseJSON() error {
	if err := v.wantJSON(); err != nil {
		return err
	}
	if err := v.readBody(); err != nil {
		return err
	}
	fields := map[string]lockspec.JSONValue{}
	var names []string
	for _, src := range v.spec.Sources() {
		if src.From() == lockspec.FromJSON && !src.IsEach() { // a list is read by itself
			names = append(names, src.Name())
		}
	}
	if len(v.body) > 0 && len(names) > 0 {
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

// formField finds a field of a form. It refuses a field that is in the query too: of gin's and
// net/http's ways to read a form, some look there first, some last and some not at all.
func (v *values) formField(name string) ([]string, error) {
	if v.form == nil {
		if err := v.parseForm(); err != nil {
			return nil, err
		}
	}
	if v.c.Request.URL.Query().Has(name) {
		return nil, &lockspec.InvalidError{Field: name, Reason: "is in the query, and should be in the body alone"}
	}
	if files := v.form.MultipartForm; files != nil && len(files.File[name]) > 0 {
		return nil, &lockspec.InvalidError{Field: name, Reason: "is a file, and should be text"}
	}
	return v.form.PostForm[name], nil
}

// parseForm reads the body as a form, in a copy of the request. A missing body is a form without
// fields.
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
		err = form.ParseMultipartForm(v.config.MaxBody)
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
