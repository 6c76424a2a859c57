package pathlock

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Origin tells people who look at the locks where a request came from. Every field is optional. A
// [Locker] takes it from the context of [Locker.Acquire] and adds its own instance. The store keeps
// it, so everybody who uses the store sees it in [Entry] and [Blocker].
//
// Because clients choose request ids, [WithOrigin] removes control characters and characters that
// change the direction of text. It cuts each field off after 128 bytes.
type Origin struct {
	// Operation is one of a small set of words, such as "rename", so that it can be a metric's
	// label.
	Operation string `json:"operation,omitempty"`
	// Route is the method and the pattern of the route: "PATCH /suites/:id".
	Route string `json:"route,omitempty"`
	// Instance is the process: see [WithInstance].
	Instance string `json:"instance,omitempty"`
	// RequestID is the id of the HTTP request or job, as the program's log has it.
	RequestID string `json:"request_id,omitempty"`
	// Trace is the W3C traceparent of the span that asked.
	Trace string `json:"trace,omitempty"`
}

// IsZero reports whether nothing is known.
func (o Origin) IsZero() bool { return o == Origin{} }

// originKey is the context key of an [Origin].
type originKey struct{}

// WithOrigin returns a context under which requests for locks have the fields of o that are not
// empty. Other fields stay as ctx has them.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	outer := OriginOf(ctx)
	for i, field := range o.fields() {
		*field = cmp.Or(printable(*field), *outer.fields()[i])
	}
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the Origin that [WithOrigin] has put into ctx, or the zero Origin.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// WithInstance names this process to people who look at the locks. The default is the host's name
// and the process id, such as "web-1:4711". An empty name keeps the process unnamed.
func WithInstance(name string) Option { return func(l *Locker) { l.instance = printable(name) } }

// defaultInstance is the instance of a locker without [WithInstance].
func defaultInstance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return printable(host) + ":" + strconv.Itoa(os.Getpid())
}

// origin returns the origin of a request under ctx that may have an operation of its own.
func (l *Locker) origin(ctx context.Context, operation string) Origin {
	o := OriginOf(ctx)
	o.Operation = cmp.Or(printable(operation), o.Operation)
	o.Instance = cmp.Or(o.Instance, l.instance)
	return o
}

// fields returns the fields.
func (o *Origin) fields() [5]*string {
	return [...]*string{&o.Operation, &o.Route, &o.Instance, &o.RequestID, &o.Trace}
}

// maxOriginField is the longest field of an origin, in bytes.
const maxOriginField = 128

// printable returns valid UTF-8 without control characters and those that change the direction of
// text, and at most maxOriginField bytes of it.
func printable(s string) string {
	misleads := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if strings.ContainsFunc(s, misleads) || !utf8.ValidString(s) {
		s = strings.Map(func(r rune) rune {
			if misleads(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(s, ""))
	}
	if len(s) <= maxOriginField {
		return s
	}
	end := maxOriginField
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
