/** A place in these pages that a link may lead back to. Anything that could be another site's is none. */
export const backTo = (value: unknown): string | undefined =>
  typeof value === 'string' &&
  /^\/(?![/\\])/.test(value) &&
  !/^\/(?:log-in|sign-up|reset-password|forgot-password|verify-email|join)\b/.test(value)
    ? value
    : undefined
