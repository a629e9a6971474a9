// Command supervise-fleet-server is a Temporal server in one program, with its data in one
// file, for a try of supervise-fleet on one machine and for its tests. It does not
// authenticate anyone, and listens on this machine only.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	schema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

func main() {
	address := flag.String("address", "127.0.0.1:7233", "`host:port` on which it listens; the host has to be this machine")
	data := flag.String("data", "", "`file` that keeps everything; required")
	flag.Parse()
	if err := run(*address, *data); err != nil {
		fmt.Fprintln(os.Stderr, "supervise-fleet-server:", err)
		os.Exit(1)
	}
}

// host is where the services listen.
const host = "127.0.0.1"

func run(address, data string) error {
	if data == "" {
		return errors.New("name the file for its data with --data")
	}
	at, number, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if at != "localhost" && at != "" && !net.ParseIP(at).IsLoopback() {
		return fmt.Errorf("%s: the server does not authenticate anyone, so it listens on this machine only (127.0.0.1)", at)
	}
	port, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	c, hosts, err := configuration(port, data)
	if err != nil {
		return err
	}
	if err := prepare(c, data); err != nil {
		return fmt.Errorf("prepare %s: %w", data, err)
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Stdout: true, Level: "warn"}))
	server, err := temporal.NewServer(
		temporal.WithConfig(c), temporal.ForServices(temporal.DefaultServices), temporal.WithStaticHosts(hosts), temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{}),
	)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	if err := server.Start(); err != nil {
		return err
	}
	fmt.Println("listening on", net.JoinHostPort(host, number))
	<-stop
	return server.Stop()
}

// configuration is that of a server with one shard and its data in one file.
func configuration(port int, data string) (*config.Config, map[primitives.ServiceName]static.Hosts, error) {
	const name = sqlite.PluginName
	c := &config.Config{
		Global: config.Global{Membership: config.Membership{BroadcastAddress: host}},
		Persistence: config.Persistence{
			DefaultStore: name, VisibilityStore: name, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{name: {SQL: &config.SQL{
				PluginName: name, DatabaseName: data,
				ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "normal"},
			}}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
			ClusterInformation: map[string]cluster.ClusterInformation{
				"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: net.JoinHostPort(host, strconv.Itoa(port))},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{},
		Archival:            config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}},
		PublicClient:        config.PublicClient{HostPort: net.JoinHostPort(host, strconv.Itoa(port))},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History: config.HistoryArchivalNamespaceDefaults{State: "disabled"}, Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for _, service := range []primitives.ServiceName{primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService} {
		p := port
		if service != primitives.FrontendService {
			var err error
			if p, err = free(); err != nil {
				return nil, nil, err
			}
		}
		c.Services[string(service)] = config.Service{RPC: config.RPC{GRPCPort: p, BindOnLocalHost: true}}
		hosts[service] = static.SingleLocalHost(net.JoinHostPort(host, strconv.Itoa(p)))
	}
	return c, hosts, nil
}

// free finds an unused port.
func free() (int, error) {
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// prepare makes the tables, once, and the namespace.
func prepare(c *config.Config, data string) error {
	sql := c.Persistence.DataStores[sqlite.PluginName].SQL
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(data), 0o700); err != nil {
			return err
		}
		// A partial file would be taken for a complete one.
		temp := *sql
		temp.DatabaseName = data + ".new"
		temp.ConnectAttributes = map[string]string{"mode": "rwc"}
		if err := errors.Join(remove(temp.DatabaseName), schema.SetupSchema(&temp), os.Rename(temp.DatabaseName, data)); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	namespace, err := schema.NewNamespaceConfig(c.ClusterMetadata.CurrentClusterName, "default", false, nil)
	if err != nil {
		return err
	}
	return schema.CreateNamespaces(sql, namespace)
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
