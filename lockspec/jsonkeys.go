package lockspec

import "slices"

// fewKeys is the number of keys up to which an object's are compared one by one. More are kept in
// a map, so that a body of a hundred thousand keys costs no more for each than a body of ten.
const fewKeys = 16

// jsonKeys is a stack of the keys of the objects that are being read, the innermost on top.
type jsonKeys struct{ stack []string }

// objectKeys is the part of the stack that one object has.
type objectKeys struct {
	bottom int
	many   map[string]struct{}
}

// open begins an object.
func (k *jsonKeys) open() objectKeys { return objectKeys{bottom: len(k.stack)} }

// close ends an object. It has to be the innermost.
func (k *jsonKeys) close(o objectKeys) { k.stack = k.stack[:o.bottom] }

// add adds a key to the innermost object. It returns false if the object has it already.
func (k *jsonKeys) add(o *objectKeys, key string) bool {
	if o.many != nil {
		before := len(o.many)
		o.many[key] = struct{}{}
		return len(o.many) > before
	}
	if slices.Contains(k.stack[o.bottom:], key) {
		return false
	}
	k.stack = append(k.stack, key)
	if keys := k.stack[o.bottom:]; len(keys) > fewKeys {
		o.many = make(map[string]struct{}, 4*fewKeys)
		for _, key := range keys {
			o.many[key] = struct{}{}
		}
	}
	return true
}
