import { CliError } from '../cliError.ts'

/** The parts of a block to compare, as in JSON-RPC: the number is a hex quantity. */
export interface BlockHead {
  readonly number: string
  readonly hash: string
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/**
 * Calls an embedded node directly, without the service. It seeds the node and verifies first calls, so it shares no code with the SDK.
 *
 * @throws {CliError} if the node does not respond.
 * @throws {Error} with the node's message.
 */
export async function callNode(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    // A connection that is kept alive may have been closed by the guard while this process was busy.
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(30_000),
  }).catch((error: unknown) => {
    throw new CliError(`the embedded node did not respond to ${method}: ${describeCause(error)}`, { hint: 'try again' })
  })
  const body: unknown = await response.json()
  if (isObject(body) && 'result' in body) return body['result']
  const error = isObject(body) && isObject(body['error']) ? body['error'] : undefined
  throw new Error(
    `the node rejected ${method}: ${typeof error?.['message'] === 'string' ? error['message'] : 'no reason given'}`,
  )
}

/** `fetch` says only that it failed. The reason is in its cause. */
function describeCause(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string }
  return cause?.code ?? cause?.message ?? message ?? String(error)
}

/** Whether a value is a block with a number and a hash. */
function isBlockHead(value: unknown): value is BlockHead {
  return (
    isObject(value) &&
    typeof value['number'] === 'string' &&
    /^0x[0-9a-f]+$/.test(value['number']) &&
    typeof value['hash'] === 'string' &&
    /^0x[0-9a-f]{64}$/.test(value['hash'])
  )
}

/**
 * Reads a block from the node.
 *
 * @param block - A tag or a hex number.
 * @throws {Error} if the node has no such block.
 */
export async function getBlockHead(url: string, block: string): Promise<BlockHead> {
  const found = await callNode(url, 'eth_getBlockByNumber', [block, false])
  if (isBlockHead(found)) return { number: found.number, hash: found.hash }
  throw new Error(`the node has no block ${block}`)
}
