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
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// serverName is in the certificate of the servers.
const serverName = "locks.example"

// A URL names the authority, this client's certificate and the server's name, in the same words for
// every store. A server that wants certificates lets nobody in without them.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeCertificate(t, dir)
	file := func(name string) string { return filepath.Join(dir, name) }
	startRedis := func(t *testing.T, addr string) {
		testredis.Start(t, testredis.Redis, "--tls-port", addr[len("127.0.0.1:"):], "--tls-ca-cert-file", file("cert.pem"),
			"--tls-cert-file", file("cert.pem"), "--tls-key-file", file("key.pem"))
	}
	for name, start := range map[string]func(t *testing.T, addr string) (scheme string){
		"Redis": func(t *testing.T, addr string) string {
			startRedis(t, addr)
			return "rediss://"
		},
		"Redis with sentinels": func(t *testing.T, addr string) string {
			primary := testnet.FreeAddr(t)
			startRedis(t, primary)
			testredis.WatchPrimary(t, testredis.Redis, &testredis.Server{Addr: primary}, 0, "tls-port "+addr[len("127.0.0.1:"):], "tls-replication yes",
				"tls-ca-cert-file "+file("cert.pem"), "tls-cert-file "+file("cert.pem"), "tls-key-file "+file("key.pem"))
			return "rediss+sentinel://" + testredis.MasterName + "@"
		},
		"ZooKeeper": func(t *testing.T, addr string) string {
			testzk.Start(t, "secureClientPort="+addr[len("127.0.0.1:"):], "secureClientPortAddress=127.0.0.1",
				"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
				"ssl.keyStore.location="+file("both.pem"), "ssl.trustStore.location="+file("cert.pem"))
			return "zks://"
		},
		"etcd": func(t *testing.T, addr string) string {
			testetcd.Start(t, "--listen-client-urls", "http://"+testnet.FreeAddr(t)+",https://"+addr, "--client-cert-auth",
				"--trusted-ca-file", file("cert.pem"), "--cert-file", file("cert.pem"), "--key-file", file("key.pem"))
			return "etcds://"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := testnet.FreeAddr(t)
			addr = start(t, addr) + addr
			ping := func(leftOut string) error {
				options := url.Values{
					"ca_file": {file("cert.pem")}, "server_name": {serverName}, "cert_file": {file("cert.pem")}, "key_file": {file("key.pem")},
				}
				options.Del(leftOut)
				if leftOut == "cert_file" {
					options.Del("key_file")
				}
				if leftOut == "" {
					options.Set("timeout", testlock.Patience.String())
				} else if !strings.HasPrefix(name, "Redis") { // which says so at once
					options.Set("timeout", "1s")
				}
				return open(t, addr+"?"+options.Encode()).Ping(t.Context())
			}
			testerr.None(t, ping(""))
			saysTLS := func(err error) bool { return err != nil && strings.Contains(err.Error(), "tls") }
			// A server that is slow has not answered within the time-out. In TLS 1.3 a server
			// refuses a client after the client's handshake (RFC 8446, 4.4.2.4): the client may
			// write to the closed connection before it reads why.
			for _, leftOut := range []string{"ca_file", "server_name", "cert_file"} {
				testserver.Await(t, "an error of TLS without "+leftOut, func() bool {
					err := ping(leftOut)
					if err == nil {
						t.Fatalf("it connects without %s", leftOut)
					}
					return saysTLS(err) && (leftOut == "cert_file" || anystore.Trouble(err) == "has an untrusted certificate")
				})
			}
		})
	}
}

// makeCertificate makes a certificate that is the authority's, the servers' and the client's.
func makeCertificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testerr.Must(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "locks"}, DNSNames: []string{serverName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	testerr.Must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	testerr.Must(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": secret, "both.pem": append(cert, secret...)} {
		testerr.Must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
}
