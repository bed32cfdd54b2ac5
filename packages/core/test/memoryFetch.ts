import type { RpcCall, Posted, Reply } from './scriptedPost.ts'
import { echoAll } from './scriptedPost.ts'

/** A reply, or only the head of a response. */
export type FetchReply = Reply | { readonly headOnly: true }

/** A request that was sent. */
export interface Fetched extends Posted {
  readonly url: string
}

/** A `fetch` in memory. Its responses come from a script. */
export interface MemoryFetch {
  readonly fetch: typeof globalThis.fetch
  readonly sent: Fetched[]
  /** The number of requests in flight. */
  open: number
  /** Can be replaced at any time. */
  script: (sent: Fetched) => FetchReply
}

/** Creates a `fetch` in memory. Like real requests, its requests end asynchronously, in a timer, except when their signal is aborted. */
export function memoryFetch(script: MemoryFetch['script'] = echoAll): MemoryFetch {
  const fetch = (url: string, { body, signal }: { readonly body: string; readonly signal: AbortSignal }): unknown =>
    new Promise((resolve, reject) => {
      const read = JSON.parse(body) as RpcCall | RpcCall[]
      const batched = Array.isArray(read)
      const rpcCalls = batched ? read : [read]
      const sent: Fetched = { url, body, rpcCalls, batched, at: performance.now(), stopped: false }
      memory.sent.push(sent)
      memory.open++
      const reply = memory.script(sent)
      let stopBody = (_reason: unknown): void => {}
      let timer: ReturnType<typeof setTimeout> | undefined
      const stop = (): void => {
        clearTimeout(timer)
        memory.open--
        sent.stopped = true
        reject(signal.reason as Error)
        stopBody(signal.reason)
      }
      signal.addEventListener('abort', stop, { once: true })
      const end = (run: () => void, afterMs = 1): void => {
        timer = setTimeout(() => {
          signal.removeEventListener('abort', stop)
          memory.open--
          run()
        }, afterMs)
      }
      if ('headOnly' in reply) {
        const rest = new Promise<never>((_, fail) => (stopBody = fail))
        resolve({ status: 200, headers: new Headers(), body: { getReader: () => ({ read: () => rest }) } })
      } else if ('facts' in reply) end(() => reject(new TypeError(reply.facts.text)), reply.afterMs)
      else if ('text' in reply) {
        const { status = 200, text, headers, afterMs } = reply
        end(() => resolve({ status, headers: new Headers(headers), text: async () => text }), afterMs)
      }
    })
  const memory: MemoryFetch = { fetch: fetch as typeof globalThis.fetch, sent: [], open: 0, script }
  return memory
}
