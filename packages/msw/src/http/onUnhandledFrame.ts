import { isCommonAssetRequest } from 'msw'

/** The part of a request or of a WebSocket connection of msw that has the URL. */
interface UnhandledFrame {
  readonly data: {
    readonly request?: Request
    readonly connection?: { readonly client: { readonly url: URL | string } }
  }
}

/** A URL without its path and query, which may contain a key: only the end of the longest part is shown, as in the SDK's redacted URLs. */
function redact(url: string): string {
  const { protocol, host, pathname, search } = new URL(url)
  const [longest = ''] = `${pathname}${search}`.split(/[/?&=]/).sort((a, b) => b.length - a.length)
  return `${protocol}//${host}${longest && '/…'}${longest.length >= 16 ? longest.slice(-4) : ''}`
}

/** Reads the names of the JSON-RPC methods of a request, if it has any. */
async function readMethods(request: Request): Promise<string[]> {
  try {
    const calls = [(await request.clone().json()) as { readonly method?: unknown }].flat()
    return calls.map(({ method }) => method).filter((method) => typeof method === 'string')
  } catch {
    return []
  }
}

/**
 * Rejects a request to a URL that nobody has mocked, as msw's `'error'` does, with a message that contains no key: msw prints the URL as it is.
 *
 * @throws {Error} always, with the redacted URL and the methods. msw fails the request with it.
 * @example
 * const node = createMockNode({ url: 'https://node.example/v2/my-key' })
 * // setupServer(...node.handlers).listen({ onUnhandledFrame })
 */
export async function onUnhandledFrame({ frame }: { readonly frame: object }): Promise<void> {
  const { request, connection } = (frame as UnhandledFrame).data
  if (request && isCommonAssetRequest(request)) return
  const url = String(request?.url ?? connection?.client.url)
  const methods = request ? [...new Set(await readMethods(request))].join(', ') : ''
  const what = request ? methods || request.method : 'a WebSocket'
  const message = `[keyrail/msw] No handler for ${what} to ${redact(url)}. Pass its URL to createMockNode, or correct the URL in the app`
  // oxlint-disable-next-line no-console -- The code under test may catch the error, and authors of tests read the output.
  console.error(message)
  throw new Error(message)
}
