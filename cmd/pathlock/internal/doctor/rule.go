package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// facts are what a server has said of itself.
type facts map[string]string

// number is a fact as a number, 0 if it is none.
func (f facts) number(name string) float64 {
	n, _ := strconv.ParseFloat(f[name], 64)
	return n
}

// rule says what one thing among the facts means. A finding without Is says nothing.
type rule struct {
	check string
	judge func(facts) Finding
}

// judge applies rules to what a server has said.
func (e *exam) judge(about string, f facts, rules []rule) {
	for _, r := range rules {
		if found := r.judge(f); found.Is != "" {
			found.About, found.Check = about, r.check
			e.findings = append(e.findings, found)
		}
	}
}

func fine(format string, args ...any) Finding { return Finding{Is: fmt.Sprintf(format, args...)} }

func bad(level Level, is, means, change string) Finding {
	return Finding{Level: level, Is: is, Means: means, Change: change}
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
func older(version string, than [2]int) bool {
	var is [2]int
	_, err := fmt.Sscanf(version, "%d.%d", &is[0], &is[1])
	return err != nil || is[0] < than[0] || is[0] == than[0] && is[1] < than[1]
}
