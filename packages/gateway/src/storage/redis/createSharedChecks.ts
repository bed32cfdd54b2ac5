import { createHmac, randomUUID } from 'node:crypto'
import { timedOut, withTimeout } from '../../lib/withTimeout.ts'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import type { RedisMessages } from './createRedisMessages.ts'
import type { RedisLink } from './redisLink.ts'

/** The checks of nodes that the instances of a cluster share: one of them sends a check, and all learn its result. */
export interface SharedChecks {
  /**
   * Takes part in a check.
   * @param name - The same at all instances. It can contain secrets.
   * @param onResult - Called with the results that other instances publish. They are not trusted to have a certain form.
   */
  join(name: string, onResult: (result: unknown) => void): SharedCheck
  /** Whether results of other instances can be used: messages arrive, and none of this instance's own results contradicts them. */
  isTrusted(): boolean
}

/** A check that this instance shares. */
export interface SharedCheck {
  /** The same at all instances. It contains no secret. */
  readonly id: string
  /** Claims the check for a few seconds. @returns Whether this instance should send it now: `false` if another one has claimed it. Never rejects. */
  claim(): Promise<boolean>
  /** Publishes a result to the other instances. Publish only what a node responded: a failure may be that of this instance's network. */
  publish(result: unknown): void
  /** Sets whether this instance gets no response where others get one. While that is so for any check, it neither trusts their results nor publishes its own. */
  setDisputed(isDisputed: boolean): void
  /** Ends its part in the check. */
  leave(): void
}

const channel = 'kr:checks'
/** Longer than a result takes, and shorter than the interval of checks. */
const claimMs = 3_000
const claimTimeoutMs = 500

/**
 * Creates the checks that the instances on one Redis share.
 * @param options.secret - The names of checks contain URLs of nodes, so only their HMAC gets to Redis. Instances with another secret do not share.
 */
export const createSharedChecks = ({
  redis,
  messages,
  secret,
}: {
  redis: RedisLink
  messages: RedisMessages
  secret: ServerSecret
}): SharedChecks => {
  const instance = randomUUID()
  const listeners = new Map<string, Set<(result: unknown) => void>>()
  const disputed = new Set<SharedCheck>()
  const isTrusted = (): boolean => disputed.size === 0 && messages.isListening()

  messages.subscribe(channel, (message) => {
    const parsed = parseMessage(message)
    if (parsed === undefined || parsed.from === instance) return
    for (const listener of listeners.get(parsed.id) ?? []) listener(parsed.result)
  })
  return {
    isTrusted,
    join: (name, onResult) => {
      const id = createHmac('sha256', secret.key).update(`check ${name}`).digest('base64url').slice(0, 22)
      const key = `kr:check:${id}`
      const joined = listeners.get(id) ?? new Set()
      // A reload can replace a check by another one with the same name.
      const listener = (result: unknown): void => onResult(result)
      listeners.set(id, joined.add(listener))
      const check: SharedCheck = {
        id,
        claim: async () => {
          if (!isTrusted() || !redis.isReady(key)) return true
          const claimed = redis.client.set(key, '1', 'PX', claimMs, 'NX').catch(() => timedOut)
          return (await withTimeout(claimed, claimTimeoutMs, { unref: true })) !== null
        },
        publish: (result) => {
          if (isTrusted()) messages.publish(channel, JSON.stringify([instance, id, result]))
        },
        setDisputed: (isDisputed) => {
          if (isDisputed) disputed.add(check)
          else disputed.delete(check)
        },
        leave: () => {
          disputed.delete(check)
          joined.delete(listener)
          if (joined.size === 0 && listeners.get(id) === joined) listeners.delete(id)
        },
      }
      return check
    },
  }
}

const parseMessage = (message: string): { from: string; id: string; result: unknown } | undefined => {
  try {
    const parsed: unknown = JSON.parse(message)
    if (!Array.isArray(parsed)) return undefined
    const [from, id, result] = parsed as unknown[]
    return typeof from === 'string' && typeof id === 'string' ? { from, id, result } : undefined
  } catch {
    return undefined
  }
}
