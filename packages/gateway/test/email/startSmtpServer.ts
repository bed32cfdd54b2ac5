import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'

/** An email that a server received. */
export interface ReceivedEmail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body, with soft line breaks and encoded characters resolved. */
  readonly source: string
  readonly isEncrypted: boolean
  /** The user that logged in. */
  readonly user: string | undefined
}

/** A real SMTP server. */
export interface SmtpServer {
  readonly port: number
  readonly received: ReceivedEmail[]
  /** The status codes of the next responses to a recipient; 250 if there is none. */
  readonly statuses: number[]
  /** Waits for the next email, and removes it. */
  next(): Promise<ReceivedEmail>
  close(): Promise<void>
}

/** Resolves quoted-printable text. */
const decodeQuoted = (text: string): string =>
  text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/(?:=[0-9A-F]{2})+/g, (run) => Buffer.from(run.replaceAll('=', ''), 'hex').toString())

/** Starts an SMTP server on a free port of 127.0.0.1. Its certificate is self-signed. */
export const startSmtpServer = async (options: SMTPServerOptions = {}): Promise<SmtpServer> => {
  const received: ReceivedEmail[] = []
  const statuses: number[] = []
  const waiting: (() => void)[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _, respond) =>
      password === 'right password'
        ? respond(null, { user: username })
        : respond(Object.assign(new Error('wrong'), { responseCode: 535 })),
    onRcptTo: ({ address }, _, respond) => {
      const status = statuses.shift() ?? 250
      // Like real servers, it repeats the address.
      if (status === 250) respond()
      else respond(Object.assign(new Error(`<${address}> is not wanted`), { responseCode: status }))
    },
    onData: (stream, { envelope, secure, user }, respond) => {
      void readText(stream).then((source) => {
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          source: decodeQuoted(source),
          isEncrypted: secure,
          user: user === undefined ? undefined : String(user),
        })
        respond()
        waiting.shift()?.()
      })
    },
    ...options,
  })
  server.on('error', () => {
    // A client that disconnects.
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    statuses,
    next: async () => {
      if (received.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
      const [first] = received.splice(0, 1)
      if (first === undefined) throw new Error('there is no email')
      return first
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
      }),
  }
}
