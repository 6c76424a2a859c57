// Package simredis is a small Redis inside of a test: the commands that the scripts of
// store/redisstore use, the scripts themselves in a Lua interpreter, and as much of the protocol as
// the client needs. It has the clock that it is given. So real scripts and the real client run in
// virtual time.
//
// TestSimredis_isRedis sends the same random commands and scripts to it and to a real server.
package simredis

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Server is a Redis without replicas, files and limits.
type Server struct {
	// Clock is the server's time, time.Now if it is nil. Set it before the first command.
	Clock func() time.Time
	// Ran, where not nil, is called with each command of a client before the reply is sent. It may
	// not use the server.
	Ran func(args []string)

	mu             sync.Mutex
	micros, millis int64 // the time of the command under way, since 1970
	keys           map[string]*value
	lua            *lua.LState
	scripts        map[string]*lua.FunctionProto
	listeners      map[string]map[*session]bool
}

// New returns a server without keys.
func New() *Server {
	s := &Server{Clock: time.Now, keys: make(map[string]*value), scripts: make(map[string]*lua.FunctionProto), listeners: make(map[string]map[*session]bool)}
	s.lua = s.newLua()
	return s
}

// Do carries out a command, and returns its reply: a string, an int64, nil, or a []any of these.
func (s *Server) Do(args ...string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply, failed := s.run(args)
	if failed != "" {
		return nil, fmt.Errorf("simredis: %s", string(failed))
	}
	return plain(reply), nil
}

// plain is a reply with strings instead of statuses.
func plain(reply any) any {
	switch v := reply.(type) {
	case status:
		return string(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return reply
}

// run is try at the present time, and for scripts, too.
func (s *Server) run(args []string) (reply any, failed failure) {
	s.micros = s.Clock().UnixMicro()
	s.millis = s.micros / 1000
	defer func() {
		failed = cmp.Or(failureOf(recover()), failed)
	}()
	switch name := strings.ToUpper(args[0]); {
	case name == "EVAL" && len(args) > 2:
		return s.eval(s.script(args[1]), args[2:]), ""
	case name == "SCRIPT" && len(args) == 3:
		s.script(args[2])
		return sha1Hex(args[2]), ""
	case name == "EVALSHA" && len(args) > 2:
		proto := s.scripts[args[1]]
		if proto == nil {
			return nil, "NOSCRIPT No matching script."
		}
		return s.eval(proto, args[2:]), ""
	default:
		return s.try(args)
	}
}

// Keys returns the names of all keys that have not expired.
func (s *Server) Keys() (names []string) {
	reply, _ := s.Do("SCAN", "0") // it cannot fail
	for _, name := range reply.([]any)[1].([]any) {
		names = append(names, name.(string))
	}
	return names
}

// Image is all keys at one moment.
type Image map[string]*value

// Image returns a copy of all keys.
func (s *Server) Image() Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Image(s.keys).clone()
}

// Restore makes the keys those of an image: as a replica that becomes the primary has them, or
// after a restart, none.
func (s *Server) Restore(i Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = i.clone()
}

func (i Image) clone() Image {
	c := make(Image, len(i))
	for key, v := range i {
		c[key] = v.clone()
	}
	return c
}

// ForgetScripts makes the server forget the scripts, as a restart does.
func (s *Server) ForgetScripts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.scripts)
}

// session is one connection.
type session struct {
	mu  sync.Mutex // of out
	out io.Writer
	on  []string // channels
}

// Serve answers on a connection until that ends.
func (s *Server) Serve(conn net.Conn) {
	c := &session{out: conn}
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, channel := range c.on {
			delete(s.listeners[channel], c)
		}
	}()
	in := bufio.NewReader(conn)
	for {
		args, err := readCommand(in)
		if err != nil {
			return
		}
		s.answer(c, args)
	}
}

// answer carries out a client's command and sends the reply.
func (s *Server) answer(c *session, args []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name := strings.ToUpper(args[0]); {
	case name == "SUBSCRIBE":
		for _, channel := range args[1:] {
			if s.listeners[channel] == nil {
				s.listeners[channel] = make(map[*session]bool)
			}
			s.listeners[channel][c] = true
			c.on = append(c.on, channel)
			c.send([]any{"subscribe", channel, int64(len(c.on))})
		}
	case name == "PING" && len(c.on) > 0:
		c.send([]any{"pong", ""})
	default:
		reply, failed := s.run(args)
		if failed != "" {
			reply = failed
		}
		if s.Ran != nil {
			s.Ran(args)
		}
		c.send(reply)
	}
}

// publish sends a message to all who listen, and returns how many do.
func (s *Server) publish(channel, text string) int64 {
	for c := range s.listeners[channel] {
		c.send([]any{"message", channel, text})
	}
	return int64(len(s.listeners[channel]))
}

func (c *session) send(reply any) {
	var b strings.Builder
	encode(&b, reply)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.out, b.String()) // whoever reads will notice
}

// encode writes a reply in the second version of the protocol.
func encode(b *strings.Builder, reply any) {
	switch v := reply.(type) {
	case nil:
		b.WriteString("$-1\r\n")
	case string:
		b.WriteString("$" + strconv.Itoa(len(v)) + "\r\n" + v + "\r\n")
	case int64:
		b.WriteString(":" + strconv.FormatInt(v, 10) + "\r\n")
	case status:
		fmt.Fprintf(b, "+%s\r\n", string(v))
	case failure:
		fmt.Fprintf(b, "-%s\r\n", strings.NewReplacer("\r", " ", "\n", " ").Replace(string(v)))
	case []any:
		b.WriteString("*" + strconv.Itoa(len(v)) + "\r\n")
		for _, item := range v {
			encode(b, item)
		}
	}
}

// readCommand reads an array of strings.
func readCommand(in *bufio.Reader) ([]string, error) {
	n, err := readLength(in, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := readLength(in, '$')
		if err != nil {
			return nil, err
		}
		text := make([]byte, size+2)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, err
		}
		args[i] = string(text[:size])
	}
	return args, nil
}

func readLength(in *bufio.Reader, mark byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != mark {
		return 0, fmt.Errorf("simredis: %q where %c is expected", line, mark)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}
