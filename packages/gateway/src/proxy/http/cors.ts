/**
 * Sent with every answer: the data plane is for any page, and never uses credentials. A rejection without them would reach a page as "CORS error"
 * only. Without credentials `*` names every header (Fetch standard, section 3.3.3); a list of them would be the longest part of most answers.
 */
export const corsHeaders: readonly string[] = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', '*']

const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

/**
 * The headers of a preflight's answer.
 * @param asked - `Access-Control-Request-Headers` as it came. Echoed where it is a list of header names.
 * @see The fetch standard, CORS protocol
 */
export const preflightHeaders = (asked: string | undefined): readonly string[] => [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Allow-Methods',
  'POST, OPTIONS',
  'Access-Control-Allow-Headers',
  asked !== undefined && asked.length <= 1024 && headerNames.test(asked) ? asked : 'content-type, authorization',
  'Access-Control-Max-Age',
  '86400',
  'Vary',
  'Origin, Access-Control-Request-Headers',
]
