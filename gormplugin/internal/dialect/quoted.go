package dialect

import (
	"errors"
	"strings"
)

// A message of a database may hold what a user has written, and so may an error of a hook that
// never came from a database. So an error of the driver is known by its type. Where there is none
// to go by, a message counts only in the place where the driver writes it.

// Quoted returns the texts of errors that err holds as text alone. GORM adds a second error to a
// first one as "first; second", and wraps only the second.
func Quoted(err error) []string {
	var texts []string
	walk(err, func(e error) {
		inner := errors.Unwrap(e)
		if inner == nil {
			return
		}
		if first, ok := strings.CutSuffix(e.Error(), "; "+inner.Error()); ok {
			texts = append(texts, first)
		}
	})
	return texts
}

// walk calls visit with err and every error that it wraps.
func walk(err error, visit func(error)) {
	if err == nil {
		return
	}
	visit(err)
	walk(errors.Unwrap(err), visit)
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, inner := range several.Unwrap() {
			walk(inner, visit)
		}
	}
}
