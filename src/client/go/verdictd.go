// Package verdictd asks verdictd, bot detection that you host yourself, whether a visitor is a person or a program, and acts on the answer. One file,
// Go 1.19 or newer, no dependencies. Your verdictd server gives it out in its own version under /clients/verdictd.go, and explains it under
// /docs/any-language.
//
//	guard, err := verdictd.New(verdictd.Options{
//		Client: verdictd.ClientOptions{BaseURL: "http://127.0.0.1:8080", PrivateKey: os.Getenv("PRIVATE_KEY")},
//	})
//	http.ListenAndServe(":3000", guard.Handler(mux))
//
// Handlers find the visit by VisitOf(request). Without an answer in 150 ms the visitor is let in: a broken or missing server never stops your site.
package verdictd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Version is that of the server that gave this file out.
const Version = "0.0.0"

var tokenForm = regexp.MustCompile(`^sess_[A-Za-z0-9_-]{1,128}$`)

func isToken(token string) bool { return tokenForm.MatchString(token) }

// What rules see of a path

// RulePath returns the path that rules see for a request target, and false for a target that is no path. Linear in the target's length.
func RulePath(target string) (string, bool) {
	path := target
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	path = strings.ReplaceAll(text(path), `\`, "/")
	if !strings.HasPrefix(path, "/") {
		authority := authorityForm.FindString(path)
		if authority == "" {
			return "", false
		}
		if path = path[len(authority):]; path == "" {
			path = "/"
		}
	}
	path = controlForm.ReplaceAllStringFunc(path, percentEncoded)
	segments := strings.Split(decoded(path), "/")
	kept := []string{}
	for _, segment := range segments {
		switch segment {
		case "..":
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
		case "", ".":
		default:
			kept = append(kept, segment)
		}
	}
	path = "/" + strings.Join(kept, "/")
	if last := segments[len(segments)-1]; len(kept) > 0 && (last == "" || last == "." || last == "..") {
		path += "/"
	}
	if len(path) > 512 && utf16Length(path) > 512 {
		path = cutOctetForm.ReplaceAllString(utf16Cut(path, 512), "")
		path = cutDotsForm.ReplaceAllString(path, "/")
	}
	return path, true
}

var (
	authorityForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/]*`)
	controlForm   = regexp.MustCompile(`[\x00-\x1f\x7f-\x{9f}]`)
	cutOctetForm  = regexp.MustCompile(`%[0-9A-F]?$`)
	cutDotsForm   = regexp.MustCompile(`/\.{1,2}$`)
)

func percentEncoded(part string) string {
	encoded := ""
	for _, octet := range []byte(part) {
		encoded += fmt.Sprintf("%%%02X", octet)
	}
	return encoded
}

// decoded decodes octets that form valid UTF-8; delimiters and control characters stay encoded, in capitals. One pass from the left, on a stack: what a
// decoded character completes (`%6%33` is `%63`) is decoded as well.
func decoded(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	stack := make([]byte, 0, len(path))
	for at := 0; at < len(path); at++ {
		stack = append(stack, path[at])
		for len(stack) > 2 && stack[len(stack)-3] == '%' {
			octet := octetBefore(stack, len(stack))
			if octet < 0 {
				break
			}
			if octet >= 0x80 {
				stack = takeOctet(stack, octet)
				break
			}
			if octet < 0x20 || octet == 0x7f || strings.IndexByte(`/\%?#;`, byte(octet)) >= 0 {
				copy(stack[len(stack)-2:], fmt.Sprintf("%02X", octet))
				break
			}
			stack = append(stack[:len(stack)-3], byte(octet))
		}
	}
	return string(stack)
}

// octetBefore returns the octet that three characters before end encode, or -1.
func octetBefore(stack []byte, end int) int {
	if end < 3 || stack[end-3] != '%' {
		return -1
	}
	high, low := hexValue(stack[end-2]), hexValue(stack[end-1])
	if high < 0 || low < 0 {
		return -1
	}
	return high<<4 | low
}

func hexValue(character byte) int {
	switch {
	case character >= '0' && character <= '9':
		return int(character - '0')
	case character|0x20 >= 'a' && character|0x20 <= 'f':
		return int(character|0x20-'a') + 10
	}
	return -1
}

// takeOctet decodes the last octet with those before it if they form a character.
func takeOctet(stack []byte, octet int) []byte {
	end := len(stack)
	copy(stack[end-2:], fmt.Sprintf("%02X", octet))
	octets := []byte{byte(octet)}
	for octet < 0xc0 && len(octets) < 4 {
		end -= 3
		if octet = octetBefore(stack, end); octet < 0x80 {
			return stack
		}
		octets = append([]byte{byte(octet)}, octets...)
	}
	character, size := utf8.DecodeRune(octets)
	if character == utf8.RuneError && size < 3 || size != len(octets) || character < 0xa0 {
		return stack
	}
	return append(stack[:end-3], octets...)
}

func utf16Length(value string) int {
	units := 0
	for _, character := range value {
		units += 1
		if character > 0xffff {
			units++
		}
	}
	return units
}

// utf16Cut returns the first so many UTF-16 units; no character is cut in two.
func utf16Cut(value string, most int) string {
	if len(value) <= most {
		return value
	}
	for at, character := range value {
		most--
		if character > 0xffff {
			most--
		}
		if most < 0 {
			return value[:at]
		}
	}
	return value
}

// text returns bytes as text: as they are where they are UTF-8, else a character for each.
func text(value string) string {
	if utf8.ValidString(value) {
		return value
	}
	characters := make([]rune, len(value))
	for at := range characters {
		characters[at] = rune(value[at])
	}
	return string(characters)
}

func wordsOf(list string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(list) {
		words[word] = true
	}
	return words
}

var staticExtensions = wordsOf("7z avi avif bmp br bz2 css csv doc docx eot eps flac flv gif gz ico jar jpeg jpg js jxl m4a m4v map mjs mkv mov mp3 mp4 " +
	"mpeg mpg oga ogg ogv opus otf pdf png ppt pptx psd rar svg svgz swf tar tif tiff ttf txt wasm wav webm webmanifest webp " +
	"woff woff2 xls xlsx xml zip zst")

// Those of them of which pages are made; the others are what people come for.
var pageParts = wordsOf("avif bmp css eot gif ico jpeg jpg js jxl map mjs otf png svg svgz ttf wasm webmanifest webp woff woff2")

