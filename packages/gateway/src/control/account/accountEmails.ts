import { formatEmail } from '../../email/formatEmail.ts'
import type { Email, Mailer } from '../../email/mailer.ts'

/** How accounts send emails. */
export interface AccountMailer extends Pick<Mailer, 'isOn' | 'enqueue'> {
  /** The base of the dashboard. Called for each email. */
  readonly siteUrl: () => string
}

/** Sends nothing. */
export const noMailer: AccountMailer = { isOn: () => false, enqueue: () => {}, siteUrl: () => '' }

/**
 * The URL of a page of the dashboard.
 * @param fragment - A secret. It is in the fragment, which browsers do not send to servers.
 */
export const getPageUrl = (siteUrl: string, page: string, fragment?: string): string =>
  `${siteUrl.replace(/\/+$/, '')}/${page}${fragment === undefined ? '' : `#${fragment}`}`

/** The fragment of a link to the sign-up page. The page reads the email address from it, so the service needs no route that discloses it. */
export const getSignUpFragment = (
  secret: string,
  { email, invite }: { email?: string | null; invite?: string | undefined },
): string =>
  [
    secret,
    ...(invite === undefined ? [] : [`invite=${invite}`]),
    ...(email === undefined || email === null ? [] : [`email=${encodeURIComponent(email)}`]),
  ].join('&')

/** The name of the service in emails: the host that people know it by. */
export const getName = (siteUrl: string): string => URL.parse(siteUrl)?.host ?? 'Keyrail'

const ignore = 'If you did not ask for this, ignore this email. Nothing changes.'

interface Recipient {
  readonly to: string
  readonly siteUrl: string
}

/** The emails about accounts. */
export const accountEmails = {
  /** To an address without an account. @param fragment - From `getSignUpFragment`. */
  signUp: ({ to, siteUrl }: Recipient, fragment: string): Email =>
    formatEmail({
      to,
      subject: `Confirm your email address for ${getName(siteUrl)}`,
      paragraphs: [
        `You asked to sign up at ${getName(siteUrl)} with this email address.`,
        'Open the link to choose a password. It works once, within one hour.',
      ],
      action: { title: 'Continue', url: getPageUrl(siteUrl, 'sign-up', fragment) },
      footer: ignore,
    }),
  /** To an address that has an account, in place of a link to sign up or of a link to change another account's address. */
  accountExists: ({ to, siteUrl }: Recipient): Email =>
    formatEmail({
      to,
      subject: `You already have an account at ${getName(siteUrl)}`,
      paragraphs: [
        `Someone asked to use this email address for an account at ${getName(siteUrl)}. It already has one, so you can log in.`,
        'If you do not know your password, the log-in page has a link to set a new one.',
      ],
      action: { title: 'Log in', url: getPageUrl(siteUrl, 'log-in') },
      footer: ignore,
    }),
  invite: ({ to, siteUrl }: Recipient, fragment: string, expiresAt: number): Email =>
    formatEmail({
      to,
      subject: `You are invited to ${getName(siteUrl)}`,
      paragraphs: [
        `An operator of ${getName(siteUrl)} invites you to create an account.`,
        `Open the link to choose a password. It works once, until ${toUtcText(expiresAt)}.`,
      ],
      action: { title: 'Accept the invite', url: getPageUrl(siteUrl, 'sign-up', fragment) },
      footer: 'If you did not expect this, ignore this email. Without you, no account is created.',
    }),
  /** @param invite.secret - Of the invite. */
  memberInvite: (
    { to, siteUrl }: Recipient,
    { team, secret, expiresAt }: { team: string; secret: string; expiresAt: number },
  ): Email =>
    formatEmail({
      to,
      subject: `You are invited to the team ${team} at ${getName(siteUrl)}`,
      paragraphs: [
        `A member of the team ${team} at ${getName(siteUrl)} invites you to join it.`,
        `Open the link, then log in or sign up with this email address. It works once, until ${toUtcText(expiresAt)}.`,
      ],
      action: { title: 'Join the team', url: getPageUrl(siteUrl, 'join', secret) },
      footer: 'If you did not expect this, ignore this email. Nothing changes.',
    }),
  resetPassword: ({ to, siteUrl }: Recipient, link: string): Email =>
    formatEmail({
      to,
      subject: `Set a new password for ${getName(siteUrl)}`,
      paragraphs: [
        `You asked for a new password for your account at ${getName(siteUrl)}.`,
        'Open the link to set it. It works once, within one hour. All other sessions then end, and your access tokens are removed.',
      ],
      action: { title: 'Set a new password', url: getPageUrl(siteUrl, 'reset-password', link) },
      footer: ignore,
    }),
  verifyEmail: ({ to, siteUrl }: Recipient, link: string): Email =>
    formatEmail({
      to,
      subject: `Confirm your email address for ${getName(siteUrl)}`,
      paragraphs: [
        `You asked to use this email address for your account at ${getName(siteUrl)}.`,
        'Open the link to confirm it. It works once, within one hour.',
      ],
      action: { title: 'Confirm the address', url: getPageUrl(siteUrl, 'verify-email', link) },
      footer: ignore,
    }),
  passwordChanged: ({ to, siteUrl }: Recipient): Email =>
    formatEmail({
      to,
      subject: `Your password for ${getName(siteUrl)} was changed`,
      paragraphs: [
        `The password of your account at ${getName(siteUrl)} was changed. All other sessions have ended, and the access tokens are removed.`,
      ],
      footer: `If this was not you, set a new password now: ${getPageUrl(siteUrl, 'forgot-password')}`,
    }),
  /** @param what - What happened, as a sentence. */
  secondFactor: ({ to, siteUrl }: Recipient, what: string): Email =>
    formatEmail({
      to,
      subject: `Your second factor for ${getName(siteUrl)}`,
      paragraphs: [`This is about your account at ${getName(siteUrl)}. ${what}`],
      footer: 'If this was not you, change your password, and contact the operator of the service now.',
    }),
  /** To the address that the account had before. */
  emailChanged: ({ to, siteUrl }: Recipient): Email =>
    formatEmail({
      to,
      subject: `Your email address for ${getName(siteUrl)} was changed`,
      paragraphs: [
        `Your account at ${getName(siteUrl)} now has another email address. This one no longer works there.`,
      ],
      footer: 'If this was not you, contact the operator of the service now.',
    }),
} as const

/** Emails a user about a second factor. @param what - What happened, as a sentence. */
export const sendFactorEmail = ({ mailer }: { readonly mailer: AccountMailer }, to: string, what: string): void =>
  mailer.enqueue('secondFactor', async () => accountEmails.secondFactor({ to, siteUrl: mailer.siteUrl() }, what))

/** Such as `2026-11-23 18:00 UTC`. */
const toUtcText = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
