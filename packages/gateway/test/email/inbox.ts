import { createMailer } from '../../src/email/createMailer.ts'
import type { Email, EmailEvent } from '../../src/email/mailer.ts'
import type { AccountMailer } from '../../src/control/account/accountEmails.ts'

/** A mailer that keeps what it would send. */
export interface Inbox {
  readonly mailer: AccountMailer
  readonly events: EmailEvent[]
  /** While `false`, emails are off. */
  isOn: boolean
  /** All emails so far. */
  readonly emails: Email[]
  /** Waits until nothing is queued. */
  waitUntilSent(): Promise<void>
  /** Waits for the next email, and removes it. */
  next(): Promise<Email>
}

/** Creates an inbox. */
export const createInbox = ({ siteUrl = () => 'https://rpc.example.org' }: { siteUrl?: () => string } = {}): Inbox => {
  const emails: Email[] = []
  const events: EmailEvent[] = []
  const queue = createMailer({
    config: () =>
      inbox.isOn ? { smtp: { host: 'localhost', port: 25, secure: 'none' }, from: 'a@example.org' } : undefined,
    send: async (_, email) => void emails.push(email),
    onEvent: (event) => events.push(event),
  })
  let queued = 0
  let done = 0
  const inbox: Inbox = {
    events,
    isOn: true,
    emails,
    mailer: {
      isOn: queue.isOn,
      siteUrl,
      enqueue: (kind, compose) => {
        if (!inbox.isOn) return
        queued += 1
        queue.enqueue(kind, async () => {
          try {
            return await compose()
          } finally {
            done += 1
          }
        })
      },
    },
    waitUntilSent: async () => {
      // With a bound, so that a lost email fails its test.
      for (let tries = 0; done < queued && tries < 2_000; tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 1))
      await new Promise((resolve) => setImmediate(resolve))
    },
    next: async () => {
      await inbox.waitUntilSent()
      const email = emails.shift()
      if (email === undefined) throw new Error('there is no email')
      return email
    },
  }
  return inbox
}

/** The link in an email, and the secret in its fragment. */
export const readLink = ({ text }: Email): { url: string; page: string; secret: string; fragment: string } => {
  const url = /https?:\/\/\S+/.exec(text)?.[0] ?? ''
  const { pathname, hash } = new URL(url)
  const fragment = hash.slice(1)
  return { url, page: pathname, fragment, secret: fragment.split('&', 1)[0] ?? '' }
}
