package storedfields

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"

	"github.com/readbench/suite/readbench/config"
)

// content makes the bodies of the documents of a built index: any of them from its number alone, so that they can be made
// in parallel.
type content struct {
	seed uint64
	text config.DocText
	rng  rand.PCG
	line []byte
}

// fill fills body, which is document doc's.
func (c *content) fill(body []byte, doc int) {
	c.rng.Seed(c.seed, uint64(doc))
	if c.text == config.DocTextJSON {
		c.fillJSON(body, doc)
		return
	}
	for len(body) >= 8 {
		binary.LittleEndian.PutUint64(body, c.rng.Uint64())
		body = body[8:]
	}
	if len(body) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], c.rng.Uint64())
		copy(body, last[:])
	}
}

var (
	levels   = []string{"info", "info", "info", "info", "info", "debug", "debug", "warn", "error"}
	services = []string{"checkout", "search", "login", "catalog", "mail", "billing", "gateway", "sessions"}
	methods  = []string{"GET", "GET", "GET", "POST", "PUT", "DELETE"}
	paths    = []string{"/api/v1/items/", "/api/v1/users/", "/api/v2/search?q=", "/static/img/", "/api/v1/orders/", "/health/"}
	statuses = []string{"200", "200", "200", "200", "201", "204", "301", "404", "500", "503"}
	messages = []string{"request done", "cache miss, asked the store", "slow query", "retry after a timeout", "client closed the connection"}
)

// fillJSON fills body with records as services log them, one a line; the last one is cut off.
func (c *content) fillJSON(body []byte, doc int) {
	when := 1700000000000 + int64(doc)*1000
	for len(body) > 0 {
		when += int64(c.rng.Uint64() % 977)
		p := c.line[:0]
		p = append(p, `{"ts":`...)
		p = strconv.AppendInt(p, when, 10)
		p = append(append(p, `,"level":"`...), c.pick(levels)...)
		p = append(append(p, `","service":"`...), c.pick(services)...)
		p = append(append(p, `","method":"`...), c.pick(methods)...)
		p = append(append(p, `","path":"`...), c.pick(paths)...)
		p = strconv.AppendUint(p, c.rng.Uint64()%1000000, 10)
		p = append(append(p, `","status":`...), c.pick(statuses)...)
		p = append(p, `,"took_us":`...)
		p = strconv.AppendUint(p, c.rng.Uint64()%(1<<(c.rng.Uint64()%20)+1), 10)
		p = append(p, `,"trace":"`...)
		p = strconv.AppendUint(p, c.rng.Uint64(), 16)
		p = append(append(p, `","msg":"`...), c.pick(messages)...)
		p = append(p, "\"}\n"...)
		c.line = p
		body = body[copy(body, p):]
	}
}

func (c *content) pick(from []string) string { return from[c.rng.Uint64()%uint64(len(from))] }
