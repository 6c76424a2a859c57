// Package deployment tests what runs the sample app: docker-compose.yml, deploy/nginx.conf, and the
// alert rules and the dashboard of deploy/prometheus and deploy/grafana. A compose file is read by
// the library that docker compose itself reads it with, so that no engine is needed; nginx and
// Prometheus run.
package deployment
