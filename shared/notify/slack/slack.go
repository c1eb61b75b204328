// Package slack posts events to a Slack-compatible webhook. Layer: L4
// (observability).
package slack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
)

// Timeout bounds one post, so that a receiver that hangs cannot hold up a
// function.
const Timeout = 10 * time.Second

// The occasions of notifications.slack.on.
const (
	OnFailure      = "failure"
	OnSchemaChange = "schema_change"
	OnDegraded     = "degraded"
)

// Config says where to post and on which occasions. URL is a secret: whoever
// has it can post.
type Config struct {
	URL string
	On  []string
	// Client is http.DefaultClient's transport with Timeout when nil.
	Client *http.Client
}

// Notifier posts to one webhook.
type Notifier struct {
	url    string
	on     []string
	client *http.Client
}

// New checks the config.
func New(c Config) (*Notifier, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_WEBHOOK_INVALID", "notifications.slack: the webhook URL is not an http or https URL (its value is not shown)")
	}
	for _, on := range c.On {
		if on != OnFailure && on != OnSchemaChange && on != OnDegraded {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_WEBHOOK_INVALID", "notifications.slack: on: %q is none of failure, schema_change, degraded", on)
		}
	}
	n := &Notifier{url: c.URL, on: slices.Clone(c.On), client: c.Client}
	if n.client == nil {
		n.client = &http.Client{Timeout: Timeout}
	}
	return n, nil
}

// Notify posts e if its occasion is wanted.
func (n *Notifier) Notify(ctx context.Context, e notify.Event) error {
	if !n.wants(e) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	body, err := json.Marshal(message(e))
	if err != nil {
		return fmt.Errorf("encode the notification of run %s: %w", e.RunID, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("notify of run %s: %w", e.RunID, withoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := n.client.Do(req)
	if err != nil {
		return fmt.Errorf("notify of run %s: %w", e.RunID, withoutURL(err))
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 4096)) // so that the connection can be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("notify of run %s: the webhook answered %s", e.RunID, res.Status)
	}
	return nil
}

func (n *Notifier) wants(e notify.Event) bool {
	if e.ForCallback() {
		return false
	}
	return e.Failed() && slices.Contains(n.on, OnFailure) ||
		e.SchemaChanged && slices.Contains(n.on, OnSchemaChange) ||
		e.Degraded() && slices.Contains(n.on, OnDegraded)
}

// withoutURL drops what http.Client puts before a cause: the URL is a secret.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// The body has the shape of reference §8.5.
type payload struct {
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	Color  string `json:"color"`
	Title  string `json:"title"`
	Text   string `json:"text"`
	Footer string `json:"footer"`
}

const (
	red   = "#e74c3c"
	amber = "#f39c12"
)

func message(e notify.Event) payload {
	color := amber
	if e.Failed() {
		color = red
	}
	var text strings.Builder
	subject := cmp.Or(string(e.Export), e.Prefix)
	fmt.Fprintf(&text, "*%s* | status: `%s` | rows: %d", escape(subject), escape(e.Status), e.Rows)
	if e.Kind == notify.RunEnded {
		fmt.Fprintf(&text, " | duration: %dms", e.DurationMillis)
	}
	if e.Verdict != "" {
		fmt.Fprintf(&text, " | verdict: `%s`", escape(e.Verdict))
	}
	if e.Failure != nil {
		text.WriteString("\nerror: ")
		if e.Failure.Code != "" {
			fmt.Fprintf(&text, "[%s] ", e.Failure.Code)
		}
		text.WriteString(escape(e.Failure.Message))
	}
	if len(e.Findings) > 0 {
		const most = 5
		text.WriteString("\nfound: " + escape(strings.Join(e.Findings[:min(len(e.Findings), most)], ", ")))
		if rest := len(e.Findings) - most; rest > 0 {
			fmt.Fprintf(&text, " and %d more", rest)
		}
	}
	if e.SchemaChanged {
		text.WriteString("\nschema changed")
	}
	if e.Prefix != subject && e.Prefix != "" {
		text.WriteString("\n" + escape(e.Prefix))
	}
	title := "lapstrake: " + cmp.Or(string(e.RunID), e.Prefix)
	return payload{Attachments: []attachment{{Color: color, Title: title, Text: text.String(), Footer: "lapstrake export notification"}}}
}

// escape keeps names and messages from being read as mentions or links.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
