package admin

import (
	"net/http"
	"reflect"
	"strings"
	"time"
)

// operation is what answers at a path and, if it belongs to the API, its input and output.
type operation struct {
	method, summary string
	// anybody says that a page of another origin may ask for it.
	anybody      bool
	serve        func(w http.ResponseWriter, r *http.Request)
	query        []string
	takes, gives any
	// fails are the problems beside those of every path, by status.
	fails map[string]string
}

// operations are the paths of the API.
func (p *page) operations() map[string]*operation {
	all := map[string]*operation{
		"/api/trees": {
			method: http.MethodGet, summary: "The trees in which somebody holds or waits", serve: p.serveTrees, gives: overview{},
			fails: map[string]string{"503": "lock-store-unavailable"},
		},
		"/api/tree": {
			method: http.MethodGet, summary: "Who holds what in a tree, and who waits for whom", serve: p.serveTree,
			query: []string{"namespace", "id"}, gives: treeView{},
			fails: map[string]string{"400": "invalid-request", "503": "lock-store-unavailable"},
		},
		"/api/history": {
			method: http.MethodGet, summary: "The last waits of the process that answers", serve: p.serveHistory, gives: history{},
			fails: map[string]string{"404": "not-found: no history is kept"},
		},
		"/api/release": {
			method: http.MethodPost, summary: "Take away everything that an owner has in a tree", serve: p.serveRelease, takes: release{}, gives: releasedAnswer{},
			fails: map[string]string{
				"400": "invalid-request", "409": "gone: the tree does not have the entry any more", "413": "too-large",
				"415": "unsupported-media-type", "503": "lock-store-unavailable, or release-unknown: it may have taken place",
			},
		},
	}
	document := describe(all)
	all["/openapi.json"] = &operation{method: http.MethodGet, serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	}}
	return all
}

type object = map[string]any

// describe returns an OpenAPI document of the operations.
func describe(all map[string]*operation) []byte {
	common := map[string]string{
		"401": "unauthenticated", "403": "forbidden, read-only or foreign-origin", "421": "misdirected: this Host is not among the page's names",
	}
	paths := object{}
	for path, o := range all {
		answers := object{}
		for _, fails := range []map[string]string{common, o.fails} {
			for status, what := range fails {
				answers[status] = body("application/problem+json", what, schema(reflect.TypeFor[refusal]()))
			}
		}
		given := schema(reflect.TypeOf(o.gives))
		described := object{"operationId": path[len("/api/"):], "summary": o.summary, "responses": answers}
		if o.method == http.MethodGet {
			given["properties"].(object)["now"] = schema(reflect.TypeFor[time.Time]()) // see answer
			answers["304"] = object{"description": "the client already has the version that If-None-Match names"}
		}
		answers["200"] = body("application/json", "OK", given)
		var parameters []object
		for _, name := range o.query {
			parameters = append(parameters, object{"name": name, "in": "query", "required": true, "schema": object{"type": "string"}})
		}
		if parameters != nil {
			described["parameters"] = parameters
		}
		if o.takes != nil {
			described["requestBody"] = body("application/json", "", schema(reflect.TypeOf(o.takes)))
		}
		paths[path] = object{strings.ToLower(o.method): described}
	}
	return encode(object{
		"openapi": "3.1.0", "servers": []object{{"url": "./"}}, "paths": paths,
		"info": object{
			"title": "pathlock: locks and waits", "version": "1", "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "Who holds which locks, who waits for whom, and the last waits. Paths are relative to where the page is mounted.",
		},
	})
}

// body describes the content of a request or an answer.
func body(kind, description string, schema object) object {
	return object{"description": description, "content": object{kind: object{"schema": schema}}}
}

// schema describes a type as encoding/json writes it.
func schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return schema(t.Elem())
	case t.Kind() == reflect.Slice:
		return object{"type": "array", "items": schema(t.Elem())}
	case t.Kind() == reflect.String:
		return object{"type": "string"}
	case t.Kind() == reflect.Bool:
		return object{"type": "boolean"}
	case t.Kind() != reflect.Struct:
		return object{"type": "integer"}
	}
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		properties[name] = schema(f.Type)
		if options == "" {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
