package lockspec

import "slices"

// ID is an id of a request, of the kind that its source was given by [Source.Kind].
type ID struct{ Kind, ID string }

// IDs returns the ids that [Spec.Bind] resolves for the request whose values get returns, in the
// order in which it does so, each kind and id once. A caller that can resolve several ids for
// the price of one does so before Bind asks. If Bind stops at an id, it does not resolve the rest.
//
// The errors are those that Bind returns before it resolves anything.
func (s Spec) IDs(get Get) ([]ID, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	read, err := s.read(get)
	if err != nil {
		return nil, err
	}
	var ids []ID
	for i, p := range s.parts {
		for _, id := range p.ids(read[i]) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// ids returns the ids of a part, as far as the request has them.
func (p part) ids(v values) (ids []ID) {
	if p.fallsAway(v) || p.kind == OpGate && p.namespace != "" {
		return nil
	}
	if v.node.ok {
		ids = append(ids, ID{p.node.KindName(), v.node.text})
	}
	if v.dest.ok {
		ids = append(ids, ID{p.dest.KindName(), v.dest.text})
	}
	if v.toTop && p.dest.topOf != nil {
		ids = append(ids, ID{p.dest.topOf.KindName(), v.tree.text})
	}
	return ids
}