func isStatic(path string, extensions map[string]bool) bool {
	if utf16Length(path) >= 508 || strings.HasPrefix(path, "/.well-known/") {
		return false
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && extensions[strings.ToLower(name[dot+1:])] && !isAmbiguous(name)
}

// isAmbiguous reports what servers read in different ways: path parameters, encoded delimiters, and a `%` that encodes nothing.
func isAmbiguous(name string) bool {
	for at := 0; at < len(name); at++ {
		if name[at] == ';' {
			return true
		}
		if name[at] != '%' {
			continue
		}
		octet := -1
		if at+3 <= len(name) {
			octet = octetBefore([]byte(name), at+3)
		}
		if octet < 0x20 || octet == 0x7f || strings.IndexByte(`#%/;?\`, byte(octet)) >= 0 {
			return true
		}
	}
	return false
}

// The client

// BreakerOptions say when the client leaves verdictd alone, and for how long. Zero: the default.
type BreakerOptions struct {
	// FailuresMax is the number of failures in a row after which it opens; default 5.
	FailuresMax int
	// OpenMS is how long it stays open at first, doubled by every failed probe; default 1000.
	OpenMS int
	// OpenMSMax is the longest it stays open; default 30000.
	OpenMSMax int
}

// breaker stops asking a verdictd that does not answer. One probe at a time finds out whether it is back.
type breaker struct {
	mutex     sync.Mutex
	options   BreakerOptions
	failures  int
	slowFor   map[string]bool
	open      time.Duration
	openUntil time.Time
	isOpen    bool
}

func newBreaker(options BreakerOptions) (*breaker, error) {
	for _, each := range []struct {
		name  string
		value int
	}{{"FailuresMax", options.FailuresMax}, {"OpenMS", options.OpenMS}, {"OpenMSMax", options.OpenMSMax}} {
		if each.value < 0 {
			return nil, fmt.Errorf("breaker.%s: expected a number above 0", each.name)
		}
	}
	if options.FailuresMax == 0 {
		options.FailuresMax = 5
	}
	if options.OpenMS == 0 {
		options.OpenMS = 1000
	}
	if options.OpenMSMax == 0 {
		options.OpenMSMax = 30000
		if options.OpenMS > options.OpenMSMax {
			options.OpenMSMax = options.OpenMS
		}
	}
	if options.OpenMSMax < options.OpenMS {
		return nil, fmt.Errorf("breaker.OpenMSMax: expected at least %d, which is OpenMS", options.OpenMS)
	}
	return &breaker{options: options, slowFor: map[string]bool{}, open: ms(options.OpenMS)}, nil
}

func ms(count int) time.Duration { return time.Duration(count) * time.Millisecond }

// admit returns "normal", "probe", or "" while it is open.
func (b *breaker) admit(now time.Time) string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !b.isOpen {
		return "normal"
	}
	if now.Before(b.openUntil) {
		return ""
	}
	b.openUntil = now.Add(b.open)
	return "probe"
}

func (b *breaker) succeed() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.failures, b.isOpen, b.open = 0, false, ms(b.options.OpenMS)
	if len(b.slowFor) > 0 {
		b.slowFor = map[string]bool{}
	}
}

// fail reports whether this failure opened it. Of one visitor's slow answers only the first in a row counts: a visitor can make his own requests slow.
func (b *breaker) fail(went string, now time.Time, slowVisitor string) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if went == "probe" {
		if b.open *= 2; b.open > ms(b.options.OpenMSMax) {
			b.open = ms(b.options.OpenMSMax)
		}
		b.openUntil = now.Add(b.open)
		return false
	}
	if slowVisitor != "" {
		if b.slowFor[slowVisitor] {
			return false
		}
		b.slowFor[slowVisitor] = true
	}
	if b.isOpen {
		return false
	}
	if b.failures++; b.failures < b.options.FailuresMax {
		return false
	}
	b.isOpen, b.openUntil = true, now.Add(b.open)
	return true
}

// Failure is what went wrong, for OnError. It holds no secret.
type Failure struct {
	// Reason is timeout, network, unauthenticated, no_subscription, bad_status, malformed, circuit_open, hook_threw, unknown_session or challenge_unhandled.
	Reason  string
	Message string
	// Status is verdictd's, 0 where it did not answer.
	Status    int
	RequestID string
	Cause     error
}

// ClientOptions are what a client is made of. Zero values are the defaults.
type ClientOptions struct {
	// BaseURL is verdictd's address: http://127.0.0.1:8080; a path prefix is kept.
	BaseURL string
	// PrivateKey is the project's private key (sk_…).
	PrivateKey string
	// TimeoutMS is how long a visitor waits for a verdict at most, 1 to 10000; default 150.
	TimeoutMS int
	// LoggedInTimeoutMS is how long one report of a login may take, 1 to 60000; default 1000.
	LoggedInTimeoutMS int
	// LoggedInRetryMS are the pauses before the second, third, … report of a login; nil: 500 and 1500.
	LoggedInRetryMS []int
	// Mode is "enforce", the default, or "monitor", which reads verdicts and acts on none.
	Mode string
	// OnError is told of every failure; nil: the standard logger, each reason at most once a minute.
	OnError func(Failure)
	Breaker BreakerOptions
	// Now is the breaker's clock; nil: time.Now.
	Now func() time.Time
}

// Client asks one project's verdictd. It is safe for concurrent use. Its calls never fail: the verdict says why there is none.
type Client struct {
	// Mode is "enforce" or "monitor".
	Mode     string
	base     string
	key      string
	timeout  int
	loggedIn int
	retries  []int
	onError  func(Failure)
	breaker  *breaker
	now      func() time.Time
	http     *http.Client
}

// NewClient makes a client, or says which option is mistaken.
func NewClient(options ClientOptions) (*Client, error) {
	made, err := newBreaker(options.Breaker)
	if err != nil {
		return nil, err
	}
	base, err := checkedBase(options.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := checkKey(options.PrivateKey); err != nil {
		return nil, err
	}
	client := &Client{
		Mode: options.Mode, base: base, key: options.PrivateKey, timeout: options.TimeoutMS, loggedIn: options.LoggedInTimeoutMS,
		retries: options.LoggedInRetryMS, onError: options.OnError, breaker: made, now: options.Now,
	}
	if client.Mode == "" {
		client.Mode = "enforce"
	}
	if client.Mode != "enforce" && client.Mode != "monitor" {
		return nil, fmt.Errorf("Mode: unknown value `%s`%s", client.Mode, hint(client.Mode, "enforce", "monitor"))
	}
	if client.timeout == 0 {
		client.timeout = 150
	}
	if client.loggedIn == 0 {
		client.loggedIn = 1000
	}
	if client.retries == nil {
		client.retries = []int{500, 1500}
	}
	if err := checkMS("TimeoutMS", client.timeout, 1, 10000); err != nil {
		return nil, err
	}
	if err := checkMS("LoggedInTimeoutMS", client.loggedIn, 1, 60000); err != nil {
		return nil, err
	}
	for _, each := range client.retries {
		if err := checkMS("LoggedInRetryMS", each, 0, 60000); err != nil {
			return nil, err
		}
	}
	if client.onError == nil {
		client.onError = warner()
	}
	if client.now == nil {
		client.now = time.Now
	}
	client.http = &http.Client{
		// verdictd closes a connection after 10 idle seconds; this side does it before.
		Transport: &http.Transport{
			IdleConnTimeout: 4 * time.Second, MaxIdleConnsPerHost: 256, MaxConnsPerHost: 256, DisableCompression: true,
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		},
		// The key must not travel to wherever an answer points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client, nil
}

func checkMS(name string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("%s: expected %d to %d ms", name, least, most)
	}
	return nil
}

func checkedBase(given string) (string, error) {
	if given == "" {
		return "", errors.New("BaseURL: missing; expected verdictd's address, such as http://127.0.0.1:8080")
	}
	base, err := url.Parse(given)
	if err != nil {
		return "", errors.New("BaseURL: expected an address such as http://127.0.0.1:8080")
	}
	if base.Scheme != "http" && base.Scheme != "https" {
		return "", errors.New("BaseURL: expected http or https")
	}
	if base.User != nil || strings.ContainsAny(given, "?#") {
		return "", errors.New("BaseURL: expected no credentials, query or fragment")
	}
	if base.Host == "" {
		return "", errors.New("BaseURL: expected an address such as http://127.0.0.1:8080")
	}
	return strings.TrimRight(given, "/"), nil
}

var keyForm = regexp.MustCompile(`^sk_[A-Za-z0-9_-]{1,125}$`)

// checkKey never echoes the key.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("PrivateKey: missing; expected the project's private key (sk_…), often from the environment")
	case strings.HasPrefix(key, "pk_"):
		return errors.New("PrivateKey: got the site key (pk_…); expected the project's private key (sk_…)")
	case !keyForm.MatchString(key):
		return errors.New("PrivateKey: expected the project's private key (sk_…)")
	}
	return nil
}

func hint(word string, words ...string) string {
	nearest, least := "", 3
	for _, each := range words {
		if distance := editDistance(word, each); distance < least {
			nearest, least = each, distance
		}
	}
	if nearest != "" {
		return fmt.Sprintf("; did you mean `%s`?", nearest)
	}
	return fmt.Sprintf("; expected one of `%s`", strings.Join(words, "`, `"))
}

func editDistance(one, other string) int {
	row := make([]int, len(other)+1)
	for at := range row {
		row[at] = at
	}
	for i := 0; i < len(one); i++ {
		before := row[0]
		row[0] = i + 1
		for j := 0; j < len(other); j++ {
			next := before
			if one[i] != other[j] {
				next++
			}
			before = row[j+1]
			if row[j+1]+1 < next {
				next = row[j+1] + 1
			}
			if row[j]+1 < next {
				next = row[j] + 1
			}
			row[j+1] = next
		}
	}
	return row[len(other)]
}

func warner() func(Failure) {
	var mutex sync.Mutex
	warned := map[string]time.Time{}
	return func(failure Failure) {
		mutex.Lock()
		defer mutex.Unlock()
		if time.Since(warned[failure.Reason]) < time.Minute {
			return
		}
		warned[failure.Reason] = time.Now()
		log.Printf("%s (verdictd: %s)", failure.Message, failure.Reason)
	}
}

// Verdict is a verdict and what became of the reading.
type Verdict struct {
	Verdict string
	Score   float64
	// Action is what to do: verdictd's action, or "allow" in monitor mode and after a failure.
	Action       string
	DetectionIDs []int
	Reason       string
	// ResolvedAction is what verdictd said, in monitor mode too.
	ResolvedAction string
	// RequestID is the verdict's id for support.
	RequestID string
	// Failed says why there is none; "" for one that verdictd gave, and for a visitor without a session.
	Failed string
	// SessionToken is for the visitor's cookie, where one was asked for.
	SessionToken string
	// Others are `subject`, `agent`, `signed_agent` and whatever a newer verdictd adds.
	Others map[string]any
}

func failOpen(failed string) Verdict {
	reason := "No verdict: the visitor has no session yet."
	if failed != "" {
		reason = "No verdict: " + failed + "."
	}
	return Verdict{Verdict: "not_computed", Action: "allow", ResolvedAction: "allow", DetectionIDs: []int{}, Reason: reason, Failed: failed}
}

var actions = map[string]bool{"allow": true, "challenge": true, "block": true, "log": true, "delay": true}

// decodeVerdict is strict in what is acted upon; a band that a newer verdictd has added passes.
func decodeVerdict(body []byte, mode, requestID string) (Verdict, bool) {
	var value map[string]any
	if json.Unmarshal(body, &value) != nil || value == nil {
		return Verdict{}, false
	}
	band, isBand := value["verdict"].(string)
	score, isScore := value["score"].(float64)
	action, _ := value["action"].(string)
	reason, isReason := value["reason"].(string)
	ids, areIDs := value["detection_ids"].([]any)
	if !isBand || !isReason || !areIDs || !actions[action] || !isScore || score < 0 || score > 99 {
		return Verdict{}, false
	}
	verdict := Verdict{
		Verdict: band, Score: score, Action: action, ResolvedAction: action, Reason: reason, RequestID: requestID, DetectionIDs: []int{}, Others: value,
	}
	for _, each := range ids {
		id, isNumber := each.(float64)
		if !isNumber {
			return Verdict{}, false
		}
		verdict.DetectionIDs = append(verdict.DetectionIDs, int(id))
	}
	if mode == "monitor" {
		verdict.Action = "allow"
	}
	if token, _ := value["session_token"].(string); isToken(token) {
		verdict.SessionToken = token
	}
	for _, name := range []string{"verdict", "score", "action", "detection_ids", "reason", "session_token"} {
		delete(value, name)
	}
	return verdict, true
}

// Context is what rules see of a visitor's request. Empty: unknown.
type Context struct {
	Path, Method, Host, IP, UserAgent string
}

// Request is a visitor's request, as far as the backend knows it.
type Request struct {
	Context
	// Target is the request target as the visitor sent it, where Path is another spelling; a signature may cover it.
	Target string
	// Headers are values by name. Cookies, keys, tokens and other credentials among them are not sent.
	Headers http.Header
}

// Verdict returns the verdict of a session. Without a well-formed token nothing is asked: such a visitor is allowed.
func (c *Client) Verdict(sessionToken string, seen Context) Verdict {
	if !isToken(sessionToken) {
		return failOpen("")
	}
	return c.ask("GET", "/v1/sessions/"+sessionToken+"/verdict", contextHeaders(seen), nil, visitorOf(sessionToken, seen), 0)
}

// Judge returns the verdict on a request, with or without a session (POST /v1/verdict). waitMS: how long verdictd may wait for a report, 0 to 1000.
func (c *Client) Judge(sessionToken string, request Request, issueToken bool, waitMS int) Verdict {
	if !isToken(sessionToken) {
		sessionToken, waitMS = "", 0
	}
	if waitMS < 0 {
		waitMS = 0
	} else if waitMS > 1000 {
		waitMS = 1000
	}
	body := judgedBody(sessionToken, request, issueToken, waitMS)
	return c.ask("POST", "/v1/verdict", jsonHeaders, body, visitorOf(sessionToken, request.Context), waitMS)
}

var jsonHeaders = map[string]string{"Content-Type": "application/json"}

func (c *Client) ask(method, path string, headers map[string]string, body []byte, visitor string, waitedMS int) Verdict {
	var verdict Verdict
	failed := c.call(method, path, headers, body, c.timeout+waitedMS, visitor, func(answer answer) (isOfUse bool) {
		if answer.status == 200 {
			verdict, isOfUse = decodeVerdict(answer.body, c.Mode, answer.requestID)
		}
		return isOfUse
	})
	if failed != "" {
		return failOpen(failed)
	}
	return verdict
}

// Page is an answer in full.
type Page struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// ChallengePage returns the page of verdictd's own challenge, or nil where it can't be had. options: fields of the body of POST /v1/challenge-page.
func (c *Client) ChallengePage(options map[string]any) *Page {
	body := map[string]any{"session_token": nil, "request": map[string]any{}, "action": "challenge"}
	for name, value := range options {
		body[name] = value
	}
	var page *Page
	c.call("POST", "/v1/challenge-page", jsonHeaders, encoded(body), c.timeout, "", func(answer answer) bool {
		if answer.status != 200 {
			return false
		}
		var read Page
		if json.Unmarshal(answer.body, &read) != nil || read.Status == 0 || read.Headers == nil {
			return false
		}
		page = &read
		return true
	})
	return page
}

// LoggedIn is what came of reporting a login.
type LoggedIn struct {
	OK         bool
	AssertedAt string
	// Reason is no_session, unknown_session or that of a failure.
	Reason string
}

var assertedForm = regexp.MustCompile(`"asserted_at":"([^"]+)"`)

// LoggedIn asserts that the session's visitor has just logged in. A login can arrive before the session's first report, so it is tried again after a
// pause: call it with `go` and a context of its own.
func (c *Client) LoggedIn(ctx context.Context, sessionToken string) LoggedIn {
	if !isToken(sessionToken) {
		return LoggedIn{Reason: "no_session"}
	}
	result := c.assertLoggedIn(sessionToken)
	for _, pause := range c.retries {
		isWorthIt := result.Reason == "unknown_session" || result.Reason == "timeout" || result.Reason == "network" || result.Reason == "bad_status"
		if result.OK || !isWorthIt {
			break
		}
		select {
		case <-time.After(ms(pause)):
		case <-ctx.Done():
			return result
		}
		result = c.assertLoggedIn(sessionToken)
	}
	if result.Reason == "unknown_session" {
		c.report(Failure{Reason: "unknown_session", Message: "verdictd does not know the session that logged in", Status: 404})
	}
	return result
}

func (c *Client) assertLoggedIn(token string) LoggedIn {
	var result LoggedIn
	failed := c.call("POST", "/v1/sessions/"+token+"/logged-in", nil, nil, c.loggedIn, "", func(answer answer) bool {
		if answer.status == 404 && bytes.Contains(answer.body, []byte(`"UNKNOWN_SESSION"`)) {
			result.Reason = "unknown_session"
			return true
		}
		asserted := assertedForm.FindSubmatch(answer.body)
		if answer.status != 200 || asserted == nil {
			return false
		}
		result = LoggedIn{OK: true, AssertedAt: string(asserted[1])}
		return true
	})
	if failed != "" {
		return LoggedIn{Reason: failed}
	}
	return result
}

// report tells OnError. A broken logger does not break the site.
func (c *Client) report(failure Failure) {
	defer func() { _ = recover() }()
	c.onError(failure)
}

type answer struct {
	status    int
	body      []byte
	requestID string
}

// Longer than any answer of verdictd. Something else may send without end.
const answerBytesMax = 65536

// Statuses that depend on the one request they answer: verdictd is up, and refuses what a visitor or a proxy made of it.
var refusals = map[int]bool{400: true, 413: true, 414: true, 422: true, 431: true, 505: true}

// call sends one request through the breaker, and returns why it failed, or "". read reports whether an answer is of use.
func (c *Client) call(
	method, path string, headers map[string]string, body []byte, timeoutMS int, visitor string, read func(answer) bool,
) string {
	went := c.breaker.admit(c.now())
	if went == "" {
		return "circuit_open"
	}
	answer, err := c.send(method, path, headers, body, ms(timeoutMS))
	if err == nil && read(answer) {
		c.breaker.succeed()
		return ""
	}
	failure := Failure{Status: answer.status, RequestID: answer.requestID, Cause: err}
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded):
		failure.Reason, failure.Message = "timeout", fmt.Sprintf("verdictd gave no answer within %d ms", timeoutMS)
	case err != nil:
		failure.Reason, failure.Message = "network", fmt.Sprintf("verdictd could not be reached at %s (%v)", c.base, errors.Unwrap(err))
	case answer.status == 200:
		failure.Reason, failure.Message = "malformed", "verdictd's answer is not what the API promises: is the address right?"
	case answer.status == 401:
		failure.Reason, failure.Message = "unauthenticated", "verdictd does not accept the private key"
	case answer.status == 402:
		failure.Reason, failure.Message = "no_subscription", "verdictd gives no verdicts: the account has no active subscription"
	default:
		failure.Reason, failure.Message = "bad_status", fmt.Sprintf("verdictd answered with status %d", answer.status)
	}
	c.report(failure)
	if failure.Reason != "timeout" {
		visitor = ""
	}
	if !refusals[answer.status] && c.breaker.fail(went, c.now(), visitor) {
		c.report(Failure{Reason: "circuit_open", Message: "verdictd is left alone for a while; visitors are allowed"})
	}
	return failure.Reason
}

