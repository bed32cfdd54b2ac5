import { z } from 'zod'
import { secretText, timeText } from './texts.ts'

/** The account of the session or access token. */
export interface AccountView {
  readonly id: string
  readonly email: string
  /** Whether the user has opened a link that was sent to the address. */
  readonly emailVerified: boolean
  /** `false` for an account that only single sign-on can log in to. */
  readonly hasPassword: boolean
  /** Operators can view and change other accounts. */
  readonly role: 'user' | 'operator'
  readonly createdAt: string
}

/** The authenticated account, and its session or scopes. */
export interface SessionView {
  readonly account: AccountView
  /** `null` for a personal access token. */
  readonly session: {
    readonly createdAt: string
    /** When the session expires if it is not used. */
    readonly expiresAt: string
    /** Until this time, no request requires the password. */
    readonly confirmedUntil: string
  } | null
  /** The scopes of a personal access token; `null` for a session, which has full access. */
  readonly scopes: readonly string[] | null
}

/** Logs in. */
export interface LogInBody {
  readonly email: string
  readonly password: string
}

/** Logs in with a link that works once, which `keyrail dev` prints. */
export interface LogInLinkBody {
  /** The link's fragment, `krd_…`. */
  readonly link: string
}

/** A log-in at the OpenID Connect provider. */
export interface SignOnView {
  /** The provider's URL. Send the browser there. The provider sends it back to `/log-in/single-sign-on`. */
  readonly url: string
}

/** Finishes a log-in at the OpenID Connect provider. */
export interface FinishSignOnBody {
  /** The query of the URL that the provider sent the browser back to. */
  readonly response: string
  /** Required to sign up if the deployment's `signUp` is `invite`. */
  readonly invite?: string
  /** Whether to connect the provider to the account of the session. It fails if the provider has another email address. @default false */
  readonly connect?: boolean
}

/** Signs up. */
export interface SignUpBody extends LogInBody {
  /** Required if the deployment's `signUp` is `invite`. */
  readonly invite?: string
  /** Required if the deployment sends emails, unless it sent the invite: from the email of `POST /api/account/sign-up-link`, `kre_…`. */
  readonly link?: string
}

/** Asks for a link to sign up with. */
export interface SignUpLinkBody {
  readonly email: string
  /** Required if the deployment's `signUp` is `invite`. */
  readonly invite?: string
}

/** Asks for a link to set a new password. */
export interface ForgotPasswordBody {
  readonly email: string
}

/** Asks for a link that gives the account this address, or verifies the one that it has. */
export interface EmailBody {
  readonly email: string
  /** Required if the session is older than 15 minutes. */
  readonly password?: string
}

/** Verifies an email address. */
export interface VerifyEmailBody {
  /** The link's fragment, `kre_…`. */
  readonly link: string
}

/** An account at an OpenID Connect provider that logs in to this account. */
export interface IdentityView {
  /** The provider's issuer URL. */
  readonly issuer: string
  readonly connectedAt: string
}

/** The accounts at OpenID Connect providers that log in to this account. */
export interface IdentitiesView {
  readonly items: readonly IdentityView[]
}

/** Disconnects the account at an OpenID Connect provider. */
export interface DisconnectBody {
  /** From `GET /api/account/identities`. */
  readonly issuer: string
  /** Required if the session is older than 15 minutes. */
  readonly password?: string
}

/** Changes the password. */
export interface ChangePasswordBody {
  readonly current: string
  readonly next: string
}

/** Sets a password with a link from an email or from the operator. */
export interface ResetPasswordBody {
  /** The link's fragment, `krl_…`. */
  readonly link: string
  readonly password: string
}

/** Confirms an irreversible action. */
export interface PasswordBody {
  /** Required from an account with a password. The session of any other account must be younger than 15 minutes. */
  readonly password?: string
}

/** Confirms a sensitive action. The password is required if the session is older than 15 minutes. */
export interface ConfirmBody {
  readonly password?: string
}

