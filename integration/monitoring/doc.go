// Package monitoring holds the tests of deploy/prometheus and deploy/grafana: the dashboard and the
// alert rules name metrics that exist, and answer on a real Prometheus that scrapes the sample app
// under load.
package monitoring
