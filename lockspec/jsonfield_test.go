package lockspec_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/lockspec"
)

func TestJSONField(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		what, body, field string
		// want is the value, missing where there is none and no error either.
		want string
		// says is what the error says.
		says string
	}{
		{"text", `{"name":"x"}`, "name", "x", ""},
		{"empty text", `{"name":""}`, "name", "", ""},
		{"escapes", `{"n\u0061me":"\u00e4\n\"/"}`, "name", "ä\n\"/", ""},
		{"among others", ` {"a":[1,{"name":"no"}],"b":{"name":"no"},"name":"yes","c":true} `, "name", "yes", ""},
		{"a number", `{"id":42}`, "id", "42", ""},
		{"a number beyond float64", `{"id":9007199254740993}`, "id", "9007199254740993", ""},
		{"a number beyond int64", `{"id":18446744073709551617}`, "id", "18446744073709551617", ""},
		{"a negative number", `{"id":-1}`, "id", "-1", ""},
		{"a fraction, literally", `{"id":1.50}`, "id", "1.50", ""},
		{"an exponent, literally", `{"id":1e3}`, "id", "1e3", ""},
		{"a dotted field", `{"to":{"parent":{"id":7}},"id":8}`, "to.parent.id", "7", ""},
		{"another case", `{"Name":"x"}`, "name", "x", ""},
		{"another case on the way", `{"TO":{"ID":7}}`, "to.id", "7", ""},
		{"another letter that folds alike", "{\"ta\u017f\u212a\":\"x\"}", "task", "x", ""},
		{"missing", `{"id":1}`, "name", missing, ""},
		{"missing in an empty object", `{}`, "name", missing, ""},
		{"null", `{"name":null}`, "name", missing, ""},
		{"a null body", `null`, "name", missing, ""},
		{"missing on the way", `{"x":1}`, "to.id", missing, ""},
		{"null on the way", `{"to":null}`, "to.id", missing, ""},
		{"the same key elsewhere", `{"a":{"name":1},"b":[{"name":2}],"name":"x"}`, "name", "x", ""},
		{"two cases elsewhere", `{"labels":{"os":1,"OS":2},"name":"x"}`, "name", "x", ""},
		{"deep enough", `{"x":` + nested(lockspec.MaxJSONDepth-1) + `,"name":"x"}`, "name", "x", ""},

		{"true", `{"name":true}`, "name", "", "name: is neither text nor a number"},
		{"an object", `{"name":{"name":"x"}}`, "name", "", "name: is neither text nor a number"},
		{"an array", `{"name":["x"]}`, "name", "", "name: is neither text nor a number"},
		{"text on the way", `{"to":"x"}`, "to.id", "", `to.id: "to" is not an object`},
		{"a number on the way", `{"to":5}`, "to.id", "", `to.id: "to" is not an object`},
		{"false on the way", `{"to":false}`, "to.id", "", `to.id: "to" is not an object`},
		{"an array on the way", `{"to":[{"id":1}]}`, "to.id", "", `to.id: "to" is not an object`},
		{"an array for a body", `[{"name":"x"}]`, "name", "", "the body is not a JSON object"},
		{"text for a body", `"name"`, "name", "", "the body is not a JSON object"},
		{"a duplicate", `{"name":"x","name":"y"}`, "name", "", `name: the key "name" occurs twice`},
		{"an equal duplicate", `{"name":"x","name":"x"}`, "name", "", `name: the key "name" occurs twice`},
		{"a duplicate of null", `{"name":null,"name":"x"}`, "name", "", `name: the key "name" occurs twice`},
		{"a duplicate, escaped", `{"name":"x","n\u0061me":"y"}`, "name", "", `name: the key "name" occurs twice`},
		{"a duplicate in another case", `{"name":"x","NAME":"y"}`, "name", "", `name: the key "NAME" occurs twice`},
		{"both in another case", `{"Name":"x","NAME":"y"}`, "name", "", `name: the key "NAME" occurs twice`},
		{"a duplicate on the way", `{"to":{"id":1},"To":{"id":2}}`, "to.id", "", `to.id: the key "To" occurs twice`},
		{"a duplicate on the way, one without it", `{"to":{"id":1},"To":{}}`, "to.id", "", `to.id: the key "To" occurs twice`},
		{"a duplicate elsewhere", `{"name":"x","a":{"b":1,"b":2}}`, "name", "", `the key "b" occurs twice`},
		{"a duplicate behind the field", `{"name":"x","b":1,"b":2}`, "name", "", `the key "b" occurs twice`},
		{"empty", ``, "name", "", "the body is empty"},
		{"blank", " \n", "name", "", "the body is empty"},
		{"cut off", `{"name":"x"`, "name", "", "malformed JSON: unexpected EOF"},
		{"cut off in an array", `{"a":[1,`, "name", "", "malformed JSON: unexpected EOF"},
		{"no colon", `{"name" "x"}`, "name", "", "malformed JSON"},
		{"a trailing comma", `{"name":"x",}`, "name", "", "malformed JSON"},
		{"a trailing comma in an array", `{"name":"x","a":[1,]}`, "name", "", "malformed JSON"},
		{"a key that is no text", `{1:2}`, "name", "", "malformed JSON"},
		{"a leading zero", `{"name":01}`, "name", "", "malformed JSON"},
		{"not a number", `{"name":NaN}`, "name", "", "malformed JSON"},
		{"a second value", `{"name":"x"}{"name":"y"}`, "name", "", "something behind"},
		{"something behind", `{"name":"x"} ,`, "name", "", "something behind"},
		{"wrong type in what is no JSON", `{"name":true`, "name", "", "malformed JSON"},
		{"a byte order mark", "\uFEFF{}", "name", "", "malformed JSON"},
		{"not UTF-8", "{\"name\":\"\xff\"}", "name", "", "not valid UTF-8"},
		{"not UTF-8 elsewhere", "{\"name\":\"x\",\"\xc0\xaf\":1}", "name", "", "not valid UTF-8"},
		{"too deep", `{"x":` + nested(lockspec.MaxJSONDepth) + `,"name":"x"}`, "name", "", "nests deeper than 100"},
		{"far too deep", strings.Repeat("[", 1_000_000), "name", "", "nests deeper than 100"},
	} {
		t.Run(c.what, func(t *testing.T) {
			value, ok, err := lockspec.JSONField([]byte(c.body), c.field)
			switch {
			case c.says != "":
				if !errors.Is(err, lockspec.ErrInvalid) || !strings.Contains(err.Error(), c.says) || ok || value != "" {
					t.Errorf("got %q, %t, %v; want an error that says %q", value, ok, err, c.says)
				}
			case err != nil:
				t.Errorf("got %v", err)
			case c.want == missing:
				if ok || value != "" {
					t.Errorf("got %q, want nothing", value)
				}
			case value != c.want || !ok:
				t.Errorf("got %q, %t, want %q", value, ok, c.want)
			}
		})
	}
}

