package lockspec_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/lockspec"
)

// JSONFields is compared with the decoder that a handler is most likely to use: what the one calls
// malformed the other calls malformed, from the same byte on, and wherever JSONFields finds a value
// or none, the decoder finds the same one.

// oddities are bodies that two readers of JSON could well see in two ways.
var oddities = []string{
	`{"task":"x"}`, `{"TASK":1.50}`, `{"to":{"task":"x"},"task":null}`, `{"ta\u017fk":"x","task":"y"}`, `{"to":null}`,
	`{"to":{"to":{"task":1}}}`, `{"task":"\ud800"}`, `{"task":"\ud83d\ude00"}`, `{"task":[]}`, `null`, `{"task":1,"tasK":2}`,
	`[{}]`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"to":{},"to":{"task":"x"}}`, `{"task":-0.0e+1,"to":{"task":0}}`, ` { } `, `{"":{}}`,
	`{"\u0074ask":true}`, `{"a":"\"\\\/\b\f\n\r\t"}`, "{\"ta\u017f\u212a\":\"x\"}", `{"task":"\ufffd"}`, "\uFEFF{}", "{\"task\":\"\x7f\"}",
}

func FuzzJSONFieldsAgreeWithTheDecoder(f *testing.F) {
	for _, seed := range oddities {
		f.Add([]byte(seed))
	}
	f.Fuzz(compareWithDecoder)
}

func TestJSONFieldsAgreeWithTheDecoder(t *testing.T) {
	bodies := 20_000
	if testing.Short() {
		bodies = 2000
	}
	random := rand.New(rand.NewPCG(1, 2))
	outcomes := map[string]int{}
	for range bodies {
		body := randomBody(random)
		compareWithDecoder(t, body)
		_, err := lockspec.JSONFields(body, "task", "to.task")
		outcomes[outcomeOf(err)]++
		if t.Failed() {
			return
		}
	}
	// The comparison is worth something as long as each outcome occurs.
	for _, outcome := range []string{"found", "malformed", "early end", "twice", "surrogate", "wrong type", "behind", "UTF-8"} {
		if outcomes[outcome] < bodies/1000 {
			t.Errorf("of %d bodies, %d have the outcome %q: %v", bodies, outcomes[outcome], outcome, outcomes)
		}
	}
}

// outcomeOf names what became of a body.
func outcomeOf(err error) string {
	if err == nil {
		return "found"
	}
	for _, x := range []struct{ says, outcome string }{
		{"malformed JSON at", "malformed"}, {"ends too early", "early end"}, {"occurs twice", "twice"}, {"surrogate", "surrogate"},
		{"neither text", "wrong type"}, {"is not an object", "wrong type"}, {"not a JSON object", "wrong type"},
		{"something behind", "behind"}, {"UTF-8", "UTF-8"}, {"nests deeper", "deep"}, {"empty", "empty"},
	} {
		if strings.Contains(err.Error(), x.says) {
			return x.outcome
		}
	}
	return err.Error()
}

var malformedAt = regexp.MustCompile(`malformed JSON at byte (\d+)$`)

func compareWithDecoder(t *testing.T, body []byte) {
	var decoded struct {
		Task json.RawMessage `json:"task"`
		To   struct {
			Task json.RawMessage `json:"task"`
		} `json:"to"`
	}
	decodeErr := json.Unmarshal(body, &decoded)
	values, err := lockspec.JSONFields(body, "task", "to.task")
	if err != nil {
		if values != nil || !errors.Is(err, lockspec.ErrInvalid) {
			t.Fatalf("%q: got %v beside %v", body, values, err)
		}
		comparePlaces(t, body, decodeErr, err)
		return
	}
	if !json.Valid(body) {
		t.Fatalf("%q is not JSON", body)
	}
	if decodeErr != nil {
		return // Another field, of the wrong type: the handler refuses the body.
	}
	for i, raw := range []json.RawMessage{decoded.Task, decoded.To.Task} {
		want := lockspec.JSONValue{}
		switch text := string(raw); {
		case text == "":
		case text == "null":
			want.Null = true
		case text[0] == '"':
			want.OK = true
			if err := json.Unmarshal(raw, &want.Text); err != nil {
				t.Fatal(err)
			}
		default:
			want = lockspec.JSONValue{Text: text, OK: true}
		}
		if values[i] != want {
			t.Fatalf("%q: got %+v; the decoder has %+v", body, values[i], want)
		}
	}
}

// comparePlaces compares what the two say of a body that is not JSON.
func comparePlaces(t *testing.T, body []byte, decodeErr, err error) {
	outcome := outcomeOf(err)
	syntax, malformed := errors.AsType[*json.SyntaxError](decodeErr)
	if !malformed {
		if outcome == "malformed" || outcome == "early end" || outcome == "behind" || outcome == "empty" || outcome == "UTF-8" && utf8.Valid(body) {
			t.Fatalf("%q is JSON, and got %v", body, err)
		}
		return
	}
	where := malformedAt.FindStringSubmatch(err.Error())
	switch {
	case outcome == "twice", outcome == "surrogate", outcome == "deep", outcome == "UTF-8":
		// These may come first in what is malformed further on.
	case strings.Contains(syntax.Error(), "unexpected end"), isPastTheEnd(syntax, body):
		if outcome != "early end" && outcome != "empty" {
			t.Fatalf("%q ends too early, and got %v", body, err)
		}
	case strings.Contains(syntax.Error(), "after top-level value"):
		if outcome != "behind" {
			t.Fatalf("%q has something behind, and got %v", body, err)
		}
	case where == nil:
		t.Fatalf("%q is malformed, and got %v: the decoder says %v", body, err, syntax)
	default:
		// The decoder's own place is another one from version to version of Go. Whether a body
		// could go on is not.
		at, err := strconv.Atoi(where[1])
		if err != nil || at < 1 || at > len(body) {
			t.Fatalf("%q: byte %s is outside", body, where[1])
		}
		if !couldGoOn(body[:at-1]) || couldGoOn(body[:at]) {
			t.Fatalf("%q: byte %d is not the first that no JSON has there: %v", body, at, syntax)
		}
	}
}

// couldGoOn reports whether the decoder takes a text for the beginning of JSON.
func couldGoOn(text []byte) bool {
	err := json.Unmarshal(text, new(any))
	syntax, malformed := errors.AsType[*json.SyntaxError](err)
	return !malformed || strings.Contains(syntax.Error(), "unexpected end") || isPastTheEnd(syntax, text)
}

// isPastTheEnd reports that the decoder stops at the end of the body, and says that it does at the
// space that it makes up there.
func isPastTheEnd(err *json.SyntaxError, body []byte) bool {
	return strings.HasPrefix(err.Error(), "invalid character ' '") && err.Offset == int64(len(body)) && body[len(body)-1] != ' '
}

// randomBody makes a body that is JSON, or was before something happened to it.
func randomBody(r *rand.Rand) []byte {
	var b strings.Builder
	writeRandomValue(r, &b, 0)
	body := []byte(b.String())
	for range max(0, r.IntN(5)-2) {
		if len(body) == 0 {
			break
		}
		at := r.IntN(len(body))
		switch r.IntN(4) {
		case 0:
			body = body[:at]
		case 1:
			body = append(body[:at:at], body[at+1:]...)
		case 2:
			body[at] = "\"\\{}[],:0-.eE+tnu \x00\n\xff"[r.IntN(21)]
		default:
			body = append(body, body[at:]...)
		}
	}
	return body
}

var (
	randomKeys    = []string{`task`, `TASK`, `to`, `To`, `\u0074ask`, `t\u006F`, `a`, `b`, `c`, `\ud83d\ude00`, ``, `ta` + "\u017f\u212a"}
	randomScalars = []string{`1`, `-0`, `1.50`, `1e3`, `0.1E-7`, `true`, `false`, `null`, `null`}
	randomTexts   = []string{`x`, `é`, `\u00e9`, `\n`, `\"`, `\\`, `\/`, `\ud83d\uDE00`, `\ud83d`, `\udc00`, `\ufffd`, ` `, `😀`}
)

func writeRandomValue(r *rand.Rand, b *strings.Builder, depth int) {
	space := func() { b.WriteString([]string{"", "", "", " ", "\n\t", "\r"}[r.IntN(6)]) }
	list := func(open, end string, item func()) {
		b.WriteString(open)
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteByte(',')
			}
			item()
		}
		space()
		b.WriteString(end)
	}
	space()
	defer space()
	kind := r.IntN(8)
	if depth == 0 {
		kind = min(kind, 1)
	}
	switch {
	case kind <= 2 && depth < 5:
		list("{", "}", func() {
			space()
			b.WriteString(`"` + randomKeys[r.IntN(len(randomKeys))] + `"`)
			space()
			b.WriteByte(':')
			writeRandomValue(r, b, depth+1)
		})
	case kind == 3 && depth < 5:
		list("[", "]", func() { writeRandomValue(r, b, depth+1) })
	case kind <= 5:
		b.WriteByte('"')
		for range r.IntN(4) {
			b.WriteString(randomTexts[r.IntN(len(randomTexts))])
		}
		b.WriteByte('"')
	default:
		b.WriteString(randomScalars[r.IntN(len(randomScalars))])
	}
}
