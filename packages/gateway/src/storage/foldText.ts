/**
 * Normalizes a text for comparison: ignores case, leading and trailing spaces, and different Unicode forms of a character.
 * NFKC converts some characters to a space and a mark, so it trims last. The databases cannot do this: SQLite only folds ASCII.
 * @param text - A name or an email address.
 * @example
 * foldText(' Straße ') === foldText('STRASSE') // true
 */
export const foldText = (text: string): string =>
  text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim()
