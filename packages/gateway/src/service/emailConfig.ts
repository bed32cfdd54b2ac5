import { object, choice, path, text, whole } from '../proxy/options/fields.ts'

const addressMessage = 'must be an email address, or a name and an address as in "Keyrail <keyrail@example.org>"'

const smtp = object({
  host: text('must be the host name of an SMTP server, such as "smtp.example.org"', 253).describe(
    'The host name of the SMTP server.',
  ),
  port: whole(1, 65_535).default(587).describe('The port.'),
  secure: choice(['starttls', 'tls', 'none'])
    .default('starttls')
    .describe(
      '`starttls`: TLS is required before anything is sent. `tls`: TLS from the first byte, usually port 465. `none`: plain text, for a server on this machine or in a private network.',
    ),
  user: text('must be the user to log in as')
    .exactOptional()
    .describe(
      'The user to log in as, with exactly one of the next three. Not possible with `"secure": "none"`. Default: no log-in.',
    ),
  passwordFile: path('a file that holds the password')
    .exactOptional()
    .describe('The path of a file that holds the password.'),
  passwordEnv: text('must be the name of an environment variable that holds the password')
    .exactOptional()
    .describe('The name of an environment variable that holds the password.'),
  password: text('must be the password of the user').exactOptional().describe('The password.'),
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
  smtp,
  from: text(addressMessage)
    .regex(/^(?:[^<>@\r\n]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, addressMessage)
    .describe('The sender: an address, or a name and an address.'),
})
