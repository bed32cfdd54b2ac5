import { z } from 'zod'
import { actingAccountView } from './team.ts'
import { emailText, secretText, timeText } from './texts.ts'

const logIn = { email: emailText, password: secretText }

/** The members of an account that operators see too. */
export const accountMembers = {
  id: z.string(),
  email: z.string(),
  role: z.enum(['user', 'operator']).describe('Operators can view and change other accounts.'),
  hasSecondFactor: z.boolean(),
  createdAt: timeText,
}

export const accountView = z
  .strictObject({
    ...accountMembers,
    emailVerified: z.boolean().describe('Whether the user has opened a link that was sent to the address.'),
    hasPassword: z.boolean().describe('`false` for an account that only single sign-on can log in to.'),
  })
  .meta({ id: 'Account', description: 'The account of the session or access token.' })

export const sessionView = z
  .strictObject({
    account: accountView,
    secondFactorMissing: z
      .boolean()
      .describe(
        'Whether the service, or the team that the request acts for, requires a second factor that the account does not have. Add one first.',
      ),
    session: z
      .strictObject({
        createdAt: timeText,
        expiresAt: timeText.describe('When the session expires if it is not used.'),
        confirmedUntil: timeText.describe(
          'Until this time, no request requires the password or a second factor again.',
        ),
      })
      .nullable()
      .describe('`null` for a personal access token.'),
    scopes: z
      .array(z.string())
      .nullable()
      .describe('The scopes of a personal access token; `null` for a session, which has full access.'),
    actingFor: actingAccountView.describe('The account that the request acts for.'),
  })
  .meta({ id: 'Session', description: 'The authenticated account, and its session or scopes.' })

export const openSessionView = z
  .strictObject({
    id: z.string(),
    current: z.boolean().describe('Whether the request was sent in this session.'),
    createdAt: timeText.describe('The time of the log-in.'),
    seenAt: timeText.describe('When it was last used, to the minute.'),
    expiresAt: timeText.describe('When it expires if it is not used.'),
    ip: z.string().nullable().describe('The IP address of the log-in.'),
    userAgent: z.string().nullable().describe('The first 200 characters of the `User-Agent` header of the log-in.'),
  })
  .meta({ id: 'OpenSession', description: 'A session of the user, without its secret.' })

export const openSessionsView = z
  .strictObject({ items: z.array(openSessionView) })
  .describe('The sessions of the user that have not expired: first that of the request, then the last used one first.')

export const logInBody = z.strictObject(logIn).describe('Logs in.')

export const logInLinkBody = z
  .strictObject({ link: secretText.describe("The link's fragment, `krd_…`.") })
  .describe('Logs in with a link that works once, which `keyrail dev` prints.')

export const signOnView = z
  .strictObject({
    url: z
      .string()
      .describe("The provider's URL. Send the browser there. The provider sends it back to `/log-in/single-sign-on`."),
  })
  .describe('A log-in at the OpenID Connect provider.')

export const finishSignOnBody = z
  .strictObject({
    response: secretText.describe('The query of the URL that the provider sent the browser back to.'),
    invite: secretText.exactOptional().describe("Required to sign up if the deployment's `signUp` is `invite`."),
    connect: z
      .boolean()
      .exactOptional()
      .describe(
        'Whether to connect the provider to the account of the session. It fails if the provider has another email address. @default false',
      ),
  })
  .describe('Finishes a log-in at the OpenID Connect provider.')

export const signUpBody = z
  .strictObject({
    ...logIn,
    invite: secretText.exactOptional().describe("Required if the deployment's `signUp` is `invite`."),
    link: secretText
      .exactOptional()
      .describe(
        'Required if the deployment sends emails, unless it sent the invite: from the email of `POST /api/account/sign-up-link`, `kre_…`.',
      ),
  })
  .describe('Signs up.')

export const signUpLinkBody = z
  .strictObject({
    email: emailText,
    invite: secretText.exactOptional().describe("Required if the deployment's `signUp` is `invite`."),
  })
  .describe('Asks for a link to sign up with.')

export const forgotPasswordBody = z
  .strictObject({ email: emailText })
  .describe('Asks for a link to set a new password.')

export const emailBody = z
  .strictObject({
    email: emailText,
    password: secretText.exactOptional().describe('Required if the session is older than 15 minutes.'),
  })
  .describe('Asks for a link that gives the account this address, or verifies the one that it has.')

export const verifyEmailBody = z
  .strictObject({ link: secretText.describe("The link's fragment, `kre_…`.") })
  .describe('Verifies an email address.')

export const identityView = z
  .strictObject({ issuer: z.string().describe("The provider's issuer URL."), connectedAt: timeText })
  .describe('An account at an OpenID Connect provider that logs in to this account.')

export const identitiesView = z
  .strictObject({ items: z.array(identityView) })
  .describe('The accounts at OpenID Connect providers that log in to this account.')

export const disconnectBody = z
  .strictObject({
    issuer: z
      .string()
      .min(1, { error: 'must not be empty' })
      .max(2_000, { error: 'must have at most 2000 characters' })
      .describe('From `GET /api/account/identities`.'),
    password: secretText.exactOptional().describe('Required if the session is older than 15 minutes.'),
  })
  .describe('Disconnects the account at an OpenID Connect provider.')

export const changePasswordBody = z
  .strictObject({
    current: secretText,
    next: secretText,
  })
  .describe('Changes the password.')

export const resetPasswordBody = z
  .strictObject({
    link: secretText.describe("The link's fragment, `krl_…`."),
    password: secretText,
  })
  .describe('Sets a password with a link from an email or from the operator.')

export const passwordBody = z
  .strictObject({
    password: secretText
      .exactOptional()
      .describe(
        'Required from an account with a password. The session of an account without a password and a second factor must be younger than 15 minutes.',
      ),
  })
  .describe('Confirms an irreversible action.')

export const confirmBody = z
  .strictObject({ password: secretText.exactOptional() })
  .describe(
    'Confirms a sensitive action. The password is required if the session is older than 15 minutes. An account with a second factor needs one that was proved in the last 10 minutes instead, with `POST /api/session/confirm`.',
  )