func (c *Client) send(method, path string, headers map[string]string, body []byte, timeout time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for name, value := range headers {
		request.Header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("User-Agent", "verdictd-go/"+Version)
	// Not sent: says that the request may be sent again where a kept connection was closed at the moment of use.
	request.Header["X-Idempotency-Key"] = nil
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax+1))
	if err != nil {
		return answer{}, fmt.Errorf("reading the answer: %w", err)
	}
	if len(read) > answerBytesMax {
		read = nil
	}
	return answer{response.StatusCode, read, response.Header.Get("X-Request-Id")}, nil
}

// visitorOf tells visitors apart for the breaker: the address (of IPv6 about the subscriber's part), else the session.
func visitorOf(token string, seen Context) string {
	if seen.IP == "" {
		return token
	}
	parts := strings.Split(seen.IP, ":")
	if len(parts) > 4 {
		parts = parts[:4]
	}
	return strings.Join(parts, ":")
}

// The question

func headerValue(value string, bytesMax int) string {
	clean := strings.Map(func(character rune) rune {
		if character < 0x20 || character == 0x7f {
			return ' '
		}
		return character
	}, utf16Cut(text(value), 512))
	if len(clean) > bytesMax {
		clean = clean[:bytesMax]
	}
	return strings.TrimSpace(clean)
}

