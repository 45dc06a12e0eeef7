// The adapter of the Go client, by its middleware for net/http: see protocol.ts.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"time"

	"adapter/verdictd"
)

type object = map[string]any

type command struct {
	Do      string
	Options object
	Hooks   object
	Request struct {
		Method, Target, IP string
		Headers            [][2]string
		Secure             bool
	}
	Token *string
	MS    int
}

var (
	failures []string
	told     int
	now      = time.UnixMilli(1_000_000)
	guard    *verdictd.Guard
	reached  *verdictd.Visit
	isThere  bool
	handler  http.Handler
)

func fail() { panic("a hook of the test") }

func texts(value any) (list []string) {
	items, _ := value.([]any)
	for _, each := range items {
		list = append(list, each.(string))
	}
	return list
}

func number(value any) int {
	given, _ := value.(float64)
	return int(given)
}

func clientOptions(given object) verdictd.ClientOptions {
	options := verdictd.ClientOptions{
		TimeoutMS: number(given["timeoutMs"]), LoggedInTimeoutMS: number(given["loggedInTimeoutMs"]),
		OnError: func(failure verdictd.Failure) { failures = append(failures, failure.Reason) },
		Now:     func() time.Time { return now },
	}
	options.BaseURL, _ = given["baseUrl"].(string)
	options.PrivateKey, _ = given["privateKey"].(string)
	options.Mode, _ = given["mode"].(string)
	if retries, isGiven := given["loggedInRetryMs"].([]any); isGiven {
		options.LoggedInRetryMS = []int{}
		for _, each := range retries {
			options.LoggedInRetryMS = append(options.LoggedInRetryMS, number(each))
		}
	}
	if breaker, isGiven := given["breaker"].(object); isGiven {
		options.Breaker = verdictd.BreakerOptions{
			FailuresMax: number(breaker["failuresMax"]), OpenMS: number(breaker["openMs"]), OpenMSMax: number(breaker["openMsMax"]),
		}
	}
	return options
}

func pageTexts(value any) verdictd.Texts {
	given, _ := value.(object)
	text := func(name string) string {
		value, _ := given[name].(string)
		return value
	}
	return verdictd.Texts{Title: text("title"), Message: text("message"), Contact: text("contact")}
}

func create(given, hooks object) error {
	client, _ := given["client"].(object)
	options := verdictd.Options{
		Client: clientOptions(client), WaitForReport: number(given["waitForReport"]), DelayMS: number(given["delayMs"]),
		RouterIgnores: texts(given["routerIgnores"]),
	}
	for name, target := range map[string]*string{
		"cookieName": &options.CookieName, "cookieDomain": &options.CookieDomain, "headerName": &options.HeaderName, "challenge": &options.Challenge,
		"siteKey": &options.SiteKey, "scriptOrigin": &options.ScriptOrigin, "pathPrefix": &options.PathPrefix,
	} {
		*target, _ = given[name].(string)
	}
	options.Requests, _ = given["requests"].(bool)
	options.IssueToken, _ = given["issueToken"].(bool)
	if skips, isGiven := given["skipStatic"].(bool); isGiven {
		options.SkipStatic = &skips
	}
	if pages, isGiven := given["pages"].(object); isGiven {
		options.Pages.Block, options.Pages.Challenge = pageTexts(pages["block"]), pageTexts(pages["challenge"])
		options.Pages.ContentSecurityPolicy, _ = pages["contentSecurityPolicy"].(string)
	}
	addHooks(&options, hooks)
	made, err := verdictd.New(options)
	if err != nil {
		return err
	}
	guard = made
	handler = guard.Handler(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		isThere, reached = true, verdictd.VisitOf(request)
		writer.Header().Set("Cache-Control", "max-age=60")
		writer.Header().Add("Set-Cookie", "app=1")
		_, _ = writer.Write([]byte("ok"))
	}))
	return nil
}

