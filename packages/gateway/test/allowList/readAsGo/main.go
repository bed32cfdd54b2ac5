// Reads calls like geth, with encoding/json, and prints the addresses that they reach. A test compares this with the decisions of the
// gateway. The types follow geth's ethapi and tracers packages, as far as they matter for execution. Standard library only.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
)

type address [20]byte

func (a *address) UnmarshalText(text []byte) error {
	s := string(text)
	if len(s) != 42 || s[0] != '0' || (s[1] != 'x' && s[1] != 'X') {
		return errors.New("not an address")
	}
	bytes, err := hex.DecodeString(s[2:])
	if err != nil {
		return err
	}
	copy(a[:], bytes)
	return nil
}

func (a *address) String() string { return "0x" + hex.EncodeToString(a[:]) }

type authorization struct {
	ChainID json.RawMessage `json:"chainId"`
	Address address         `json:"address"`
	Nonce   json.RawMessage `json:"nonce"`
}

type transactionArgs struct {
	From              *address        `json:"from"`
	To                *address        `json:"to"`
	Gas               json.RawMessage `json:"gas"`
	Value             json.RawMessage `json:"value"`
	Data              json.RawMessage `json:"data"`
	Input             json.RawMessage `json:"input"`
	AuthorizationList []authorization `json:"authorizationList"`
}

// The members have no tags in geth: Go matches them by their folded names.
type traceConfig struct {
	Tracer         *string
	Timeout        *string
	TracerConfig   json.RawMessage
	StateOverrides map[address]json.RawMessage
	BlockOverrides json.RawMessage
}

type simulateBlock struct {
	BlockOverrides json.RawMessage             `json:"blockOverrides"`
	StateOverrides map[address]json.RawMessage `json:"stateOverrides"`
	Calls          []transactionArgs           `json:"calls"`
}

type simulateOptions struct {
	BlockStateCalls []simulateBlock
	TraceTransfers  bool
	Validation      bool
}

type filterArgs struct {
	BlockHash *string         `json:"blockHash"`
	FromBlock json.RawMessage `json:"fromBlock"`
	ToBlock   json.RawMessage `json:"toBlock"`
	Addresses interface{}     `json:"address"`
	Topics    []interface{}   `json:"topics"`
}

type seen struct {
	// Why the params are invalid. A node rejects such a call.
	Error     string   `json:"error,omitempty"`
	Addresses []string `json:"addresses"`
	Tracers   []string `json:"tracers"`
	Creates   bool     `json:"creates"`
	Overrides bool     `json:"overrides"`
	// A filter without an address returns the logs of all contracts.
	All bool `json:"all"`
}

func (s *seen) call(args transactionArgs) {
	if args.To == nil {
		s.Creates = true
	} else {
		s.Addresses = append(s.Addresses, args.To.String())
	}
	for i := range args.AuthorizationList {
		s.Addresses = append(s.Addresses, args.AuthorizationList[i].Address.String())
	}
}

func (s *seen) trace(config traceConfig) error {
	s.Overrides = s.Overrides || len(config.StateOverrides) > 0
	if config.Tracer == nil {
		return nil
	}
	return s.tracer(*config.Tracer, config.TracerConfig)
}

func (s *seen) tracer(name string, config json.RawMessage) error {
	s.Tracers = append(s.Tracers, name)
	if name != "muxTracer" || config == nil {
		return nil
	}
	var inner map[string]json.RawMessage
	if err := json.Unmarshal(config, &inner); err != nil {
		return err
	}
	for name, config := range inner {
		if err := s.tracer(name, config); err != nil {
			return err
		}
	}
	return nil
}

func (s *seen) filter(args filterArgs) error {
	switch addresses := args.Addresses.(type) {
	case nil:
		s.All = true
	case string:
		return s.text(addresses)
	case []interface{}:
		s.All = len(addresses) == 0
		for _, one := range addresses {
			text, ok := one.(string)
			if !ok {
				return errors.New("not an address")
			}
			if err := s.text(text); err != nil {
				return err
			}
		}
	default:
		return errors.New("not an address")
	}
	return nil
}

func (s *seen) text(text string) error {
	var a address
	if err := a.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	s.Addresses = append(s.Addresses, a.String())
	return nil
}

// One param, or nil if there are fewer.
func param(params []json.RawMessage, index int) json.RawMessage {
	if index < len(params) {
		return params[index]
	}
	return json.RawMessage("null")
}

func (s *seen) read(method string, text json.RawMessage) error {
	var params []json.RawMessage
	if err := json.Unmarshal(text, &params); err != nil {
		return err
	}
	switch method {
	case "eth_call", "debug_traceCall":
		var call transactionArgs
		if err := json.Unmarshal(param(params, 0), &call); err != nil {
			return err
		}
		s.call(call)
		if method == "debug_traceCall" {
			var config traceConfig
			if err := json.Unmarshal(param(params, 2), &config); err != nil {
				return err
			}
			return s.trace(config)
		}
		var overrides map[address]json.RawMessage
		if err := json.Unmarshal(param(params, 2), &overrides); err != nil {
			return err
		}
		s.Overrides = len(overrides) > 0
	case "debug_traceTransaction":
		var config traceConfig
		if err := json.Unmarshal(param(params, 1), &config); err != nil {
			return err
		}
		return s.trace(config)
	case "eth_simulateV1":
		var options simulateOptions
		if err := json.Unmarshal(param(params, 0), &options); err != nil {
			return err
		}
		for _, block := range options.BlockStateCalls {
			s.Overrides = s.Overrides || len(block.StateOverrides) > 0
			for _, call := range block.Calls {
				s.call(call)
			}
		}
	case "eth_getLogs":
		var args filterArgs
		if err := json.Unmarshal(param(params, 0), &args); err != nil {
			return err
		}
		return s.filter(args)
	case "eth_getStorageValues":
		var requests map[address]json.RawMessage
		if err := json.Unmarshal(param(params, 0), &requests); err != nil {
			return err
		}
		for one := range requests {
			s.Addresses = append(s.Addresses, one.String())
		}
	default:
		return errors.New("unknown method " + method)
	}
	return nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		method, params, _ := strings.Cut(lines.Text(), " ")
		s := seen{Addresses: []string{}, Tracers: []string{}}
		if err := s.read(method, json.RawMessage(params)); err != nil {
			s.Error = err.Error()
		}
		line, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
