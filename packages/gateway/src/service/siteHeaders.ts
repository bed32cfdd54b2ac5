/**
 * The headers of everything that a browser shows of the service. Pages take scripts and styles from their own files alone.
 * @param options.connect - Origins besides its own that a page may call: the data plane's, where that is another.
 * @param options.secure - Whether browsers reach it by https: then they keep to that for a year.
 */
export const siteHeaders = ({
  connect = [],
  secure = false,
}: { connect?: readonly string[]; secure?: boolean } = {}): Readonly<Record<string, string>> => ({
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
  ...(secure ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
})