func addHooks(options *verdictd.Options, hooks object) {
	if how, isGiven := hooks["skip"]; isGiven {
		options.Skip = func(request *http.Request) bool {
			if how == "throws" {
				fail()
			}
			return strings.HasPrefix(request.URL.Path, "/private")
		}
	}
	if ip, isGiven := hooks["clientIp"].(string); isGiven {
		options.ClientIP = func(*http.Request) string {
			if ip == "throws" {
				fail()
			}
			return ip
		}
	}
	if wait, isGiven := hooks["waitForReport"]; isGiven {
		options.WaitForReportFunc = func(*http.Request) int {
			if wait == "throws" {
				fail()
			}
			return number(wait)
		}
	}
	if how, isGiven := hooks["onVerdict"]; isGiven {
		options.OnVerdict = func(*verdictd.Visit) {
			told++
			if how == "throws" {
				fail()
			}
		}
	}
	if how, isGiven := hooks["challenge"]; isGiven {
		options.ChallengeFunc = func(writer http.ResponseWriter, _ *http.Request) bool {
			if how == "throws" {
				fail()
			}
			if how == "passes" {
				return false
			}
			writer.WriteHeader(http.StatusTeapot)
			_, _ = writer.Write([]byte("prove it"))
			return true
		}
	}
}

// octets turns a text of the protocol, which has a character for each byte, into bytes.
func octets(text string) string {
	made := []byte{}
	for _, character := range text {
		made = append(made, byte(character))
	}
	return string(made)
}

func visit(asked command) object {
	target := octets(asked.Request.Target)
	parsed, err := url.ParseRequestURI(target)
	if err != nil {
		panic(err)
	}
	request := &http.Request{
		Method: asked.Request.Method, RequestURI: target, URL: parsed, Header: http.Header{}, RemoteAddr: asked.Request.IP + ":1", Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if asked.Request.Secure {
		request.TLS = &tls.ConnectionState{}
	}
	for _, line := range asked.Request.Headers {
		if line[0] == "Host" {
			request.Host = line[1]
		} else {
			request.Header.Add(line[0], octets(line[1]))
		}
	}
	reached, isThere = nil, false
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	headers := map[string][]string{}
	for name, values := range recorder.Header() {
		headers[strings.ToLower(name)] = values
	}
	answer := object{"status": recorder.Code, "headers": headers, "body": recorder.Body.String(), "reached": isThere, "visit": nil, "told": told}
	if reached != nil {
		answer["visit"] = seenOf(reached)
	}
	return answer
}

func orNull(value string) any {
	if value == "" {
		return nil
	}
	return value
}

func seenOf(visit *verdictd.Visit) object {
	read := visit.Verdict
	verdict := object{
		"verdict": read.Verdict, "score": read.Score, "action": read.Action, "resolvedAction": read.ResolvedAction, "detection_ids": read.DetectionIDs,
		"reason": read.Reason, "requestId": orNull(read.RequestID), "failed": orNull(read.Failed),
	}
	for name, value := range read.Others {
		verdict[name] = value
	}
	seen := visit.Context
	context := object{"path": seen.Path, "method": seen.Method, "host": seen.Host, "ip": seen.IP, "userAgent": seen.UserAgent}
	return object{"verdict": verdict, "sessionToken": orNull(visit.SessionToken), "context": context}
}

func obey(asked command) object {
	switch asked.Do {
	case "visit":
		return visit(asked)
	case "advance":
		now = now.Add(time.Duration(asked.MS) * time.Millisecond)
	case "loggedIn":
		token := ""
		if asked.Token != nil {
			token = *asked.Token
		}
		result := guard.Client.LoggedIn(context.Background(), token)
		return object{"loggedIn": object{"ok": result.OK, "assertedAt": orNull(result.AssertedAt), "reason": orNull(result.Reason)}}
	default:
		if err := create(asked.Options, asked.Hooks); err != nil {
			return object{"error": err.Error()}
		}
	}
	return object{}
}

func main() {
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked command
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		failures, told = []string{}, 0
		answer := obey(asked)
		answer["failures"] = failures
		_ = output.Encode(answer)
	}
}
