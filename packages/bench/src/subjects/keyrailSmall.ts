import { compose, deadline, http, retry } from '@keyrail/core'
import type { Layer } from '@keyrail/core'
import { clientOf } from '@keyrail/fetch'
import type { Subject } from './subject.ts'

/** The small door: only what is named is bundled. */
export function openKeyrailSmall(url: string, layers: readonly Layer[] = [retry(), deadline()]): Subject {
  const client = clientOf<Record<string, (...params: readonly unknown[]) => Promise<unknown>>>(
    compose(http({ url }), ...layers),
  )
  return {
    call: (method, params) => (client[method] as (...params: readonly unknown[]) => Promise<unknown>)(...params),
    close: client.close,
  }
}
