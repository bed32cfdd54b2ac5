import { batch, compose, deadline, gate, http, retry } from '@keyrail/core'
import { clientOf } from '@keyrail/fetch'
import type { Subject } from './subject.ts'

/** The small door with joining, and no more. */
export function openKeyrailBatch({ url, fetch }: { url: string; fetch?: typeof globalThis.fetch }): Subject {
  const endpoint = batch()(gate()(http({ url }, { fetch })))
  const client = clientOf<Record<string, (...params: readonly unknown[]) => Promise<unknown>>>(
    compose(endpoint, retry(), deadline()),
  )
  return {
    call: (method, params) => (client[method] as (...params: readonly unknown[]) => Promise<unknown>)(...params),
    close: client.close,
  }
}