var unsafeForm = regexp.MustCompile(`[^!#-;=?-\[\]_a-z|~]`)

// contextHeaders are valid and of bounded length, whatever a visitor sent.
func contextHeaders(seen Context) map[string]string {
	headers := map[string]string{}
	set := func(name, value string) {
		if value != "" {
			headers[name] = value
		}
	}
	if path, isPath := RulePath(seen.Path); isPath {
		set("X-Service-Request-Path", unsafeForm.ReplaceAllStringFunc(path, percentEncoded))
	}
	set("X-Service-Request-Method", headerValue(seen.Method, 20))
	set("X-Service-Request-Host", headerValue(seen.Host, 260))
	set("X-Service-Client-IP", headerValue(seen.IP, 64))
	set("X-Service-Client-UA", headerValue(seen.UserAgent, 1536))
	return headers
}

// Words of headers that hold credentials: they must not leave the backend.
var secretForm = regexp.MustCompile(
	`(?:^|[-_])(?:x?api-?key|auth|authorization|authentication|bearer|cookie2?|credentials?|csrf|xsrf|csrftoken|jwt|key|passw(?:or)?d|secret|session-?id` +
		`|session|token|[a-z]+(?:token|secret))(?:$|[-_0-9])`)

var neededNames = []string{"user-agent", "x-forwarded-proto", "signature", "signature-input", "signature-agent"}

