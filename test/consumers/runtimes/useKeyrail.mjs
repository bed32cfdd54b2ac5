// What must go alike wherever the SDK runs: a call, a batch, failures that show no key, an abort, subscriptions, and WebSocket.
import { batch, createTransport, stats, webSocket } from '@keyrail/core'
import { getSocket } from '@keyrail/core/internal'
import { createClient, getBalance, getBlock, isKeyrailError, subscribe } from '@keyrail/fetch'

/**
 * Uses a service in every way that a platform could spoil.
 * @param given - `baseUrl` and `apiKey` of an app; `wrongKey`, which the service does not know; `nobody`, where nobody listens; `node`, a node's own URL.
 */
export async function useKeyrail({ baseUrl, apiKey, wrongKey, nobody, node }) {
  const { fetch } = globalThis
  let fetches = 0
  globalThis.fetch = (...words) => {
    fetches++
    return fetch(...words)
  }
  try {
    const transport = createTransport({ baseUrl, apiKey, batch: batch(), stats: stats() })
    const client = createClient(transport)
    const block = await getBlock(client)

    const { requests } = transport.stats()
    const [chainId, balance] = await Promise.all([
      client.eth_chainId(),
      getBalance(client, { address: `0x${'11'.repeat(20)}` }),
    ])
    const requestsOfBatch = transport.stats().requests - requests

    const controller = new AbortController()
    const aborted = client
      .with({ signal: controller.signal })
      .eth_gasPrice()
      .catch((error) => error === controller.signal.reason)
    controller.abort()

    const watched = []
    for await (const event of subscribe(client, { blocks: true }, { fromBlock: 'latest', pollingIntervalMs: 20 })) {
      watched.push(event.block)
      if (watched.length === 3) break
      await transport.request({ method: 'evm_mine', params: [] })
    }

    const report = {
      blockOf: typeof block.number,
      chainId,
      balance: `${balance}`,
      requestsOfBatch,
      abortedByItsReason: await aborted,
      watchedOneChain: watched.every(({ parentHash }, index) => index === 0 || parentHash === watched[index - 1].hash),
      watched: watched.length,
      wrongKey: await failure({ baseUrl, apiKey: wrongKey }),
      nobody: await failure({ baseUrl: nobody, apiKey, retry: false }),
      byFetch: fetches > 0,
      bySocket: await useSocket(node),
    }
    transport.close()
    return report
  } finally {
    globalThis.fetch = fetch
  }
}

/** A call and a subscription over WebSocket. */
async function useSocket(url) {
  const transport = createTransport({ url, webSocket: webSocket({ requests: true }) })
  try {
    const { hash } = await new Promise((resolve, reject) => {
      const handlers = { onNotification: ({ result }) => resolve(result), onEnd: reject }
      getSocket(transport)
        .subscribe(['newHeads'], handlers)
        .then(() => transport.request({ method: 'evm_mine', params: [] }))
        .catch(reject)
    })
    const block = await transport.request({ method: 'eth_getBlockByHash', params: [hash, false] })
    return block.hash === hash
  } catch (error) {
    return error.message
  } finally {
    transport.close()
  }
}

/** A failure, and whatever can be seen of it. Printed as well: each platform shows an error in its own way. */
async function failure(options) {
  const client = createClient(options)
  try {
    return await client.eth_chainId()
  } catch (error) {
    console.log(error)
    return {
      ours: isKeyrailError(error),
      kind: error.kind,
      seen: `${String(error)}\n${error.stack}\n${everyPart(error)}`,
    }
  } finally {
    client.close()
  }
}

/** The text of all that an object holds, what does not show by itself included. */
function everyPart(value, seen = new Set()) {
  if (typeof value !== 'object' || value === null) return `${String(value)}\n`
  if (seen.has(value)) return ''
  seen.add(value)
  return Reflect.ownKeys(value)
    .map((name) => `${String(name)}: ${everyPart(value[name], seen)}`)
    .join('')
}
