package top

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

const (
	pagePath  = "/debug/haven/"
	statsFile = "stats.json"
)

const acceptedAddress = "accepted: host:port, :port, port, or a URL such as http://localhost:6060" + pagePath

// statsURL makes the URL of the JSON out of the address on the command line.
func statsURL(address string) (*url.URL, error) {
	bad := func(why string) (*url.URL, error) {
		return nil, fmt.Errorf("address %q: %s; %s", address, why, acceptedAddress)
	}
	text := address
	if !strings.Contains(text, "://") {
		if isDigits(text) {
			text = ":" + text
		}
		if strings.HasPrefix(text, ":") {
			text = "localhost" + text
		}
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		// The text of the error holds the whole URL again, with a password
		// that may be in it.
		if in, ok := err.(*url.Error); ok {
			err = in.Err
		}
		return bad(err.Error())
	case u.Scheme != "http" && u.Scheme != "https":
		return bad(fmt.Sprintf("scheme %q", u.Scheme))
	case u.Hostname() == "":
		return bad("no host")
	case strings.Contains(u.Hostname(), ":") && u.Host[0] != '[':
		return bad("an IPv6 address wants brackets, as in [::1]:6060")
	case u.Port() == "" && (text != address || strings.HasSuffix(u.Host, ":")):
		return bad("no port")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return bad(fmt.Sprintf("port %s is not from 1 to 65535", p))
		}
	}
	u.Fragment, u.RawFragment = "", ""
	switch {
	case u.Path == "" || u.Path == "/":
		u.Path, u.RawPath = pagePath+statsFile, ""
	case strings.HasSuffix(u.Path, "/"+statsFile):
	default:
		u = u.JoinPath(statsFile)
	}
	return u, nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