func encoded(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimRight(buffer.Bytes(), "\n")
}

// judgedBody is valid JSON below verdictd's 64 KiB, whatever a visitor sent.
func judgedBody(token string, request Request, issueToken bool, waitMS int) []byte {
	sent, left, count := map[string][]string{}, 24000, 0
	add := func(name, value string) {
		most := 512
		if strings.HasPrefix(name, "signature") {
			most = 4096
		}
		cut := utf16Cut(text(value), most)
		size := len(encoded(name)) + len(encoded(cut))
		if size > left || count >= 100 {
			return
		}
		left, count = left-size, count+1
		sent[name] = append(sent[name], cut)
	}
	isNeeded := map[string]bool{}
	// First what a visitor must not be able to push out with other headers.
	for _, wanted := range neededNames {
		isNeeded[wanted] = true
		for _, value := range request.Headers.Values(wanted) {
			add(wanted, value)
		}
	}
	if sent["user-agent"] == nil && request.UserAgent != "" {
		add("user-agent", request.UserAgent)
	}
	for name, values := range request.Headers {
		name = strings.ToLower(name)
		if name == "" || name[0] == ':' || len(name) > 128 || isNeeded[name] || secretForm.MatchString(name) {
			continue
		}
		for _, value := range values {
			add(name, value)
		}
	}
	asked := map[string]any{"headers": sent}
	set := func(name, value string) {
		if value != "" {
			asked[name] = value
		}
	}
	path := utf16Cut(text(request.Path), 8000)
	if len(encoded(path)) > 24000 {
		path = utf16Cut(path, 4000)
	}
	set("path", path)
	set("method", utf16Cut(text(request.Method), 512))
	set("host", utf16Cut(text(request.Host), 512))
	set("ip", utf16Cut(text(request.IP), 512))
	if isTellable(request.Target) {
		set("target", request.Target)
	}
	body := map[string]any{"session_token": nil, "request": asked}
	if token != "" {
		body["session_token"] = token
	}
	if issueToken {
		body["issue_token"] = true
	}
	if waitMS > 0 {
		body["wait_ms"] = waitMS
	}
	return encoded(body)
}

func isTellable(target string) bool {
	return len(target) <= 2000 && len(encoded(target)) <= 2000
}

// Pages

// Texts are words of a page; escaped, so any text will do. Empty: the built-in ones.
type Texts struct {
	Title, Message, Contact string
}

// Pages says how the pages of a refusal read.
type Pages struct {
	Block, Challenge Texts
	// Render makes a page of your own, of "block" or "challenge" and the verdict's id; escaping is your business. "": the built-in page.
	Render func(kind, verdictID string) string
	// ContentSecurityPolicy replaces the built-in policy, which allows nothing but the built-in style.
	ContentSecurityPolicy string
}

// In English here; verdictd gives this file out with all the languages of its own pages.
const builtInPages = `{"style":":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;overflow-wrap:anywhere}code{user-select:all}","policy":"default-src 'none'; style-src 'sha256-O7ULQecj8dvh6R4CuKG8LlK7Wc23W+KS/mxlc0LcKp4='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'","texts":{"en":{"block":{"title":"Access denied","message":"This request looks automated, so it was not let through.","contact":"If you think this is a mistake, contact the site's support and give them the reference below."},"challenge":{"title":"Please confirm that you are a person","message":"This request may be automated, and this page could not confirm otherwise.","contact":"Reload the page to try again. If that does not help, give the site's support the reference below."},"reference":"Reference:"}}}`

type language struct {
	Block, Challenge Texts
	Reference        string
}

var builtIn = func() (pages struct {
	Style, Policy string
	Texts         map[string]language
}) {
	if err := json.Unmarshal([]byte(builtInPages), &pages); err != nil {
		panic(err)
	}
	return pages
}()

var weightForm = regexp.MustCompile(`^\s*q=([01](?:\.[0-9]{0,3})?)\s*$`)

func pageLanguage(acceptLanguage string) string {
	best, bestQuality := "en", 0.0
	if len(acceptLanguage) > 512 {
		acceptLanguage = acceptLanguage[:512]
	}
	for at, item := range strings.Split(acceptLanguage, ",") {
		if at == 20 {
			break
		}
		parts := strings.Split(strings.ToLower(strings.TrimSpace(item)), ";")
		name, _, _ := strings.Cut(parts[0], "-")
		quality := 1.0
		for _, each := range parts[1:] {
			if weight := weightForm.FindStringSubmatch(each); weight != nil {
				quality, _ = strconv.ParseFloat(weight[1], 64)
				break
			}
		}
		if _, isKnown := builtIn.Texts[strings.TrimSpace(name)]; isKnown && quality > bestQuality {
			best, bestQuality = strings.TrimSpace(name), quality
		}
	}
	return best
}

var (
	escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")
	idForm  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
)

func orElse(value, other string) string {
	if value == "" {
		return other
	}
	return value
}

