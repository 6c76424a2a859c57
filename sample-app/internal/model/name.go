package model

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of names and trees.
const (
	// MaxNameLength is the longest name, in characters.
	MaxNameLength = 255
	// MaxDepth is the largest depth of a suite. The root suite has depth 0.
	MaxDepth = 64
)

// CheckName says why a string cannot be the name of a plan, suite or case. It returns nil if it
// can.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("must not be empty")
	case !utf8.ValidString(name):
		return errors.New("must be valid UTF-8")
	case utf8.RuneCountInString(name) > MaxNameLength:
		return fmt.Errorf("must have at most %d characters", MaxNameLength)
	case name == "." || name == "..":
		return fmt.Errorf("must not be %q", name)
	case strings.Contains(name, "/"):
		return errors.New("must not contain a slash")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("must not contain control characters")
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return errors.New("must not begin or end with a space")
	}
	return nil
}
