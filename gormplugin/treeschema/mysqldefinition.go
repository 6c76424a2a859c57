package treeschema

import "strings"

// Only SHOW CREATE TABLE has the whole definition of a column. Its quotes depend on the session:
// with ANSI_QUOTES they are double quotes, and with sql_quote_show_create off it quotes only where
// it must. Statements write the names back in backticks, which every session takes.

// mysqlTokens splits the definition of a column into words, quoted texts, comments, and groups in
// parentheses. A group right behind a word belongs to the word.
func mysqlTokens(text string) []string {
	var list []string
	for text != "" {
		if strings.IndexByte(" \t\r\n", text[0]) >= 0 {
			text = text[1:]
			continue
		}
		n := mysqlPiece(text)
		for n < len(text) && text[n] == '(' && !strings.HasPrefix(text, "/*") {
			n += mysqlPiece(text[n:])
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

// mysqlPiece returns the length of the word, quoted text, comment or group that text begins with.
func mysqlPiece(text string) int {
	switch c := text[0]; {
	case strings.HasPrefix(text, "/*"):
		return end(text[2:], "*/") + 2
	case strings.IndexByte("'\"`", c) >= 0:
		return mysqlLiteral(text)
	case c == '(':
		depth := 0
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return i + 1
				}
			case '\'', '"', '`':
				i += mysqlLiteral(text[i:]) - 1
			}
		}
		return len(text)
	case c == ',' || c == ')':
		return 1
	default:
		n := 1
		for n < len(text) && strings.IndexByte(" \t\r\n(),'\"`", text[n]) < 0 {
			n++
		}
		return n
	}
}

// mysqlLiteral returns the length of the quoted text that text begins with. A quote inside is
// doubled, or follows a backslash.
func mysqlLiteral(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '\'':
			i++
		case text[i] == text[0] && i+1 < len(text) && text[i+1] == text[0]:
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

// mysqlEntries returns the entries of a CREATE TABLE: its columns, keys and constraints, each as
// tokens.
func mysqlEntries(statement string) [][]string {
	open := strings.IndexByte(statement, '(')
	for open >= 0 && strings.Count(statement[:open], "`")%2 == 1 {
		next := strings.IndexByte(statement[open+1:], '(')
		if next < 0 {
			return nil
		}
		open += 1 + next
	}
	if open < 0 {
		return nil
	}
	group := statement[open:]
	inner := strings.TrimSuffix(group[1:mysqlPiece(group)], ")")
	var entries [][]string
	var entry []string
	for _, token := range mysqlTokens(inner) {
		if token == "," {
			entries, entry = append(entries, entry), nil
			continue
		}
		entry = append(entry, token)
	}
	return append(entries, entry)
}

// mysqlName removes the quotes of a name, of either kind.
func mysqlName(token string) string {
	if len(token) >= 2 && (token[0] == '`' || token[0] == '"') {
		return strings.ReplaceAll(token[1:len(token)-1], token[:1]+token[:1], token[:1])
	}
	return token
}

// compressedColumn marks a compressed column in MariaDB's definitions, in a comment that MySQL
// ignores.
const compressedColumn = "COMPRESSED"

// mysqlRest returns the part of a column's definition behind the type, with all names in backticks.
// It drops the character set, the collation and a compression.
func mysqlRest(tokens []string) string {
	var rest []string
	for i := 0; i < len(tokens); i++ {
		switch token := tokens[i]; {
		case strings.EqualFold(token, "CHARACTER") && i+2 < len(tokens) && strings.EqualFold(tokens[i+1], "SET"):
			i += 2
		case strings.EqualFold(token, "COLLATE"):
			i++
		case strings.HasPrefix(token, "/*") && strings.Contains(token, compressedColumn):
		default:
			rest = append(rest, backticked(token))
		}
	}
	return strings.Join(rest, " ")
}

// backticked puts the names of a token in backticks instead of double quotes.
func backticked(token string) string {
	var b strings.Builder
	for token != "" {
		switch token[0] {
		case '\'', '`':
			n := mysqlLiteral(token)
			b.WriteString(token[:n])
			token = token[n:]
		case '"':
			n := mysqlLiteral(token)
			b.WriteString(mysql{}.quote1(mysqlName(token[:n])))
			token = token[n:]
		default:
			b.WriteByte(token[0])
			token = token[1:]
		}
	}
	return b.String()
}