// denial is the answer for a visitor who is refused: a page for browsers, else JSON; nothing that would help a bot.
func denial(kind, id, accept string, pages Pages, site, acceptLanguage string) *Page {
	given := map[string]Texts{"block": pages.Block, "challenge": pages.Challenge}[kind]
	isPage := strings.Contains(accept, "text/html")
	// Programs read English, and words of the site's own stand among no other language.
	spoken := "en"
	if isPage && given == (Texts{}) {
		spoken = pageLanguage(acceptLanguage)
	}
	own := builtIn.Texts[spoken].Block
	if kind == "challenge" {
		own = builtIn.Texts[spoken].Challenge
	}
	texts := Texts{orElse(given.Title, own.Title), orElse(given.Message, own.Message), orElse(given.Contact, own.Contact)}
	if !idForm.MatchString(id) {
		id = ""
	}
	headers := map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Content-Security-Policy": orElse(pages.ContentSecurityPolicy, builtIn.Policy),
	}
	if kind == "challenge" {
		headers["X-Verdict-Action"] = "challenge"
	}
	if id != "" {
		headers["X-Verdict-Id"] = id
	}
	if isPage {
		headers["Content-Type"] = "text/html; charset=utf-8"
		return &Page{403, headers, orElse(rendered(kind, id, pages.Render), page(texts, id, spoken, site))}
	}
	body := encoded(struct {
		Error     string `json:"error"`
		Message   string `json:"message"`
		Code      string `json:"code"`
		VerdictID string `json:"verdict_id,omitempty"`
	}{texts.Title, texts.Message, map[string]string{"block": "REQUEST_BLOCKED", "challenge": "CHALLENGE_REQUIRED"}[kind], id})
	return &Page{403, headers, string(body)}
}

func rendered(kind, id string, render func(kind, verdictID string) string) (own string) {
	defer func() {
		if recover() != nil {
			own = ""
		}
	}()
	if render == nil {
		return ""
	}
	return render(kind, id)
}

func page(texts Texts, id, spoken, site string) string {
	reference, name, direction := "", "", "ltr"
	if spoken == "ar" {
		direction = "rtl"
	}
	if site != "" {
		name = "<p>" + escapes.Replace(site) + "</p>\n"
	}
	if id != "" {
		reference = "<p>" + builtIn.Texts[spoken].Reference + " <code>" + id + "</code></p>\n"
	}
	title, message, contact := escapes.Replace(texts.Title), escapes.Replace(texts.Message), escapes.Replace(texts.Contact)
	return "<!doctype html>\n<html lang=\"" + spoken + "\" dir=\"" + direction + "\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n" +
		"<meta name=\"robots\" content=\"noindex\">\n<title>" + title + "</title>\n<style>" + builtIn.Style + "</style>\n<main>\n<h1>" + title + "</h1>\n" +
		name + "<p>" + message + "</p>\n<p>" + contact + "</p>\n" + reference + "</main>\n</html>\n"
}

// The middleware

// Options of the middleware. Zero values are the defaults. A panic in a function of yours lets the visitor in.
type Options struct {
	// Client is what it takes to make one; Shared one that is there.
	Client ClientOptions
	Shared *Client
	// CookieName defaults to "service_session", CookieDomain to the host alone, HeaderName to "X-Service-Session".
	CookieName, CookieDomain, HeaderName string
	// Requests judges every request by its own headers too, so visitors without a session as well.
	Requests bool
	// IssueToken gives a visitor who brings no session token one with the first page.
	IssueToken bool
	// WaitForReport is how long to wait for a session's report, 0 to 1000 ms; WaitForReportFunc says it for a request.
	WaitForReport     int
	WaitForReportFunc func(*http.Request) int
	// SkipStatic: by default parts of pages (pictures, styles, scripts, fonts) are not asked about; true: no static resources, false: all are asked about.
	SkipStatic *bool
	// RouterIgnores is any of "case", "trailing-slash", "path-parameters".
	RouterIgnores []string
	// DelayMS is how long a visitor waits whose verdict is "delay", 1 to 10000; default 1000.
	DelayMS int
	// Challenge is "allow" (default), "page" or "verdictd". ChallengeFunc, before it, answers and returns true, or lets in.
	Challenge     string
	ChallengeFunc func(http.ResponseWriter, *http.Request) bool
	// SiteKey, ScriptOrigin and PathPrefix are for the challenge's page; default: as the project has them.
	SiteKey, ScriptOrigin, PathPrefix string
	Pages                             Pages
	// OnVerdict is told of every request that was asked about.
	OnVerdict func(*Visit)
	// ClientIP returns the visitor's address; default: that of RemoteAddr.
	ClientIP func(*http.Request) string
	// Skip returns true for requests to leave alone.
	Skip func(*http.Request) bool
}

// Visit is what the middleware attaches to a request.
type Visit struct {
	Verdict Verdict
	// SessionToken is "" for a visitor without a session.
	SessionToken string
	// Context is what verdictd was told of the request.
	Context Context
	// SetCookie is the value of Set-Cookie for a visitor who is given a token; the middleware sets it.
	SetCookie string
	purpose   string
	client    *Client
}

// LoggedIn asserts that this visitor has just logged in: see Client.LoggedIn.
func (v *Visit) LoggedIn(ctx context.Context) LoggedIn {
	return v.client.LoggedIn(ctx, v.SessionToken)
}

type visitKey struct{}

// VisitOf returns what the middleware attached to a request; nil where it skipped it.
func VisitOf(request *http.Request) *Visit {
	visit, _ := request.Context().Value(visitKey{}).(*Visit)
	return visit
}

// Guard is the middleware.
type Guard struct {
	// Client is what it asks by.
	Client  *Client
	options Options
	ignores map[string]bool
	delayed atomic.Int64
	told    sync.Once
}

var (
	cookieNameForm   = regexp.MustCompile("^[A-Za-z0-9_!#$%&'*+.^`|~-]{1,128}$")
	cookieDomainForm = regexp.MustCompile(`^\.?[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$`)
	siteKeyForm      = regexp.MustCompile(`^(?:pk_[A-Za-z0-9_-]{1,125})?$`)
	originForm       = regexp.MustCompile(`^(?:https?://[^/]+/?)?$`)
	prefixForm       = regexp.MustCompile(`^(?:/[A-Za-z0-9._~-]+)*$`)
	noStoreForm      = regexp.MustCompile(`(?i)\bno-store\b`)
	prefetchForm     = regexp.MustCompile(`(?i)^prefetch\b`)
	reloadForm       = regexp.MustCompile(`^/(?:[\x21-\x2e\x30-\x7e][\x21-\x7e]*)?$`)
	parametersForm   = regexp.MustCompile(`;[^/\\]*`)
)