const email = z.string().trim().min(1, { error: 'must not be empty' }).max(254, {
  error: 'must have at most 254 characters',
})
const logIn = { email, password: secretText }

/** The schema of `AccountView`. */
export const accountView: z.ZodType<AccountView> = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
    hasPassword: z.boolean(),
    role: z.enum(['user', 'operator']),
    createdAt: timeText,
  })
  .meta({ id: 'Account' })

/** The schema of `SessionView`. */
export const sessionView: z.ZodType<SessionView> = z
  .strictObject({
    account: accountView,
    session: z.strictObject({ createdAt: timeText, expiresAt: timeText, confirmedUntil: timeText }).nullable(),
    scopes: z.array(z.string()).nullable(),
  })
  .meta({ id: 'Session' })

/** The schema of `LogInBody`. */
export const logInBody: z.ZodType<LogInBody, LogInBody> = z.strictObject(logIn)

/** The schema of `LogInLinkBody`. */
export const logInLinkBody: z.ZodType<LogInLinkBody, LogInLinkBody> = z.strictObject({ link: secretText })

/** The schema of `SignOnView`. */
export const signOnView: z.ZodType<SignOnView> = z.strictObject({ url: z.string() })

/** The schema of `FinishSignOnBody`. */
export const finishSignOnBody: z.ZodType<FinishSignOnBody, FinishSignOnBody> = z.strictObject({
  response: secretText,
  invite: secretText.exactOptional(),
  connect: z.boolean().exactOptional(),
})

/** The schema of `SignUpBody`. */
export const signUpBody: z.ZodType<SignUpBody, SignUpBody> = z.strictObject({
  ...logIn,
  invite: secretText.exactOptional(),
  link: secretText.exactOptional(),
})

/** The schema of `SignUpLinkBody`. */
export const signUpLinkBody: z.ZodType<SignUpLinkBody, SignUpLinkBody> = z.strictObject({
  email,
  invite: secretText.exactOptional(),
})

/** The schema of `ForgotPasswordBody`. */
export const forgotPasswordBody: z.ZodType<ForgotPasswordBody, ForgotPasswordBody> = z.strictObject({ email })

/** The schema of `EmailBody`. */
export const emailBody: z.ZodType<EmailBody, EmailBody> = z.strictObject({
  email,
  password: secretText.exactOptional(),
})

/** The schema of `VerifyEmailBody`. */
export const verifyEmailBody: z.ZodType<VerifyEmailBody, VerifyEmailBody> = z.strictObject({ link: secretText })

/** The schema of `IdentitiesView`. */
export const identitiesView: z.ZodType<IdentitiesView> = z.strictObject({
  items: z.array(z.strictObject({ issuer: z.string(), connectedAt: timeText })),
})

/** The schema of `DisconnectBody`. */
export const disconnectBody: z.ZodType<DisconnectBody, DisconnectBody> = z.strictObject({
  issuer: z.string().min(1, { error: 'must not be empty' }).max(2_000, { error: 'must have at most 2000 characters' }),
  password: secretText.exactOptional(),
})

/** The schema of `ChangePasswordBody`. */
export const changePasswordBody: z.ZodType<ChangePasswordBody, ChangePasswordBody> = z.strictObject({
  current: secretText,
  next: secretText,
})

/** The schema of `ResetPasswordBody`. */
export const resetPasswordBody: z.ZodType<ResetPasswordBody, ResetPasswordBody> = z.strictObject({
  link: secretText,
  password: secretText,
})

/** The schema of `PasswordBody`. */
export const passwordBody: z.ZodType<PasswordBody, PasswordBody> = z.strictObject({
  password: secretText.exactOptional(),
})

/** The schema of `ConfirmBody`. */
export const confirmBody: z.ZodType<ConfirmBody, ConfirmBody> = z.strictObject({ password: secretText.exactOptional() })
