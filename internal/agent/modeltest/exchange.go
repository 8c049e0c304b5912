package modeltest

import (
	"slices"
	"sync"
	"time"
)

const (
	// maxExchanges and maxBody limit what a server keeps. A program that retries for minutes makes hundreds; the largest system prompt seen has 90
	// KB.
	maxExchanges = 1000
	maxBody      = 128 << 10
)

// Exchange is one request and its answer.
type Exchange struct {
	// Number counts from 1, in the order of arrival.
	Number       int
	Arrived      time.Time
	Method, Path string
	// Headers are the names of the request's headers, sorted. Key is the API key, wherever that
	// API's clients put it.
	Headers []string
	Key     string
	// Body is the beginning of the request's body, Size the size of all of it.
	Body []byte
	Size int
	// Conversation is empty where the request is not for an answer of the model.
	Conversation Conversation
	// Turn is the index of the script's turn that answered, Attempt how often it was asked for,
	// from 1, and Fault what went wrong, if anything.
	Turn, Attempt int
	Fault         Kind
	// Status is zero until it is sent.
	Status int
	End    End
	// Problem is why the script could not be followed: an unknown path, a tool that is not offered.
	Problem string
}

// End is how an answer ended; empty while it is not over.
type End string

const (
	Answered End = "answered" // all of it was sent
	Broken   End = "broken"   // we broke it off, as the script wants
	Gone     End = "gone"     // the agent, or the test, was over first
)

// ledger keeps the exchanges. An exchange under way is changed by its own handler alone; the ledger has copies.
type ledger struct {
	mutex sync.Mutex
	kept  []Exchange
	total int
	// attempts counts how often each turn was asked for.
	attempts map[attempt]int
}

// Exchanges returns copies of the first thousand, in the order of arrival.
func (s *Server) Exchanges() []Exchange {
	s.ledger.mutex.Lock()
	defer s.ledger.mutex.Unlock()
	return slices.Clone(s.ledger.kept)
}

// Count returns how many requests arrived, of all kinds and also those beyond what is kept.
func (s *Server) Count() int {
	s.ledger.mutex.Lock()
	defer s.ledger.mutex.Unlock()
	return s.ledger.total
}

// Answers returns the exchanges that asked for an answer of the model.
func (s *Server) Answers() []Exchange {
	return slices.DeleteFunc(s.Exchanges(), func(x Exchange) bool { return x.Conversation.API == "" })
}

// Unexpected returns the exchanges that have a Problem.
func (s *Server) Unexpected() []Exchange {
	return slices.DeleteFunc(s.Exchanges(), func(x Exchange) bool { return x.Problem == "" })
}

// note keeps the exchange as it is now, and passes it to the observer.
func (s *Server) note(x *Exchange) {
	s.ledger.mutex.Lock()
	for len(s.ledger.kept) < min(x.Number, maxExchanges) {
		s.ledger.kept = append(s.ledger.kept, Exchange{})
	}
	if x.Number <= maxExchanges {
		s.ledger.kept[x.Number-1] = *x
	}
	s.ledger.mutex.Unlock()
	s.config.Observe(*x)
}