// New makes a middleware, or says which option is mistaken.
func New(options Options) (*Guard, error) {
	client := options.Shared
	if client == nil {
		made, err := NewClient(options.Client)
		if err != nil {
			return nil, err
		}
		client = made
	}
	options.CookieName = orElse(options.CookieName, "service_session")
	options.HeaderName = orElse(options.HeaderName, "X-Service-Session")
	options.Challenge = orElse(options.Challenge, "allow")
	if options.DelayMS == 0 {
		options.DelayMS = 1000
	}
	guard := &Guard{Client: client, options: options, ignores: map[string]bool{}}
	for _, each := range options.RouterIgnores {
		if each != "case" && each != "trailing-slash" && each != "path-parameters" {
			return nil, errors.New("RouterIgnores: expected a list of case, trailing-slash, path-parameters")
		}
		guard.ignores[each] = true
	}
	switch {
	case !cookieNameForm.MatchString(options.CookieName):
		return nil, errors.New("CookieName: expected the name of a cookie")
	case options.WaitForReport < 0 || options.WaitForReport > 1000:
		return nil, errors.New("WaitForReport: expected 0 to 1000 ms, or a function of the request")
	case options.DelayMS < 0 || options.DelayMS > 10000:
		return nil, errors.New("DelayMS: expected 0 to 10000 ms")
	case !siteKeyForm.MatchString(options.SiteKey):
		return nil, errors.New("SiteKey: expected the project's site key (pk_…), which the challenge page carries")
	case !originForm.MatchString(options.ScriptOrigin):
		return nil, errors.New("ScriptOrigin: expected an origin such as https://verdictd.example")
	case !prefixForm.MatchString(options.PathPrefix):
		return nil, errors.New("PathPrefix: expected a path such as /bots")
	}
	switch options.Challenge {
	case "allow", "page", "verdictd":
	case "deny", "block", "forbid", "403":
		return nil, fmt.Errorf("Challenge: unknown value `%s`; did you mean `page`?", options.Challenge)
	default:
		return nil, fmt.Errorf("Challenge: unknown value `%s`%s", options.Challenge, hint(options.Challenge, "allow", "page", "verdictd"))
	}
	return guard, nil
}

// Handler is next behind the middleware.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if g.skips(request) {
			next.ServeHTTP(writer, request)
			return
		}
		visit := g.visit(request)
		request = request.WithContext(context.WithValue(request.Context(), visitKey{}, visit))
		if visit.SetCookie != "" {
			cookied := &cookieWriter{ResponseWriter: writer, setCookie: visit.SetCookie}
			defer cookied.add()
			writer = cookied
		}
		if !g.answers(writer, request, visit) {
			next.ServeHTTP(writer, request)
		}
	})
}

func (g *Guard) reportHook(message string, cause any) {
	g.Client.report(Failure{Reason: "hook_threw", Message: message, Cause: fmt.Errorf("%v", cause)})
}

func (g *Guard) skips(request *http.Request) (skips bool) {
	defer func() {
		if cause := recover(); cause != nil {
			g.reportHook("Skip panicked; the visitor was let in", cause)
			skips = true
		}
	}()
	return g.options.Skip != nil && g.options.Skip(request)
}

func (g *Guard) visit(request *http.Request) (visit *Visit) {
	defer func() {
		if cause := recover(); cause != nil {
			g.reportHook("the request could not be read; the visitor was let in", cause)
			visit = &Visit{Verdict: failOpen("hook_threw"), client: g.Client}
		}
	}()
	visit = &Visit{client: g.Client, Context: g.contextOf(request), SessionToken: g.tokenOf(request)}
	if g.skipsStatic(request.Method, visit.Context.Path) {
		visit.Verdict = failOpen("")
		return visit
	}
	header := request.Header
	isPreflight := request.Method == http.MethodOptions && header.Get("Origin") != "" && header.Get("Access-Control-Request-Method") != ""
	waits := g.options.WaitForReport > 0 || g.options.WaitForReportFunc != nil
	if g.options.Requests || g.options.IssueToken || waits || isPreflight && visit.SessionToken != "" {
		judged := judgedRequest(request, visit.Context)
		visit.Verdict = g.Client.Judge(visit.SessionToken, judged, g.options.IssueToken, g.waitMS(request))
	} else {
		visit.Verdict = g.Client.Verdict(visit.SessionToken, visit.Context)
	}
	if token := visit.Verdict.SessionToken; token != "" {
		visit.SetCookie = g.cookieOf(token, request.TLS != nil)
		visit.Verdict.SessionToken = ""
	}
	if visit.Verdict.Action == "challenge" {
		visit.purpose = purposeOf(request)
	}
	g.tell(visit)
	return visit
}

func (g *Guard) tell(visit *Visit) {
	defer func() {
		if cause := recover(); cause != nil {
			g.reportHook("OnVerdict panicked", cause)
		}
	}()
	if g.options.OnVerdict != nil {
		g.options.OnVerdict(visit)
	}
}

func (g *Guard) contextOf(request *http.Request) Context {
	ip := request.RemoteAddr
	if host, _, err := net.SplitHostPort(ip); err == nil {
		ip = host
	}
	if g.options.ClientIP != nil {
		ip = g.options.ClientIP(request)
	}
	path := routed(request)
	if g.ignores["path-parameters"] {
		path = parametersForm.ReplaceAllString(path, "")
	}
	path, _ = RulePath(path)
	if g.ignores["trailing-slash"] && path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	if g.ignores["case"] {
		path = strings.ToLower(path)
	}
	// Without a user agent the session's own would count, and so a clearance that was passed with it.
	return Context{Path: path, Method: request.Method, Host: request.Host, IP: ip, UserAgent: orElse(text(request.Header.Get("User-Agent")), "-")}
}

// routed is the path that handlers go by, encoded: net/http decodes it, so an encoded slash is one. Parameters are as the visitor wrote them.
func routed(request *http.Request) string {
	const safe = "/:@!$&'()*+,;=~-._"
	encoded := strings.Builder{}
	for _, octet := range []byte(request.URL.Path) {
		isPlain := octet >= 'a' && octet <= 'z' || octet >= 'A' && octet <= 'Z' || octet >= '0' && octet <= '9'
		if isPlain || strings.IndexByte(safe, octet) >= 0 {
			encoded.WriteByte(octet)
		} else {
			fmt.Fprintf(&encoded, "%%%02X", octet)
		}
	}
	return orElse(encoded.String(), "/")
}

func judgedRequest(request *http.Request, seen Context) Request {
	headers := request.Header.Clone()
	headers.Set("Host", request.Host)
	// The server's word for it, which knows whom to believe, and not the visitor's.
	headers.Del("X-Forwarded-Proto")
	if request.TLS != nil {
		headers.Set("X-Forwarded-Proto", "https")
	}
	target := text(request.RequestURI)
	if asked, isPath := RulePath(target); !isPath || asked == seen.Path {
		seen.Path = target
		return Request{Context: seen, Headers: headers}
	}
	// A signature covers the path as it was asked for, which is told beside the router's.
	if !isTellable(target) {
		for _, name := range []string{"Signature", "Signature-Input", "Signature-Agent"} {
			headers.Del(name)
		}
	}
	return Request{Context: seen, Target: target, Headers: headers}
}

func (g *Guard) skipsStatic(method, path string) bool {
	if g.options.SkipStatic == nil {
		return (method == http.MethodGet || method == http.MethodHead) && isStatic(path, pageParts)
	}
	return *g.options.SkipStatic && isStatic(path, staticExtensions)
}

