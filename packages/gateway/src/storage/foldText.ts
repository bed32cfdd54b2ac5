/**
 * The form under which two texts are the same name: outer spaces, case and Unicode's ways to write one letter are left out.
 * Some letters become a space and a mark, so spaces are taken off last. Done here and not by the databases, as SQLite folds ASCII alone.
 * @param text - A name or a email address.
 * @example
 * foldText(' Straße ') === foldText('STRASSE') // true
 */
export const foldText = (text: string): string =>
  text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim()
