/** The forms of secrets. They find a secret that is not known. */
export const secretShapes: readonly RegExp[] = [
  // API keys and access tokens, also within a path.
  /kr[a-z]?_[0-9A-Za-z]{20,}/,
  // JSON Web Tokens.
  /eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/,
  // PEM of any kind, also with escaped line breaks.
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/,
  // Password hashes.
  /\$argon2id\$[\w$=,+/.-]+/,
  // User and password of a URL.
  /(?<=:\/\/)[^\s/@"]+@/,
]
