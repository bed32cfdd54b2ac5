/**
 * Folds a text so that texts that look alike become equal: ignores case, leading and trailing spaces, and different Unicode forms of a
 * character. It also makes different letters equal: the dotless `ı` and `i`, `ß` and `ss`. Use it for names and search, or to reject
 * something that looks like something else. It must never decide who somebody is: `toEmailIdentity` does.
 * NFKC converts some characters to a space and a mark, so it trims last. The databases cannot do this: SQLite only folds ASCII.
 * @param text - Such as the name of an app.
 * @example
 * foldLoosely(' Straße ') === foldLoosely('STRASSE') // true
 */
export const foldLoosely = (text: string): string =>
  text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim()
