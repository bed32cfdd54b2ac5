import { toMailbox } from '../storage/emailIdentity.ts'
import type { Email, EmailConfig } from './mailer.ts'

/** How long a server may take to accept a connection and to greet, in milliseconds. */
const connectMs = 10_000
/** How long a connection may be silent, in milliseconds. */
const silenceMs = 30_000

/**
 * Sends an email to its SMTP server, over a connection of its own.
 * @throws An error whose message may contain addresses: log only `describeEmailError`.
 */
export const sendBySmtp = async ({ smtp, from }: EmailConfig, email: Email): Promise<void> => {
  // Imported lazily: a service without email does not load it.
  const { createTransport } = await import('nodemailer')
  const { host, port, secure, user, password } = smtp
  const transport = createTransport({
    host,
    port,
    secure: secure === 'tls',
    requireTLS: secure === 'starttls',
    ignoreTLS: secure === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    // A text never names a file or a URL whose content is to be sent.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const { to, ...content } = email
  await transport.sendMail({
    ...content,
    from,
    // As an object it is one address. A text would be parsed as a list: `a,b@example.org` is two.
    to: { name: '', address: toMailbox(to) },
    headers: { 'Auto-Submitted': 'auto-generated' },
  })
}

const getMember = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined

/** Describes why an email was not sent, without anything that the server wrote. */
export const describeEmailError = (error: unknown): string => {
  const [status, code] = [getMember(error, 'responseCode'), getMember(error, 'code')]
  const known = [
    ...(typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? [code] : []),
    ...(typeof status === 'number' ? [`SMTP ${status}`] : []),
  ]
  return known.join(' ') || (error instanceof Error ? error.name : 'unknown')
}

/** Whether a retry is useless: the email or its recipient is rejected. Wrong credentials may be fixed while it is queued. */
export const isPermanentEmailError = (error: unknown): boolean => {
  const [status, code] = [getMember(error, 'responseCode'), getMember(error, 'code')]
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && (typeof status !== 'number' || status >= 500)
}
