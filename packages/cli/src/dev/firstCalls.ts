import { createTransport, isKeyrailError } from '@keyrail/core'
import { getBlockHead } from '../node/callNode.ts'
import type { BlockHead } from '../node/callNode.ts'
import type { DevDescription } from './devDescription.ts'
import { libraries as allLibraries } from './libraries/libraries.ts'
import type { FirstEndpoint, Library } from './libraries/libraries.ts'
import { loadLibraries } from './libraries/loadLibraries.ts'
import type { LoadedLibrary } from './libraries/loadLibraries.ts'

/** One first call and its result. Contains no key. */
export interface FirstCall {
  readonly network: string
  /** The form of the URL: an app's or an API key's. */
  readonly shape: 'app' | 'API key'
  readonly library: string
  /** The URL with its key masked. */
  readonly redactedUrl: string
  /** The block that the service returned. */
  readonly block?: BlockHead
  readonly tookMs: number
  /** Why it failed: an error, or a block that differs from the node's own. */
  readonly failure?: string
}

/** The latest block according to the node itself, without the service. */
export interface NodeBlock {
  readonly network: string
  readonly url: string
  readonly block: BlockHead
}

/** The first calls through a service. */
export interface FirstCalls {
  readonly chainIds: DevDescription<string>['chainIds']
  readonly nodes: readonly NodeBlock[]
  readonly calls: readonly FirstCall[]
  /** Whether every call succeeded and every block matches the node's own. */
  readonly allMatch: boolean
}

const describe = (error: unknown): string => {
  if (isKeyrailError(error)) return `${error.kind}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

/**
 * Compares a block from the service with the node's own.
 *
 * @param seen - The block from the service.
 * @param node - `url`: the node itself. `before`: its latest block before the call. The chain may grow during the call, so a later block is
 *   correct, too.
 * @returns The difference; undefined if they match.
 */
async function findDifference(
  seen: BlockHead,
  node: { readonly url: string; readonly before: BlockHead },
): Promise<string | undefined> {
  if (BigInt(seen.number) < BigInt(node.before.number)) {
    return `the node was already at block ${BigInt(node.before.number)}`
  }
  const own = await getBlockHead(node.url, seen.number)
  return own.hash === seen.hash ? undefined : `the node returned ${own.hash}`
}

function getRedactedUrl(endpoint: FirstEndpoint): string {
  const { redactedUrl, close } = createTransport(endpoint)
  close()
  return redactedUrl
}

/** Opens a library, reads the latest block and closes it. Only the call is timed. */
async function readLatestBlock(
  { open }: LoadedLibrary,
  endpoint: FirstEndpoint,
): Promise<{ block: BlockHead; tookMs: number }> {
  const library = open(endpoint)
  const startedAt = performance.now()
  try {
    const block = await library.latestBlock()
    return { block, tookMs: performance.now() - startedAt }
  } finally {
    library.close()
  }
}

/**
 * Reads the latest block of each network through both kinds of URL and each library, and compares it with the node's own.
 * A failed call is reported in its row and does not stop the others.
 *
 * @param service - The service to call.
 * @param libraries - The libraries to call with, if installed. @default all of them
 * @throws {Error} if a node itself does not respond.
 */
export async function makeFirstCalls(
  service: Pick<DevDescription<string>, 'url' | 'app' | 'keys' | 'nodes' | 'chainIds'>,
  libraries: readonly Library[] = allLibraries,
): Promise<FirstCalls> {
  const nodes: NodeBlock[] = []
  const calls: FirstCall[] = []
  const loaded = await loadLibraries(libraries)
  const { chainIds } = service
  for (const [network, url] of Object.entries(service.nodes)) {
    const before = await getBlockHead(url, 'latest')
    nodes.push({ network, url, block: before })
    const networkUrl = `${service.url}/${network}`
    const chainId = chainIds[network] ?? 0
    const key = service.keys[network]
    const shapes: readonly { readonly shape: FirstCall['shape']; readonly endpoint: FirstEndpoint }[] = [
      { shape: 'app', endpoint: { baseUrl: networkUrl, apiKey: service.app.apiKey, chainId } },
      ...(key === undefined
        ? []
        : [{ shape: 'API key' as const, endpoint: { rpcUrl: networkUrl, apiKey: key.apiKey, chainId } }]),
    ]
    for (const { shape, endpoint } of shapes) {
      const redactedUrl = getRedactedUrl(endpoint)
      for (const library of loaded) {
        const startedAt = performance.now()
        const row = { network, shape, library: library.name, redactedUrl }
        try {
          const { block, tookMs } = await readLatestBlock(library, endpoint)
          const failure = await findDifference(block, { url, before })
          calls.push({ ...row, block, tookMs, ...(failure === undefined ? {} : { failure }) })
        } catch (error) {
          calls.push({ ...row, tookMs: performance.now() - startedAt, failure: describe(error) })
        }
      }
    }
  }
  return { chainIds, nodes, calls, allMatch: calls.length > 0 && calls.every(({ failure }) => failure === undefined) }
}
