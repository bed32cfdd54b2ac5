/**
 * The headers of all pages. Pages can only load scripts and styles from their own origin.
 * @param options.connect - Other origins that pages may call: that of the networks, if it is different.
 * @param options.strictTransportSecurity - The value of `Strict-Transport-Security`. @default no such header
 */
export const siteHeaders = ({
  connect = [],
  strictTransportSecurity,
}: { connect?: readonly string[]; strictTransportSecurity?: string | undefined } = {}): Readonly<
  Record<string, string>
> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    `connect-src ${["'self'", ...connect].join(' ')}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  ...(strictTransportSecurity === undefined ? {} : { 'Strict-Transport-Security': strictTransportSecurity }),
})
