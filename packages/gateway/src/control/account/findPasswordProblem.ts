import { foldLoosely } from '../../storage/foldLoosely.ts'

const minLength = 8
const maxLength = 200

// The first guesses of an attacker, alone or surrounded by digits and symbols. Deliberately short: this is not a dictionary.
const commonPasswords: ReadonlySet<string> = new Set(
  `password passwort passw p@ssword p@ssw0rd pass123word passphrase motdepasse contrasena contraseña wachtwoord
  qwerty qwertz azerty qwertyuiop qwertzuiop azertyuiop asdfghjkl asdfgh zxcvbnm yxcvbnm qazwsx qazwsxedc q1w2e3r4 1q2w3e4r 1qaz2wsx qwer1234
  abc abcd abcde abcdef abcdefg abcdefgh abcdefghi test tester testing testtest testpass demo guest user username login
  admin administrator adminadmin root rootroot toor master superuser operator letmein welcome changeme changeit default secret
  topsecret trustno1 iloveyou iloveu loveme sunshine princess dragon monkey football baseball basketball superman batman starwars pokemon
  michael jordan jennifer computer internet whatever freedom ninja shadow access hello helloworld google facebook
  linkedin twitter samsung android iphone apple windows microsoft bitcoin ethereum crypto blockchain satoshi hodl keyrail keyrailkeyrail`.split(
    /\s+/,
  ),
)

const isSequence = (text: string): boolean => {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  // Taken from the second pair, because a sequence of digits may start with 0, 9.
  const step = (codes[2] ?? 0) - (codes[1] ?? 0)
  return (
    Math.abs(step) === 1 && codes.every((code, at) => at === 0 || (code - (codes[at - 1] ?? 0) + 10 - step) % 10 === 0)
  )
}

const isRepeated = (text: string): boolean => /^(.{1,4})\1+.{0,3}$/su.test(text) && new Set(text).size <= 4

/**
 * Validates a new password. Its length is counted in code points after normalization, so that it is the same on every keyboard.
 * @param password - 8 to 200 characters.
 * @param options.email - The account's email address, which is rejected as a password.
 * @returns Continues a sentence that starts with "The password", or `undefined` if the password is valid.
 */
export const findPasswordProblem = (password: string, { email }: { email: string }): string | undefined => {
  // Lone surrogates would all be encoded as the same character.
  if (typeof password !== 'string' || /\p{Cs}/u.test(password)) return 'contains invalid characters. Type it again.'
  const length = countCharacters(password)
  if (length === undefined || length > maxLength) return `is too long. Use at most ${maxLength} characters.`
  if (length < minLength) return `is too short. Use at least ${minLength} characters.`
  const folded = foldLoosely(password)
  const core = folded.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const address = foldLoosely(email)
  const addressParts = [address, address.split('@', 1)[0] ?? '', address.split('@', 2)[1] ?? '']
  if (addressParts.includes(folded) || (core.length > 2 && addressParts.includes(core)))
    return 'is the email address. Choose another one.'
  if (commonPasswords.has(folded) || commonPasswords.has(core) || isSequence(folded) || isRepeated(folded))
    return 'is easy to guess. Use a longer one, such as four words.'
  return undefined
}

/** Whether a text can be a password. Longer texts are rejected without hashing. */
export const canBePassword = (password: string): boolean =>
  typeof password === 'string' && (countCharacters(password) ?? Infinity) <= maxLength

/** `undefined`: certainly too long. */
const countCharacters = (password: string): number | undefined =>
  // Before normalization, a character may consist of several units (accents, Hangul syllables).
  password.length > maxLength * 5 ? undefined : [...password.normalize('NFKC')].length
