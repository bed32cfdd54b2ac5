import type { TransportOptions } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'
import type { Subject } from './subject.ts'

/** The full door: a client over every layer, as `createClient` makes it by default, with the options of the row. */
export function openKeyrail(url: string, options: Partial<TransportOptions> = {}): Subject {
  const client = createClient<Record<string, (...params: readonly unknown[]) => Promise<unknown>>>({
    url,
    ...options,
  } as TransportOptions)
  return {
    call: (method, params) => (client[method] as (...params: readonly unknown[]) => Promise<unknown>)(...params),
    close: client.close,
  }
}
