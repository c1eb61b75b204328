package mongodb

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/transport"
)

// target is where a session connects to, and as whom.
type target struct {
	options        *options.ClientOptions
	hosts          []string
	user, password string
	database       string
}

const defaultPort = 27017

// checkEvery is how often the library looks after its servers. It also does so
// at once when a command fails.
const checkEvery = time.Minute

// String names the target in messages, without a secret.
func (t target) String() string { return strings.Join(t.hosts, ",") + "/" + t.database }

// targetOf resolves the references in cfg.
func targetOf(ctx context.Context, cfg exportconfig.Source, resolve endpoint.Resolve) (target, error) {
	raw, password, err := endpoint.Secrets(ctx, cfg, resolve)
	if err != nil {
		return target{}, err
	}
	t, asked := target{}, transport.Target{}
	if raw != "" {
		t, asked, err = parseURL(strings.TrimSpace(raw))
	} else {
		t, err = structured(cfg, password)
	}
	if err != nil {
		return t, err
	}
	if t.database == "" {
		return t, badURL("it names no database")
	}
	if t.options.AppName == nil {
		t.options.SetAppName("lapstrake")
	}
	t.options.SetServerMonitoringMode(options.ServerMonitoringModePoll).SetHeartbeatInterval(checkEvery).SetReadConcern(readconcern.Majority())
	if t.options.ReadPreference == nil {
		t.options.SetReadPreference(readpref.Primary())
	}
	return t, t.encrypt(asked, cfg.TLS)
}

// badURL says what is wrong with a URL and never quotes it: whatever part of
// it looks harmless may be a piece of a password with a stray character.
func badURL(why string) error {
	return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_URL", "the source's connection cannot be used: %s. "+
		"A URL has the form mongodb://user:password@host:27017/database?authSource=admin, or mongodb+srv://…, with characters such as @ : / ? # %% in the password percent-encoded", why)
}

// notRead is for a URL that the library does not take. Its text may quote what
// was given. The hosts of mongodb+srv are looked up while it is read, and a look
// that fails may be better the next time.
func notRead(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return fault.New(fault.Retryable, failure.Unreachable, "connect: the host name of mongodb+srv has no record of the service, or cannot be looked up")
	}
	return badURL("it cannot be read as a connection string")
}

// structured is what host, port, user, password and database say. Such a user
// signs in at the database admin.
func structured(cfg exportconfig.Source, password string) (target, error) {
	port := cfg.Port
	if port == 0 {
		port = defaultPort
	}
	if _, ok := endpoint.Port(strconv.Itoa(port)); !ok {
		return target{}, badURL(endpoint.BadPort)
	}
	if cfg.Host == "" {
		return target{}, badURL("it names no host")
	}
	host := net.JoinHostPort(strings.Trim(cfg.Host, "[]"), strconv.Itoa(port))
	if strings.HasPrefix(cfg.Host, "/") {
		host = cfg.Host
	}
	t := target{hosts: []string{host}, user: cfg.User, password: password, database: cfg.Database}
	t.options = options.Client().SetHosts(t.hosts).SetConnectTimeout(endpoint.ConnectTimeout).SetServerSelectionTimeout(endpoint.ConnectTimeout)
	if cfg.User != "" {
		t.options.SetAuth(options.Credential{Username: cfg.User, Password: password, AuthSource: "admin"})
	}
	return t, nil
}

// parseURL reads a connection URL, with the parameters that MongoDB's own tools
// know, and what it says of encryption.
func parseURL(raw string) (target, transport.Target, error) {
	asked := transport.Target{}
	scheme, rest, _ := strings.Cut(raw, "://")
	if scheme != "mongodb" && scheme != "mongodb+srv" {
		return target{}, asked, badURL("its scheme is not mongodb")
	}
	o := options.Client().ApplyURI(raw)
	if err := o.Validate(); err != nil {
		return target{}, asked, notRead(err)
	}
	t := target{options: o, hosts: o.Hosts}
	if o.Auth != nil {
		t.user, t.password = o.Auth.Username, o.Auth.Password
	}
	address, query, _ := strings.Cut(rest, "?")
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		address = address[at+1:]
	}
	if slash := strings.LastIndexByte(address, '/'); slash >= 0 {
		if name, err := url.PathUnescape(address[slash+1:]); err == nil && !strings.HasSuffix(name, ".sock") {
			t.database = name
		}
	}
	if o.ConnectTimeout == nil {
		o.SetConnectTimeout(endpoint.ConnectTimeout)
	}
	if o.ServerSelectionTimeout == nil {
		o.SetServerSelectionTimeout(endpoint.ConnectTimeout)
	}
	if o.TLSConfig != nil {
		asked.Mode = "verify-full"
		if o.TLSConfig.InsecureSkipVerify {
			asked.Mode = "require"
		}
	}
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return target{}, asked, badURL("its parameters cannot be read")
	}
	for name := range parameters {
		if strings.EqualFold(name, "tlsCAFile") {
			asked.RootCert = parameters.Get(name)
		}
	}
	return t, asked, nil
}

// encrypt applies the rule of package transport to every host, and the stricter
// of what the URL and the tls block ask for.
func (t *target) encrypt(asked transport.Target, block exportconfig.TLS) error {
	var config *tls.Config
	for _, host := range t.hosts {
		asked.Host = host
		if name, _, err := net.SplitHostPort(host); err == nil {
			asked.Host = name
		}
		var err error
		if config, err = transport.Config(asked, block); err != nil {
			return err
		}
		if config == nil && block.Mode != "disable" && !asked.Socket() {
			t.options.SetDialer(dialer(transport.DialLocal((&net.Dialer{Timeout: endpoint.ConnectTimeout}).DialContext, net.DefaultResolver.LookupHost)))
		}
	}
	if config != nil {
		config.ServerName = "" // the library sets that of each host
		if own := t.options.TLSConfig; own != nil {
			config.Certificates = own.Certificates
		}
	}
	t.options.SetTLSConfig(config)
	return nil
}

type dialer transport.Dial

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d(ctx, network, address)
}
