package deployment_test

import (
	"net"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameserver answers every question for an address with the same ones, as that of a compose network
// does for the name of several containers.
type nameserver struct {
	addr string

	mu        sync.Mutex
	addresses [][4]byte
}

func newNameserver(t *testing.T) *nameserver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &nameserver{addr: conn.LocalAddr().String()}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 1500)
		for {
			size, client, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if answer, err := n.answer(buffer[:size]); err == nil {
				_, _ = conn.WriteTo(answer, client)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-ended
	})
	return n
}

// point makes the addresses those that are answered from then on.
func (n *nameserver) point(addresses ...[4]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses = addresses
}

func (n *nameserver) answer(query []byte) ([]byte, error) {
	var message dnsmessage.Message
	if err := message.Unpack(query); err != nil {
		return nil, err
	}
	message.Response, message.RecursionAvailable, message.Additionals = true, true, nil
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, question := range message.Questions {
		if question.Type != dnsmessage.TypeA {
			continue
		}
		for _, address := range n.addresses {
			message.Answers = append(message.Answers, dnsmessage.Resource{
				// The time that Docker's name server allows is longer than the proxy ought to
				// believe.
				Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: 600},
				Body:   &dnsmessage.AResource{A: address},
			})
		}
	}
	return message.Pack()
}
