// The calls that every runtime makes. Each function returns what it sees, as JSON: test/runtimeCalls.ts has what it must see, and scripts the server.
import { batch, createTransport, failover, stats, webSocket } from '@keyrail/core'
import { getSocket } from '@keyrail/core/internal'
import { createClient, getBalance, getBlock, isKeyrailError, subscribe } from '@keyrail/fetch'

/** Runs a function with a transport, and closes it. */
async function withTransport(options, use) {
  const transport = createTransport(options)
  try {
    return await use(transport)
  } finally {
    transport.close()
  }
}

/** The kind of failure of a promise. */
const getKind = (promise) =>
  promise.then(
    () => 'no failure',
    (error) => (isKeyrailError(error) ? error.kind : String(error)),
  )

/** How many requests the scripted server got at the URL of a transport. */
const countRequests = (url) =>
  withTransport({ url }, (transport) => transport.request({ method: 'test_requests', params: [] }))

const write = { method: 'eth_sendRawTransaction', params: ['0x02'] }

/** All calls, by name. `given` is documented at {@link runCalls}; `at(path)` is a URL of the scripted server that no other call uses. */
const calls = {
  'a decoded read': ({ baseUrl, apiKey }) =>
    withTransport({ baseUrl, apiKey }, async (transport) => {
      const { number } = await getBlock(createClient(transport))
      return typeof number
    }),

  'the chain id': ({ baseUrl, apiKey }) => withTransport({ baseUrl, apiKey }, (transport) => transport.chainId()),

  'calls of one tick in a batch': ({ baseUrl, apiKey }) =>
    withTransport({ baseUrl, apiKey, batch: batch(), stats: stats() }, async (transport) => {
      const client = createClient(transport)
      const [chainId, balance] = await Promise.all([
        client.eth_chainId(),
        getBalance(client, { address: `0x${'11'.repeat(20)}` }),
      ])
      return { chainId: Number(chainId), balance: `${balance}`, requests: transport.stats().requests }
    }),

  'a batch with a failure': (given, at) =>
    withTransport({ url: at('revert'), batch: batch() }, async (transport) => {
      const outcomes = await transport.batch([
        { method: 'eth_chainId', params: [] },
        { method: 'eth_call', params: [{ to: `0x${'22'.repeat(20)}` }, 'latest'] },
      ])
      return outcomes.map(({ status, value, reason }) => [status, value ?? reason.kind])
    }),

  'identical reads': async (given, at) => {
    const url = at('slow')
    const read = { method: 'eth_gasPrice', params: [] }
    const prices = await withTransport({ url }, (transport) =>
      Promise.all([transport.request(read), transport.request(read), transport.request(read)]),
    )
    return { prices, requests: await countRequests(url) }
  },

  'a retry after 503': async (given, at) => {
    const url = at('unavailableOnce')
    const price = await withTransport({ url, retry: { baseMs: 1 } }, (transport) =>
      transport.request({ method: 'eth_gasPrice', params: [] }),
    )
    return { price, requests: await countRequests(url) }
  },

  // The server rejects a request that comes before the time.
  'a wait after 429': async (given, at) => {
    const url = at('throttledOnce')
    const price = await withTransport({ url }, (transport) => transport.request({ method: 'eth_gasPrice', params: [] }))
    return { price, requests: await countRequests(url) }
  },

  'a write without a response': async (given, at) => {
    const url = at('badGateway')
    const kind = await withTransport({ url, retry: { baseMs: 1 } }, (transport) => getKind(transport.request(write)))
    return { kind, requests: await countRequests(url) }
  },

  'a deadline': (given, at) =>
    withTransport({ url: at('hang'), timeoutMs: 100 }, (transport) =>
      getKind(transport.request({ method: 'eth_gasPrice', params: [] })),
    ),

  'an abort': (given, at) =>
    withTransport({ url: at('hang') }, async (transport) => {
      const controller = new AbortController()
      const failure = transport
        .request({ method: 'eth_gasPrice', params: [] }, { signal: controller.signal })
        .catch((error) => error)
      controller.abort()
      return (await failure) === controller.signal.reason
    }),

  'a closed transport': (given, at) => {
    const transport = createTransport({ url: at('hang') })
    const kind = getKind(transport.request({ method: 'eth_gasPrice', params: [] }))
    transport.close()
    return kind
  },

  'a revert': (given, at) =>
    withTransport({ url: at('revert') }, async (transport) => {
      const error = await transport.request({ method: 'eth_call', params: [{}, 'latest'] }).catch((error) => error)
      return { kind: error.kind, data: error.rpcError?.data }
    }),

  'an unknown key': ({ baseUrl, wrongKey }) => getFailure({ baseUrl, apiKey: wrongKey }),

  'a server that cannot be reached': ({ unreachable, apiKey }) =>
    getFailure({ baseUrl: unreachable, apiKey, retry: false }),

  'a page in place of JSON': (given, at) =>
    withTransport({ url: at('page') }, (transport) => getKind(transport.request(write))),

  'a response that is too large': (given, at) =>
    withTransport({ url: at('large'), maxResponseBytes: 1_000 }, (transport) => getKind(transport.request(write))),

  'characters divided between chunks': (given, at) =>
    withTransport({ url: at('chunks') }, (transport) =>
      transport.request({ method: 'web3_clientVersion', params: [] }),
    ),

  'another endpoint': (given, at) =>
    withTransport({ endpoints: failover([{ url: at('down') }, { url: at('echo') }]) }, (transport) =>
      transport.request({ method: 'eth_gasPrice', params: [] }),
    ),

  'a subscription by polling': ({ baseUrl, apiKey }) =>
    withTransport({ baseUrl, apiKey }, async (transport) => {
      const watched = []
      const options = { fromBlock: 'latest', pollingIntervalMs: 20 }
      for await (const { block } of subscribe(transport, { blocks: true }, options)) {
        watched.push(block)
        if (watched.length === 3) break
        await transport.request({ method: 'evm_mine', params: [] })
      }
      return watched.every(({ parentHash }, index) => index === 0 || parentHash === watched[index - 1].hash)
    }),

  'a call and a subscription over WebSocket': ({ node }) =>
    withTransport({ url: node, webSocket: webSocket({ requests: true }) }, async (transport) => {
      const { hash } = await new Promise((resolve, reject) => {
        const handlers = { onNotification: ({ result }) => resolve(result), onEnd: reject }
        getSocket(transport)
          .subscribe(['newHeads'], handlers)
          .then(() => transport.request({ method: 'evm_mine', params: [] }))
          .catch(reject)
      })
      const block = await transport.request({ method: 'eth_getBlockByHash', params: [hash, false] })
      return block.hash === hash
    }),
}

