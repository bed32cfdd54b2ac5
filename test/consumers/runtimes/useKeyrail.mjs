// Uses the features that must work the same on every platform: a call, a batch, failures that show no key, an abort, subscriptions, and WebSocket.
import { batch, createTransport, stats, webSocket } from '@keyrail/core'
import { getSocket } from '@keyrail/core/internal'
import { createClient, getBalance, getBlock, isKeyrailError, subscribe } from '@keyrail/fetch'

/**
 * Uses every feature of a service that depends on the platform.
 * @param given - `baseUrl` and `apiKey` of an app; `wrongKey`, an unknown key; `unreachable`, a URL without a server; `node`, the URL of a node.
 */
export async function useKeyrail({ baseUrl, apiKey, wrongKey, unreachable, node }) {
  const { fetch } = globalThis
  let fetches = 0
  globalThis.fetch = (...args) => {
    fetches++
    return fetch(...args)
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
    const batchRequests = transport.stats().requests - requests

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
      blockNumberType: typeof block.number,
      chainId,
      balance: `${balance}`,
      batchRequests,
      abortedWithReason: await aborted,
      watchedOneChain: watched.every(({ parentHash }, index) => index === 0 || parentHash === watched[index - 1].hash),
      watched: watched.length,
      wrongKey: await getFailure({ baseUrl, apiKey: wrongKey }),
      unreachable: await getFailure({ baseUrl: unreachable, apiKey, retry: false }),
      usedFetch: fetches > 0,
      usedSocket: await useSocket(node),
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
      seen: `${String(error)}\n${error.stack}\n${getText(error)}`,
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
