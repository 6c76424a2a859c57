package adminpage

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/rogpeppe/go-internal/testscript"
)

// described is the API as the page describes it, with the paths that have answered.
type described struct {
	routers.Router
	paths map[string]bool
}

// serve has the page answer a request, whose path begins where the page is mounted.
func (s *site) serve(request *http.Request) *httptest.ResponseRecorder {
	mounted := request.Clone(s.t.Context())
	mounted.URL.Path = "/admin/locks" + request.URL.Path
	w := httptest.NewRecorder()
	s.server.Handler.ServeHTTP(w, mounted)
	return w
}

func (s *site) openapi(ts *testscript.TestScript, _ bool, _ []string) {
	var document map[string]any
	ts.Check(json.Unmarshal(s.serve(httptest.NewRequestWithContext(s.t.Context(), "GET", "/openapi.json", nil)).Body.Bytes(), &document))
	delete(document, "servers") // the paths of requests begin where it is mounted
	text, err := json.Marshal(document)
	ts.Check(err)
	parsed, err := openapi3.NewLoader().LoadFromData(text)
	ts.Check(err)
	router, err := legacy.NewRouter(parsed) // validates the document
	ts.Check(err)
	s.described = &described{router, map[string]bool{}}
	s.t.Cleanup(func() {
		for path := range document["paths"].(map[string]any) {
			if !s.described.paths[path] {
				s.t.Errorf("%s is described and was not asked", path)
			}
		}
	})
}

// key matches the key of an entry.
var key = regexp.MustCompile(`"key":"([^"]+)"`)

func (s *site) answer(ts *testscript.TestScript, _ bool, args []string) {
	request := httptest.NewRequestWithContext(s.t.Context(), args[1], args[2], strings.NewReader(strings.Join(args[3:min(4, len(args))], "")))
	request.Header.Set("Content-Type", "application/json")
	for _, header := range args[min(4, len(args)):] {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	w := s.serve(request)
	if found := key.FindSubmatch(w.Body.Bytes()); found != nil {
		ts.Setenv("KEY", string(found[1]))
	}
	s.described.paths[request.URL.Path] = true
	route, parameters, err := s.described.FindRoute(request)
	ts.Check(err)
	err = openapi3filter.ValidateResponse(s.t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route},
		Status:                 w.Code, Header: w.Header(), Body: w.Result().Body,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil || strconv.Itoa(w.Code) != args[0] {
		ts.Fatalf("%v\n%d %s", err, w.Code, w.Body)
	}
}