/**
 * Makes all calls, one after another.
 *
 * @param given - `baseUrl` and `apiKey` of an app; `wrongKey`, an unknown key; `unreachable`, a URL without a server; `node`, the URL of a node;
 * `server`, the URL of the scripted server.
 * @returns What each call saw, and whether the transport used the global `fetch`.
 */
export async function runCalls(given) {
  const { fetch } = globalThis
  let fetches = 0
  globalThis.fetch = (...args) => {
    fetches++
    return fetch(...args)
  }
  const run = Math.random().toString(36).slice(2)
  const seen = {}
  try {
    for (const [index, [name, call]] of Object.entries(calls).entries()) {
      const at = (path) => `${given.server}/${path}/${run}-${index}`
      seen[name] = await Promise.resolve()
        .then(() => call(given, at))
        .catch((error) => `failed: ${error?.stack}`)
    }
    return { seen, usedFetch: fetches > 0 }
  } finally {
    globalThis.fetch = fetch
  }
}

/** Returns a failure and every text that it contains. Also prints it, because each platform formats errors differently. */
async function getFailure(options) {
  const client = createClient(options)
  try {
    return await client.eth_chainId()
  } catch (error) {
    console.log(error)
    return {
      ours: isKeyrailError(error),
      kind: error.kind,
      text: `${String(error)}\n${error.stack}\n${getText(error)}`,
    }
  } finally {
    client.close()
  }
}

/** Returns the text of all properties of an object, including non-enumerable ones. */
function getText(value, seen = new Set()) {
  if (typeof value !== 'object' || value === null) return `${String(value)}\n`
  if (seen.has(value)) return ''
  seen.add(value)
  return Reflect.ownKeys(value)
    .map((name) => `${String(name)}: ${getText(value[name], seen)}`)
    .join('')
}
