import { createMailer } from '../../src/mail/createMailer.ts'
import type { Mail, Mailer, MailEvent } from '../../src/mail/mailer.ts'
import type { AccountMail } from '../../src/control/account/accountMail.ts'

/** A mailer that keeps what it would send. */
export interface Mailbox {
  readonly mail: AccountMail
  readonly mailer: Mailer
  readonly events: MailEvent[]
  /** While `false`, emails are off. */
  isOn: boolean
  /** All emails so far. */
  readonly mails: Mail[]
  /** Waits until nothing is queued. */
  settle(): Promise<void>
  /** Waits for the next email, and removes it. */
  next(): Promise<Mail>
}

/** Creates a mailbox. */
export const createMailbox = ({
  siteUrl = () => 'https://rpc.example.org',
}: { siteUrl?: () => string } = {}): Mailbox => {
  const mails: Mail[] = []
  const events: MailEvent[] = []
  const mailer = createMailer({
    config: () =>
      mailbox.isOn ? { smtp: { host: 'localhost', port: 25, secure: 'none' }, from: 'a@example.org' } : undefined,
    send: async (_, mail) => void mails.push(mail),
    onEvent: (event) => events.push(event),
  })
  let queued = 0
  let done = 0
  const mailbox: Mailbox = {
    mailer,
    events,
    isOn: true,
    mails,
    mail: {
      isOn: mailer.isOn,
      siteUrl,
      enqueue: (kind, compose) => {
        if (!mailbox.isOn) return
        queued += 1
        mailer.enqueue(kind, async () => {
          try {
            return await compose()
          } finally {
            done += 1
          }
        })
      },
    },
    settle: async () => {
      // With a bound, so that a lost email fails its test.
      for (let tries = 0; done < queued && tries < 2_000; tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 1))
      await new Promise((resolve) => setImmediate(resolve))
    },
    next: async () => {
      await mailbox.settle()
      const mail = mails.shift()
      if (mail === undefined) throw new Error('there is no email')
      return mail
    },
  }
  return mailbox
}

/** The link in an email, and the secret in its fragment. */
export const readLink = ({ text }: Mail): { url: string; page: string; secret: string; fragment: string } => {
  const url = /https?:\/\/\S+/.exec(text)?.[0] ?? ''
  const { pathname, hash } = new URL(url)
  const fragment = hash.slice(1)
  return { url, page: pathname, fragment, secret: fragment.split('&', 1)[0] ?? '' }
}
