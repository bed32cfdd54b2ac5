/**
 * The headers of everything that a browser shows of the service. Pages take scripts and styles from their own files alone.
 * @param options.connect - Origins besides its own that a page may call: the data plane's, where that is another.
 * @param options.strictTransportSecurity - The value of `Strict-Transport-Security`, where browsers are to keep to https.
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