func (g *Guard) tokenOf(request *http.Request) string {
	for _, line := range request.Header.Values(g.options.HeaderName) {
		for _, sent := range strings.Split(line, ",") {
			if sent = strings.TrimSpace(sent); isToken(sent) {
				return sent
			}
		}
	}
	for _, line := range request.Header.Values("Cookie") {
		for _, pair := range strings.Split(line, ";") {
			name, value, _ := strings.Cut(pair, "=")
			value = strings.TrimSpace(value)
			if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
				value = value[1 : len(value)-1]
			}
			if strings.TrimSpace(name) == g.options.CookieName && isToken(value) {
				return value
			}
		}
	}
	return ""
}

func (g *Guard) waitMS(request *http.Request) (waitMS int) {
	defer func() {
		if cause := recover(); cause != nil {
			g.reportHook("WaitForReportFunc panicked; the visitor was let in", cause)
			waitMS = 0
		}
	}()
	if g.options.WaitForReportFunc != nil {
		return g.options.WaitForReportFunc(request)
	}
	return g.options.WaitForReport
}

func (g *Guard) cookieOf(token string, isSecure bool) string {
	cookie := g.options.CookieName + "=" + token + "; Path=/; Max-Age=86400; SameSite=Lax"
	if cookieDomainForm.MatchString(g.options.CookieDomain) {
		cookie += "; Domain=" + g.options.CookieDomain
	}
	if isSecure {
		cookie += "; Secure"
	}
	return cookie
}

// purposeOf is "prefetch" for a page that nobody has asked for yet, and the page to load instead for a script's call.
func purposeOf(request *http.Request) string {
	header := request.Header
	purpose := orElse(orElse(header.Get("Sec-Purpose"), header.Get("Purpose")), header.Get("X-Moz"))
	if prefetchForm.MatchString(purpose) || header.Get("Next-Router-Prefetch") != "" {
		return "prefetch"
	}
	if request.Method == http.MethodPost && header.Get("Next-Action") != "" && len(request.RequestURI) <= 2001 && reloadForm.MatchString(request.RequestURI) {
		return strings.ReplaceAll(request.RequestURI, ";", "%3B")
	}
	return ""
}

// Visitors kept waiting at once; beyond it they go on, since each holds a connection open.
const delayedMax = 1000

// answers does what the verdict asks for, and reports whether the visitor was answered.
func (g *Guard) answers(writer http.ResponseWriter, request *http.Request, visit *Visit) bool {
	action, id, accept := visit.Verdict.Action, visit.Verdict.RequestID, request.Header.Get("Accept")
	site, acceptLanguage := visit.Context.Host, request.Header.Get("Accept-Language")
	if action == "block" {
		return send(writer, denial("block", id, accept, g.options.Pages, site, acceptLanguage))
	}
	if action == "delay" {
		g.delay(request)
	}
	if action != "challenge" {
		return false
	}
	isKept := g.options.ChallengeFunc != nil || g.options.Challenge != "allow"
	if visit.purpose == "prefetch" && isKept {
		// Nobody has clicked yet, so there is nobody to challenge: browsers and routers ask again when somebody does.
		headers := map[string]string{"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
		return send(writer, &Page{403, headers, "Not loaded in advance.\n"})
	}
	if g.options.ChallengeFunc != nil {
		return g.challenges(writer, request)
	}
	var made *Page
	switch g.options.Challenge {
	case "page":
		made = denial("challenge", id, accept, g.options.Pages, site, acceptLanguage)
	case "verdictd":
		made = g.ownChallenge(request, visit)
	default:
		g.told.Do(func() {
			g.Client.report(Failure{
				Reason:  "challenge_unhandled",
				Message: "a rule asks for a challenge, and none is configured: such visitors are let in; set the option Challenge",
			})
		})
	}
	// Without a page to show, nobody is kept out: the failure was reported.
	if made == nil {
		return false
	}
	if visit.purpose != "" {
		made.Headers["X-Action-Redirect"] = visit.purpose + ";replace"
	}
	return send(writer, made)
}

func (g *Guard) delay(request *http.Request) {
	if g.delayed.Add(1) <= delayedMax {
		select {
		case <-time.After(ms(g.options.DelayMS)):
		case <-request.Context().Done():
		}
	}
	g.delayed.Add(-1)
}

func (g *Guard) challenges(writer http.ResponseWriter, request *http.Request) (answered bool) {
	defer func() {
		if cause := recover(); cause != nil {
			g.reportHook("ChallengeFunc panicked; the visitor was let in", cause)
			answered = false
		}
	}()
	return g.options.ChallengeFunc(writer, request)
}

func (g *Guard) ownChallenge(request *http.Request, visit *Visit) *Page {
	lines := [][2]string{}
	for _, name := range []string{"Accept", "Accept-Language"} {
		lines = append(lines, [2]string{name, headerValue(request.Header.Get(name), 512)})
	}
	options := map[string]any{
		"request":       map[string]any{"method": visit.Context.Method, "host": visit.Context.Host, "headers": lines},
		"cookie_name":   g.options.CookieName,
		"cookie_domain": g.options.CookieDomain,
	}
	for name, value := range map[string]string{
		"verdict_id": visit.Verdict.RequestID, "site_key": g.options.SiteKey, "script_origin": strings.TrimRight(g.options.ScriptOrigin, "/"),
		"path_prefix": g.options.PathPrefix,
	} {
		if value != "" {
			options[name] = value
		}
	}
	return g.Client.ChallengePage(options)
}

func send(writer http.ResponseWriter, page *Page) bool {
	for name, value := range page.Headers {
		writer.Header().Set(name, value)
	}
	writer.WriteHeader(page.Status)
	_, _ = io.WriteString(writer, page.Body)
	return true
}

// cookieWriter adds the cookie when the answer's headers are written, so that nothing that the application sets later can lose it.
type cookieWriter struct {
	http.ResponseWriter
	setCookie string
	isAdded   bool
}

func (w *cookieWriter) add() {
	if w.isAdded {
		return
	}
	w.isAdded = true
	header := w.Header()
	header.Add("Set-Cookie", w.setCookie)
	// Shared caches must not store it.
	if !noStoreForm.MatchString(strings.Join(header.Values("Cache-Control"), ", ")) {
		header.Set("Cache-Control", "private")
	}
}

// WriteHeader adds the cookie but to interim answers.
func (w *cookieWriter) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.add()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write adds the cookie first.
func (w *cookieWriter) Write(data []byte) (int, error) {
	w.add()
	return w.ResponseWriter.Write(data)
}

// Flush sends what was written, where the server can.
func (w *cookieWriter) Flush() {
	w.add()
	if flusher, isFlusher := w.ResponseWriter.(http.Flusher); isFlusher {
		flusher.Flush()
	}
}

// Hijack hands the connection over, where the server can.
func (w *cookieWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if hijacker, isHijacker := w.ResponseWriter.(http.Hijacker); isHijacker {
		w.isAdded = true
		return hijacker.Hijack()
	}
	return nil, nil, errors.New("the server can't hand its connection over")
}

// Unwrap is for http.ResponseController.
func (w *cookieWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
