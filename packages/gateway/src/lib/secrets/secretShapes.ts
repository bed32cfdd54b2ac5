/** The forms of secrets. They find a secret that is not known. */
export const secretShapes: readonly RegExp[] = [
  // API keys and access tokens, also within a path.
  /kr[a-z]?_[0-9A-Za-z]{20,}/,
  // JSON Web Tokens, with the word that they end. Only the start of a word is tried, so that a long word takes linear time.
  /(?<![\w-])(?=[\w-]+\.[\w-]{8})[\w-]*?eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/,
  // PEM of any kind, also with escaped line breaks.
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/,
  // Password hashes.
  /\$argon2id\$[\w$=,+/.-]+/,
  // User and password of a URL.
  /(?<=:\/\/)[^\s/@"]+@/,
]
