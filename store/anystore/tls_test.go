package anystore_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// serverName is in the certificate of the servers.
const serverName = "locks.example"

// A URL names the authority, this client's certificate and the server's name, in the same words for
// every store. A server that wants certificates lets nobody in without them.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeCertificates(t, dir)
	file := func(name string) string { return filepath.Join(dir, name) }
	freeAddr := func(t *testing.T) string {
		t.Helper()
		addr, err := testnet.FreeAddr(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	redisTLS := func(dashes, addr string) []string {
		return []string{
			dashes + "tls-port", addr[len("127.0.0.1:"):], dashes + "tls-ca-cert-file", file("ca.pem"),
			dashes + "tls-cert-file", file("server.pem"), dashes + "tls-key-file", file("server.key"),
		}
	}
	for name, start := range map[string]func(t *testing.T) string{
		"Redis": func(t *testing.T) string {
			addr := freeAddr(t)
			testredis.Start(t, testredis.Redis, redisTLS("--", addr)...)
			return "rediss://" + addr
		},
		"Redis cluster": func(t *testing.T) string {
			addr := freeAddr(t)
			bus := freeAddr(t)[len("127.0.0.1:"):]
			node := testredis.Start(t, testredis.Redis, append(redisTLS("--", addr), "--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-port", bus)...)
			node.Do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
			testserver.Await(t, "the cluster is complete", func() bool {
				return strings.Contains(node.Text("CLUSTER", "INFO"), "cluster_state:ok")
			})
			return "rediss+cluster://" + addr
		},
		"Redis Sentinel": func(t *testing.T) string {
			primary, sentinel := freeAddr(t), freeAddr(t)
			testredis.Start(t, testredis.Redis, redisTLS("--", primary)...)
			var settings []string
			for pair := range slices.Chunk(append(redisTLS("", sentinel), "tls-replication", "yes"), 2) {
				settings = append(settings, strings.Join(pair, " "))
			}
			testredis.StartSentinelOf(t, testredis.Redis, primary, settings...)
			return "rediss+sentinel://" + testredis.MasterName + "@" + sentinel
		},
		"ZooKeeper": func(t *testing.T) string {
			addr := freeAddr(t)
			testzk.Start(t, "secureClientPort="+addr[len("127.0.0.1:"):], "secureClientPortAddress=127.0.0.1",
				"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
				"ssl.keyStore.location="+file("server-both.pem"), "ssl.trustStore.location="+file("ca.pem"))
			return "zks://" + addr
		},
		"etcd": func(t *testing.T) string {
			plain, addr := freeAddr(t), freeAddr(t)
			testetcd.Start(t, "--listen-client-urls", "http://"+plain+",https://"+addr, "--client-cert-auth",
				"--trusted-ca-file", file("ca.pem"), "--cert-file", file("server.pem"), "--key-file", file("server.key"))
			return "etcds://" + addr
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := start(t)
			ping := func(leftOut string) error {
				options := url.Values{
					"ca_file": {file("ca.pem")}, "server_name": {serverName}, "cert_file": {file("client.pem")}, "key_file": {file("client.key")},
				}
				options.Del(leftOut)
				if leftOut == "cert_file" {
					options.Del("key_file")
				}
				if leftOut != "" && !strings.HasPrefix(name, "Redis") { // which says so at once
					options.Set("timeout", "1s")
				}
				store, err := anystore.Open(t.Context(), addr+"?"+options.Encode())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close(t.Context()) })
				return store.Ping(t.Context())
			}
			if err := ping(""); err != nil {
				t.Error(err)
			}
			for _, leftOut := range []string{"ca_file", "server_name", "cert_file"} {
				if ping(leftOut) == nil {
					t.Errorf("it connects without %s", leftOut)
				}
			}
		})
	}
}

// makeCertificates makes an authority, and a server's and a client's certificates.
func makeCertificates(t *testing.T, dir string) {
	t.Helper()
	write := func(name, kind string, der []byte) []byte {
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		return text
	}
	var authority *x509.Certificate
	var authorityKey *ecdsa.PrivateKey
	for i, name := range []string{"ca", "server", "client"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(t, err)
		c := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: name}, DNSNames: []string{serverName},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: name == "ca",
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}
		if authority == nil {
			authority, authorityKey = c, key
		}
		der, err := x509.CreateCertificate(rand.Reader, c, authority, &key.PublicKey, authorityKey)
		must(t, err)
		private, err := x509.MarshalPKCS8PrivateKey(key)
		must(t, err)
		both := append(write(name+".pem", "CERTIFICATE", der), write(name+".key", "PRIVATE KEY", private)...)
		must(t, os.WriteFile(filepath.Join(dir, name+"-both.pem"), both, 0o600))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
