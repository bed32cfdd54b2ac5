import { batch as joinCalls, createClient, isKeyrailError } from '@keyrail/fetch'
import { keyrail } from '@keyrail/viem'
import { setupWorker } from 'msw/browser'
import { createPublicClient, createWalletClient, http, parseAbi, webSocket } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil as chain } from 'viem/chains'
import { createMockNode, record, replay } from '../src/index.ts'

/** The results of the page, for the test that opened it. */
export interface PageReport {
  readonly [what: string]: unknown
}

/** Runs in Chromium: the page of a dApp, with msw's service worker in place of a node. */
async function run(): Promise<PageReport> {
  const address = { baseUrl: 'https://node.example/testnet', apiKey: 'kr_a1234', chainId: chain.id }
  const node = createMockNode(address)
  await setupWorker(...node.handlers).start({ quiet: true, onUnhandledFrame: 'bypass' })

  const client = createClient({ ...address, retry: { retries: 2, baseMs: 1 } })
  const kind = async (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      (value) => value,
      (error: unknown) => (isKeyrailError(error) ? error.kind : String(error)),
    )
  const head = await client.eth_blockNumber()
  const batched = createClient({ ...address, batch: joinCalls() })
  const batch = await Promise.all([batched.eth_chainId(), batched.net_version()])
  node.fail('throttled', { retryAfterMs: 5 })
  const recovered = await client.eth_blockNumber()
  node.fail('network', { times: 3 })
  const broken = await kind(client.eth_blockNumber())
  node.fail('hang')
  const hanging = await kind(createClient({ ...address, retry: false, timeoutMs: 100 }).eth_blockNumber())
  const wrongKey = await kind(createClient({ ...address, apiKey: 'other', retry: false }).eth_blockNumber())

  const token = '0x00000000000000000000000000000000000000aa'
  const abi = parseAbi([
    'function transfer(address to, uint256 value) returns (bool)',
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'error Poor(uint256 has)',
  ])
  node.mockContract(token, abi, {
    transfer([to, value], call) {
      if (value > 9n) call.revert('Poor', [9n])
      call.emit('Transfer', { from: call.from, to, value })
      return true
    },
  })
  const account = privateKeyToAccount(node.accounts[0]!.privateKey)
  const url = `${address.baseUrl}/v2/${address.apiKey}`
  const wallet = createWalletClient({ account, chain, transport: keyrail(address) })
  const reader = createPublicClient({ chain, transport: http(url), pollingInterval: 10 })
  const hash = await wallet.writeContract({ abi, address: token, functionName: 'transfer', args: [token, 5n] })
  const receipt = await reader.waitForTransactionReceipt({ hash })
  const events = await reader.getContractEvents({ abi, address: token, fromBlock: 0n })
  const reverted = await reader
    .simulateContract({ abi, address: token, functionName: 'transfer', args: [token, 10n], account })
    .then(
      () => '',
      (error: Error) => error.message,
    )
  node.reorg(1)
  const lost = await client.eth_getTransactionReceipt(hash)
  const subscriber = createPublicClient({ chain, transport: webSocket(url.replace('https', 'wss')) })
  const numbers: bigint[] = []
  const watching = new Promise<void>((resolve) => {
    const stop = subscriber.watchBlockNumber({
      onBlockNumber: (number) => {
        if (numbers.push(number) === 2) resolve(stop())
      },
    })
  })
  while (node.calls('eth_subscribe').length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  node.mine(2)
  await watching
  const saved = await record(url).save('calls.json').catch(String)
  const replayed = await replay('calls.json', { url }).catch(String)
  return {
    head,
    batch,
    recovered,
    broken,
    hanging,
    wrongKey,
    status: receipt.status,
    values: events.map(({ args }) => String((args as { value?: bigint }).value)),
    reverted: /Poor\(uint256 has\)/.test(reverted),
    lost,
    watched: numbers.map((number) => number - BigInt(node.blockNumber())).map(String),
    saved,
    replayed,
    seen: node.calls().length > 10,
  }
}

Object.assign(globalThis, { report: run() })
