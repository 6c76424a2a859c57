// Package deployment holds the tests of docker-compose.yml and test/servers.yml. They are read by
// the library that docker compose itself reads them with, so that no engine is needed.
package deployment
