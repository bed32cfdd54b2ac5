/**
 * The CORS headers of every response: any page may use the RPC endpoints, which never use credentials. Without these headers a page would see a
 * rejection only as "CORS error". Without credentials `*` means every header (Fetch standard, section 3.3.3); a list of them would be the
 * longest part of most responses.
 */
export const corsHeaders: readonly string[] = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', '*']

const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

/**
 * Gets the headers of the response to a preflight.
 * @param requested - `Access-Control-Request-Headers`. Echoed if it is a list of header names.
 * @see The Fetch standard, CORS protocol
 */
export const preflightHeaders = (requested: string | undefined): readonly string[] => [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Allow-Methods',
  'POST, OPTIONS',
  'Access-Control-Allow-Headers',
  requested !== undefined && requested.length <= 1024 && headerNames.test(requested)
    ? requested
    : 'content-type, authorization',
  'Access-Control-Max-Age',
  '86400',
  'Vary',
  'Origin, Access-Control-Request-Headers',
]
