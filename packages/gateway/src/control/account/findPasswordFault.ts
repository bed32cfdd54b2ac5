import { foldText } from '../../storage/foldText.ts'

const minLength = 8
const maxLength = 200

// What guessers try first, as they are, or with digits and signs around. Small: it is no dictionary.
const hopeless: ReadonlySet<string> = new Set(
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

const isRun = (text: string): boolean => {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  // Of the second pair, as a run of digits may begin with 0 and go on with 9.
  const step = (codes[2] ?? 0) - (codes[1] ?? 0)
  return (
    Math.abs(step) === 1 && codes.every((code, at) => at === 0 || (code - (codes[at - 1] ?? 0) + 10 - step) % 10 === 0)
  )
}

const isRepeated = (text: string): boolean => /^(.{1,4})\1+.{0,3}$/su.test(text) && new Set(text).size <= 4

/**
 * Says what is wrong with a new password. Counted in characters (code points) after normalisation, so that it is as long on every keyboard.
 * @param password - At least 8 and at most 200 characters.
 * @param options.mail - Of the account: it is no password for it.
 * @returns The end of a sentence that begins with the password, or `undefined` where it will do.
 */
export const findPasswordFault = (password: string, { email }: { email: string }): string | undefined => {
  // Broken halves of characters would all become the same one.
  if (typeof password !== 'string' || /\p{Cs}/u.test(password)) return 'must be text'
  const length = characters(password)
  if (length === undefined || length > maxLength) return `must have at most ${maxLength} characters`
  if (length < minLength) return `must have at least ${minLength} characters`
  const folded = foldText(password)
  const core = folded.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const address = foldText(email)
  const known = [address, address.split('@', 1)[0] ?? '', address.split('@', 2)[1] ?? '']
  if (known.includes(folded) || (core.length > 2 && known.includes(core))) return 'must not be the email address'
  if (hopeless.has(folded) || hopeless.has(core) || isRun(folded) || isRepeated(folded))
    return 'is one of those that are tried first: take a longer one, such as four words'
  return undefined
}

/** Whether a text can be anybody's password at all: one that is too long is not hashed. */
export const canBePassword = (password: string): boolean =>
  typeof password === 'string' && (characters(password) ?? Infinity) <= maxLength

const characters = (password: string): number | undefined =>
  // Typed in parts (accents, syllables of Hangul) a character may be of several units.
  password.length > maxLength * 5 ? undefined : [...password.normalize('NFKC')].length