// missing is the want of a field that is not there. No test has such a value.
const missing = "\x00missing"

func TestJSONFieldQuotesLittleOfAHostileBody(t *testing.T) {
	key := strings.Repeat("k", 100_000)
	_, _, err := lockspec.JSONField([]byte(`{"`+key+`":1,"`+key+`":2}`), "name")
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("got an error of %d bytes", len(err.Error()))
	}
}

// Wherever JSONField finds a value or none, the decoder that a handler is most
// likely to use finds the same one.
func FuzzJSONFieldAgreesWithTheDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"task":"x"}`, `{"TASK":1.50}`, `{"to":{"task":"x"},"task":null}`, `{"ta\u017fk":"x","task":"y"}`, `{"to":null}`, `{"to":{"to":{"task":1}}}`,
		`{"task":"\ud800"}`, `{"task":[]}`, `null`, `{"task":1,"tasK":2}`, `[{}]`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"to":{},"to":{"task":"x"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var decoded struct {
			Task json.RawMessage `json:"task"`
			To   struct {
				Task json.RawMessage `json:"task"`
			} `json:"to"`
		}
		decodeErr := json.Unmarshal(body, &decoded)
		for field, raw := range map[string]*json.RawMessage{"task": &decoded.Task, "to.task": &decoded.To.Task} {
			value, ok, err := lockspec.JSONField(body, field)
			if err != nil {
				if ok || value != "" || !errors.Is(err, lockspec.ErrInvalid) {
					t.Fatalf("%s: got %q, %t beside %v", field, value, ok, err)
				}
				continue
			}
			if !json.Valid(body) {
				t.Fatalf("%s: this is not JSON", field)
			}
			if decodeErr != nil {
				continue // Another field, of the wrong type: the handler refuses the body.
			}
			want, wantOK := "", false
			switch text := string(*raw); {
			case text == "" || text == "null":
			case text[0] == '"':
				wantOK = true
				if err := json.Unmarshal(*raw, &want); err != nil {
					t.Fatal(err)
				}
			default:
				want, wantOK = text, true
			}
			if value != want || ok != wantOK {
				t.Fatalf("%s: got %q, %t; the decoder has %q, %t", field, value, ok, want, wantOK)
			}
		}
	})
}
