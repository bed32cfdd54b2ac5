import { z } from 'zod'
import { secretText, timeText } from './texts.ts'

/** Whose account it is. */
export interface AccountView {
  readonly id: string
  readonly email: string
  /** Operators see and change other people's accounts. */
  readonly role: 'user' | 'operator'
  readonly createdAt: string
}

/** Who asks, and by what right. */
export interface SessionView {
  readonly account: AccountView
  /** `null` where a personal access token asks. */
  readonly session: {
    readonly createdAt: string
    /** When it ends, unless it is used meanwhile. */
    readonly expiresAt: string
    /** Until when what asks for the password does so no more. */
    readonly confirmedUntil: string
  } | null
  /** What a personal access token may do; `null` for a session, which may do all. */
  readonly scopes: readonly string[] | null
}

/** How to log in. */
export interface LogInBody {
  readonly email: string
  readonly password: string
}

/** How to sign up. */
export interface SignUpBody extends LogInBody {
  /** Needed where the deployment's `signUp` is `invite`. */
  readonly invite?: string
}

/** How to change a password. */
export interface ChangePasswordBody {
  readonly current: string
  readonly next: string
}

/** How to set a password with a link that the operator made. */
export interface ResetPasswordBody {
  /** The last part of the link. */
  readonly link: string
  readonly password: string
}

/** What is asked again before something that cannot be undone. */
export interface PasswordBody {
  readonly password: string
}

/** What is asked where the session is older than 15 minutes. */
export interface ConfirmBody {
  readonly password?: string
}

const email = z.string().trim().min(1, { error: 'must not be empty' }).max(254, {
  error: 'must have at most 254 characters',
})
const logIn = { email, password: secretText }

/** @see AccountView */
export const accountView: z.ZodType<AccountView> = z
  .strictObject({ id: z.string(), email: z.string(), role: z.enum(['user', 'operator']), createdAt: timeText })
  .meta({ id: 'Account' })

/** @see SessionView */
export const sessionView: z.ZodType<SessionView> = z
  .strictObject({
    account: accountView,
    session: z.strictObject({ createdAt: timeText, expiresAt: timeText, confirmedUntil: timeText }).nullable(),
    scopes: z.array(z.string()).nullable(),
  })
  .meta({ id: 'Session' })

/** @see LogInBody */
export const logInBody: z.ZodType<LogInBody, LogInBody> = z.strictObject(logIn)

/** @see SignUpBody */
export const signUpBody: z.ZodType<SignUpBody, SignUpBody> = z.strictObject({
  ...logIn,
  invite: secretText.exactOptional(),
})

/** @see ChangePasswordBody */
export const changePasswordBody: z.ZodType<ChangePasswordBody, ChangePasswordBody> = z.strictObject({
  current: secretText,
  next: secretText,
})

/** @see ResetPasswordBody */
export const resetPasswordBody: z.ZodType<ResetPasswordBody, ResetPasswordBody> = z.strictObject({
  link: secretText,
  password: secretText,
})

/** @see PasswordBody */
export const passwordBody: z.ZodType<PasswordBody, PasswordBody> = z.strictObject({ password: secretText })

/** @see ConfirmBody */
export const confirmBody: z.ZodType<ConfirmBody, ConfirmBody> = z.strictObject({ password: secretText.exactOptional() })
