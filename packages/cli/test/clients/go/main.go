// Uses a service through go-ethereum's own clients: ethclient and rpc. Prints what it did, one word a line.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func expect(holds bool, what string, values ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, append([]any{what}, values...)...)
		os.Exit(1)
	}
}

func done(what string) { fmt.Println(what) }

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	url, wsURL, key, token := os.Getenv("URL"), os.Getenv("WS_URL"), os.Getenv("PRIVATE_KEY"), common.HexToAddress(os.Getenv("TOKEN"))

	raw, err := rpc.DialContext(ctx, url)
	check(err)
	client := ethclient.NewClient(raw)
	socket, err := rpc.DialContext(ctx, wsURL)
	check(err)
	subscriber := ethclient.NewClient(socket)

	number := reads(ctx, client, token)
	subscriptionsAndWrites(ctx, client, subscriber, key, token, number)
	filters(ctx, raw)
	batches(ctx, "HTTP", raw)
	batches(ctx, "WebSocket", socket)
	failures(ctx, "HTTP", raw)
	failures(ctx, "WebSocket", socket)
}

func reads(ctx context.Context, client *ethclient.Client, token common.Address) uint64 {
	number, err := client.BlockNumber(ctx)
	check(err)
	header, err := client.HeaderByNumber(ctx, nil)
	check(err)
	block, err := client.BlockByHash(ctx, header.Hash())
	check(err)
	expect(block.NumberU64() >= number, "the block is too old", block.NumberU64(), number)
	code, err := client.CodeAt(ctx, token, nil)
	check(err)
	expect(len(code) > 0, "the token has no code")
	for _, tag := range []rpc.BlockNumber{rpc.SafeBlockNumber, rpc.FinalizedBlockNumber, rpc.PendingBlockNumber} {
		_, err = client.BalanceAt(ctx, token, big.NewInt(int64(tag)))
		check(err)
	}
	_, err = client.FeeHistory(ctx, 2, nil, []float64{50})
	check(err)
	receipts, err := client.BlockReceipts(ctx, rpc.BlockNumberOrHashWithHash(header.Hash(), false))
	check(err)
	expect(len(receipts) == len(block.Transactions()), "receipts are missing", len(receipts))
	_, err = client.TransactionReceipt(ctx, common.Hash{1})
	expect(errors.Is(err, ethereum.NotFound), "the receipt of an unknown transaction", err)
	done("reads")
	return number
}

func subscriptionsAndWrites(ctx context.Context, client, subscriber *ethclient.Client, key string, token common.Address, from uint64) {
	heads := make(chan *types.Header, 16)
	headSubscription, err := subscriber.SubscribeNewHead(ctx, heads)
	check(err)
	logs := make(chan types.Log, 16)
	query := ethereum.FilterQuery{Addresses: []common.Address{token}}
	logSubscription, err := subscriber.SubscribeFilterLogs(ctx, query, logs)
	check(err)

	private, err := crypto.HexToECDSA(key[2:])
	check(err)
	sender := crypto.PubkeyToAddress(private.PublicKey)
	chainID, err := client.ChainID(ctx)
	check(err)
	nonce, err := client.PendingNonceAt(ctx, sender)
	check(err)
	tip, err := client.SuggestGasTipCap(ctx)
	check(err)
	// transfer(address,uint256) of one unit.
	data := append(common.FromHex("0xa9059cbb"), append(common.LeftPadBytes(common.Address{0xbe}.Bytes(), 32), common.LeftPadBytes([]byte{1}, 32)...)...)
	gas, err := client.EstimateGas(ctx, ethereum.CallMsg{From: sender, To: &token, Data: data})
	check(err)
	transaction, err := types.SignNewTx(private, types.LatestSignerForChainID(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: nonce, GasTipCap: tip, GasFeeCap: new(big.Int).Mul(tip, big.NewInt(100)), Gas: gas * 2, To: &token, Data: data,
	})
	check(err)
	check(client.SendTransaction(ctx, transaction))
	var receipt *types.Receipt
	for receipt == nil {
		receipt, err = client.TransactionReceipt(ctx, transaction.Hash())
		if !errors.Is(err, ethereum.NotFound) {
			check(err)
		}
	}
	expect(receipt.Status == 1 && len(receipt.Logs) == 1, "the transfer failed", receipt.Status)
	after, err := client.PendingNonceAt(ctx, sender)
	check(err)
	expect(after == nonce+1, "the pending nonce", after, nonce)
	err = client.SendTransaction(ctx, transaction)
	expect(err != nil, "the same transaction was accepted twice")
	done("writes")

	for found := false; !found; {
		select {
		case head := <-heads:
			found = head.Number.Cmp(receipt.BlockNumber) == 0 && head.Hash() == receipt.BlockHash
		case err = <-headSubscription.Err():
			check(err)
		case <-ctx.Done():
			check(ctx.Err())
		}
	}
	select {
	case log := <-logs:
		expect(log.TxHash == transaction.Hash(), "the log of another transaction", log.TxHash)
	case <-ctx.Done():
		check(ctx.Err())
	}
	headSubscription.Unsubscribe()
	logSubscription.Unsubscribe()
	done("subscriptions")

	query.FromBlock = new(big.Int).SetUint64(from)
	found, err := client.FilterLogs(ctx, query)
	check(err)
	expect(len(found) == 1, "logs", len(found))
	done("logs")
}

func filters(ctx context.Context, client *rpc.Client) {
	var id string
	check(client.CallContext(ctx, &id, "eth_newBlockFilter"))
	var hashes []common.Hash
	check(client.CallContext(ctx, &hashes, "eth_getFilterChanges", id))
	var removed bool
	check(client.CallContext(ctx, &removed, "eth_uninstallFilter", id))
	expect(removed, "the filter was not removed")
	done("filters")
}

func batches(ctx context.Context, over string, client *rpc.Client) {
	batch := make([]rpc.BatchElem, 20)
	numbers := make([]string, len(batch))
	for index := range batch {
		batch[index] = rpc.BatchElem{Method: "eth_blockNumber", Result: &numbers[index]}
	}
	batch[7].Method = "eth_nothing"
	check(client.BatchCallContext(ctx, batch))
	for index, element := range batch {
		expect((element.Error != nil) == (index == 7), "batch", index, element.Error)
	}
	// The error of a batch that is too large reaches its caller at once, not at the caller's deadline.
	soon, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	large := make([]rpc.BatchElem, 1200)
	for index := range large {
		large[index] = rpc.BatchElem{Method: "eth_blockNumber", Result: new(string)}
	}
	err := client.BatchCallContext(soon, large)
	expect(!errors.Is(err, context.DeadlineExceeded), "the large batch got no response", over)
	if err == nil {
		for index, element := range large {
			expect(element.Error != nil, "a call of the large batch", index)
		}
	}
	done("batches over " + over)
}

func failures(ctx context.Context, over string, client *rpc.Client) {
	soon, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var ignored any
	err := client.CallContext(soon, &ignored, "eth_nothing")
	var code rpc.Error
	expect(errors.As(err, &code) && code.ErrorCode() == -32601, "an unknown method", err)
	err = client.CallContext(soon, &ignored, "")
	expect(err != nil && !errors.Is(err, context.DeadlineExceeded), "an empty method", err)
	done("failures over " + over)
}
