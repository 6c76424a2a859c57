package rawsql

// quoted returns a guarded table that is mentioned, in whatever way, in a string from i on: for
// strings of which SQL may be put together.
func (s *statement) quoted(i int) (string, bool) {
	for ; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if !t.isText() {
			continue
		}
		if s.names != nil {
			if table, found := s.names.mentionedBy(t.text); found {
				return table, true
			}
		}
		for _, r := range s.grammar.readings(t.text) {
			for _, inner := range s.grammar.tokens(t.text, r) {
				if s.guards(inner) {
					return inner.text, true
				}
			}
		}
	}
	return "", false
}

// quotedWrite returns a guarded table that a string from i on, read as SQL, writes.
func (s *statement) quotedWrite(i int) (string, bool) {
	for ; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if !t.isText() {
			continue
		}
		for _, r := range s.grammar.readings(t.text) {
			for piece := range pieces(s.grammar.tokens(t.text, r)) {
				inner := statement{grammar: s.grammar, tokens: piece, names: s.names, guarded: s.guarded}
				if w, found := inner.write(); found {
					return w.Table, true
				}
			}
		}
	}
	return "", false
}
