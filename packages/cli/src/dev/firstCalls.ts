import { createTransport, isKeyrailError } from '@keyrail/core'
import { getBlockHead } from '../node/callNode.ts'
import type { BlockHead } from '../node/callNode.ts'
import { devChainIds, networks } from './devChains.ts'
import type { Network } from './devChains.ts'
import type { DevDescription } from './devService.ts'
import { libraries as allLibraries } from './libraries/libraries.ts'
import type { FirstAddress, Library } from './libraries/library.ts'
import { loadLibraries } from './libraries/loadLibraries.ts'
import type { LoadedLibrary } from './libraries/loadLibraries.ts'

/** One first call and how it went. Holds no key. */
export interface FirstCall {
  readonly network: Network
  /** The shape of the address: an app's or an API key's. */
  readonly shape: 'app' | 'API key'
  readonly library: string
  /** The address with its key masked. */
  readonly label: string
  /** The block that came through the service. */
  readonly block?: BlockHead
  readonly tookMs: number
  /** What went wrong: the call failed, or the node itself says something else. */
  readonly failure?: string
}

/** What the node itself says, past the service. */
export interface NodeBlock {
  readonly network: Network
  readonly url: string
  readonly block: BlockHead
}

/** The first calls of a service. */
export interface FirstCalls {
  readonly nodes: readonly NodeBlock[]
  readonly calls: readonly FirstCall[]
  /** Every call was answered, and every answer is what the node itself says. */
  readonly allMatch: boolean
}

const describe = (error: unknown): string => {
  if (isKeyrailError(error)) return `${error.kind}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

/**
 * Says how a block that came through the service differs from what the node itself says.
 *
 * @param seen - The block from the service.
 * @param node - `url`: the node itself. `before`: its latest block before the call. A chain may grow meanwhile, so a later block is right as well.
 * @returns Undefined where they agree.
 */
async function difference(
  seen: BlockHead,
  node: { readonly url: string; readonly before: BlockHead },
): Promise<string | undefined> {
  if (BigInt(seen.number) < BigInt(node.before.number)) {
    return `the node itself was at block ${BigInt(node.before.number)} already`
  }
  const own = await getBlockHead(node.url, seen.number)
  return own.hash === seen.hash ? undefined : `the node itself says ${own.hash}`
}

/** An address as it may be printed. */
function labelOf(address: FirstAddress): string {
  const { redactedUrl, close } = createTransport(address)
  close()
  return redactedUrl
}

/** Opens a library, reads the latest block and closes it. */
async function ask({ open }: LoadedLibrary, address: FirstAddress): Promise<{ block: BlockHead; tookMs: number }> {
  const library = open(address)
  const startedAt = performance.now()
  try {
    const block = await library.latestBlock()
    return { block, tookMs: performance.now() - startedAt }
  } finally {
    library.close()
  }
}

/**
 * Reads the latest block of each network through each address shape and library, and compares it with what the node itself says.
 * A call that fails is told in its row and does not stop the others.
 *
 * @param service - Where to call.
 * @param libraries - What to call with, where it is installed. @default all of them
 * @throws {Error} where a node itself does not answer.
 */
export async function makeFirstCalls(
  service: Pick<DevDescription, 'url' | 'app' | 'keys' | 'nodes'>,
  libraries: readonly Library[] = allLibraries,
): Promise<FirstCalls> {
  const nodes: NodeBlock[] = []
  const calls: FirstCall[] = []
  const loaded = await loadLibraries(libraries)
  for (const network of networks) {
    const url = service.nodes[network]
    const before = await getBlockHead(url, 'latest')
    nodes.push({ network, url, block: before })
    const front = `${service.url}/${network}`
    const chainId = devChainIds[network]
    const shapes = [
      { shape: 'app', address: { baseUrl: front, apiKey: service.app.apiKey, chainId } },
      { shape: 'API key', address: { rpcUrl: front, apiKey: service.keys[network].apiKey, chainId } },
    ] as const
    for (const { shape, address } of shapes) {
      const label = labelOf(address)
      for (const library of loaded) {
        const startedAt = performance.now()
        const row = { network, shape, library: library.name, label }
        try {
          const { block, tookMs } = await ask(library, address)
          const failure = await difference(block, { url, before })
          calls.push({ ...row, block, tookMs, ...(failure === undefined ? {} : { failure }) })
        } catch (error) {
          calls.push({ ...row, tookMs: performance.now() - startedAt, failure: describe(error) })
        }
      }
    }
  }
  return { nodes, calls, allMatch: calls.length > 0 && calls.every(({ failure }) => failure === undefined) }
}
