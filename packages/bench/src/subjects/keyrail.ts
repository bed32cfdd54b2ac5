import type { TransportOptions } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'
import type { Subject } from './subject.ts'

/** A client with the options of the row. */
export function openKeyrail(options: TransportOptions): Subject {
  const client = createClient<Record<string, (...params: readonly unknown[]) => Promise<unknown>>>(options)
  return {
    call: (method, params) => (client[method] as (...params: readonly unknown[]) => Promise<unknown>)(...params),
    close: client.close,
  }
}
