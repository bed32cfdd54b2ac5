import { object, choice, path, text, whole } from './configSchema.ts'

const addressMessage = 'must be an email address, or a name and an address as in "Keyrail <keyrail@example.org>"'

const smtp = object({
  host: text('must be the host name of an SMTP server, such as "smtp.example.org"', 253),
  /** @default 587 */
  port: whole(1, 65_535).default(587),
  /**
   * `starttls`: TLS is required before anything is sent. `tls`: TLS from the first byte, as port 465 has it. `none`: plain text, for a server on
   * this machine or in a private network. @default 'starttls'
   */
  secure: choice(['starttls', 'tls', 'none']).default('starttls'),
  /** The user to log in as. @default no log-in */
  user: text('must be the user to log in as').exactOptional(),
  /** A secret. */
  password: text('must be the password of the user').exactOptional(),
  /** The name of an environment variable that holds the password. */
  passwordEnv: text('must be the name of an environment variable that holds the password').exactOptional(),
  /** The path of a file that holds the password. */
  passwordFile: path('a file that holds the password').exactOptional(),
})
  .refine(
    ({ user, password, passwordEnv, passwordFile }) =>
      [password, passwordEnv, passwordFile].filter((given) => given !== undefined).length ===
      (user === undefined ? 0 : 1),
    'must have user and exactly one of password, passwordEnv and passwordFile, or none of them',
  )
  .refine(
    ({ secure, user }) => secure !== 'none' || user === undefined,
    'would send the password in plain text: set secure to "starttls" or "tls", or remove user',
  )

/** The schema of `email`. */
export const email = object({
  /** The server that takes emails. */
  smtp,
  /** The sender of emails: an address, or a name and an address as in `Keyrail <keyrail@example.org>`. */
  from: text(addressMessage).regex(/^(?:[^<>@\r\n]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, addressMessage),
})
