import type { RetryAfterCase } from '@keyrail/vectors'
import type { Script } from '../faultServer.ts'
import { answering } from './answering.ts'

/** Refuses every call for speed, with the wait named as a case of `retryAfter.json` names it. */
export function retryAfterFault({ given }: Pick<RetryAfterCase, 'given'>): Script {
  const { text, retryAfter, date, data } = given
  const error = { code: 429, message: text || 'slow down', data }
  return (seen, response, socket) => {
    response.statusCode = 429
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
    if (date === undefined) response.sendDate = false
    else response.setHeader('date', date)
    answering(() => ({ error }))(seen, response, socket)
  }
}
