import { createTransport } from '@keyrail/core'
import type { TransportOptions } from '@keyrail/core'
import type { Subject } from './subject.ts'

/** The transport that every adapter uses. */
export function openCore(url: string, options: Partial<TransportOptions> = {}): Subject {
  const transport = createTransport({ url, ...options } as TransportOptions)
  return { call: (method, params) => transport.request({ method, params }), close: transport.close }
}
