import { createTransport, hooks } from '@keyrail/core'
import type { FailureKind, KeyrailTransport, TransportOptions } from '@keyrail/core'
import { KeyrailProvider as EthersProvider } from '@keyrail/ethers'
import { createClient } from '@keyrail/fetch'
import { keyrail } from '@keyrail/viem'
import { KeyrailProvider as Web3Provider } from '@keyrail/web3'
import { createPublicClient } from 'viem'

/** A library over one transport, with which to call any method. */
export interface OpenedClient {
  readonly request: (method: string, params?: readonly unknown[]) => Promise<unknown>
  /** The failure kind of the last call; undefined if it succeeded. */
  readonly kind: () => FailureKind | undefined
  /** The failure kind of the last call of a method. */
  readonly kindOfMethod: (method: string) => FailureKind | undefined
  readonly transport: KeyrailTransport
  readonly close: () => void
}

const openers: Readonly<
  Record<
    string,
    (transport: KeyrailTransport) => { readonly request: OpenedClient['request']; readonly close?: () => void }
  >
> = {
  fetch: (transport) => {
    const client = createClient(transport)
    return { request: (method, params = []) => client.request({ method, params } as never) }
  },
  viem: (transport) => {
    const client = createPublicClient({ transport: keyrail(transport) })
    return { request: (method, params = []) => client.request({ method, params } as never) }
  },
  ethers: (transport) => {
    const provider = new EthersProvider(transport)
    return { request: (method, params = []) => provider.send(method, [...params]), close: () => provider.destroy() }
  },
  web3: (transport) => {
    const provider = new Web3Provider(transport)
    return {
      async request(method, params = []) {
        const response = (await provider.request({ jsonrpc: '2.0', id: 1, method, params } as never)) as {
          readonly result: unknown
          readonly error?: { readonly message: string }
        }
        // A provider of web3 returns an error of the node instead of throwing it.
        if (response.error !== undefined) throw new Error(response.error.message)
        return response.result
      },
      close: () => provider.disconnect(),
    }
  },
}

/** The names of the libraries. */
export const clientNames: readonly string[] = Object.keys(openers)

/** Opens a library over its own transport. */
export function openClient(name: string, options: TransportOptions): OpenedClient {
  let kind: FailureKind | undefined
  const kinds = new Map<string, FailureKind>()
  const watching = hooks({
    onResponse: ({ method }: { readonly method: string }) => {
      kind = undefined
      kinds.delete(method)
    },
    onFailure: (event: { readonly method: string; readonly kind: FailureKind }) => {
      kind = event.kind
      kinds.set(event.method, event.kind)
    },
  })
  const transport = createTransport({ hooks: watching, ...options } as TransportOptions)
  const { request, close } = openers[name]!(transport)
  return {
    request,
    kind: () => kind,
    kindOfMethod: (method) => kinds.get(method),
    transport,
    close() {
      close?.()
      transport.close()
    },
  }
}

/** Makes a call and returns its failure kind, after the hooks have run. */
export async function getKind(client: OpenedClient, method: string, params: readonly unknown[] = []): Promise<string> {
  const outcome = await client.request(method, params).then(
    (value) => ({ value }),
    () => undefined,
  )
  await new Promise((resolve) => setImmediate(resolve))
  return outcome === undefined
    ? (client.kind() ?? 'failed outside of Keyrail')
    : `result ${JSON.stringify(outcome.value)}`
}
