import { withTimeout } from '../lib/withTimeout.ts'
import type { Email, EmailConfig, Mailer, EmailEvent, EmailKind } from './mailer.ts'
import { describeEmailError, isPermanentEmailError, sendBySmtp } from './sendBySmtp.ts'

/** Waits before the retries, in milliseconds. After the last one an email is given up. */
const defaultRetryMs: readonly number[] = [5_000, 30_000, 120_000, 600_000]
const defaultMaxQueued = 1_000
/** Emails that are sent at once. */
const maxRunning = 2
const closeMs = 5_000

interface Job {
  readonly kind: EmailKind
  readonly compose: () => Promise<Email | undefined>
  /** Composed once: composing may create a link. */
  email?: Email
  failures: number
}

/**
 * Creates the queue of emails, which is in memory. An email is retried after 5 s, 30 s, 2 min and 10 min.
 * @param options.config - Called for each email, so a new configuration applies immediately. `undefined`: emails are off.
 * @param options.onEvent - Called for each email that is not sent, or not yet.
 * @param options.send - @default sendBySmtp
 * @param options.retryMs - The waits before the retries, in milliseconds.
 * @param options.maxQueued - Most emails in the queue, with those that wait for a retry. @default 1_000
 * @example
 * const mailer = createMailer({ config: () => undefined })
 * mailer.isOn() // false
 */
export const createMailer = ({
  config,
  onEvent = () => {},
  send = sendBySmtp,
  retryMs = defaultRetryMs,
  maxQueued = defaultMaxQueued,
}: {
  config: () => EmailConfig | undefined
  onEvent?: (event: EmailEvent) => void
  send?: (config: EmailConfig, email: Email) => Promise<void>
  retryMs?: readonly number[]
  maxQueued?: number
}): Mailer => {
  const queue: Job[] = []
  const waiting = new Map<Job, NodeJS.Timeout>()
  const running = new Set<Promise<void>>()
  let isClosed = false

  const drop = ({ kind }: Pick<Job, 'kind'>, reason: string): void =>
    onEvent({ event: 'email', kind, state: 'dropped', reason })

  const run = async (job: Job): Promise<void> => {
    const { kind } = job
    try {
      const current = config()
      if (current === undefined) return
      const email = job.email ?? (await job.compose())
      if (email === undefined) return
      job.email = email
      await send(current, email)
    } catch (error) {
      const reason = describeEmailError(error)
      const waitMs = isPermanentEmailError(error) ? undefined : retryMs[job.failures]
      job.failures += 1
      if (waitMs === undefined || isClosed) return onEvent({ event: 'email', kind, state: 'failed', reason })
      onEvent({ event: 'email', kind, state: 'retrying', reason })
      const timer = setTimeout(() => {
        waiting.delete(job)
        queue.push(job)
        runQueued()
      }, waitMs)
      waiting.set(job, timer.unref())
    }
  }

  const runQueued = (): void => {
    while (running.size < maxRunning) {
      const job = queue.shift()
      if (job === undefined) return
      const work: Promise<void> = run(job).finally(() => {
        running.delete(work)
        runQueued()
      })
      running.add(work)
    }
  }

  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running)
  }

  return {
    isOn: () => config() !== undefined,
    enqueue: (kind, compose) => {
      if (config() === undefined) return
      if (isClosed) return drop({ kind }, 'stopped')
      if (queue.length + waiting.size + running.size >= maxQueued) return drop({ kind }, 'queueFull')
      queue.push({ kind, compose, failures: 0 })
      // In a turn of its own: the caller's response does not wait for it.
      setImmediate(runQueued)
    },
    getSend: () => {
      const current = config()
      return current && ((email) => send(current, email))
    },
    close: async () => {
      isClosed = true
      // Those that wait for a retry get their last attempt now.
      for (const [job, timer] of waiting) {
        clearTimeout(timer)
        queue.push(job)
      }
      waiting.clear()
      runQueued()
      await withTimeout(drain(), closeMs)
      for (const job of queue.splice(0)) drop(job, 'stopped')
    },
  }
}
