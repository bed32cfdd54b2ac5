import type { RetryAfterCase } from '@keyrail/vectors'
import type { Script } from '../faultServer.ts'
import { respondWith } from './respondWith.ts'

/** Rejects every call as throttled, with the delay of a case of `retryAfter.json`. */
export function retryAfterFault({ given }: Pick<RetryAfterCase, 'given'>): Script {
  const { text, retryAfter, date, data } = given
  const error = { code: 429, message: text || 'slow down', data }
  return (seen, response, socket) => {
    response.statusCode = 429
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
    if (date === undefined) response.sendDate = false
    else response.setHeader('date', date)
    respondWith(() => ({ error }))(seen, response, socket)
  }
}
