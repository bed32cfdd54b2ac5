import { parseApiKey } from '../key/apiKey.ts'
import { hashApiKey } from '../key/hashApiKey.ts'
import type { KeyRecord } from '../key/keyStore.ts'
import { refuseKey } from '../key/refuseKey.ts'
import type { Network } from '../network.ts'
import { refusals } from '../refusal/refusals.ts'
import type { Answering } from './answering.ts'
import type { Exchange } from './exchange.ts'
import { refuseExchange } from './finishExchange.ts'

/**
 * Looks the key up, before the body is kept, so that a stranger's bytes are not.
 * @param options.proceed - Called where the key may be used there; else the request has been refused.
 */
export const admitKey = (
  answering: Answering,
  exchange: Exchange,
  { at, proceed }: { at: { network: Network; variant: 'app' | 'apiKey'; key: string }; proceed: () => void },
): void => {
  exchange.network = at.network
  const unavailable = (): void => {
    answering.log({ event: 'fault', where: 'keyStore' })
    refuseExchange(answering, exchange, refusals.keyStoreUnavailable())
  }
  const judge = (given: KeyRecord | null | undefined): void => {
    const record = given ?? undefined
    // A throw here would end the process: nobody waits for it.
    if (record !== undefined && !Array.isArray(record.networks)) {
      unavailable()
      return
    }
    const refusal = refuseKey(record, at)
    if (record !== undefined) {
      exchange.key = record
      if (record.networks.includes(at.network)) exchange.chainId = answering.groups[at.network].chainId
    }
    if (refusal !== undefined) refuseExchange(answering, exchange, refusal)
    else proceed()
  }
  if (parseApiKey(at.key) === undefined) {
    judge(undefined)
    return
  }
  let found: KeyRecord | undefined | Promise<KeyRecord | undefined>
  try {
    found = answering.keys.find(hashApiKey(at.key))
  } catch {
    unavailable()
    return
  }
  if (isThenable(found)) Promise.resolve(found).then(judge, unavailable)
  else judge(found)
}

/** Some database clients answer with a promise of their own kind. */
const isThenable = (found: object | null | undefined): found is PromiseLike<KeyRecord | undefined> =>
  typeof found === 'object' && found !== null && 'then' in found
