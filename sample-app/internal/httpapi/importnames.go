package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// importNames creates suites and cases by their paths, as many as one request may name. A client
// with more of them sends several requests.
func (a *api) importNames(c *gin.Context) (any, error) {
	return a.Service.ImportNames(c.Request.Context(), id(c, "plan"), bodyOf[plans.Import](c))
}

func readImport(f *fields) plans.Import {
	var body plans.Import
	for i, raw := range f.list("suites") {
		body.Suites = append(body.Suites, f.textOf(fmt.Sprintf("suites[%d]", i), raw))
	}
	for i, raw := range f.list("cases") {
		at := fmt.Sprintf("cases[%d]", i)
		one, err := parseFields(raw)
		if err != nil {
			f.invalid(at, "is not an object with a path")
			break
		}
		body.Cases = append(body.Cases, plans.ImportedCase{
			Path: f.textOf(at+".path", one.values["path"]), Body: f.textOf(at+".body", one.values["body"]),
		})
	}
	if len(body.Suites)+len(body.Cases) == 0 {
		f.invalid("suites", "or cases are missing")
	}
	return body
}

// list reads an array, which is empty if the field is missing.
func (f *fields) list(name string) []json.RawMessage {
	if !f.has(name) {
		return nil
	}
	var all []json.RawMessage
	if json.Unmarshal(f.values[name], &all) != nil {
		f.invalid(name, "must be an array")
	}
	if len(all) > plans.MaxImport {
		f.invalid(name, fmt.Sprintf("has %d elements, at most %d are allowed", len(all), plans.MaxImport))
		return nil
	}
	return all
}

// textOf reads a text within a field, which is empty if raw is.
func (f *fields) textOf(at string, raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	text, err := lockspec.JSONText(raw)
	if err != nil {
		f.invalid(at, "must be a text")
	}
	if strings.ContainsRune(text, 0) {
		f.invalid(at, "must not contain NUL, which PostgreSQL cannot store")
	}
	return text
}
