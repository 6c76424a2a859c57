package doctor

import (
	"fmt"
	"regexp"
	"strings"
)

// facts are what a server has said of itself.
type facts map[string]string

// rule says what facts mean. The first rule of a check that holds decides.
type rule struct {
	check string
	level Level
	// when are conditions that must all hold: "role=master", "appendfsync!=no". A fact that the
	// server has not stated is "".
	when string
	// is, means and change are the finding's, with {name} for a fact. A rule with an empty is makes
	// no finding.
	is, means, change string
}

// judge applies rules to what a server has said.
func (e *exam) judge(about string, f facts, rules []rule) {
	judged := map[string]bool{}
	for _, r := range rules {
		if judged[r.check] || !f.hold(r.when) {
			continue
		}
		judged[r.check] = true
		if r.is != "" {
			e.found(r.level, about, r.check, f.fill(r.is), f.fill(r.means), f.fill(r.change))
		}
	}
}

// hold reports whether the facts meet conditions.
func (f facts) hold(conditions string) bool {
	for condition := range strings.FieldsSeq(conditions) {
		name, value, _ := strings.Cut(condition, "=")
		name, differs := strings.CutSuffix(name, "!")
		if (f[name] == value) == differs {
			return false
		}
	}
	return true
}

var place = regexp.MustCompile(`\{[a-z_-]+\}`)

// fill puts facts in their places in a text.
func (f facts) fill(text string) string {
	return place.ReplaceAllStringFunc(text, func(name string) string { return f[name[1:len(name)-1]] })
}

// flag makes a fact of a condition.
func flag(holds bool) string {
	if holds {
		return "yes"
	}
	return ""
}

// fieldsOf reads lines of names and values.
func fieldsOf(text string) facts {
	f := make(facts)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			f[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return f
}

// older reports whether a version such as 7.0.15 is older than another.
func older(version, than string) bool {
	var is, other [2]int
	_, err := fmt.Sscanf(version, "%d.%d", &is[0], &is[1])
	_, bad := fmt.Sscanf(than, "%d.%d", &other[0], &other[1])
	return err != nil || bad != nil || is[0] < other[0] || is[0] == other[0] && is[1] < other[1]
}
