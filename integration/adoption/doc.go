// Package adoption tests back ends that keep a tree by hand and then adopt pathlock: each breaks
// its tree before, and none does after.
package adoption
