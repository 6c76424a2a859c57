package treeschema

import "strings"

// SQLite keeps the statements that made its tables and indexes, and shows an index's expressions
// nowhere else. These functions parse such a statement.

// tokens splits SQL into words, quoted texts, commas, and groups in parentheses. It drops comments.
func tokens(text string) []string {
	var list []string
	for text != "" {
		n := 1
		switch c := text[0]; {
		case strings.HasPrefix(text, "--"):
			n = end(text, "\n")
			text = text[n:]
			continue
		case strings.HasPrefix(text, "/*"):
			n = end(text[2:], "*/") + 2
			text = text[n:]
			continue
		case strings.IndexByte(" \t\r\n", c) >= 0:
			text = text[1:]
			continue
		case c == '(':
			n = group(text)
		case c == '[':
			n = end(text, "]")
		case strings.IndexByte("'\"`", c) >= 0:
			n = literal(text)
		case c != ',':
			for n < len(text) && strings.IndexByte(" \t\r\n(),'\"`[", text[n]) < 0 {
				n++
			}
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

// end returns the index behind the first mark, or the text's length if there is none.
func end(text, mark string) int {
	if i := strings.Index(text, mark); i >= 0 {
		return i + len(mark)
	}
	return len(text)
}

// literal returns the length of the quoted text that text begins with. A doubled quote is part of
// it.
func literal(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i+1 < len(text) && text[i+1] == quote {
			i++
			continue
		}
		return i + 1
	}
	return len(text)
}

// group returns the length of the group in parentheses that text begins with.
func group(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case strings.HasPrefix(text[i:], "--"):
			i += end(text[i:], "\n") - 1
		case strings.HasPrefix(text[i:], "/*"):
			i += 1 + end(text[i+2:], "*/")
		case strings.IndexByte("'\"`", c) >= 0:
			i += literal(text[i:]) - 1
		case c == '[':
			i += end(text[i:], "]") - 1
		}
	}
	return len(text)
}

// parenthesised reports whether a token is a group in parentheses.
func parenthesised(token string) bool { return strings.HasPrefix(token, "(") }

// definitions returns the tokens of each entry in a statement's list of columns, and the tokens
// behind the list.
func definitions(statement string) (entries [][]string, rest []string) {
	all := tokens(statement)
	for i, token := range all {
		if !parenthesised(token) {
			continue
		}
		entry := []string{}
		for _, inner := range tokens(strings.TrimSuffix(token[1:], ")")) {
			if inner == "," {
				entries, entry = append(entries, entry), []string{}
				continue
			}
			entry = append(entry, inner)
		}
		return append(entries, entry), all[i+1:]
	}
	return nil, nil
}

// after returns the token behind a keyword, "" if there is none.
func after(list []string, keyword string) string {
	for i, token := range list[:max(len(list)-1, 0)] {
		if strings.EqualFold(token, keyword) {
			return list[i+1]
		}
	}
	return ""
}

// bare removes the quotes of a name.
func bare(token string) string {
	if len(token) >= 2 && strings.IndexByte("\"`[", token[0]) >= 0 {
		return strings.ReplaceAll(token[1:len(token)-1], token[:1]+token[:1], token[:1])
	}
	return token
}
